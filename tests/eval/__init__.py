"""How good the verdicts are: `make eval`."""
