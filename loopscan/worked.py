"""`loopscan cost` without a path: the quadratic model worked out for one loop, exit by exit."""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Callable
from dataclasses import dataclass
from fractions import Fraction

from loopscan.cost import Loop, cost_turn, overflow, send_input, token_turn, total_input, total_output, uncached_cost
from loopscan.cost_variants import Compaction, cached_cost, compaction, compaction_cost
from loopscan.money import CLOSING_OUTPUT
from loopscan.price import Price

_FAR = 1 << 40
"""Turns after which no cap is looked for any more."""


@dataclass(slots=True, frozen=True)
class Case:
    """What is worked out: the loop, the price, the context window, and the exits (None = off).

    `no_progress`: the turn at which the detector fires; `cost_cap` in picodollars; `normal`: turns of a normal run.
    `cache`: beside it, the same loop with a prompt cache that stays warm; `compact_at`: with its history summed up
    to `summary` tokens whenever the prompt reaches so many.
    """

    loop: Loop
    price: Price
    window: int
    no_progress: int | None = 3
    turn_cap: int | None = 15
    token_cap: int | None = 100_000
    cost_cap: int | None = None
    normal: int = 6
    cache: bool = False
    compact_at: int | None = None
    summary: int = 2_000


@dataclass(slots=True, frozen=True)
class Row:
    """An exit of the worked case: the turn at which it fires, the sends paid by then, their tokens, picodollars.

    `cached`, `compacted`: picodollars of the same sends with a warm cache, and of as many turns with compaction;
    `closing`: of one last summary there. None where not asked for or not possible.
    """

    exit: str
    turn: int
    paid_sends: int
    tokens: int
    usd: int
    cached: int | None = None
    compacted: int | None = None
    closing: int | None = None


def spent(case: Case, exit_: str, turn: int, paid: int | None = None) -> Row:
    """The row of an exit that fires at `turn` after `paid` paid sends (all of them by default)."""
    loop, sends = case.loop, turn if paid is None else paid
    tokens = total_input(loop, sends) + total_output(loop, sends)
    closing = None if paid is not None else case.price.cost(send_input(loop, turn + 1), output=CLOSING_OUTPUT)
    usd, cached, compacted = costs(case, sends)
    return Row(exit_, turn, sends, tokens, usd, cached, compacted, closing)


def costs(case: Case, turns: int) -> tuple[int, int | None, int | None]:
    """Picodollars of so many turns: as they are, with a warm cache, with compaction."""
    loop, price = case.loop, case.price
    return (
        uncached_cost(loop, price, turns),
        cached_cost(loop, price, turns) if case.cache else None,
        None if case.compact_at is None else compaction_cost(loop, price, turns, case.compact_at, case.summary),
    )


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


def curve(case: Case, turns: int, points: int = 12) -> list[tuple[int, tuple[int, int | None, int | None]]]:
    """Turn and what was spent by then (see `costs`), at evenly spaced turns up to `turns`."""
    at = sorted({max(1, round(Fraction(turns * k, points))) for k in range(1, points + 1)})
    return [(turn, costs(case, turn)) for turn in at]


@dataclass(slots=True, frozen=True)
class Endless:
    """The compacted loop, which never fills its window: how it goes on, and where the caps would end it.

    `per_turn`: picodollars of a turn in the long run; `token_turn`, `cost_turn`: None = never or off.
    """

    shape: Compaction
    per_turn: Fraction
    token_turn: int | None
    cost_turn: int | None


def endless(case: Case) -> Endless | None:
    """The case under `compact_at`, None without. Raises ValueError where there is no room to compact."""
    if case.compact_at is None:
        return None
    loop, price, at, summary = case.loop, case.price, case.compact_at, case.summary

    def tokens(turns: int) -> int:
        played = compaction(loop, turns, at, summary)
        return played.input + played.output

    def usd(turns: int) -> int:
        return compaction_cost(loop, price, turns, at, summary)

    shape = compaction(loop, 1, at, summary)
    once, twice = usd(shape.first + shape.later), usd(shape.first + 2 * shape.later)
    per_turn = Fraction(twice - once, shape.later)
    return Endless(shape, per_turn, _first(tokens, case.token_cap), _first(usd, case.cost_cap))


def _first(spent_by: Callable[[int], int], cap: int | None) -> int | None:
    """The first turn by which a cap is reached; None = off or never."""
    if cap is None or spent_by(_FAR) < cap:
        return None
    return bisect_left(range(1, _FAR), cap, key=spent_by) + 1
