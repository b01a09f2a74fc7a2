"""What a run spent, turn by turn: a few numbers per turn, whatever the messages held, packed once a part is full."""

from __future__ import annotations

from array import array
from bisect import bisect_right
from collections.abc import Iterator, Sequence
from itertools import accumulate, chain
from typing import Any, Final

import msgspec

from loopscan.part import Part, packed
from loopscan.price import Rate, nearest
from loopscan.spill import Spill

MOST: Final = (1 << 63) - 1
"""Absurd figures of a damaged log are held at this."""
PART: Final = 4096
"""Turns of a full part."""


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

    The columns hold the turns since the last full part. `unpaid`: the turns (ascending) whose send was not paid.
    `rates`: (turn from which on it holds, picodollars of an output token), where that changes; None = no price.
    """

    input: array[int] = msgspec.field(default_factory=_integers)
    output: array[int] = msgspec.field(default_factory=_integers)
    usd: array[int] = msgspec.field(default_factory=_integers)
    elapsed: array[float] = msgspec.field(default_factory=_reals)
    unpaid: list[int] = []
    rates: list[tuple[int, Rate | None]] = []
    parts: list[Part] = []
    packed: int = 0
    """Turns in full parts."""
    spill: Spill = msgspec.field(default_factory=Spill)

    def __len__(self) -> int:
        return self.packed + len(self.input)

    def push(self, input_tokens: int, output_tokens: int, usd: int, elapsed: float, paid: bool) -> None:
        """Add a turn: its own tokens and picodollars, and the seconds since the first turn."""
        self.input.append(min(input_tokens, MOST))
        self.output.append(min(output_tokens, MOST))
        self.usd.append(min(usd, MOST))
        self.elapsed.append(elapsed)
        if not paid:
            self.unpaid.append(len(self))

    def charge(self, rate: Rate | None) -> None:
        """Note the price of an output token from the next turn on."""
        if not self.rates or self.rates[-1][1] != rate:
            self.rates.append((len(self) + 1, rate))

    def pack(self) -> None:
        """Make a part of the turns in the columns."""
        turns = len(self.input)
        if not turns:
            return
        self.parts.append(packed(self.input, self.output, self.usd, self.elapsed, self.spill))
        self.packed += turns
        self.input, self.output, self.usd, self.elapsed = array("q"), array("q"), array("q"), array("d")

    def series(self) -> Series:
        """The running totals so far."""
        self.pack()
        return Series(self.parts[:], self.unpaid, self.rates, self.spill, whole(self.parts))


def whole(parts: list[Part]) -> Totals:
    """The totals after the last turn of some parts."""
    if len(parts) == 1:  # as nearly every run has
        turns, sent, written, usd, elapsed = (p := parts[0]).turns, p.input, p.output, p.usd, p.elapsed
    else:
        turns = sum([p.turns for p in parts])
        sent, written, usd = sum([p.input for p in parts]), sum([p.output for p in parts]), sum([p.usd for p in parts])
        elapsed = max([p.elapsed for p in parts], default=0.0)
    return Totals(turns, min(sent, MOST) + min(written, MOST), min(usd, MOST), elapsed)


class Series(msgspec.Struct, gc=False):
    """Running totals after each turn of a run: input and output tokens, picodollars, elapsed seconds.

    All columns only grow. `unpaid`, `rates`: see `Tally`.
    """

    parts: list[Part] = []
    unpaid: list[int] = []
    rates: list[tuple[int, Rate | None]] = []
    spill: Spill = msgspec.field(default_factory=Spill)
    whole: Totals = msgspec.field(default_factory=Totals)
    """The totals after the last turn."""

    def __len__(self) -> int:
        return self.whole.turn

    @property
    def input(self) -> array[int]:
        """Input tokens by the end of each turn."""
        return array("q", chain.from_iterable(sums.input[1:] for sums in self._all()))

    @property
    def output(self) -> array[int]:
        """Output tokens by the end of each turn."""
        return array("q", chain.from_iterable(sums.output[1:] for sums in self._all()))

    @property
    def usd(self) -> array[int]:
        """Picodollars by the end of each turn."""
        return array("q", chain.from_iterable(sums.usd[1:] for sums in self._all()))

    @property
    def elapsed(self) -> array[float]:
        """Seconds by the end of each turn."""
        return array("d", chain.from_iterable(sums.elapsed()[1:] for sums in self._all()))

    def sends(self, turn: int) -> int:
        """Sends paid by the end of a turn."""
        return turn - bisect_right(self.unpaid, turn)

    def at(self, turn: int) -> Totals:
        """The totals after a turn (1-based)."""
        if not turn:
            return Totals()
        if len(self.parts) == 1 and (quick := self.parts[0].summed_to(turn, self.spill)) is not None:
            return Totals(turn, quick[0] + quick[1], quick[2], quick[3])
        sums = self._sums(turn)
        i = turn - sums.first + 1
        return Totals(turn, sums.input[i] + sums.output[i], sums.usd[i], sums.elapsed()[i])

    def between(self, after: int, last: int) -> tuple[int, int, int, int]:
        """Paid sends, input tokens, output tokens and picodollars of turns after+1 .. last."""
        if last <= after:
            return 0, 0, 0, 0
        before, end = self.spent(after), self.spent(last)
        return self.sends(last) - self.sends(after), end[0] - before[0], end[1] - before[1], end[2] - before[2]

    def inputs(self, after: int = 0, last: int | None = None) -> Iterator[int]:
        """Input tokens of each of the turns after+1 .. last; 0 where a send was not paid or its input is not known."""
        start = 0
        for part in self.parts:
            if start + part.turns > after and (last is None or start < last):
                column = part.inputs(self.spill)
                yield from column[max(after - start, 0) : None if last is None else last - start]
            start += part.turns

    def next_paid(self, after: int) -> int | None:
        """The first turn after `after` whose send was paid."""
        later = range(after + 1, len(self) + 1)
        return next((turn for turn in later if self.sends(turn) > self.sends(turn - 1)), None)

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

    def spent(self, turn: int) -> tuple[int, int, int]:
        """Input, output and picodollars by the end of a turn."""
        if not turn:
            return 0, 0, 0
        if len(self.parts) == 1 and (quick := self.parts[0].summed_to(turn, self.spill)) is not None:
            return quick[:3]
        sums = self._sums(turn)
        i = turn - sums.first + 1
        return sums.input[i], sums.output[i], sums.usd[i]

    def _sums(self, turn: int) -> _Sums:
        """The sums of the part that a turn is in."""
        recent = _RECENT[0]
        if recent.of is not self or not recent.first <= turn < recent.end:
            recent = _RECENT[0] = next(s for s in self._all(turn) if turn < s.end)
        return recent

    def _all(self, turn: int = 1) -> Iterator[_Sums]:
        """The sums of each part, from the one on that a turn is in."""
        start, totals = 1, (0, 0, 0, 0.0)
        for part in self.parts:
            if turn < start + part.turns:
                yield _summed(self, start, totals, part.columns(self.spill))
            start += part.turns
            a, b, c, longest = totals
            totals = a + part.input, b + part.output, c + part.usd, max(longest, part.elapsed)


class _Sums(msgspec.Struct, gc=False):
    """Running totals after the turns `first` - 1 .. `end` - 1 of a series. `waits`: seconds at the latter."""

    of: Series | None
    first: int
    end: int
    input: Sequence[int]
    output: Sequence[int]
    usd: Sequence[int]
    waits: Sequence[float]
    before: float
    """The longest of the seconds at the turns before."""
    _longest: list[float] = []

    def elapsed(self) -> list[float]:
        """The longest of the seconds so far, made when first asked for: seldom anybody does."""
        if not self._longest:
            self._longest = list(accumulate(self.waits, max, initial=self.before))
        return self._longest


_RECENT: Final = [_Sums(None, 0, 0, [], [], [], [], 0.0)]
"""What was asked for last: who asks about one turn of a run asks about others."""


def _summed(of: Series, first: int, before: tuple[int, int, int, float], columns: list[Sequence[Any]]) -> _Sums:
    sent, written, usd = [_held(list(accumulate(c, initial=b))) for b, c in zip(before[:3], columns, strict=False)]
    return _Sums(of, first, first + len(columns[0]), sent, written, usd, columns[3], before[3])


def _held(totals: list[int]) -> list[int]:
    return totals if totals[-1] <= MOST else [min(total, MOST) for total in totals]
