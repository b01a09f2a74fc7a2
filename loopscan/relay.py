"""One long run read by several processes, each from another place on: the legs of a relay race.

A leg that begins within the run reads the turns before its place without counting them. Whoever comes to that place
from the beginning reads them once more in the same way and looks whether the run then stands where it stands for him:
if it does, the leg goes on for him; if not, he goes on himself. So what comes of the legs is what comes of one reading.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import partial

from loopscan.course import NATIVE, Course, warmed
from loopscan.depth import steady
from loopscan.errors import InputError
from loopscan.formats import native
from loopscan.late import Source
from loopscan.noted import Noted, Said
from loopscan.parcel import Parcel, Reports, packed
from loopscan.reach import Reach
from loopscan.scan import Reading
from loopscan.shares import Outcome, Piece, Task
from loopscan.source import Input
from loopscan.spliced import Counted, counted
from loopscan.ties import Ties, ties_of


@dataclass(slots=True)
class Ran:
    """What came of a leg. `reached`: the leg that goes on, None = it came to the end. `lines`: before and by its end.

    `outcome`: what came of the file, where the first leg read all of it. `counted`: else what is to be joined with that
    of the other legs; None where something came that legs cannot tell.
    """

    said: Said
    ties: Ties
    reached: int | None = None
    lines: tuple[int, int] = (0, 0)
    outcome: Outcome | None = None
    counted: Counted | None = None


@dataclass(slots=True, frozen=True)
class Leg:
    """A leg through input `number`: the one from place `at` on, of those where legs begin (the first at 0)."""

    number: int
    item: Input
    places: tuple[int, ...]
    at: int

    @property
    def names(self) -> list[str]:
        """The file."""
        return [self.item.path]

    @property
    def start(self) -> int:
        """The byte where it begins."""
        return self.places[self.at]

    @property
    def end(self) -> int | None:
        """The byte where the next one begins."""
        return self.places[self.at + 1] if self.at + 1 < len(self.places) else None

    def read(self, task: Task) -> Parcel:
        """What came of it, packed."""
        found = _first(self, task) if not self.at else _later(self, replace(task, tells=False))
        Source.close_all()
        return packed(found)


def _first(leg: Leg, task: Task) -> Ran:
    """The first leg: the reading of the file, as far as nobody goes on for it."""
    course = Course.of(leg, task)
    opened = partial(Reach, leg.item.path, (0, 0), leg.end)
    reading = Reading(task.told_to(course.noted), task.settings.span, course, open=lambda _: opened())
    reading.try_(leg.item, course.scan)
    if course.reached is not None:
        return _ran(course)
    engine, noted = course.engine, course.noted
    piece = Piece(noted.cut(), reading.not_logs, reading.failures, reading.unopened, reading.read)
    engine.release()
    late, ties = Piece(noted.cut()), ties_of(engine, course.scan)
    piece.begun, piece.closed = Reports(engine.over()), Reports(engine.reports)
    return Ran(Said([], noted), ties, outcome=Outcome({leg.number: piece}, late, ties))


def _later(leg: Leg, task: Task) -> Ran:
    """A leg that begins within the run."""
    course = warmed(leg, task)
    if course is None:
        return Ran(Said([], Noted()), Ties())
    try:
        with steady(), Reach(leg.item.path, course.mark, leg.end) as portion:
            course.read(portion, NATIVE, native)
    except InputError:
        course.whole = False
    return _ran(course)


def _ran(course: Course) -> Ran:
    alone, ties = course.alone(), ties_of(course.engine, course.scan)
    found = None if alone is None or ties.all or any(ties.wide.values()) else counted(alone[0], course.carried)
    return Ran(course.noted.cut(), ties, course.reached, (course.start, course.mark[1]), counted=found)
