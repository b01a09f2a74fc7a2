"""One outcome out of those of the parts of a file, or of several whose runs go on in the next one."""

from __future__ import annotations

from array import array
from bisect import bisect_left, bisect_right
from dataclasses import dataclass, field
from operator import itemgetter
from typing import Final

from loopscan.chunks import Chunk, Lines, Segment, Stretch
from loopscan.ids import apart, in_several
from loopscan.noted import Said
from loopscan.origin import first_place
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
        self.split = in_several([c.ties.ids for c in known])
        first, last = dict[int, Spot](), dict[int, Spot]()
        split = array("q", sorted(self.split))
        for (number, _), chunk in zip(self.keys, known, strict=True) if split else ():
            runs, begins, ends = chunk.spans
            for at in apart(runs, begins, 0, split)[0]:
                first.setdefault(runs[at], (number, begins[at] + chunk.before))
                last[runs[at]] = number, ends[at] + chunk.before
        if len(last) < len(self.split):  # they have something else in common than runs
            return None
        return self._stretches(sorted((first[run], last[run], run) for run in last))

    def _number(self) -> None:
        """Number the lines of all parts from the beginning of the file."""
        lines = dict.fromkeys(self.items, 0)
        for number, start in self.keys:
            chunk = self.parts[number, start]
            chunk.before = lines[number] - chunk.start
            lines[number] += chunk.lines - chunk.start

    def _stretches(self, spans: list[tuple[Spot, Spot, int]]) -> list[Stretch] | None:
        lengths = {n: self.parts[n, start].before + self.parts[n, start].lines for n, start in self.keys}
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
                parts = [self.parts[key] for key in self.keys if key[0] == number]
                marks = sorted((place, lines + part.before) for part in parts for place, lines in part.marks)
            at = bisect_right(marks, begins[1] - 1, key=itemgetter(1)) if number == begins[0] else 1
            last = ends[1] if number == ends[0] else None
            found.append(Segment(number, self.items[number], marks[max(0, at - 1)], last=last))
        return tuple(found)

    def outcome(self) -> Outcome | None:
        """What came of all; None where the parts do not tell it."""
        if any(again.odd for again in self.again):
            return None
        reports, places, rise = list[RunReport](), array("q"), True
        split = array("q", sorted(self.split))
        for part in [self.parts[key] for key in self.keys]:
            left, those, rises = apart(part.hashes, part.places, part.before, split)
            rise = rise and rises and not (places and those and places[-1] >= those[0])
            places += those
            reports += part.reports
            for at in left:
                del reports[at - len(part.reports)]
        for again in self.again:
            for report, place in zip(again.reports, again.places, strict=True):
                at = bisect_left(places, place)
                rise = rise and places[at : at + 1] != array("q", [place])
                reports.insert(at, report)
                places.insert(at, place)
        if not rise:
            if self.split and len(set(places)) < len(places):  # which one is first cannot be told
                return None
            reports = [report for _, report in sorted(zip(places, reports, strict=True), key=itemgetter(0))]
            places = array("q", sorted(places))
        return self._outcome(self.keys, reports, places)

    def begun(self) -> Outcome | None:
        """What is known where the scan was stopped: what came of the first part, if anything did."""
        first = self.parts.get(self.keys[0])
        return None if first is None else self._outcome(self.keys[:1], first.reports, first.places)

    def _outcome(self, keys: list[tuple[int, int]], reports: list[RunReport], places: array[int]) -> Outcome:
        ids, pieces = array("q"), dict[int, Piece]()
        for key in keys:
            part = self.parts[key]
            ids.extend(part.ties.ids)
            if key[0] not in pieces:
                begin, end = (bisect_left(places, first_place(n)) for n in (key[0], key[0] + 1))
                pieces[key[0]] = Piece(Said([], Skips()), read=1, begun=reports[begin:end])
            said = pieces[key[0]].said
            said.sayings += part.said.moved(part.before)
            said.rest.merge(part.said.rest)
        probe = self.parts[keys[0]].ties.probe
        return Outcome(pieces, Piece(Said([], Skips())), Ties(ids, probe=probe))


def merged(cuts: list[Cut]) -> Cut:
    """Several in one; with an input of no part where one of them has none."""
    cuts = sorted(cuts, key=lambda cut: cut.number)
    items = {n: item for cut in cuts for n, item in cut.items.items()}
    keys = sorted(key for cut in cuts for key in cut.keys)
    return Cut(items, keys, {key: lines for cut in cuts for key, lines in cut.parts.items()})
