"""A stream of bytes as blocks of whole lines, for who takes most of them where they lie."""

from __future__ import annotations

from collections.abc import Callable, Generator, Iterator
from mmap import mmap
from typing import Final

from loopscan.compiled import lines_in
from loopscan.lines import BUFFER, Feed, TooLong
from loopscan.recent import Recent
from loopscan.stream import Ahead, Stream

_BLOCK: Final = 1 << 19
"""Bytes that are read at once, so many that they stay near the processor."""

Block = tuple[int, int, "bytes | mmap", int, int]
"""Lines before it; place of its first byte in the log, -1 where it is not known; bytes, and which of those are its."""
Blocked = Generator[Block, "int | None", None]
"""Blocks one after another; who counts the lines of one may send how many there are up to its end."""


def blocks(
    ahead: bytes,
    stream: Stream,
    too_long: Callable[[int], None],
    patience: int,
    start: tuple[int, int] = (0, 0),
    done: Callable[[int], None] | None = None,
) -> Blocked:
    """The lines of a stream as `loopscan.lines.placed` has them, in blocks, blank ones among them."""
    if len(ahead) > BUFFER:
        ahead, stream = b"", Ahead(ahead, stream)
    number, place = start
    cut = ahead.rfind(b"\n") + 1
    if cut:
        counted = yield number, place, ahead, 0, cut
        number, place = counted or number + lines_in(ahead, 0, cut), place + cut
    feed = Feed(stream, len(ahead) - cut, patience)
    rest = ahead[cut:]
    recent = Recent(rest, place + len(rest), _BLOCK, stream.back)
    begin = recent.at - len(rest)
    stream.look_back(recent)
    while not feed.over:
        try:
            size = feed.readinto(recent.next())
        except TooLong:
            number, begin, place = number + 1, recent.at, -1
            too_long(number)
            continue
        data = recent.data
        end = data.rfind(b"\n", recent.at, recent.at + size) + 1
        recent.took(size)
        if end:
            counted = yield number, place, data, begin, end
            number = counted or number + lines_in(data, begin, end)
            place += end - begin if place >= 0 else 0
            begin = end
        at, begin = begin, recent.turn(begin)
        if begin < 0:
            stream.look_back(None)
            rest = data[at : recent.at]
            recent = Recent(rest, recent.end, _BLOCK, 0)
            begin = recent.at - len(rest)
    if begin < recent.at:
        yield number, place, recent.data, begin, recent.at
        number += 1
    if done is not None:
        done(number)


class Blocks:
    """The lines of blocks. An iterator over those that are not blank, for who needs them one by one.

    `data`, `begin`, `end`: where the present block is; `at`: its first byte that is not taken; `number`: lines before
    that, `place`: its own in the log, -1 where it is not known.
    """

    __slots__ = ("_blocks", "at", "begin", "data", "end", "number", "place")

    def __init__(self, blocks: Blocked) -> None:
        self._blocks = blocks
        self.data: bytes | mmap = b""
        self.at = self.begin = self.end = self.number = self.place = 0

    def more(self) -> bool:
        """Whether anything is left, in the present block or in the next one, which then is the present one."""
        while self.at >= self.end:
            try:
                block = self._blocks.send(self.number if self.end else None)
            except StopIteration:
                return False
            self.number, self.place, self.data, self.at, self.end = block
            self.begin = self.at
        return True

    def peek(self) -> bytes:
        """The next line."""
        return self.data[self.at : self.data.find(b"\n", self.at, self.end) + 1 or self.end]

    def step(self, line: bytes) -> None:
        """Go on behind a line."""
        self.at += len(line)
        self.number += 1
        self.place += len(line) if self.place >= 0 else 0

    def __iter__(self) -> Iterator[tuple[int, bytes]]:
        return self

    def __next__(self) -> tuple[int, bytes]:
        while self.more():
            line = self.peek()
            self.step(line)
            if not line.isspace():
                return self.number, line
        raise StopIteration
