"""The cost model with prompt caching, compaction and truncation; symbols as in `loopscan.cost`, growth g >= 0.

Time to live counts from the send before, and every read renews it. Caching by breakpoint (Anthropic): 5 minutes
or 1 hour, https://platform.claude.com/docs/en/build-with-claude/prompt-caching. Automatic caching (OpenAI): 5 to
10 minutes, https://platform.openai.com/docs/guides/prompt-caching.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

from loopscan.cost import Loop, send_input, tier_spans, total_input, total_output, uncached_cost
from loopscan.price import nearest

if TYPE_CHECKING:
    from loopscan.price import Price, Rate, Rates

CACHE_BLOCK: Final = 128
CACHE_LEAST: Final = 1024
"""Automatic caching reads whole blocks of 128 tokens, of prompts from 1,024 tokens on."""


def cached_cost(loop: Loop, price: Price, turns: int, *, hour: bool = False, warm_base: bool = False) -> int:
    """Picodollars with a cache that is always warm: w b + r[(N-1)b + g(N-1)(N-2)/2] + w g(N-1) + q o N.

    The breakpoint moves along: send n reads x_(n-1) and writes what turn n-1 added. `hour`: w is the price of a 1 h
    write. `warm_base`: another run has just used the same base, so r b replaces the first w b.
    """
    total: Rate = 0
    for first, last, rates in tier_spans(loop, price, turns):
        write = _write(rates, hour)
        if first == 1:
            total += loop.base * (rates.cache_read if warm_base else write)
        later = max(first, 2)
        sends = max(0, last - later + 1)
        total += rates.cache_read * _sent_before(loop, later, last) + write * loop.growth * sends
        total += rates.output * total_output(loop, last, first - 1)
    return nearest(total)


def _write(rates: Rates, hour: bool) -> Rate:
    return rates.cache_write_1h if hour else rates.cache_write


def _sent_before(loop: Loop, first: int, last: int) -> int:
    """The sum of x_(n-1) over the sends first..last."""
    return total_input(loop, last - 1, first - 2) if last >= first else 0


def expiry_cost(loop: Loop, price: Price, turn: int, *, hour: bool = False) -> int:
    """What a pause beyond the time to live before send n costs more than a warm cache: (w - r) x_(n-1)."""
    if turn < 2:
        return 0
    rates = price.at(send_input(loop, turn))
    return nearest((_write(rates, hour) - rates.cache_read) * send_input(loop, turn - 1))


def cold_cost(loop: Loop, price: Price, turns: int, *, hour: bool = False) -> int:
    """Picodollars if the cache has expired before every send: w S(N) + q o N, dearer than no cache at all."""
    total: Rate = 0
    for first, last, rates in tier_spans(loop, price, turns):
        total += _write(rates, hour) * total_input(loop, last, first - 1)
        total += rates.output * total_output(loop, last, first - 1)
    return nearest(total)


def automatic_hit(loop: Loop, turn: int) -> int:
    """Tokens of send n that automatic caching can read: 128 floor(x_(n-1)/128) if x_(n-1) >= 1024, else 0.

    An upper bound: measured hit shares are 0.43 to 0.96.
    """
    before = send_input(loop, turn - 1) if turn > 1 else 0
    return before // CACHE_BLOCK * CACHE_BLOCK if before >= CACHE_LEAST else 0


def automatic_cost(loop: Loop, price: Price, turns: int) -> int:
    """Picodollars with automatic caching at its best: p(S(N) - H) + r H + q o N, H the sum of `automatic_hit`."""
    total: Rate = 0
    for first, last, rates in tier_spans(loop, price, turns):
        hits = _hits(loop, first, last)
        total += rates.input * (total_input(loop, last, first - 1) - hits) + rates.cache_read * hits
        total += rates.output * total_output(loop, last, first - 1)
    return nearest(total)


def _hits(loop: Loop, first: int, last: int) -> int:
    """The sum of `automatic_hit` over the sends first..last."""
    first = max(first, 2)
    if loop.base < CACHE_LEAST:
        if loop.growth == 0:
            return 0
        first = max(first, -(-(CACHE_LEAST - loop.base) // loop.growth) + 2)
    blocks = floor_sum(last - first + 1, CACHE_BLOCK, loop.growth, send_input(loop, first - 1))
    return blocks * CACHE_BLOCK


def floor_sum(count: int, divisor: int, step: int, start: int) -> int:
    """The sum of floor((start + step i) / divisor) for i = 0 .. count-1, in logarithmic time; start, step >= 0."""
    total = 0
    while count > 0:
        total += count * (count - 1) // 2 * (step // divisor) + count * (start // divisor)
        step, start = step % divisor, start % divisor
        # What is left are the lattice points under a line of slope below 1: count them along the other axis.
        top = step * count + start
        if top < divisor:
            break
        count, start = divmod(top, divisor)
        divisor, step = step, divisor
    return total


@dataclass(slots=True, frozen=True)
class Compaction:
    """A loop whose history is summed up whenever the prompt reaches a threshold.

    `first`: turns until the first compaction; `later`: turns between two; `count`: compactions so far;
    `input`/`output`: all tokens, those of the compaction calls included; `per_turn`: input that a turn costs in
    the long run, as (tokens, turns).
    """

    first: int
    later: int
    count: int
    input: int
    output: int
    per_turn: tuple[int, int]


def compaction(loop: Loop, turns: int, threshold: int, summary: int) -> Compaction:
    """The tokens of a loop that compacts at T to a summary of s tokens.

    Lengths L1 = ceil((T-b)/g), then L = ceil((T-b-s)/g). A compaction is one more call: its input is the prompt
    that reached T, its output the summary. So the cost of a turn tends to a constant and the window never fills.
    Raises ValueError if base and summary leave no room below T, or the loop does not grow.
    """
    first, later = _lengths(loop, threshold, summary)
    after = _summed_up(loop, summary)
    count = max(0, -(-(turns - first) // later))
    full, left = divmod(max(0, turns - first), later)
    cycle = total_input(after, later) + send_input(after, later + 1)
    sent = total_input(loop, min(turns, first)) + total_input(after, later) * full + total_input(after, left)
    if count:
        sent += send_input(loop, first + 1) + send_input(after, later + 1) * (count - 1)
    return Compaction(first, later, count, sent, loop.output * turns + summary * count, (cycle, later))


def compaction_cost(loop: Loop, price: Price, turns: int, threshold: int, summary: int) -> int:
    """Picodollars of `compaction`, nothing cached."""
    first, later = _lengths(loop, threshold, summary)
    after = _summed_up(loop, summary)
    total = uncached_cost(loop, price, min(turns, first))
    if turns > first:
        full, left = divmod(turns - first, later)
        again = full - 1 + (left > 0)
        total += price.cost(send_input(loop, first + 1), output=summary)
        total += price.cost(send_input(after, later + 1), output=summary) * again
        total += uncached_cost(after, price, later) * full + uncached_cost(after, price, left)
    return total


def _lengths(loop: Loop, threshold: int, summary: int) -> tuple[int, int]:
    room = threshold - loop.base - summary
    if room <= 0 or loop.growth <= 0:
        raise ValueError("no room to compact: threshold must exceed base + summary, and the loop must grow")
    return -(-(threshold - loop.base) // loop.growth), -(-room // loop.growth)


def _summed_up(loop: Loop, summary: int) -> Loop:
    return Loop(loop.base + summary, loop.growth, loop.output)


def kept_input(loop: Loop, turn: int, keep: int) -> int:
    """Input of one send if only the last K turns are sent: x_n = b + g min(n-1, K)."""
    return loop.base + loop.growth * min(turn - 1, keep)


def kept_total(loop: Loop, turns: int, keep: int) -> int:
    """S = N b + g[K(K+1)/2 + K(N-K-1)] for N > K, else S(N)."""
    if turns <= keep:
        return total_input(loop, turns)
    return turns * loop.base + loop.growth * (keep * (keep + 1) // 2 + keep * (turns - keep - 1))


def kept_cost(loop: Loop, price: Price, turns: int, keep: int) -> int:
    """Picodollars of a loop that sends its last K turns, nothing cached."""
    cut = max(0, turns - keep - 1)
    return uncached_cost(loop, price, turns - cut) + cut * price.cost(kept_input(loop, turns, keep), output=loop.output)


def kept_cached_cost(loop: Loop, price: Price, turns: int, keep: int, *, hour: bool = False) -> int:
    """Picodollars of the same with a warm cache: cut histories differ from the second token on.

    So once turns are dropped, a send reads b only and writes its g K anew: r b + w g K + q o.
    """
    cut = max(0, turns - keep - 1)
    rates = price.at(kept_input(loop, turns, keep))
    each = rates.cache_read * loop.base + _write(rates, hour) * loop.growth * keep + rates.output * loop.output
    return cached_cost(loop, price, turns - cut, hour=hour) + nearest(each * cut)
