"""A set of hashes that takes little room: the newest in a table, the others in a few sorted arrays."""

from __future__ import annotations

from array import array
from bisect import bisect_left
from collections.abc import Iterable, Iterator
from heapq import merge
from itertools import chain
from operator import lt
from typing import TYPE_CHECKING, Final

from loopscan.compiled import compiled

if TYPE_CHECKING:
    from loopscan._compiled import Recent

RECENT: Final = 1 << 15
"""Hashes that are kept in a table: one takes there several times the room. The compiled one holds no more."""
_MARK_BITS: Final = 20
_MARKS: Final = (1 << _MARK_BITS) - 1


def in_several(arrays: list[array[int]]) -> frozenset[int]:
    """The numbers that are in more than one of some arrays, none of which holds one twice."""
    part = compiled()
    if part is not None:
        return frozenset(part.in_several(arrays))
    met, shared = set[int](), set[int]()
    for some in map(set, arrays):
        shared |= met & some
        met |= some
    return frozenset(shared)


def apart(hashes: array[int], places: array[int], before: int, left: array[int]) -> tuple[list[int], array[int], bool]:
    """The numbers of those hashes that are in `left`, sorted; the places of the others, moved on; whether they rise."""
    part = compiled()
    if part is not None:
        numbers, others, rise = part.apart(hashes, places, before, left)
        return numbers, array("q", others), rise
    out = set(left)
    moved = array("q", [place + before for run, place in zip(hashes, places, strict=True) if run not in out])
    return [at for at, run in enumerate(hashes) if run in out], moved, all(map(lt, moved, moved[1:]))


class Ids:
    """A growing set of 64-bit integers with a sign."""

    __slots__ = ("_marks", "_packed", "_recent")

    def __init__(self) -> None:
        self._recent = _empty()
        self._marks = bytearray()
        """At the last bits of each number that is packed, the bit that three more of it say: nearly all others are told
        by it."""
        self._packed: list[array[int]] = []
        """Sorted, each at most half as long as the one before: few, and each number is merged seldom."""

    def __contains__(self, number: int) -> bool:
        if number in self._recent:
            return True
        if not self._packed or not self._marks[number & _MARKS] & _bit(number):
            return False
        part = compiled()
        return _any_holds(self._packed, number) if part is None else bool(part.any_holds(self._packed, number))

    def __iter__(self) -> Iterator[int]:
        return chain(_sorted(self._recent, bytearray()), *self._packed)

    def __len__(self) -> int:
        return len(self._recent) + sum(map(len, self._packed))

    def add(self, number: int) -> None:
        """Add a number that is not in it."""
        self._recent.add(number)
        if len(self._recent) >= RECENT:
            self._pack()

    def met(self, number: int) -> bool:
        """Whether a number is in it; it is afterwards."""
        recent = self._recent
        if number in recent or (self._packed and self._marks[number & _MARKS] and number in self):
            return True
        self.add(number)
        return False

    def update(self, numbers: Iterable[int]) -> None:
        """Add numbers."""
        for number in numbers:
            if number not in self:
                self.add(number)

    def _pack(self) -> None:
        self._marks = self._marks or bytearray(_MARKS + 1)
        numbers, packed = _sorted(self._recent, self._marks), self._packed
        self._recent = _empty()
        while packed and len(packed[-1]) < 2 * len(numbers):
            numbers = _merged(packed.pop(), numbers)
        packed.append(numbers)


def _bit(number: int) -> int:
    return 1 << (number >> _MARK_BITS & 7)


def _empty() -> set[int] | Recent:
    part = compiled()
    return set() if part is None else part.Recent()


def _sorted(recent: set[int] | Recent, marks: bytearray) -> array[int]:
    """The numbers in their order; each of them is marked by its last bits, where there are marks."""
    if not isinstance(recent, set):
        return array("q", recent.sorted(marks))
    for number in recent if marks else ():
        marks[number & _MARKS] |= _bit(number)
    return array("q", sorted(recent))


def _any_holds(arrays: list[array[int]], number: int) -> bool:
    for numbers in arrays:
        at = bisect_left(numbers, number)
        if at < len(numbers) and numbers[at] == number:
            return True
    return False


def _merged(one: array[int], other: array[int]) -> array[int]:
    part = compiled()
    return array("q", merge(one, other) if part is None else part.merged(one, other))
