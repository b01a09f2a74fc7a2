"""A reading of one long run from some place on: it reads the turns before it, but counts only those behind it."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, field, replace
from functools import partial
from typing import TYPE_CHECKING, Any, Final, cast

from loopscan.blob import Blob
from loopscan.cuts import row_of
from loopscan.engine import Audit
from loopscan.errors import InputError
from loopscan.formats import Reader, Scan, native
from loopscan.formats._fields import when
from loopscan.formats._native_blocks import events
from loopscan.formats._native_log import Log
from loopscan.formats._native_rows import rows_of
from loopscan.formats._native_runs import Runs
from loopscan.lines import LINE_LIMIT
from loopscan.model import Event, Turn
from loopscan.noted import Noted
from loopscan.reach import Mark, Reach
from loopscan.run import Run
from loopscan.shares import Task
from loopscan.spliced import begin_anew
from loopscan.standing import alike, same_lines
from loopscan.stop import STOP

if TYPE_CHECKING:
    from loopscan.relay import Leg

NATIVE: Final = "loopscan"
WARM: Final = 1 << 20
"""Bytes before its place that a leg reads."""


@dataclass(slots=True)
class Course:
    """A reading of a log, portion by portion. `mark`: where the next one begins, and how many lines are before it."""

    leg: Leg
    task: Task
    noted: Noted
    scan: Scan
    engine: Audit
    lines: _Lines = field(default_factory=lambda: _Lines())
    mark: Mark = (0, 0)
    start: int = 0
    """The lines before its place, which are counted from another one."""
    reached: int | None = None
    carried: int = 0
    whole: bool = True
    """Nothing was amiss with the file."""

    @classmethod
    def of(cls, leg: Leg, task: Task) -> Course:
        """One that nothing was read of."""
        noted, scan = task.scan()
        return cls(leg, task, noted, scan, Audit(task.settings, task.prices, scan))

    def read(self, blob: Blob, format_name: str, reader: Reader) -> None:
        """Take the first portion, and those behind it until another leg goes on."""
        self.take(cast(Reach, blob))
        for at in range(self.leg.at + 1, len(self.leg.places)):
            if STOP.asked:
                return
            if self._stands_at(at):
                self.reached = at
                return
            leg = replace(self.leg, at=at)
            with Reach(leg.item.path, self.mark, leg.end) as portion:
                self.take(portion)

    def take(self, portion: Reach, begin: Callable[[], None] | None = None) -> None:
        """Take a portion; `begin` is done before its first line."""
        self.lines.begin, self.lines.last = begin, portion.end is None
        self.engine.read(portion, NATIVE, self.lines)
        self.mark = portion.end or 0, portion.passed
        self.whole = self.whole and not portion.damage

    def alone(self) -> tuple[Run, object] | None:
        """The run and the reading of its lines, where there is no other and nothing was met that legs cannot tell."""
        runs, log, engine = self.scan.memory.get(NATIVE), self.lines.log, self.engine
        begun = list(engine.begun)
        if not self.whole or log is None or type(runs) is not Runs or runs.all_marked or len(begun) != 1:
            return None
        name = begun[0][1]
        if begun != [(NATIVE, name)] or not runs.by_id.keys() <= {name} or engine.reports or engine.loose:
            return None
        lines = log.run(name)
        log.settle(name, lines)
        run = engine._runs[NATIVE].get(name)
        if run is None or run.others or run.nap is not None or engine.quiet:
            return None
        run.ledger.pack()
        return run, lines

    def _stands_at(self, at: int) -> bool:
        """Whether the leg from a place on stands there where this one does."""
        mine = self.alone()
        if mine is None:
            return False
        theirs = warmed(replace(self.leg, at=at), self.task, self.mark[1])
        other = None if theirs is None else theirs.alone()
        return other is not None and alike(mine[0], other[0]) and same_lines(mine[1], other[1])


class _Lines:
    """The reader of a native log that comes in portions. `last`: nothing comes behind this one."""

    TITLE, WHERE, LACKS = native.TITLE, native.WHERE, native.LACKS
    COSMETIC_ARGS, FINAL = native.COSMETIC_ARGS, native.FINAL
    sniff = staticmethod(native.sniff)
    clean_result = staticmethod(native.clean_result)

    def __init__(self) -> None:
        self.log: Log | None = None
        self.begin: Callable[[], None] | None = None
        self.last = False

    def read(self, blob: Blob, scan: Scan) -> Iterator[Event]:
        """The events of a portion, without the last turn where the next line may be part of it."""
        if self.begin is not None:
            self.begin()
        log = self.log = self.log or Log(blob, scan)
        log.blob = blob
        rows = rows_of(blob.head)
        if rows is not None:
            yield from cast(Iterator[Event], events(log, rows))
            log.stay_all(True)
        if self.last:
            yield from cast(Iterator[Event], log.ended())


def warmed(leg: Leg, task: Task, lines: int | None = None) -> Course | None:
    """The reading of a log as it stands where a leg begins; None where that cannot be told.

    `lines`: those before that place, as the other reading counts them.
    """
    course, path = Course.of(leg, replace(task, tells=False)), leg.item.path
    try:
        start = _line_before(path, leg.start)
        before = 0 if lines is None else lines - _lines_between(path, start, leg.start)
        with Reach(path, (start, before), leg.start) as reach:
            rows = rows_of(reach.head)
            first, row = (row_of(rows, _line_at(path, place)) for place in (0, start))
            if first is None or row is None or row.run != first.run or (row.turn or 0) < (first.turn or 0):
                return None
            counted = row.turn is not None and first.turn is not None
            turns = row.turn - first.turn if counted else _lines_between(path, 0, start)
            course.take(reach, partial(_set_out, course.engine, reach.name, row, turns))
    except (InputError, OSError):
        return None
    alone = course.alone()
    if alone is None or STOP.asked:
        return None
    course.carried, course.start = begin_anew(alone[0], when(first.ts)), course.mark[1]
    course.noted.cut()
    return course


def _set_out(engine: Audit, name: str, row: Any, turns: int) -> None:
    """Let the run of a row begin behind some turns of it."""
    run_id = name if row.run is None else str(row.run)
    run = engine._start(Turn(run_id, model=row.model, time=when(row.ts)), (NATIVE, run_id), name)
    tracker = run.progress.tracker
    run.turns = tracker.turn = tracker.detector.turn = run.ledger.tally.packed = turns
    if tracker.watch is not None:
        tracker.watch.turn = turns


def _line_before(path: str, place: int) -> int:
    """Where the line begins that stands about `WARM` bytes before a place."""
    start = max(0, place - WARM)
    if not start:
        return 0
    with open(path, "rb") as file:
        file.seek(start)
        file.readline(LINE_LIMIT)
        return min(file.tell(), place)


def _lines_between(path: str, start: int, end: int) -> int:
    lines = 0
    with open(path, "rb") as file:
        file.seek(start)
        while start < end and (data := file.read(min(WARM, end - start))):
            lines += data.count(b"\n")
            start += len(data)
    return lines


def _line_at(path: str, place: int) -> bytes:
    with open(path, "rb") as file:
        file.seek(place)
        return file.readline(LINE_LIMIT)
