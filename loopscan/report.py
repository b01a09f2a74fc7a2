"""A finished run and a finished scan, ready to be rendered: no turns, no bytes.

The record of a run (`record`) is the output contract of DESIGN section 6.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections import Counter
from collections.abc import Hashable
from dataclasses import dataclass, field
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Any

import orjson

from loopscan.episodes import VERDICTS, Episode
from loopscan.exits import ORDER, Caps
from loopscan.money import Spent
from loopscan.price import PICO
from loopscan.skips import Skips
from loopscan.waste import Waste, wasted_by

if TYPE_CHECKING:
    from loopscan.fired import Fired
    from loopscan.money import Children, Money
    from loopscan.series import Series, Totals


class RunReport(ABC):
    """One run as reported. Money in picodollars; see `record` for the public form.

    That of a run of any kind is a `loopscan.finished.Finished`, that of a quiet one a `loopscan.settle.Settled`.
    """

    __slots__ = ("children", "exits", "parent", "times_normal")

    run: str
    session: str | None
    parent: str | None
    source: str
    format: str
    model: str | None
    labels: dict[str, str]
    started: float | None
    ended: float | None
    turns: int
    calls: int
    state: str
    state_source: str
    blind: bool
    verdict: str | None
    episodes: list[Episode]
    fired: int | None
    rule: str | None
    full: int | None
    wasted: Waste
    waiting: Waste
    exits: list[Fired]
    times_normal: float | None
    children: Children | None
    variants: list[RunReport]
    """The same run as the detectors of `Settings.watched` see it, without exits."""
    plain: bool
    """Whether its tokens are those that the log states, and nothing else is known of its money."""

    @property
    def kind(self) -> Hashable:
        """Runs of one kind have records that differ in names, times and sums only; None = of no kind."""
        return None

    @property
    def figures(self) -> tuple[Any, ...]:
        """What its record differs in from those of its kind, in the order of the record, all but the notes."""
        return ()

    @property
    @abstractmethod
    def series(self) -> Series:
        """What it spent, turn by turn."""

    @property
    @abstractmethod
    def money(self) -> Money:
        """What it spent, by class and source."""

    @property
    @abstractmethod
    def notes(self) -> list[str]:
        """What a reader must know of it, one line each."""

    @abstractmethod
    def altered(self, **changes: Any) -> RunReport:
        """The same with other values of some fields."""

    def stopped(self, caps: Caps) -> list[Fired] | None:
        """The exits that fire on it, smallest turn first, where that is plain to see; None = it is to be found out."""
        return None

    @property
    def whole(self) -> Totals:
        """The totals after the last turn."""
        return self.series.whole

    @property
    def spent(self) -> Spent:
        """Tokens by class and source."""
        return self.money.spent

    @property
    def usd(self) -> int:
        """Picodollars of all priced sends."""
        return self.whole.usd

    @property
    def tokens(self) -> int:
        """Input and output tokens of all sends."""
        return self.whole.tokens

    @property
    def unpriced(self) -> bool:
        """Whether no send of the run could be priced."""
        spent = self.spent
        return spent.unpriced > 0 and spent.unpriced >= spent.sends

    @property
    def priced_usd(self) -> int | None:
        """Picodollars, or None when unpriced."""
        return None if self.unpriced else self.usd

    @property
    def total_usd(self) -> int | None:
        """Picodollars of the run and its children, of what is priced of them; None when nothing is."""
        own, below = self.priced_usd, self.children.priced_usd if self.children else None
        return None if own is None and below is None else (own or 0) + (below or 0)

    @property
    def first_exit(self) -> Fired | None:
        """The exit that would have ended the run first."""
        return self.exits[0] if self.exits else None

    @property
    def headline(self) -> Episode | None:
        """The costliest episode of the run's verdict."""
        mine = [e for e in self.episodes if e.verdict == self.verdict]
        return max(mine, key=lambda e: (*_cost_of(self, e), -e.turn), default=None)


def _cost_of(report: RunReport, episode: Episode) -> tuple[int, int]:
    waste = wasted_by(episode, report.series)
    return waste.usd, waste.turns


@dataclass(slots=True)
class Report:
    """A finished scan: its runs, what was skipped, the caps used and how they came about."""

    runs: list[RunReport]
    skipped: Skips
    caps: Caps
    settings: dict[str, Any] = field(default_factory=dict)
    not_logs: list[str] = field(default_factory=list)
    failures: list[str] = field(default_factory=list)
    outside: int = 0
    """Runs left out as they ended outside the span that was asked for."""
    known_stuck: set[tuple[str, str]] | None = None
    """Format and run of those that a store held as stuck before this scan; None without a store."""
    untimed: int = 0
    """Runs without times, which count in every span."""
    unopened: int = 0
    """Files left unread as they cannot hold a run that ended in the span."""
    stopped: bool = False
    """The user stopped the scan: the last input is read in part, `unread` more are not."""
    unread: int = 0

    def totals(self) -> dict[str, Any]:
        """Counts and sums over the runs; dollars exact, None where every send is unpriced."""
        runs, spent = self.runs, _spent(self.runs)
        priced = spent.sends == 0 or spent.unpriced < spent.sends
        exits = Counter(r.exits[0].exit for r in runs if r.exits)
        verdicts = Counter(r.verdict for r in runs)
        return {
            "runs": len(runs),
            "states": dict(Counter(r.state for r in runs).most_common()),
            "verdicts": {v: verdicts[v] for v in reversed(VERDICTS) if v in verdicts},
            "blind": sum(r.blind for r in runs),
            "first_exits": {name: exits[name] for name in ORDER if name in exits},
            "turns": sum(r.turns for r in runs),
            "calls": sum(r.calls for r in runs),
            "sends": spent.sends,
            "input_tokens": spent.input,
            "output_tokens": spent.output,
            "usd": dollars(sum(r.usd for r in runs)) if priced else None,
            "wasted_turns": sum(r.wasted.turns for r in runs),
            "wasted_usd": dollars(sum(r.wasted.usd for r in runs)) if priced else None,
            "waiting_turns": sum(r.waiting.turns for r in runs),
            "waiting_usd": dollars(sum(r.waiting.usd for r in runs)) if priced else None,
            "unpriced_sends": spent.unpriced,
        }


def _spent(runs: list[RunReport]) -> Spent:
    """Sends and tokens of all runs; None where no run knows them."""
    total = Spent()
    for run in runs:
        one = run.spent
        total.sends += one.sends
        total.unpriced += one.unpriced
        if one.input is not None:
            total.input = (total.input or 0) + one.input
        if one.output is not None:
            total.output = (total.output or 0) + one.output
    return total


def dollars(pico: int | None) -> float | None:
    """Picodollars as dollars: the nearest float, whose shortest form is the exact amount."""
    return None if pico is None else pico / PICO


def iso(moment: float | None) -> str | None:
    """Epoch seconds as ISO 8601 in UTC."""
    if moment is None:
        return None
    try:
        stamp = datetime.fromtimestamp(moment, UTC)
    except (ValueError, OverflowError, OSError):
        return None
    text = orjson.dumps(stamp).decode()  # isoformat takes twice as long
    return f"{text[1:24] if stamp.microsecond else text[1:20]}Z"
