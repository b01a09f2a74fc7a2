"""Cyclic garbage is looked for seldom while logs are read: most objects live to the end, hardly any in a cycle."""

from __future__ import annotations

import gc
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Final

_SELDOM: Final = (1_000_000, 20, 1000)


@contextmanager
def seldom_collected() -> Iterator[None]:
    """Raise the thresholds of the collector meanwhile: else it walks over every run again and again."""
    before = gc.get_threshold()
    gc.set_threshold(*_SELDOM)
    try:
        yield
    finally:
        gc.set_threshold(*before)


def freed_late(thing: object) -> None:
    """Have a thing freed by the collector, if it still looks: who is about to leave need not take it to pieces."""
    ring: list[object] = [thing]
    ring.append(ring)


def leave() -> None:
    """The process ends: its last looks for garbage would walk over all that was read, to free what goes anyway."""
    gc.freeze()
