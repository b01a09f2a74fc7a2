"""A stream of bytes as numbered lines, in memory bounded by the longest line that is kept."""

from __future__ import annotations

import io
from collections.abc import Callable, Iterator
from typing import Any, Final

from loopscan.stream import Ahead, Stream

LINE_LIMIT: Final = 1 << 26
"""Bytes of the longest line that is read; APIs refuse requests half as large."""
BUFFER: Final = 1 << 20
_TAIL: Final = 1 << 12
_MORE: Final = 8

bytes(2 * BUFFER)
# Once a larger block was freed, glibc does not map a buffer at 16 bytes into a page: Linux fills it twice as fast.


def placed(
    ahead: bytes,
    stream: Stream,
    too_long: Callable[[int], None],
    patience: int,
    start: tuple[int, int] = (0, 0),
    done: Callable[[int], None] | None = None,
) -> Iterator[tuple[int, int, bytes]]:
    """The lines that are not blank: number, from 1, place of the first byte, bytes; `ahead` are those taken already.

    `start`: lines and bytes before all of it; `done` is told the number of the last line once all were read. A line
    above LINE_LIMIT (by a buffer at most) is passed over and `too_long` told its number; the places of those behind it
    are -1. One that does not end within `patience` bytes ends the reading.
    """
    if len(ahead) > BUFFER:
        ahead, stream = b"", Ahead(ahead, stream)
    number, place = start
    cut = ahead.rfind(b"\n") + 1
    for line in ahead[:cut].split(b"\n")[:-1]:
        number += 1
        if line and not line.isspace():
            yield number, place, line
        place += len(line) + 1
    rest = ahead[cut:]
    feed = Feed(stream, len(rest), patience)
    buffered = io.BufferedReader(feed, BUFFER)
    while not feed.over:
        try:
            for line in buffered:
                number += 1
                if rest:
                    line, rest = rest + line, b""
                if not line.isspace():
                    yield number, place, line
                if place >= 0:
                    place += len(line)
        except TooLong:
            number, rest, place = number + 1, b"", -1
            too_long(number)
    if rest:
        number += 1
        if not rest.isspace():
            yield number, place, rest
    if done is not None:
        done(number)


class TooLong(Exception):
    """The line being read has passed the limit; what was read of it is gone."""


class Feed(io.RawIOBase):
    """A stream for `io.BufferedReader`, which cuts lines faster than anything else, and keeps no line that is too long.

    `length`: bytes of the line that is being read.
    """

    def __init__(self, stream: Stream, length: int, patience: int) -> None:
        self._stream, self._length, self._patience = stream, length, patience
        self._passing = False
        self.over = False

    def readable(self) -> bool:
        return True

    def readinto(self, buffer: Any) -> int:
        """Fill the buffer. Raises TooLong once for a line that is."""
        view = memoryview(buffer)
        if self._length > LINE_LIMIT and not self._passing:
            self._passing = True
            raise TooLong
        size = self._pass_over(view) if self._passing else self._stream.readinto(view)
        if not size:
            self.over = True
            return 0
        begin, last = size, -1
        while begin and last < 0:  # no more of the buffer is copied than it takes
            end, begin = begin, max(0, size - _TAIL - _MORE * (size - begin))
            last = bytes(view[begin:end]).rfind(b"\n")
        self._length = self._length + size if last < 0 else size - begin - last - 1
        return size

    def _pass_over(self, view: memoryview) -> int:
        """Leave out the rest of a line; what stands behind it goes into the buffer."""
        while self._length <= self._patience and (data := self._stream.read(len(view))):
            at = data.find(b"\n")
            self._length += len(data)
            if at < 0:
                continue
            self._passing, self._length = False, 0
            rest = data[at + 1 :]
            view[: len(rest)] = rest
            return len(rest) or self._stream.readinto(view)
        return 0
