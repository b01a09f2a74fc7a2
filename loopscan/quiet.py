"""Runs of nothing but usual turns so far, and what wakes them.

Most runs of most logs are quiet from their first turn to their last: they need no detector, no rules and no ledger of
their own, only the window and a few numbers a turn. A run that was not seen for long is packed until it is again.
"""

from __future__ import annotations

from array import array
from typing import TYPE_CHECKING

from loopscan.detector import STALE
from loopscan.formats._fields import when
from loopscan.late import Source
from loopscan.model import Turn
from loopscan.money import PRICE_SPAN
from loopscan.row import Row, turn_of
from loopscan.rows import Look, usual
from loopscan.rules import REACH
from loopscan.run import USUAL, Run, new_run
from loopscan.series import PART
from loopscan.spill import Spill
from loopscan.terms import terms_of

if TYPE_CHECKING:
    from loopscan.key import Keyer
    from loopscan.money import PriceBook
    from loopscan.settings import Settings


class Quiet(Look, gc=False, kw_only=True):
    """A run of usual turns. `name`: where it was read, as shown; `touched`: turns of the scan when it was seen last.

    `sent`, `output`: tokens, `elapsed`: seconds since its first turn, of each turn.
    """

    run: str
    name: str
    source: Source | None
    touched: int = 0
    sent: array[int]
    output: array[int]
    elapsed: array[float]

    def take(self, rows: list[Row], keyer: Keyer) -> int:
        """Take usual turns; how many of the rows they are."""
        waits = usual(self, rows, 0, self.source, keyer, None)
        count = len(waits)
        if count:
            taken = rows if count == len(rows) else rows[:count]
            self.sent.extend([r.sent for r in taken])
            self.output.extend([r.output for r in taken])
            self.elapsed.extend(waits)
            if len(self.newest) > STALE * self.reach:
                least = self.number - self.reach
                self.newest = {i: s for i, s in self.newest.items() if s.turn > least}
        return count


def quiet(row: Row, run: str, name: str, source: Source | None, settings: Settings, prices: PriceBook) -> Quiet:
    """A run that starts with a row, which is not taken yet."""
    time = when(row.ts) or 0.0
    terms = terms_of(prices.find(row.model, time if row.ts is not None else None))
    limit = settings.context_window or prices.window(row.model)
    most = terms.most if limit is None or limit > terms.most else limit - 1
    since = time // PRICE_SPAN * PRICE_SPAN
    reach = max(settings.window, REACH)
    return Quiet(
        [None] * reach, {}, reach, {}, 0, row.model, most, since, since + PRICE_SPAN,
        run=run, name=name, source=source, sent=array("q"), output=array("q"), elapsed=array("d"),
    )  # fmt: skip


def woken(state: Quiet, format_name: str, keyer: Keyer, settings: Settings, prices: PriceBook, spill: Spill) -> Run:
    """The run as it is once it is more than quiet."""
    first = Turn(state.run, model=state.model, time=state.started)
    run = new_run(first, state.run, format_name, state.name, keyer, settings, spill)
    run.prepare(first, prices)
    if not state.number:
        return run
    tracker, ledger = run.progress.tracker, run.ledger
    detector, watch = tracker.detector, tracker.watch
    assert watch is not None
    run.turns = tracker.turn = detector.turn = watch.turn = state.number
    run.started, run.ended, run.gap, run.last = state.started, state.ended, state.gap, USUAL
    detector.ring, detector.newest, detector.last, watch.trails = state.ring, state.newest, state.last, state.trails
    ledger.begin()
    ledger.took(state.sent, state.output, state.elapsed, state.last)
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


def _usual(run: Run, rows: list[Row], at: int, source: Source | None) -> int:
    tracker, ledger = run.progress.tracker, run.ledger
    detector, watch, terms = tracker.detector, tracker.watch, run.ledger.terms
    if watch is None or not tracker.calm() or run.model_now != ledger.model:
        return at
    most = terms.most
    if run.full is None and run.limit is not None and run.limit <= most:
        most = run.limit - 1
    look = Look(
        detector.ring, detector.newest, detector.reach, watch.trails, run.turns, ledger.model, most, ledger.since,
        ledger.until, run.started, run.ended, run.gap,
    )  # fmt: skip
    waits = usual(look, rows, at, source, run.progress.keyer, tracker)
    if not waits:
        return at
    taken = rows[at : at + len(waits)]
    if ledger.start is None:
        ledger.begin()
    ledger.took([r.sent for r in taken], [r.output for r in taken], waits, look.last)
    run.turns = tracker.turn = detector.turn = watch.turn = look.number
    run.started, run.ended, run.gap, run.state, run.last = look.started, look.ended, look.gap, None, USUAL
    detector.last = look.last
    if len(detector.newest) > STALE * detector.reach:
        detector.forget()
    return at + len(waits)
