"""What a run spent, turn by turn, as running totals: a few numbers per turn, whatever the messages held."""

from __future__ import annotations

from array import array
from bisect import bisect_left, bisect_right
from dataclasses import dataclass, field

_MOST = (1 << 63) - 1
"""Absurd figures of a damaged log are held at this."""


@dataclass(slots=True)
class Totals:
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


@dataclass(slots=True)
class Series:
    """Running totals after each turn of a run: input and output tokens, picodollars, elapsed seconds.

    `written`: the part of `usd` that is output. `unpaid`: the turns (ascending) whose send was not paid. All
    columns only grow.
    """

    input: array[int] = field(default_factory=lambda: array("q"))
    output: array[int] = field(default_factory=lambda: array("q"))
    usd: array[int] = field(default_factory=lambda: array("q"))
    written: array[int] = field(default_factory=lambda: array("q"))
    elapsed: array[float] = field(default_factory=lambda: array("d"))
    unpaid: list[int] = field(default_factory=list)

    def __len__(self) -> int:
        return len(self.input)

    def push(self, input_tokens: int, output_tokens: int, usd: int, written: int, elapsed: float, paid: bool) -> None:
        """Add a turn: its own tokens and picodollars (in all, and of the output), and the seconds since the first."""
        n = len(self.input)
        if n:
            input_tokens += self.input[-1]
            output_tokens += self.output[-1]
            usd += self.usd[-1]
            written += self.written[-1]
            if self.elapsed[-1] > elapsed:
                elapsed = self.elapsed[-1]
        self.input.append(input_tokens if input_tokens < _MOST else _MOST)
        self.output.append(output_tokens if output_tokens < _MOST else _MOST)
        self.usd.append(usd if usd < _MOST else _MOST)
        self.written.append(written if written < _MOST else _MOST)
        self.elapsed.append(elapsed)
        if not paid:
            self.unpaid.append(n + 1)

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

    def reading(self, turn: int) -> int:
        """Picodollars of the input of one turn's send."""
        i = turn - 1
        usd, written = self.usd[i], self.written[i]
        return usd - written - (self.usd[i - 1] - self.written[i - 1] if i else 0)
