"""Reading parts of a big file: each as a scan of its own, and again the stretches of runs that stand in several."""

from __future__ import annotations

from array import array
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field, replace
from functools import partial
from typing import Final

from loopscan.blob import Blob
from loopscan.depth import deeper
from loopscan.engine import Audit
from loopscan.formats import Reader
from loopscan.formats._native_runs import Runs
from loopscan.model import End, Event, Further, Rows, Several
from loopscan.noted import Noted, Said
from loopscan.parcel import Reports, packed
from loopscan.portion import Portion, Spans
from loopscan.quiet import Quiet
from loopscan.reach import Mark
from loopscan.report import RunReport
from loopscan.run import Run
from loopscan.scan import Reading
from loopscan.shares import Task
from loopscan.source import Input
from loopscan.ties import Ties, run_hash, ties_of
from loopscan.whole import Whole

NATIVE = "loopscan"

Place = tuple[int, int, int]
"""Where a run begins: the number of the input and 0, line, or 1, its first line where its turn waits for the end."""


@dataclass(slots=True)
class Lines:
    """What came of some lines of a file.

    `hashes`, `places`: of each report's run, and where it begins, number by number of `Place`. `spans`: hash, first and
    last line of each run of a native log. `lines`: those before the end, `before`: before the first. `odd`: something
    that parts cannot tell: the file is to be read whole.
    """

    odd: bool
    said: Said
    ties: Ties
    reports: list[RunReport]
    hashes: array[int]
    places: tuple[array[int], array[int], array[int]]
    spans: tuple[array[int], array[int], array[int]]
    marks: list[Mark]
    lines: int
    before: int = 0

    def move(self, before: int) -> None:
        """Number the lines as those behind so many others."""
        more, self.before = before - self.before, before
        if more:
            self.said.sayings = self.said.moved(more)
            numbers, waits, lines = self.places
            self.places = numbers, waits, array("q", [line + more for line in lines])
            runs, first, last = self.spans
            self.spans = runs, array("q", [n + more for n in first]), array("q", [n + more for n in last])
            self.marks = [(place, lines + more) for place, lines in self.marks]
            self.lines += more

    def runs(self) -> Iterator[tuple[RunReport, int, Place]]:
        """Each report with hash and place."""
        return zip(self.reports, self.hashes, zip(*self.places, strict=True), strict=True)


_CALLS: Final = 3
"""Calls on the way from a scan to its decoders beyond those of one process."""


@dataclass(slots=True)
class _Auditing(Audit):
    """An audit of some lines. `wanted`: hashes of the runs it is about, None = all.

    `number`, `portion`: the input that is read, and what of it. `begins`: input and line at which each run begins;
    `spans`: where runs stand.
    """

    number: int = 0
    portion: Portion | None = None
    begins: dict[str, tuple[int, int | None]] = field(default_factory=dict)
    wanted: frozenset[int] | None = None
    spans: Spans = field(default_factory=Spans)

    def read(self, blob: Blob, format_name: str, reader: Reader) -> None:
        """Take a portion. Where runs have no names they may be called by their lines."""
        if format_name != NATIVE and self.portion is not None:
            self.portion.count_before()
        with deeper(_CALLS):
            Audit.read(self, blob, format_name, reader)

    def take(self, events: Iterable[Event | Several | Rows | Whole | Further], format_name: str, source: str) -> None:
        """Take the events of the wanted runs."""
        Audit.take(self, self._noted(events, format_name), format_name, source)

    def _noted(
        self, events: Iterable[Event | Several | Rows | Whole | Further], format_name: str
    ) -> Iterator[Event | Several | Rows | Whole | Further]:
        wanted, begins = self.wanted, self.begins
        for event in events:
            if wanted is None or run_hash(format_name, event.run) in wanted:
                if event.run not in begins and self.portion is not None and (type(event) is not End or event.final):
                    begins[event.run] = self.number, self.portion.at
                yield event

    def full(self, format_name: str) -> dict[str, Run] | None:
        """The open runs of a format that are more than quiet, where all are asked for."""
        return Audit.full(self, format_name) if self.wanted is None else None

    def wants(self, run: str, format_name: str) -> bool:
        """Whether a run is asked for."""
        asked = self.wanted is None or run_hash(format_name, run) in self.wanted
        return asked and Audit.wants(self, run, format_name)

    def start(self, begun: Iterable[tuple[Quiet, int | None]], format_name: str) -> None:
        """Take note of quiet runs that begin."""
        runs = list(begun)
        for state, line in runs:
            self.begins.setdefault(state.run, (self.number, line))
        Audit.start(self, runs, format_name)

    def wakes(self, state: Quiet, format_name: str) -> None:
        """Make a full run of a quiet one."""
        self.spans.woken(state.run, state.first, state.line)
        if self.portion is not None:
            self.begins.setdefault(state.run, (self.number, self.portion.at))
        Audit.wakes(self, state, format_name)

    def note_quiet(self) -> None:
        """Take note of the lines of the runs that stayed quiet."""
        for state in self.quiet:
            self.spans.woken(state.run, state.first, state.line)


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

    def read(self, task: Task) -> bytes:
        """What came of it, packed."""
        inputs = replace(task.inputs, format=self.format or task.inputs.format)
        task = replace(task, inputs=inputs, tells=task.tells and not self.start)
        return _read(task, (Segment(self.number, self.item, (self.start, 0), self.end),), None)


@dataclass(slots=True, frozen=True)
class Stretch:
    """Lines of one file, or of several that follow one another, and the runs to be read of them."""

    segments: tuple[Segment, ...]
    wanted: frozenset[int]

    @property
    def names(self) -> list[str]:
        """The files."""
        return [segment.item.path for segment in self.segments]

    def read(self, task: Task) -> bytes:
        """What came of the runs, packed."""
        return _read(task, self.segments, self.wanted)


def _read(task: Task, segments: tuple[Segment, ...], wanted: frozenset[int] | None) -> bytes:
    noted, scan = task.scan()
    spans = Spans()
    runs = scan.memory[NATIVE] = Runs(scan.field_map, spans)
    engine = _Auditing(task.settings, task.prices, scan, wanted=wanted, spans=spans)
    odd, places = False, dict[tuple[str, str], Place]()
    for segment in segments:
        opened = partial(_opened, segment, engine, spans)
        reading = Reading(task.told_to(noted), task.settings.span, engine, open=opened)
        reading.try_(segment.item, scan)
        portion = engine.portion
        odd = odd or reading.read != 1 or portion is None or bool(portion.damage)
        engine.note_quiet()
        _note_places(places, engine, spans)
    engine.release()
    _note_places(places, engine, spans)
    ties = ties_of(engine, scan)
    spans.end(0 if portion is None else portion.passed + 1)
    hashes = {identity: run_hash(*identity) for identity in places}
    own = array("q", [hashes.get((NATIVE, run)) or run_hash(NATIVE, run) for run in spans.last])
    numbers, waits, lines = zip(*places.values(), strict=True) if places else ((), (), ())
    odd = odd or bool(engine.reports) or _needs_more(runs, noted) or ties.all or any(ties.wide.values())
    found = Lines(
        odd,
        noted.cut(),
        ties,
        Reports(engine.close()),
        array("q", hashes.values()),
        (array("q", numbers), array("q", waits), array("q", lines)),
        (own, array("q", spans.first.values()), array("q", spans.last.values())),
        [] if portion is None else portion.marks,
        0 if portion is None else portion.passed,
        0 if portion is None else portion.start[1],
    )
    return packed(found)


def _opened(segment: Segment, engine: _Auditing, spans: Spans, _: Input) -> Portion:
    engine.number, engine.portion = segment.number, segment.open()
    spans.begin(engine.portion)
    return engine.portion


def _needs_more(runs: Runs, noted: Noted) -> bool:
    """Whether lines were met whose meaning other lines decide: copies, lower numbers, runs opened again, prompts."""
    prompts = any(run.prompt is not None for run in runs.by_id.values())
    return runs.all_marked or prompts or bool(noted.copies or noted.reopened)


def _note_places(places: dict[tuple[str, str], Place], engine: _Auditing, spans: Spans) -> None:
    for identity in engine.begun if len(engine.begun) > len(places) else ():
        if identity not in places:
            run = identity[1]
            number, at = engine.begins[run]
            places[identity] = (number, 1, spans.first.get(run, 0)) if at is None else (number, 0, at)
