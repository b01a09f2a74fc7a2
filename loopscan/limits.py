"""Bounds of what can be set."""

from __future__ import annotations

from typing import Final

MOST_WINDOW: Final = 100_000
"""Turns that the detector can look back: it has room for as many in every open run."""
