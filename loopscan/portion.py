"""A portion of one big file of lines, read as if it were a file, and which of its lines belong to which run."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import suppress
from typing import Final

from loopscan.blob import Blob
from loopscan.blocks import Blocked
from loopscan.compiled import lines_in
from loopscan.formats._native_runs import Run
from loopscan.reach import Mark, Reach
from loopscan.skips import Skips

STEP: Final = 1 << 20


class Portion(Reach):
    """Lines of a plain file from one place to another (`Reach`), up to number `last`, if that comes before.

    `at`: the number of the line being read, None before and after all. `marks`: some places where lines begin.
    """

    def __init__(self, path: str, start: Mark, end: int | None = None, last: int | None = None) -> None:
        super().__init__(path, start, end)
        self._last = last
        self.marks = [start]

    def count_before(self) -> None:
        """Number the lines as those of the file."""
        place, lines = self.start[0], 0
        left = self._raw.seek(0) or place
        while left > 0 and (data := self._raw.read(min(STEP, left))):
            lines += data.count(b"\n")
            left -= len(data)
        self._raw.seek(place)
        self.start = place, lines
        self.marks = [self.start]

    def placed(self, skips: Skips) -> Iterator[tuple[int, int, bytes]]:
        """The lines that are not blank with number and place."""
        marked, number = self.start
        for number, place, line in Reach.placed(self, skips):
            self.at = number
            if self._last is not None and number > self._last:
                return
            if place >= marked + STEP // 2:
                self.marks.append((place, number - 1))
                marked = place
            yield number, place, line
        self.at = number + 1

    def blocks(self, skips: Skips) -> Blocked:
        """The same as blocks of whole lines."""
        marked, blocks = self.start[0], Reach.blocks(self, skips)
        counted: int | None = None
        with suppress(StopIteration):
            while True:
                number, place, data, begin, end = blocks.send(counted)
                if self._last is not None and (most := self._last - number) < lines_in(data, begin, end):
                    end = begin
                    for _ in range(most):
                        end = data.find(b"\n", end) + 1
                    self.at = self._last + 1
                    yield number, place, data, begin, end
                    return
                if place >= marked + STEP // 2:
                    self.marks.append((place, number))
                    marked = place
                counted = yield number, place, data, begin, end
        self.at = self.passed + 1

    def tell_damage(self, skips: Skips) -> None:
        """All lines were read, and what waited for the next one is done."""
        self.at = None
        Blob.tell_damage(self, skips)


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
