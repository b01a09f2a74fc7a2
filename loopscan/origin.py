"""Where the runs of a scan begin, as numbers that are in the order in which they do."""

from __future__ import annotations

from typing import Final

_LINES: Final = 40
"""Bits of the number of a line."""


def place_of(number: int, line: int, waits: bool) -> int:
    """Of a run of input `number`, by the line that tells of it; by its first, where that `waits` for the end."""
    return (number << 1 | waits) << _LINES | line


def first_place(number: int) -> int:
    """The least place of an input."""
    return number << _LINES + 1
