"""What a process has to say of a part of a scan: kept as it is, to be said in its place when all parts are there."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, field
from typing import Final, NamedTuple

from loopscan.skips import Skips


class Skip(NamedTuple):
    """A skipped record."""

    file: str
    line: int | None
    reason: str


class Told(NamedTuple):
    """What a record of an unknown type holds; the how manieth of its type in the input it is."""

    kind: str
    number: int
    words: str


class Barren(NamedTuple):
    """A file of a known format without anything to audit."""

    file: str
    reason: str


Saying = str | Skip | Told | Barren


@dataclass(slots=True)
class Said:
    """What was said of one input, in its order, and what was counted beside."""

    sayings: list[Saying]
    rest: Skips

    def moved(self, lines: int) -> list[Saying]:
        """The sayings, of an input of which so many more lines are before."""
        return [
            s._replace(line=s.line + lines) if isinstance(s, Skip) and s.line is not None else s for s in self.sayings
        ]

    def replay(self, skips: Skips) -> None:
        """Say and count it as part of the whole scan."""
        before = skips.unknown.copy() if any(isinstance(s, Told) for s in self.sayings) else skips.unknown
        for saying in self.sayings:
            if isinstance(saying, Skip):
                skips.add(saying.file, saying.line, saying.reason)
            elif isinstance(saying, Barren):
                skips.nothing(saying.file, saying.reason)
            elif skips.report is not None:
                if isinstance(saying, str):
                    skips.report(saying)
                elif before[saying.kind] + saying.number <= skips.limit:
                    skips.report(saying.words)
        skips.merge(self.rest)


SILENT: Final = Said([], Skips())
"""Of most inputs there is nothing to be said: shared by them, and changed by nobody."""


@dataclass(slots=True)
class Noted(Skips):
    """Counts skips, and keeps the first `limit` of an input with all that is said."""

    sayings: list[Saying] = field(default_factory=list)
    kept: int = 0
    before: Counter[str] = field(default_factory=Counter)
    """Unknown types by the end of the input before."""

    def add(self, file: str, line: int | None, reason: str) -> None:
        """Take one skipped record."""
        if self.kept < self.limit:
            self.kept += 1
            self.sayings.append(Skip(file, line, reason))
        else:
            self.count(file, reason)

    def tell(self, kind: str, words: str) -> None:
        """Take what a record of an unknown type holds."""
        number = self.unknown[kind] - self.before[kind]
        if number <= self.limit:
            self.sayings.append(Told(kind, number, words))

    def nothing(self, file: str, reason: str) -> None:
        """Take a file without anything to audit."""
        self.sayings.append(Barren(file, reason))

    def say(self, words: str) -> None:
        """Take a line."""
        self.sayings.append(words)

    def cut(self) -> Said:
        """What came since the last cut."""
        if not (self.sayings or self.total or self.copies or self.reopened or self.unknown):
            return SILENT
        unknown = Counter({k: n - self.before[k] for k, n in self.unknown.items() if n != self.before[k]})
        rest = Skips(
            None, None, self.limit, self.total, self.by_reason, self.by_file, unknown, self.copies, self.reopened
        )
        said = Said(self.sayings, rest)
        self.sayings, self.kept, self.total, self.copies, self.reopened = [], 0, 0, 0, 0
        self.by_reason, self.by_file, self.before = Counter(), Counter(), self.unknown.copy()
        return said
