"""Speed and memory, measured against a floor: see RESULTS.md for how and for the figures."""
