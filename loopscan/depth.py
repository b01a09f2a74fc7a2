"""How deep a value may be nested: as deep wherever the reading is called from, in this process or another.

Decoders stop where the calls of the whole program are as many as the interpreter allows, so that what is read of a
damaged log would hang on who asks.
"""

from __future__ import annotations

import sys
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Final

ROOM: Final = 950
"""Calls that may be open, one in another, inside the block."""
_known: dict[int, int] = {}
"""Frames that are open -> calls that may be opened yet, under the limit of `_under`."""
_under = 0


@contextmanager
def steady() -> Iterator[None]:
    """Inside the block there is always the same room for nested calls."""
    global _under
    limit, frames, frame = sys.getrecursionlimit(), 0, sys._getframe()
    while frame.f_back is not None:
        frames, frame = frames + 1, frame.f_back
    if limit != _under:
        _known.clear()
        _under = limit
    if frames not in _known:
        _known[frames] = _left()
    sys.setrecursionlimit(limit + ROOM - _known[frames])
    try:
        yield
    finally:
        sys.setrecursionlimit(limit)


@contextmanager
def deeper(calls: int) -> Iterator[None]:
    """Inside the block there is room for some more: for a way to the decoders that is so much longer than another."""
    limit = sys.getrecursionlimit()
    sys.setrecursionlimit(limit + calls)
    try:
        yield
    finally:
        sys.setrecursionlimit(limit)


def _left() -> int:
    try:
        return _left() + 1
    except RecursionError:
        return 0
