"""Files that a user wrote: settings, prices, outcomes. They are small, whatever a path leads to."""

from __future__ import annotations

import os
from typing import Final

MOST: Final = 1 << 26
"""Bytes of the largest one that is read."""


def text_of(path: str | os.PathLike[str]) -> str:
    """The text of a file. Raises OSError, and ValueError for what is no UTF-8 or too long."""
    with open(path, "rb") as file:
        data = file.read(MOST + 1)
    if len(data) > MOST:
        raise ValueError(f"more than {MOST:,} bytes")
    return data.decode("utf-8-sig")
