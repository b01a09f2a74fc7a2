"""What a run spent, turn by turn, as running totals: a few numbers per turn, whatever the messages held."""

from __future__ import annotations

from array import array
from bisect import bisect_left, bisect_right
from collections.abc import Iterable
from itertools import accumulate

import msgspec

from loopscan.price import Rate, nearest

MOST = (1 << 63) - 1
"""Absurd figures of a damaged log are held at this."""


class Totals(msgspec.Struct, gc=False):
    """A run after one of its turns. `usd` in picodollars, `elapsed` in seconds since its first turn.

    `fired`: the turn at which no_progress fired (None = not yet); `full`: the turn whose send did not fit the
    context window (None = none yet).
    """

    turn: int = 0
    tokens: int = 0
    usd: int = 0
    elapsed: float = 0.0
    fired: int | None = None
    full: int | None = None


def _integers() -> array[int]:
    return array("q")


def _reals() -> array[float]:
    return array("d")


class Tally(msgspec.Struct, gc=False):
    """The turns of an open run, a number per turn and column: input, output, picodollars, elapsed seconds.

    `unpaid`: the turns (ascending) whose send was not paid. `rates`: (turn from which on it holds, picodollars of an
    output token), where that changes; None = no price.
    """

    input: array[int] = msgspec.field(default_factory=_integers)
    output: array[int] = msgspec.field(default_factory=_integers)
    usd: array[int] = msgspec.field(default_factory=_integers)
    elapsed: array[float] = msgspec.field(default_factory=_reals)
    unpaid: list[int] = []
    rates: list[tuple[int, Rate | None]] = []

    def __len__(self) -> int:
        return len(self.input)

    def push(self, input_tokens: int, output_tokens: int, usd: int, elapsed: float, paid: bool) -> None:
        """Add a turn: its own tokens and picodollars, and the seconds since the first turn."""
        self.input.append(min(input_tokens, MOST))
        self.output.append(min(output_tokens, MOST))
        self.usd.append(min(usd, MOST))
        self.elapsed.append(elapsed)
        if not paid:
            self.unpaid.append(len(self.input))

    def charge(self, rate: Rate | None) -> None:
        """Note the price of an output token from the next turn on."""
        if not self.rates or self.rates[-1][1] != rate:
            self.rates.append((len(self.input) + 1, rate))

    def series(self) -> Series:
        """The running totals."""
        elapsed = array("d", accumulate(self.elapsed, max))
        return Series(_sums(self.input), _sums(self.output), _sums(self.usd), elapsed, self.unpaid, self.rates)


def _sums(column: Iterable[int]) -> array[int]:
    try:
        return array("q", accumulate(column))
    except OverflowError:
        return array("q", (min(total, MOST) for total in accumulate(column)))


class Series(msgspec.Struct, gc=False):
    """Running totals after each turn of a run: input and output tokens, picodollars, elapsed seconds.

    All columns only grow. `unpaid`, `rates`: see `Tally`.
    """

    input: array[int] = msgspec.field(default_factory=_integers)
    output: array[int] = msgspec.field(default_factory=_integers)
    usd: array[int] = msgspec.field(default_factory=_integers)
    elapsed: array[float] = msgspec.field(default_factory=_reals)
    unpaid: list[int] = []
    rates: list[tuple[int, Rate | None]] = []

    def __len__(self) -> int:
        return len(self.input)

    def sends(self, turn: int) -> int:
        """Sends paid by the end of a turn."""
        return turn - bisect_right(self.unpaid, turn)

    def at(self, turn: int) -> Totals:
        """The totals after a turn (1-based)."""
        i = turn - 1
        return Totals(turn, self.input[i] + self.output[i], self.usd[i], self.elapsed[i])

    def between(self, after: int, last: int) -> tuple[int, int, int, int]:
        """Paid sends, input tokens, output tokens and picodollars of turns after+1 .. last."""
        if last <= after:
            return 0, 0, 0, 0
        i, j = after - 1, last - 1
        return (
            self.sends(last) - self.sends(after),
            self.input[j] - (self.input[i] if after else 0),
            self.output[j] - (self.output[i] if after else 0),
            self.usd[j] - (self.usd[i] if after else 0),
        )

    def inputs(self, after: int = 0, last: int | None = None) -> list[int]:
        """Input tokens of each of the turns after+1 .. last; 0 where a send was not paid or its input is not known."""
        before = self.input[after - 1] if after else 0
        found = []
        for total in self.input[after:last]:
            found.append(total - before)
            before = total
        return found

    def next_paid(self, after: int) -> int | None:
        """The first turn after `after` whose send was paid."""
        for turn in range(after + 1, len(self) + 1):
            i = bisect_left(self.unpaid, turn)
            if i == len(self.unpaid) or self.unpaid[i] != turn:
                return turn
        return None

    def rate(self, turn: int) -> Rate | None:
        """Picodollars of an output token at a turn; None without a price."""
        i = bisect_right(self.rates, turn, key=lambda change: change[0])
        return self.rates[i - 1][1] if i else None

    def reading(self, turn: int) -> int | None:
        """Picodollars of the input of one turn's send; None where it has no price."""
        rate = self.rate(turn)
        _, sent, written, usd = self.between(turn - 1, turn)
        if rate is None or (sent and not usd and rate):
            return None
        return max(0, usd - nearest(written * rate))
