"""One outcome out of those of the parts of a file, or of several whose runs go on in the next one."""

from __future__ import annotations

from array import array
from bisect import bisect_right
from collections import Counter
from dataclasses import dataclass, field
from itertools import pairwise
from operator import itemgetter
from typing import Final

from loopscan.chunks import Chunk, Lines, Place, Segment, Stretch
from loopscan.noted import Said
from loopscan.reach import Mark
from loopscan.report import RunReport
from loopscan.shares import Files, Outcome, Piece
from loopscan.skips import Skips
from loopscan.source import Input
from loopscan.ties import Ties

Spot = tuple[int, int]
"""A line: the number of the input, and its own in there."""

AGAIN: Final = 2
"""Runs in several parts are read once more if their lines are at most one in so many of the file's."""


@dataclass(slots=True)
class Cut:
    """Inputs, by number, that were read in parts, or of which a part is not known.

    `keys`: input and first byte of all parts, in order. `parts`: what came of them; `again`: the same of stretches.
    """

    items: dict[int, Input]
    keys: list[tuple[int, int]] = field(default_factory=list)
    parts: dict[tuple[int, int], Lines] = field(default_factory=dict)
    again: list[Lines] = field(default_factory=list)
    split: frozenset[int] = frozenset()
    """Hashes of the runs that stand in several parts."""

    @property
    def number(self) -> int:
        """That of the first input."""
        return min(self.items)

    @property
    def whole(self) -> Files:
        """All of it."""
        return Files(tuple(sorted(self.items.items())), together=True)

    def take(self, share: Chunk | Stretch, lines: Lines) -> None:
        """Take what came of a part or a stretch."""
        if isinstance(share, Chunk):
            self.parts[share.number, share.start] = lines
        else:
            self.again.append(lines)

    def stretches(self) -> list[Stretch] | None:
        """What is to be read once more to know all; None where it is the whole."""
        chunks = [self.parts.get(key) for key in self.keys]
        if {n for n, _ in self.keys} != self.items.keys() or any(c is None or c.odd for c in chunks):
            return None
        known = [c for c in chunks if c is not None]
        self._number()
        if len({c.ties.probe for c in known}) > 1:
            return None
        times = Counter(run for c in known for run in c.ties.ids)
        self.split = frozenset(run for run, count in times.items() if count > 1)
        first, last = dict[int, Spot](), dict[int, Spot]()
        for (number, _), chunk in zip(self.keys, known, strict=True):
            for run, begins, ends in zip(*chunk.spans, strict=True):
                if run in self.split:
                    first.setdefault(run, (number, begins))
                    last[run] = number, ends
        if len(last) < len(self.split):  # they have something else in common than runs
            return None
        return self._stretches(sorted((first[run], last[run], run) for run in last))

    def _number(self) -> None:
        """Number the lines of all parts from the beginning of the file."""
        lines = dict.fromkeys(self.items, 0)
        for number, start in self.keys:
            chunk = self.parts[number, start]
            chunk.move(lines[number])
            lines[number] = chunk.lines

    def _stretches(self, spans: list[tuple[Spot, Spot, int]]) -> list[Stretch] | None:
        lengths = {number: self.parts[number, start].lines for number, start in self.keys}
        merged: list[tuple[Spot, Spot, set[int]]] = []
        for begins, ends, run in spans:
            if merged and begins <= merged[-1][1]:
                before = merged.pop()
                merged.append((before[0], max(before[1], ends), before[2] | {run}))
            else:
                merged.append((begins, ends, {run}))
        again = sum(
            (ends[1] if number == ends[0] else length) - (begins[1] if number == begins[0] else 0)
            for begins, ends, _ in merged
            for number, length in lengths.items()
            if begins[0] <= number <= ends[0]
        )
        if again * AGAIN > sum(lengths.values()):
            return None
        return [Stretch(self._segments(begins, ends), frozenset(runs)) for begins, ends, runs in merged]

    def _segments(self, begins: Spot, ends: Spot) -> tuple[Segment, ...]:
        """The lines from one spot to another, from a mark on."""
        found = []
        for number in sorted(n for n in self.items if begins[0] <= n <= ends[0]):
            marks: list[Mark] = [(0, 0)]
            if number == begins[0]:
                marks = sorted(m for key in self.keys if key[0] == number for m in self.parts[key].marks)
            at = bisect_right(marks, begins[1] - 1, key=itemgetter(1)) if number == begins[0] else 1
            last = ends[1] if number == ends[0] else None
            found.append(Segment(number, self.items[number], marks[max(0, at - 1)], last=last))
        return tuple(found)

    def outcome(self) -> Outcome | None:
        """What came of all; None where the parts do not tell it."""
        if any(again.odd for again in self.again):
            return None
        runs = [r for key in self.keys for r in self.parts[key].runs() if r[1] not in self.split]
        runs += [r for c in self.again for r in c.runs()]
        runs.sort(key=itemgetter(2))
        if self.split and _ambiguous(runs):
            return None
        return self._outcome(self.keys, runs)

    def begun(self) -> Outcome | None:
        """What is known where the scan was stopped: what came of the first part, if anything did."""
        first = self.parts.get(self.keys[0])
        return None if first is None else self._outcome(self.keys[:1], list(first.runs()))

    def _outcome(self, keys: list[tuple[int, int]], runs: list[tuple[RunReport, int, Place]]) -> Outcome:
        ids, pieces = set[int](), dict[int, Piece]()
        for key in keys:
            chunk = self.parts[key]
            said = pieces.setdefault(key[0], Piece(Said([], Skips()), read=1)).said
            ids.update(chunk.ties.ids)
            said.sayings += chunk.said.sayings
            said.rest.merge(chunk.said.rest)
        for report, _, place in runs:
            pieces[place[0]].begun.append(report)
        probe = self.parts[keys[0]].ties.probe
        return Outcome(pieces, Piece(Said([], Skips())), Ties(array("q", ids), probe=probe))


def merged(cuts: list[Cut]) -> Cut:
    """Several in one; with an input of no part where one of them has none."""
    cuts = sorted(cuts, key=lambda cut: cut.number)
    items = {n: item for cut in cuts for n, item in cut.items.items()}
    keys = sorted(key for cut in cuts for key in cut.keys)
    return Cut(items, keys, {key: lines for cut in cuts for key, lines in cut.parts.items()})


def _ambiguous(runs: list[tuple[RunReport, int, Place]]) -> bool:
    return any(one[2] == other[2] for one, other in pairwise(runs))
