"""What one process reads of a scan, and what comes back: finished reports with packed series, no message of a log."""

from __future__ import annotations

import sys
from dataclasses import dataclass, field, replace
from typing import Protocol

from loopscan.engine import Audit
from loopscan.formats import Scan
from loopscan.money import PriceBook
from loopscan.noted import Noted, Said
from loopscan.parcel import Parcel, Reports, packed
from loopscan.report import RunReport
from loopscan.scan import Inputs, Reading
from loopscan.settings import Settings
from loopscan.source import Input
from loopscan.stop import STOP
from loopscan.ties import Ties, ties_of


@dataclass(slots=True)
class Task:
    """What all shares of a scan have in common.

    `says`, `tells`: whether anybody listens. `limit`: skipped records that are said one by one. `held`: what was made
    of parts and is not freed before the process ends: run by run, that takes as long as some of their turns.
    """

    inputs: Inputs
    settings: Settings
    prices: PriceBook
    says: bool
    tells: bool
    limit: int
    held: list[object] = field(default_factory=list)

    def scan(self) -> tuple[Noted, Scan]:
        """An empty scan."""
        noted = Noted(limit=self.limit)
        return noted, Scan(noted, self.settings.exact, self.inputs.field_map)

    def told_to(self, noted: Noted) -> Inputs:
        """The inputs, with what is said going to `noted`."""
        return replace(self.inputs, say=noted.say if self.says else None, tell=noted.say if self.tells else None)


def task(inputs: Inputs, settings: Settings, prices: PriceBook) -> Task:
    """The task of a scan, without what cannot leave its process."""
    still = replace(inputs, say=None, tell=None, watch=None, stoppable=False)
    limit = still.skips().limit if inputs.tell is None else sys.maxsize
    return Task(still, settings, prices, inputs.say is not None, inputs.tell is not None, limit)


@dataclass(slots=True)
class Piece:
    """What came of one input. `closed`, `begun`: the runs that ended in it, those that began in it and stayed open."""

    said: Said
    not_logs: list[str] = field(default_factory=list)
    failures: list[str] = field(default_factory=list)
    unopened: int = 0
    read: int = 0
    closed: list[RunReport] = field(default_factory=Reports)
    begun: list[RunReport] = field(default_factory=Reports)


@dataclass(slots=True)
class Outcome:
    """What came of a share: a piece for each input (by its number in the scan) and for what readers kept to the end.

    `unread`: inputs that were not opened as the scan was stopped.
    """

    pieces: dict[int, Piece]
    late: Piece
    ties: Ties
    unread: int = 0


class Share(Protocol):
    """Something to read that can cross to another process."""

    @property
    def names(self) -> list[str]:
        """The files."""

    def read(self, task: Task) -> Parcel:
        """What comes of it, packed."""


@dataclass(slots=True, frozen=True)
class Files:
    """Inputs with their numbers in the scan, to be read `together`, as one scan, or each as a scan of its own."""

    items: tuple[tuple[int, Input], ...]
    together: bool = False

    @property
    def names(self) -> list[str]:
        """The files."""
        return [item.path for _, item in self.items]

    def read(self, task: Task) -> Parcel:
        """A packed list of outcomes."""
        shares = [self.items] if self.together else [(item,) for item in self.items]
        return packed([_read(task, share) for share in shares])


def _read(task: Task, items: tuple[tuple[int, Input], ...]) -> Outcome:
    """Read inputs as one scan."""
    noted, scan = task.scan()
    engine, inputs = Audit(task.settings, task.prices, scan), task.told_to(noted)
    pieces, marks = dict[int, Piece](), list[tuple[int | None, int | None]]()
    for number, item in items:
        if STOP.asked:
            break
        reading = Reading(inputs, task.settings.span, engine)
        reading.try_(item, scan)
        pieces[number] = Piece(noted.cut(), reading.not_logs, reading.failures, reading.unopened, reading.read)
        marks.append((len(engine.reports), len(engine.begun)))
    engine.release()
    late, ties = Piece(noted.cut()), ties_of(engine, scan)
    begun, closed, begins = engine.over(), 0, 0
    for piece, (ends, more) in zip((*pieces.values(), late), (*marks, (None, None)), strict=True):
        piece.closed, piece.begun = Reports(engine.reports[closed:ends]), Reports(begun[begins:more])
        closed, begins = ends or 0, more or 0
    return Outcome(pieces, late, ties, len(items) - len(pieces))
