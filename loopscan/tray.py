"""What processes hand over that is too much for a pipe: it goes into memory that they have in common."""

from __future__ import annotations

import mmap
import os
from contextlib import suppress
from itertools import accumulate, pairwise
from typing import Any, Final, NamedTuple

from loopscan.fully import write_at
from loopscan.parcel import Parcel

LEAST: Final = 1 << 17
"""Bytes that are worth it: a pipe takes 64 KB at once, and whoever writes the rest waits for its reader."""
ROOM: Final = 1 << 26
"""Bytes of it that a process may use."""


class Laid(NamedTuple):
    """Where a parcel lies, the sizes of its parts, and which process laid it down."""

    place: int
    sizes: tuple[int, ...]
    slot: int


class Tray:
    """Memory to lay parcels on, for processes that are forked from this one. Raises OSError.

    Each of `jobs` processes, by its `slot`, has room of its own. Nobody waits for anybody: one of them may be killed.
    `context`: that of the processes (`multiprocessing`).
    """

    def __init__(self, context: Any, jobs: int) -> None:
        self._file = os.memfd_create("loopscan")
        os.ftruncate(self._file, jobs * ROOM)
        self._memory = mmap.mmap(self._file, jobs * ROOM, prot=mmap.PROT_READ)
        self._taken = context.RawArray("q", jobs)
        """How many parcels of each were taken up."""
        self._laid = self._end = 0
        """Of the process at hand: how many it laid down, and where the last one ends; anew once all were taken up."""

    def lay(self, parcel: Parcel, slot: int) -> Parcel | Laid:
        """Lay it down; as it is, but to be sent, where it is little, or there is no room for it."""
        sizes = tuple([len(part) for part in parcel])
        begin = self._end if self._taken[slot] < self._laid else 0
        if sum(sizes) < LEAST or begin + sum(sizes) > ROOM:
            return sent(parcel)
        at = slot * ROOM + begin
        with suppress(OSError):
            for part in parcel:
                at = write_at(self._file, part, at)
            self._laid, self._end = self._laid + 1, at - slot * ROOM
            return Laid(slot * ROOM + begin, sizes, slot)
        return sent(parcel)

    def take(self, laid: Laid) -> Parcel:
        """Take up what was laid down. It is there until it is `cleared`."""
        ends = accumulate(laid.sizes, initial=laid.place)
        return [memoryview(self._memory)[begin:end] for begin, end in pairwise(ends)]

    def clear(self, laid: Laid) -> None:
        """What was taken up is of no use any more."""
        place, size = laid.place // mmap.PAGESIZE * mmap.PAGESIZE, sum(laid.sizes)
        self._memory.madvise(mmap.MADV_DONTNEED, place, laid.place + size - place)
        self._taken[laid.slot] += 1

    def close(self) -> None:
        """Release the memory."""
        os.close(self._file)


def sent(parcel: Parcel) -> Parcel:
    """A parcel that can be sent through a pipe."""
    return [bytes(part) for part in parcel]
