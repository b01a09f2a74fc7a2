"""Writing all of some bytes: a system may take less of them at once."""

from __future__ import annotations

import os


def write_at(file: int, data: bytes | memoryview, place: int) -> int:
    """Write bytes at a place of a file, by its descriptor; the place behind them. Raises OSError."""
    left = memoryview(data)
    while left:
        written = os.pwrite(file, left, place)
        left, place = left[written:], place + written
    return place
