"""Runs that are more than quiet: what a quiet run becomes, and how its rows are taken from then on."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

from loopscan.detector import STALE
from loopscan.formats._fields import when
from loopscan.late import Source
from loopscan.model import Further, Turn
from loopscan.row import Row, turn_of
from loopscan.rows import Doubts, Look, usual
from loopscan.run import USUAL, Run, new_run
from loopscan.series import PART
from loopscan.spill import Spill

if TYPE_CHECKING:
    from loopscan.key import Keyer
    from loopscan.money import PriceBook
    from loopscan.quiet import Quiet
    from loopscan.settings import Settings


_KNOWN: Final = 1000
"""Turns that come to be known of a run before those that have left its window are forgotten."""


def woken(state: Quiet, format_name: str, keyer: Keyer, settings: Settings, prices: PriceBook, spill: Spill) -> Run:
    """The run as it is once it is more than quiet."""
    sent, output, elapsed, times = state.numbers()
    first = Turn(state.run, model=state.model, time=times.started)
    run = new_run(first, state.run, format_name, state.name, keyer, settings, spill)
    run.prepare(first, prices)
    tracker, ledger = run.progress.tracker, run.ledger
    detector, watch = tracker.detector, tracker.watch
    assert watch is not None
    run.turns = tracker.turn = detector.turn = watch.turn = state.number
    run.started, run.ended, run.gap, run.last = times.started, times.ended, times.gap, USUAL
    detector.ring, detector.newest, watch.trails = state.window(spill)
    last: Any = detector.ring[state.number % state.reach]
    detector.last = last
    ledger.took(sent.tolist(), output.tolist(), elapsed, last)
    if not run.turns % PART:
        ledger.pack()
    return run


def take_rows(run: Run, rows: list[Row], source: Source | None, prices: PriceBook) -> None:
    """Take the next turns of a run that is no longer quiet."""
    at, count = 0, len(rows)
    while at < count:
        if run.quick:
            start, at = at, _usual(run, rows, at, source)
            if at > start and not run.turns % PART:
                run.ledger.pack()
                continue
        if at < count:
            row = rows[at]
            run.push(turn_of(row, run.id, when(row.ts)), prices)
            at += 1


def take_further(run: Run, further: Further) -> None:
    """Take the usual turns that go on from there, straight from their lines."""
    doubts = Doubts(run.progress.tracker, further.row)
    while run.quick and (look := _look(run)) is not None:
        ledger = run.ledger
        columns = further.take(look, doubts, (ledger.terms.input, ledger.terms.output), _KNOWN + len(look.newest))
        if columns is None:
            return
        ledger.took_columns(*columns, look.last)
        _looked(run, look)
        if not run.turns % PART:
            ledger.pack()


def _usual(run: Run, rows: list[Row], at: int, source: Source | None) -> int:
    look = _look(run)
    if look is None:
        return at
    waits = usual(look, rows, at, source, run.progress.keyer, run.progress.tracker)
    if not waits:
        return at
    taken = rows[at : at + len(waits)]
    run.ledger.took([r.sent for r in taken], [r.output for r in taken], waits, look.last)
    _looked(run, look)
    return at + len(waits)


def _look(run: Run) -> Look | None:
    """What the next turns of a run are told by; None where something that went before is still to be judged."""
    tracker, ledger = run.progress.tracker, run.ledger
    detector, watch, terms = tracker.detector, tracker.watch, run.ledger.terms
    if watch is None or not tracker.calm() or run.model_now != ledger.model:
        return None
    most = terms.most
    if run.full is None and run.limit is not None and run.limit <= most:
        most = run.limit - 1
    return Look(
        detector.ring, detector.newest, detector.reach, watch.trails, run.turns, ledger.model, most, ledger.since,
        ledger.until, run.started, run.ended, run.gap,
    )  # fmt: skip


def _looked(run: Run, look: Look) -> None:
    """Turns were taken: how their run stands then."""
    tracker = run.progress.tracker
    detector, watch = tracker.detector, tracker.watch
    assert watch is not None
    run.turns = tracker.turn = detector.turn = watch.turn = look.number
    run.started, run.ended, run.gap, run.state, run.last = look.started, look.ended, look.gap, None, USUAL
    detector.last = look.last
    if len(detector.newest) > STALE * detector.reach:
        detector.forget()
