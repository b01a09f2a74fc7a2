"""The exits that fired on a run: where, and what stopping there would have saved."""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache
from typing import TYPE_CHECKING, Final

from msgspec.structs import replace

from loopscan.exits import ORDER, Caps, Exit, first_turn
from loopscan.money import closing_call

if TYPE_CHECKING:
    from loopscan.report import RunReport
    from loopscan.series import Series


@dataclass(slots=True)
class Fired:
    """An exit that fired on a run: the turn, the sends paid by then, their cost, and what stopping would have saved.

    `closing_usd`: what one last summary at that point would have cost, None where it is not known or not possible.
    """

    exit: str
    turn: int
    paid_sends: int
    usd: int
    saved_turns: int
    saved_usd: int
    false_stop: bool
    rule: str | None = None
    closing_usd: int | None = None


NONE: Final = list[Fired]()
"""What a run has on which nothing fired; nobody changes it."""


def evaluate(report: RunReport, caps: Caps) -> None:
    """Fill in the exits that fired on a run under `caps`, smallest turn first."""
    exits = report.stopped(caps)
    report.exits = _found(report, caps) if exits is None else exits


def _found(report: RunReport, caps: Caps) -> list[Fired]:
    end = report.whole
    # A send rejected after the last turn is no turn of the log, but it did happen.
    full = None if report.full is None else min(report.full, report.turns)
    if end.fired != report.fired or end.full != full:
        end = replace(end, fired=report.fired, full=full)
    firing = [exit_ for exit_ in _exits(caps) if exit_.fires(end)]
    return _all_fired(firing, report) if firing else NONE


def _all_fired(firing: list[Exit], report: RunReport) -> list[Fired]:
    """What those of the exits come to that do fire."""
    series = report.series
    exits = [fired for exit_ in firing if (fired := _fired(exit_, report, series)) is not None]
    return sorted(exits, key=lambda f: (f.turn, ORDER.index(f.exit)))


@lru_cache(maxsize=8)
def _exits(caps: Caps) -> tuple[Exit, ...]:
    return tuple(caps.exits())


def _fired(exit_: Exit, report: RunReport, series: Series) -> Fired | None:
    """An exit that fires on a run by its end."""
    done = report.state == "done"
    turn = first_turn(exit_, series, report.fired, report.full, done)
    if turn is None:
        return None
    at = turn - 1 if exit_.name == "context_full" else turn
    paid, usd = series.sends(at), series.spent(at)[2]
    return Fired(
        exit_.name,
        turn,
        paid,
        usd,
        series.sends(len(series)) - paid,
        report.usd - usd,
        done and report.verdict != "stuck",
        report.rule if exit_.name == "no_progress" else None,
        None if exit_.name == "context_full" else closing_call(series, turn),
    )
