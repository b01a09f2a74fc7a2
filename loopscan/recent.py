"""A buffer into which a stream is read block after block, where the newest bytes stay for a while."""

from __future__ import annotations

from mmap import PAGESIZE, mmap
from typing import Final

_REST: Final = 1 << 16
"""Room for the beginning of a line before the place to which its end is read, at least."""


class Recent:
    """The newest bytes of a stream, those from place `first` up to place `end`.

    `data`, `at`: the buffer, and where the next block goes. Once it is full that is its beginning again, behind the
    room for a line that is not over.
    """

    __slots__ = ("_block", "_lap", "_last", "_room", "at", "data", "end")

    def __init__(self, rest: bytes, end: int, block: int, back: int) -> None:
        """Begin with the beginning of a line, up to place `end`; `back`: bytes that stay beside a block."""
        # Linux reads fastest to a page
        self._room = (max(_REST, back >> 2, 2 * len(rest)) + PAGESIZE - 1) // PAGESIZE * PAGESIZE
        self._block, self.at = block, self._room
        self.data = mmap(-1, self._room + block + back)
        self.data[self.at - len(rest) : self.at] = rest
        self._lap = self._last = self.end = end

    def next(self) -> memoryview:
        """Where the next block goes."""
        return memoryview(self.data)[self.at : self.at + self._block]

    def took(self, size: int) -> None:
        """So many bytes were read to there."""
        self.at += size
        self.end += size

    def turn(self, begin: int) -> int:
        """Have room for a block behind the bytes from `begin` on; where these are then, -1 if they are too many."""
        if self.at + self._block <= len(self.data):
            return begin
        size = self.at - begin
        if size > self._room:
            return -1
        self.data[self._room - size : self._room] = self.data[begin : self.at]
        self.at, self._last, self._lap = self._room, self._lap, self.end
        return self._room - size

    @property
    def first(self) -> int:
        """The place of the first byte that is still there, once the next block came."""
        return min(self._lap, self._last + self.at + self._block - self._room)

    def line_at(self, place: int, most: int) -> bytes:
        """The line at a place, with its end; empty where it is longer than that or not in one piece."""
        lap, until = (self._lap, self.at) if place >= self._lap else (self._last, self._room + self._lap - self._last)
        begin = self._room + place - lap
        return self.data[begin : self.data.find(b"\n", begin, min(begin + most, until)) + 1]

    def bytes_at(self, place: int, size: int) -> bytes:
        """Some of them."""
        found = b""
        if place < self._lap:
            begin = self._room + place - self._last
            found = self.data[begin : begin + min(size, self._lap - place)]
        begin = self._room + place + len(found) - self._lap
        return found + self.data[begin : min(begin + size - len(found), self.at)]
