"""What a run spent, turn by turn, as running totals: a few numbers per turn, whatever the messages held."""

from __future__ import annotations

from array import array
from bisect import bisect_right
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

    `unpaid`: the turns (ascending) whose send was not paid. All columns only grow.
    """

    input: array[int] = field(default_factory=lambda: array("q"))
    output: array[int] = field(default_factory=lambda: array("q"))
    usd: array[int] = field(default_factory=lambda: array("q"))
    elapsed: array[float] = field(default_factory=lambda: array("d"))
    unpaid: list[int] = field(default_factory=list)

    def __len__(self) -> int:
        return len(self.input)

    def push(self, input_tokens: int, output_tokens: int, usd: int, elapsed: float, paid: bool) -> None:
        """Add a turn: its own tokens and picodollars, and the seconds since the first turn."""
        n = len(self.input)
        if n:
            input_tokens += self.input[-1]
            output_tokens += self.output[-1]
            usd += self.usd[-1]
            elapsed = max(elapsed, self.elapsed[-1])
        self.input.append(min(input_tokens, _MOST))
        self.output.append(min(output_tokens, _MOST))
        self.usd.append(min(usd, _MOST))
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
