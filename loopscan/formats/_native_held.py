"""Rows of native runs that are not quiet: given out but for the last one, which the next line may be part of."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

from loopscan.formats._native_log import Log
from loopscan.formats._native_runs import Run, mark
from loopscan.model import Rows as Batch
from loopscan.row import Row, turn_of

_LONG: Final = 100_000
"""Lines for which a row is held."""


def run_of(log: Log, row: Row) -> Run | None:
    """The run of a row that begins a turn of its own; None where it is for the general way to tell what it is."""
    quiets = log.scan.quiets
    state = None if quiets is None else quiets.states.get(row.run) or quiets.going.get(row.run)
    run = log.run(row.run, state is not None and row.number <= state.highest)
    goes_on = row.number <= run.highest or (run.turn is not None and row.number == run.number)
    return None if goes_on or run.prompt is not None else run


def note(log: Log, run: Run, row: Row) -> None:
    """Note the row that is the newest of its run."""
    run.highest = row.number
    if log.runs.all_marked and row.ts is not None:
        run.keep(mark(row.number, row.ts, turn_of(row, row.run, None)))


def keep(log: Log, run_id: str, run: Run, batch: list[Row], number: int) -> Iterator[Batch]:
    """Give out a batch but for its last turn.

    Of a row that was held for long only the place is kept.
    """
    kept = log.kept
    run.row = batch.pop()
    if log.source is not None:
        run.since = number
        kept.append((number, run))
        if log.copy is not None and log.copy.holds:
            log.newest.append((run.row.place, run_id, run))
        while kept[0][0] < number - _LONG:
            since, old = kept.popleft()
            if old.since == since and old.row is not None:
                old.away = old.row.place
                old.row = None
    if batch:
        yield Batch(run_id, batch, log.source)
