"""`loopscan cost` without a path: the quadratic model worked out for one loop, exit by exit."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction

from loopscan.cost import Loop, cost_turn, overflow, token_turn, total_input, total_output, uncached_cost
from loopscan.price import Price


@dataclass(slots=True, frozen=True)
class Case:
    """What is worked out: the loop, the price, the context window, and the exits (None = off).

    `no_progress`: the turn at which the detector fires; `cost_cap` in picodollars; `normal`: turns of a normal run.
    """

    loop: Loop
    price: Price
    window: int
    no_progress: int | None = 3
    turn_cap: int | None = 15
    token_cap: int | None = 100_000
    cost_cap: int | None = None
    normal: int = 6


@dataclass(slots=True, frozen=True)
class Row:
    """An exit of the worked case: the turn at which it fires, the sends paid by then, their tokens, picodollars."""

    exit: str
    turn: int
    paid_sends: int
    tokens: int
    usd: int


def spent(case: Case, exit_: str, turn: int, paid: int | None = None) -> Row:
    """The row of an exit that fires at `turn` after `paid` paid sends (all of them by default)."""
    sends = turn if paid is None else paid
    tokens = total_input(case.loop, sends) + total_output(case.loop, sends)
    return Row(exit_, turn, sends, tokens, uncached_cost(case.loop, case.price, sends))


def worked(case: Case) -> list[Row]:
    """The exits in the order in which they fire; context_full, which ends the stuck run, is the last."""
    full = overflow(case.loop, case.window)
    rows = []
    if case.no_progress is not None:
        rows.append(spent(case, "no_progress", case.no_progress))
    if case.turn_cap is not None:
        rows.append(spent(case, "turn_cap", max(1, case.turn_cap)))
    if case.token_cap is not None and (turn := token_turn(case.loop, case.token_cap)) is not None:
        rows.append(spent(case, "token_cap", turn))
    if case.cost_cap is not None and (turn := cost_turn(case.loop, case.price, case.cost_cap)) is not None:
        rows.append(spent(case, "cost_cap", turn))
    if full is not None:
        rows = [r for r in rows if r.turn < full.turn or (r.turn == full.turn and r.exit != "context_full")]
        rows.append(spent(case, "context_full", full.turn, full.paid_sends))
    return sorted(rows, key=lambda r: r.turn)


def curve(case: Case, turns: int, points: int = 12) -> list[tuple[int, int]]:
    """Turn and picodollars spent by then, at evenly spaced turns up to `turns`."""
    at = sorted({max(1, round(Fraction(turns * k, points))) for k in range(1, points + 1)})
    return [(turn, uncached_cost(case.loop, case.price, turn)) for turn in at]
