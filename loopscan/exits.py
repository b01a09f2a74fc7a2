"""The exits: every stop condition is one small object, the same in an audit and in a live loop.

An exit looks at the totals of a run after a turn and says whether it fires. All conditions are monotonic: once
true they stay true, so an audit finds the first firing turn by bisection over the run's series.
"""

from __future__ import annotations

from bisect import bisect_left
from dataclasses import dataclass
from typing import Final, Protocol

from loopscan.price import PICO
from loopscan.series import Series, Totals

ORDER: Final = ("no_progress", "turn_cap", "token_cap", "cost_cap", "time_cap", "context_full")
"""The exits; of two that fire at the same turn the earlier one here is the first."""


class Exit(Protocol):
    """A stop condition."""

    @property
    def name(self) -> str:
        """One of `ORDER`."""

    def fires(self, totals: Totals) -> bool:
        """Whether the run is to stop after the turn that left these totals."""

    def reason(self, totals: Totals) -> str:
        """One line for people: why it fired."""


@dataclass(slots=True, frozen=True)
class NoProgress:
    """The detector fired (the period rule, or the repeat limit where one is set)."""

    name: str = "no_progress"

    def fires(self, totals: Totals) -> bool:
        return totals.fired is not None and totals.turn >= totals.fired

    def reason(self, totals: Totals) -> str:
        return f"the run repeats itself since turn {totals.fired}"


@dataclass(slots=True, frozen=True)
class TurnCap:
    """`cap` turns were made."""

    cap: int
    name: str = "turn_cap"

    def fires(self, totals: Totals) -> bool:
        return totals.turn >= self.cap

    def reason(self, totals: Totals) -> str:
        return f"{totals.turn} turns made, the cap is {self.cap}"


@dataclass(slots=True, frozen=True)
class TokenCap:
    """`cap` tokens were spent: input, cached included, and output."""

    cap: int
    name: str = "token_cap"

    def fires(self, totals: Totals) -> bool:
        return totals.tokens >= self.cap

    def reason(self, totals: Totals) -> str:
        return f"{totals.tokens:,} tokens spent, the cap is {self.cap:,}"


@dataclass(slots=True, frozen=True)
class CostCap:
    """`cap` picodollars were spent."""

    cap: int
    name: str = "cost_cap"

    def fires(self, totals: Totals) -> bool:
        return totals.usd >= self.cap

    def reason(self, totals: Totals) -> str:
        return f"${totals.usd / PICO:.4f} spent, the cap is ${self.cap / PICO:.4f}"


@dataclass(slots=True, frozen=True)
class TimeCap:
    """More than `cap` seconds went by since the first turn."""

    cap: float
    name: str = "time_cap"

    def fires(self, totals: Totals) -> bool:
        return totals.elapsed > self.cap

    def reason(self, totals: Totals) -> str:
        return f"{totals.elapsed:.0f} s elapsed, the cap is {self.cap:.0f} s"


@dataclass(slots=True, frozen=True)
class ContextFull:
    """A send did not fit the model's context window."""

    name: str = "context_full"

    def fires(self, totals: Totals) -> bool:
        return totals.full is not None and totals.turn >= totals.full

    def reason(self, totals: Totals) -> str:
        return f"the context window was full at turn {totals.full}"


@dataclass(slots=True, frozen=True)
class Caps:
    """The caps of one policy; None = off. `usd` in picodollars, `seconds` of log time."""

    turns: int | None = None
    tokens: int | None = None
    usd: int | None = None
    seconds: float | None = None

    def exits(self) -> list[Exit]:
        """Every exit of this policy, in `ORDER`."""
        exits: list[Exit] = [NoProgress()]
        if self.turns is not None:
            exits.append(TurnCap(self.turns))
        if self.tokens is not None:
            exits.append(TokenCap(self.tokens))
        if self.usd is not None:
            exits.append(CostCap(self.usd))
        if self.seconds is not None:
            exits.append(TimeCap(self.seconds))
        exits.append(ContextFull())
        return exits

    def spare(self, turns: int, tokens: int, usd: int, seconds: float) -> bool:
        """Whether none of them is reached by a run of so much."""
        return (
            (self.turns is None or turns < self.turns)
            and (self.tokens is None or tokens < self.tokens)
            and (self.usd is None or usd < self.usd)
            and (self.seconds is None or seconds <= self.seconds)
        )


def first_turn(exit_: Exit, series: Series, fired: int | None, full: int | None, done: bool) -> int | None:
    """The turn at which an exit fires on a finished run, None if it never does.

    `fired`/`full`: see `Totals`; a rejected send that is no turn of the log has the number of the next one. An exit
    does not fire on the last turn of a run that was `done` there.
    """

    def fires(turn: int) -> bool:
        totals = series.whole if turn == turns else series.at(turn)
        totals.fired, totals.full = fired, full
        return exit_.fires(totals)

    turns = len(series)
    if full is not None and full > turns and exit_.name == "context_full":
        return full
    if not turns or not fires(turns):
        return None
    known = _known(exit_, fired, full)
    turn = bisect_left(range(1, turns), True, key=fires) + 1 if known is None else max(1, known)
    return None if done and turn == turns else turn


def _known(exit_: Exit, fired: int | None, full: int | None) -> int | None:
    """The turn from which on an exit fires, where that can be told without a look at others."""
    if isinstance(exit_, NoProgress):
        return fired
    if isinstance(exit_, ContextFull):
        return full
    return exit_.cap if isinstance(exit_, TurnCap) else None
