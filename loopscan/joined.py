"""One outcome out of those of the parts of a file."""

from __future__ import annotations

from array import array
from bisect import bisect_right
from collections import Counter
from dataclasses import dataclass, field
from itertools import pairwise
from operator import itemgetter
from typing import Final

from loopscan.chunks import Chunk, Lines, Place, Stretch
from loopscan.noted import Said
from loopscan.report import RunReport
from loopscan.shares import Outcome, Piece
from loopscan.skips import Skips
from loopscan.source import Input
from loopscan.ties import Ties

AGAIN: Final = 2
"""Runs in several parts are read once more if their lines are at most one in so many of the file's."""


@dataclass(slots=True)
class Cut:
    """Input `number` that was read in parts. `parts`: by start, what came of it; `again`: the same of each stretch."""

    number: int
    item: Input
    starts: list[int] = field(default_factory=list)
    parts: dict[int, Lines] = field(default_factory=dict)
    again: list[Lines] = field(default_factory=list)
    split: frozenset[int] = frozenset()
    """Hashes of the runs that stand in several parts."""

    def take(self, share: Chunk | Stretch, lines: Lines) -> None:
        """Take what came of a part or a stretch."""
        if isinstance(share, Chunk):
            self.parts[share.start] = lines
        else:
            self.again.append(lines)

    def stretches(self) -> list[Stretch] | None:
        """What is to be read once more for the whole; None where it is the file."""
        chunks = [self.parts[start] for start in self.starts]
        if any(c.odd for c in chunks) or len({c.ties.probe for c in chunks}) > 1:
            return None
        times = Counter(run for c in chunks for run in c.ties.ids)
        self.split = frozenset(run for run, count in times.items() if count > 1)
        first, last = dict[int, int](), dict[int, int]()
        for chunk in chunks:
            for run, begins, ends in zip(*chunk.spans, strict=True):
                if run in self.split:
                    first.setdefault(run, begins)
                    last[run] = ends
        if len(last) < len(self.split):  # they have something else in common than runs
            return None
        return self._stretches(sorted((first[run], last[run], run) for run in last), chunks)

    def _stretches(self, spans: list[tuple[int, int, int]], chunks: list[Lines]) -> list[Stretch] | None:
        marks = sorted({mark for c in chunks for mark in c.marks}, key=itemgetter(1))
        merged: list[tuple[int, int, set[int]]] = []
        for begins, ends, run in spans:
            if merged and begins <= merged[-1][1]:
                before = merged.pop()
                merged.append((before[0], max(before[1], ends), before[2] | {run}))
            else:
                merged.append((begins, ends, {run}))
        if sum(ends - begins for begins, ends, _ in merged) * AGAIN > chunks[-1].lines:
            return None
        found = []
        for begins, ends, runs in merged:
            mark = marks[max(0, bisect_right(marks, begins - 1, key=itemgetter(1)) - 1)]
            found.append(Stretch(self.number, self.item, mark, ends, frozenset(runs)))
        return found

    def outcome(self) -> Outcome | None:
        """The outcome of the file; None where the parts do not tell it."""
        chunks = [self.parts[start] for start in self.starts]
        if any(again.odd for again in self.again):
            return None
        runs = [r for c in chunks for r in c.runs() if r[1] not in self.split]
        runs += [r for c in self.again for r in c.runs()]
        runs.sort(key=itemgetter(2))
        if self.split and _ambiguous(runs):
            return None
        return self._outcome(chunks, [report for report, _, _ in runs])

    def begun(self) -> Outcome | None:
        """What is known of the file where the scan was stopped: what came of its first part, if anything did."""
        first = self.parts.get(0)
        return None if first is None else self._outcome([first], first.reports)

    def _outcome(self, chunks: list[Lines], runs: list[RunReport]) -> Outcome:
        ids, said = set[int](), Said([], Skips())
        for chunk in chunks:
            ids.update(chunk.ties.ids)
            said.sayings += chunk.said.sayings
            said.rest.merge(chunk.said.rest)
        ties = Ties(array("q", ids), probe=chunks[0].ties.probe)
        return Outcome({self.number: Piece(said, read=1, begun=runs)}, Piece(Said([], Skips())), ties)


def _ambiguous(runs: list[tuple[RunReport, int, Place]]) -> bool:
    return any(one[2] == other[2] for one, other in pairwise(runs))
