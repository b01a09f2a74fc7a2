"""Reading parts of a big file: each as a scan of its own, and again the stretches of runs that stand in several."""

from __future__ import annotations

from array import array
from dataclasses import dataclass, replace
from functools import partial

from loopscan.excerpt import NATIVE, Excerpt
from loopscan.formats._native_runs import Runs
from loopscan.noted import Noted, Said
from loopscan.parcel import Parcel, Reports, packed
from loopscan.portion import Portion, Spans
from loopscan.reach import Mark
from loopscan.report import RunReport
from loopscan.scan import Reading
from loopscan.shares import Task
from loopscan.source import Input
from loopscan.ties import Ties, ties_of


@dataclass(slots=True)
class Lines:
    """What came of some lines of a file.

    `hashes`, `places`: of each report's run, and where it begins (`loopscan.origin`). `spans`: hash, first, last line
    of each run of a native log. `start`, `lines`: those counted before them and by their end; `before`: those to be
    added to the numbers of all. `odd`: something that parts cannot tell: the file is to be read whole.
    """

    odd: bool
    said: Said
    ties: Ties
    reports: list[RunReport]
    hashes: array[int]
    places: array[int]
    spans: tuple[array[int], array[int], array[int]]
    marks: list[Mark]
    start: int
    lines: int
    before: int = 0


@dataclass(slots=True, frozen=True)
class Segment:
    """Some lines of input `number`: see `Portion`."""

    number: int
    item: Input
    start: Mark
    end: int | None = None
    last: int | None = None

    def open(self) -> Portion:
        """These lines. Raises InputError."""
        return Portion(self.item.path, self.start, self.end, self.last)


@dataclass(slots=True, frozen=True)
class Chunk:
    """A part of input `number`: from byte `start` to byte `end` (None = to its end). `format`: that of the file."""

    number: int
    item: Input
    start: int
    end: int | None
    format: str | None = None

    @property
    def names(self) -> list[str]:
        """The file."""
        return [self.item.path]

    def read(self, task: Task) -> Parcel:
        """What came of it, packed."""
        task = replace(_of(task, self.format), tells=task.tells and not self.start)
        return _read(task, (Segment(self.number, self.item, (self.start, 0), self.end),), None)


@dataclass(slots=True, frozen=True)
class Stretch:
    """Lines of one native log, or of several that follow one another, and the runs to be read of them."""

    segments: tuple[Segment, ...]
    wanted: frozenset[int]

    @property
    def names(self) -> list[str]:
        """The files."""
        return [segment.item.path for segment in self.segments]

    def read(self, task: Task) -> Parcel:
        """What came of the runs, packed."""
        return _read(_of(task, NATIVE), self.segments, self.wanted)


def _of(task: Task, format_name: str | None) -> Task:
    """The task for lines of a format that is known already."""
    return task if format_name is None else replace(task, inputs=replace(task.inputs, format=format_name))


def _read(task: Task, segments: tuple[Segment, ...], wanted: frozenset[int] | None) -> Parcel:
    noted, scan = task.scan()
    spans = Spans()
    runs = scan.memory[NATIVE] = Runs(scan.field_map, spans)
    engine = Excerpt(task.settings, task.prices, scan, wanted=wanted, spans=spans)
    odd = False
    for segment in segments:
        opened = partial(_opened, segment, engine, spans)
        reading = Reading(task.told_to(noted), task.settings.span, engine, open=opened)
        reading.try_(segment.item, scan)
        portion = engine.portion
        odd = odd or reading.read != 1 or portion is None or bool(portion.damage)
    engine.release()
    spans.end(0 if portion is None else portion.passed + 1)
    engine.note()
    ties, spanned = ties_of(engine, scan, engine.hashes), engine.spanned()
    odd = odd or bool(engine.reports) or _needs_more(runs, noted) or ties.all or any(ties.wide.values())
    found = Lines(
        odd,
        noted.cut(),
        ties,
        Reports(engine.over()),
        engine.hashes,
        engine.places,
        spanned,
        [] if portion is None else portion.marks,
        0 if portion is None else portion.start[1],
        0 if portion is None else portion.passed,
    )
    task.held.append((engine, found))
    return packed(found)


def _opened(segment: Segment, engine: Excerpt, spans: Spans, _: Input) -> Portion:
    engine.note()
    engine.number, engine.portion = segment.number, segment.open()
    spans.begin(engine.portion)
    return engine.portion


def _needs_more(runs: Runs, noted: Noted) -> bool:
    """Whether lines were met whose meaning other lines decide: copies, lower numbers, runs opened again, prompts."""
    prompts = any(run.prompt is not None for run in runs.by_id.values())
    return runs.all_marked or prompts or bool(noted.copies or noted.reopened)
