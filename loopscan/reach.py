"""Some lines of a plain file, read as if they were one: for a reading that goes on from one place to another."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

from loopscan.blob import Blob
from loopscan.blocks import Blocked, blocks
from loopscan.lines import placed
from loopscan.skips import Skips
from loopscan.stream import Plain, Stream, written

Mark = tuple[int, int]
"""Where a line begins: the byte, and how many lines are counted before it."""


class Reach(Blob):
    """Lines of a plain file from `start` to the byte `end`, where another one begins (None = the end of the file).

    The head is that of the file. `passed`: lines by the last one, known once that was read.
    """

    def __init__(self, path: str, start: Mark, end: int | None) -> None:
        super().__init__(path, Path(path))
        self._head = self._sniffed()
        self.start, self.end, self.passed = start, end, start[1]
        self._raw.seek(start[0])
        self._ahead = b""
        rest = written(self._raw, Plain(self._raw, self._fault, endless=False))
        self._stream = rest if end is None else _Until(rest, end - start[0])

    def placed(self, skips: Skips) -> Iterator[tuple[int, int, bytes]]:
        """The lines that are not blank with number and place."""
        place, lines = self.start
        self._head = None
        return placed(b"", self._stream, self._too_long(skips), self._patience, (lines, place), self._done)

    def blocks(self, skips: Skips) -> Blocked:
        """The same as blocks of whole lines."""
        place, lines = self.start
        self._head = None
        return blocks(b"", self._stream, self._too_long(skips), self._patience, (lines, place), self._done)

    def _done(self, number: int) -> None:
        self.passed = number


class _Until(Stream):
    """So many bytes of a stream."""

    def __init__(self, rest: Stream, left: int) -> None:
        self._rest, self._left = rest, left

    def read(self, size: int) -> bytes:
        """The next bytes."""
        data = self._rest.read(min(size, self._left)) if self._left else b""
        self._left -= len(data)
        return data

    def readinto(self, view: memoryview) -> int:
        """The next bytes, without a copy of them."""
        size = self._rest.readinto(view[: self._left]) if self._left else 0
        self._left -= size
        return size
