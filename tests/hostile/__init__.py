"""Input that lies: damaged bytes, absurd values, text that attacks what shows it."""
