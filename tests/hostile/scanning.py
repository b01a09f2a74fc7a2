"""One hostile input between two good runs: read, audited and shown in process, as the program would."""

from __future__ import annotations

import io
import json
import signal
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from types import FrameType
from typing import Any

from loopscan.engine import Audit
from loopscan.errors import InputError
from loopscan.formats import FORMATS, Scan, detect, load
from loopscan.model import Call, End, Event, Turn, Usage
from loopscan.records import record
from loopscan.render import RENDERERS, Options
from loopscan.render import load as renderer
from loopscan.report import Report, RunReport
from loopscan.settings import Settings
from loopscan.skips import Skips
from loopscan.source import Input, expand, open_input
from tests.conftest import SAMPLES

PATIENCE = 20.0
"""Seconds after which an input counts as one that hangs the program."""

SAMPLE_FILES = {name: [Path(i.path) for i in expand([str(SAMPLES / name)])] for name in FORMATS}


class Hangs(AssertionError):
    """Reading an input does not end."""


class LostNeighbour(AssertionError):
    """A good run read before or after is not there as it should be."""


@contextmanager
def patience(seconds: float = PATIENCE) -> Iterator[None]:
    """Raises Hangs inside the block when it takes longer."""

    def ring(number: int, frame: FrameType | None) -> None:
        raise Hangs(f"not done after {seconds} s")

    before = signal.signal(signal.SIGALRM, ring)
    signal.setitimer(signal.ITIMER_REAL, seconds)
    try:
        yield
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)
        signal.signal(signal.SIGALRM, before)


def _good(run: str) -> list[Event]:
    calls = (Call("probe", {"n": n % 2}, n % 2) for n in range(1, 7))
    turns = [Turn(run, [call], usage=Usage(10 * n), line=n) for n, call in enumerate(calls, 1)]
    return [*turns, End(run, "aborted", line=7, final=True)]


BEFORE, AFTER = "neighbour-before", "neighbour-after"


def outline(run: RunReport) -> tuple[Any, ...]:
    """What of a run must not depend on other runs."""
    loop = [(e.turn, e.period, e.copies) for e in run.episodes]
    return run.run.rpartition("/")[2], run.turns, run.calls, run.state, run.tokens, loop


@dataclass(slots=True)
class Outcome:
    """What came of it: the report without the neighbours, the format, what was said of skips."""

    report: Report
    format: str | None
    said: list[str]

    @property
    def outlines(self) -> list[tuple[Any, ...]]:
        """The runs of the input."""
        return sorted(map(outline, self.report.runs), key=str)


def scanned(path: Path, forced: str | None = None) -> Outcome:
    """Audit a file between two good runs, and check those."""
    said: list[str] = []
    scan = Scan(Skips(said.append))
    audit = Audit(Settings(), scan=scan)
    name = forced
    with patience():
        _neighbour(audit, BEFORE)
        try:
            with open_input(Input(str(path), named=True)) as blob:
                name = forced or detect(blob.head)
                if name is not None:
                    audit.read(blob, name, load(name))
        except InputError as err:
            said.append(str(err))
        _neighbour(audit, AFTER)
        report = audit.finish()
    _check_neighbours(report)
    return Outcome(report, name, said)


@cache
def undamaged(path: Path) -> Outcome:
    """What comes of a sample as it is."""
    return scanned(path)


def _neighbour(audit: Audit, run: str) -> None:
    audit.take(_good(run), "loopscan", run)


def _check_neighbours(report: Report) -> None:
    mine = [r for r in report.runs if r.format == "loopscan" and r.run in (BEFORE, AFTER)]
    want = [(run, 6, 6, "aborted", 210, [(4, 2, 3)]) for run in (BEFORE, AFTER)]
    if [outline(r) for r in mine] != want:
        raise LostNeighbour("a run of another file")
    report.runs = [r for r in report.runs if r not in mine]


def shown(report: Report) -> dict[str, str]:
    """The report in every output."""
    pages = {}
    for name in RENDERERS:
        out = io.StringIO()
        renderer(name).render(report, out, Options())
        pages[name] = out.getvalue()
    for run in report.runs:
        json.dumps(record(run), allow_nan=False)
    return pages
