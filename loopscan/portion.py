"""A portion of one big file of lines, read as if it were a file: from one line's beginning to another's."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Final

from loopscan.blob import Blob
from loopscan.formats._native_runs import Run
from loopscan.lines import LINE_LIMIT, placed
from loopscan.skips import Skips
from loopscan.stream import Plain, Stream, written

STEP: Final = 1 << 20

Mark = tuple[int, int]
"""Where a line begins: the byte, and how many lines are before it."""


class Portion(Blob):
    """Some lines of a plain file with their numbers in it. The head is that of the file.

    `start`: where the first line begins; `end`: the byte where the next one begins, None = the end of the file;
    `last`: the number of the last line to read. `at`: that of the line being read, None before and after all.
    """

    def __init__(self, path: str, start: Mark | int, end: int | None = None, last: int | None = None) -> None:
        super().__init__(path, Path(path))
        self._head = self._sniffed()
        self._last = last
        self.start = (start, self._lines_before(start)) if isinstance(start, int) else start
        self._raw.seek(self.start[0])
        self._ahead = b""
        self.marked = Marked(written(self._raw, Plain(self._raw, self._fault, endless=False)), self.start, end)
        self._stream = self.marked

    def _lines_before(self, place: int) -> int:
        self._raw.seek(0)
        lines = 0
        while place > 0 and (data := self._raw.read(min(STEP, place))):
            lines += data.count(b"\n")
            place -= len(data)
        return lines

    def lines(self, skips: Skips) -> Iterator[tuple[int, bytes]]:
        """The lines that are not blank with their numbers in the file."""
        for number, _, line in self.placed(skips):
            yield number, line

    def placed(self, skips: Skips) -> Iterator[tuple[int, int, bytes]]:
        """The same with the place of each in the file; -1 where it is not known."""
        offset, before = self.start

        def too_long(number: int) -> None:
            skips.add(self.name, number + before, f"line too long: more than {LINE_LIMIT:,} bytes")

        self._head = None
        number = before
        for count, place, line in placed(b"", self._stream, too_long, self._patience):
            number = count + before
            self.at = number
            if self._last is not None and number > self._last:
                return
            yield number, place if place < 0 else place + offset, line
        self.at = number + 1

    def tell_damage(self, skips: Skips) -> None:
        """All lines were read, and what waited for the next one is done."""
        self.at = None
        Blob.tell_damage(self, skips)


class Marked(Stream):
    """A stream up to a byte. `marks`: some places where lines begin, a read apart; `lines`: those before what comes."""

    def __init__(self, rest: Stream, start: Mark, end: int | None) -> None:
        self._rest, self._end = rest, end
        self._place, self.lines = start
        self.marks = [start]

    def read(self, size: int) -> bytes:
        """The next bytes."""
        data = self._rest.read(size if self._end is None else min(size, self._end - self._place))
        self._passed(data)
        return data

    def readinto(self, view: memoryview) -> int:
        """The next bytes, without a copy of them kept."""
        room = len(view) if self._end is None else min(len(view), self._end - self._place)
        size = self._rest.readinto(view[:room]) if room else 0
        self._passed(bytes(view[:size]))
        return size

    def _passed(self, data: bytes) -> None:
        if (first := data.find(b"\n")) >= 0:
            if self._place + first >= self.marks[-1][0] + STEP // 2:
                self.marks.append((self._place + first + 1, self.lines + 1))
            self.lines += data.count(b"\n")
        self._place += len(data)


class Spans(dict[str, Run]):
    """The runs of a native log by id, and lines of it between which each stands."""

    def __init__(self) -> None:
        super().__init__()
        self._portion: Portion | None = None
        self.first: dict[str, int] = {}
        self.last: dict[str, int] = {}
        self._now = ""

    def begin(self, portion: Portion) -> None:
        """What comes now is of this portion."""
        self._portion, self.first, self.last, self._now = portion, {}, {}, ""

    def get(self, run: str, otherwise: Run | None = None) -> Run | None:  # type: ignore[override]
        """The run of a line, asked for where another one's lines end."""
        at = (self._portion and self._portion.at) or 0
        if run not in self.last:
            self.first[run] = at
        self._until(at)
        self.last[run] = at
        self._now = run
        return super().get(run)

    def _until(self, line: int) -> None:
        if self._now:
            self.last[self._now] = max(self.last[self._now], line - 1)

    def woken(self, run: str, first: int, last: int) -> None:
        """A run that was quiet from one line to another is to be asked for."""
        self.first[run], self.last[run] = first, last

    def end(self, line: int) -> None:
        """The last line was read."""
        self._until(line + 1)
