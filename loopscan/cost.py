"""The quadratic cost model: what a loop sends when every turn re-sends the whole history.

Send n = 1..N. b base (system prompt, tools, task), g growth (what one turn adds to the history), o output of
a turn, all in tokens; x_n input of send n, S(N) the sum of the first N. Rates in picodollars per token: p
input, r cache read, w cache write, q output. Here nothing is cached; `loopscan.cost_variants` has caching,
expiry, compaction and truncation. The model explains and fills gaps; recorded usage comes before it.
"""

from __future__ import annotations

from dataclasses import dataclass
from math import isqrt
from typing import TYPE_CHECKING

from loopscan.price import nearest

if TYPE_CHECKING:
    from collections.abc import Iterator

    from loopscan.price import Price, Rates


@dataclass(slots=True, frozen=True)
class Loop:
    """A loop that sends `base` tokens of input on turn 1 and `growth` more on each later turn."""

    base: int
    growth: int
    output: int = 0


def send_input(loop: Loop, turn: int) -> int:
    """Input of one send: x_n = b + g(n-1)."""
    return loop.base + loop.growth * (turn - 1)


def total_input(loop: Loop, turns: int, after: int = 0) -> int:
    """Input of the sends after turn `after` up to `turns`: S(N) - S(t), with S(N) = bN + g N(N-1)/2."""
    return _sum(loop.base, loop.growth, turns) - _sum(loop.base, loop.growth, after)


def total_output(loop: Loop, turns: int, after: int = 0) -> int:
    """Output of the sends after turn `after` up to `turns`: o(N - t)."""
    return loop.output * (turns - after)


def _sum(first: int, step: int, count: int) -> int:
    return first * count + step * (count * (count - 1) // 2)


@dataclass(slots=True, frozen=True)
class Overflow:
    """`turn`: the send the model rejects for length. `paid_sends`: those before it."""

    turn: int
    paid_sends: int


def overflow(loop: Loop, window: int, reserve: int = 0) -> Overflow | None:
    """The first send with x_n + reserve >= W: n* = ceil((W - reserve - b)/g) + 1, after n* - 1 paid sends.

    A base that fills the window is rejected at once (n* = 1, none paid); without growth no send is (None).
    `reserve` is the room that the output takes from the window.
    """
    room = window - reserve - loop.base
    if room <= 0:
        return Overflow(1, 0)
    if loop.growth <= 0:
        return None
    paid = -(-room // loop.growth)
    return Overflow(paid + 1, paid)


def token_turn(loop: Loop, budget: int) -> int | None:
    """The first turn t by which input and output reach a token budget B; turn t itself is paid.

    Least t >= 1 with S(t) + o t >= B, that is the ceiling of (-(2b'-g) + sqrt((2b'-g)^2 + 8gB)) / 2g with
    b' = b + o, in exact integers. None: the spending ends before.
    """
    return _least_turn(loop.base + loop.output, loop.growth, budget)


def cost_turn(loop: Loop, price: Price, budget: int) -> int | None:
    """The first turn by which p S(t) + q o t reaches a budget in picodollars; turn t itself is paid."""
    spent = 0
    for first, last, rates in _open_spans(loop, price):
        scale = _scale(rates)
        start = (send_input(loop, first) * rates.input + loop.output * rates.output) * scale
        step = loop.growth * rates.input * scale
        turn = _least_turn(nearest(start), nearest(step), (budget - spent) * scale)
        if turn is not None and (last is None or first + turn - 1 <= last):
            return first + turn - 1
        if last is not None:
            spent += span_cost(loop, rates, first, last)
    return None


def _scale(rates: Rates) -> int:
    """A factor that makes both rates of an uncached send whole."""
    return rates.input.denominator * rates.output.denominator


def _least_turn(first: int, step: int, target: int) -> int | None:
    """The least t >= 1 with first*t + step*t(t-1)/2 >= target, where turns cost first, first + step, ..."""
    if target <= first:
        return 1
    if step == 0:
        return -(-target // first) if first > 0 else None
    slope = 2 * first - step
    square = slope * slope + 8 * step * target
    if square < 0:
        return None
    turn = max(1, (isqrt(square) - slope) // (2 * step))
    # isqrt and // round down: the turn is at most two short, or (falling costs) two ahead.
    for candidate in range(max(1, turn - 2), turn + 3):
        if _sum(first, step, candidate) >= target:
            return candidate
    return None


@dataclass(slots=True, frozen=True)
class Waste:
    """Tokens sent after a turn: `history` re-sent as it stood there, `own_growth` added by the loop since."""

    turns: int
    history: int
    own_growth: int
    output: int

    @property
    def input(self) -> int:
        """All input wasted."""
        return self.history + self.own_growth


def waste(loop: Loop, turns: int, after: int) -> Waste:
    """What the m = N - t sends after turn t cost: input m(b + g t) + g m(m-1)/2, output m o.

    The first term is the history as it stood after turn t, the second is due to the loop's own growth. Turn t
    itself is never waste.
    """
    left = max(0, turns - after)
    return Waste(
        left,
        left * (loop.base + loop.growth * after),
        loop.growth * (left * (left - 1) // 2),
        left * loop.output,
    )


def tier_spans(loop: Loop, price: Price, turns: int) -> Iterator[tuple[int, int, Rates]]:
    """(first turn, last turn, rates) of the stretches of a loop of N turns between the price's thresholds.

    The whole request takes the rates of its prompt, so send n is in the upper tier from x_n > threshold on:
    n > (threshold - b)/g + 1.
    """
    for first, last, rates in _open_spans(loop, price):
        if first > turns:
            return
        yield first, turns if last is None else min(last, turns), rates


def _open_spans(loop: Loop, price: Price) -> Iterator[tuple[int, int | None, Rates]]:
    """The stretches of a loop without an end; the last one's last turn is None."""
    first = 1
    last: int | None = 0
    while last is not None:
        prompt = send_input(loop, first)
        edges = (_last_beside(loop, tier.above, prompt) for tier in price.tiers if loop.growth)
        last = min((send for send in edges if send >= first), default=None)
        yield first, last, price.at(prompt)
        first = (last or 0) + 1


def _last_beside(loop: Loop, above: int, prompt: int) -> int:
    """The last send on the side of a threshold where `prompt` is, or 0 if the loop moves away from it."""
    if loop.growth > 0:
        return (above - loop.base) // loop.growth + 1 if prompt <= above else 0
    return (loop.base - above - 1) // -loop.growth + 1 if prompt > above else 0


def span_cost(loop: Loop, rates: Rates, first: int, last: int) -> int:
    """Picodollars of the sends first..last under one set of rates, nothing cached: p S + q o n."""
    sent, written = total_input(loop, last, first - 1), total_output(loop, last, first - 1)
    return nearest(sent * rates.input + written * rates.output)


def uncached_cost(loop: Loop, price: Price, turns: int, after: int = 0) -> int:
    """Picodollars of sends `after` + 1 .. `turns`, nothing cached: p S(N) + q o N, tier by tier."""
    return sum(
        span_cost(loop, rates, max(first, after + 1), last)
        for first, last, rates in tier_spans(loop, price, turns)
        if last > after
    )


def stop_cost(loop: Loop, price: Price, turn: int, closing_output: int | None = None) -> int:
    """Picodollars of a loop stopped at turn t: p S(t) + q t o.

    With `closing_output` tokens o_s the agent may still sum up in one closing call: p x_(t+1) + q o_s more.
    """
    total = uncached_cost(loop, price, turn)
    if closing_output is not None:
        total += price.cost(send_input(loop, turn + 1), output=closing_output)
    return total
