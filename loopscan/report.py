"""A finished run and a finished scan, ready to be rendered: no turns, no bytes.

The record of a run (`record`) is the output contract of DESIGN section 6.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass, field
from datetime import UTC, datetime
from functools import lru_cache
from typing import Any

from msgspec.structs import replace

from loopscan.episodes import VERDICTS, Episode, worst
from loopscan.exits import ORDER, Caps, Exit, first_turn
from loopscan.money import Children, Money, Spent, closing_call, money_notes
from loopscan.price import PICO
from loopscan.progress import Progress
from loopscan.run import Run
from loopscan.series import Series
from loopscan.skips import Skips
from loopscan.waste import Waste, wasted, wasted_by


@dataclass(slots=True)
class Fired:
    """An exit that fired on a run: the turn, the sends paid by then, their cost, and what stopping would have saved.

    `closing_usd`: what one last summary at that point would have cost, None where it is not known or not possible.
    """

    exit: str
    turn: int
    paid_sends: int
    usd: int
    saved_turns: int
    saved_usd: int
    false_stop: bool
    rule: str | None = None
    closing_usd: int | None = None


@dataclass(slots=True)
class RunReport:
    """One run as reported. Money in picodollars; see `record` for the public form."""

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
    series: Series
    money: Money
    wasted: Waste
    waiting: Waste
    notes: list[str]
    exits: list[Fired] = field(default_factory=list)
    times_normal: float | None = None
    children: Children | None = None
    variants: list[RunReport] = field(default_factory=list)
    """The same run as the detectors of `Settings.watched` see it, without exits."""

    @property
    def spent(self) -> Spent:
        """Tokens by class and source."""
        return self.money.spent

    @property
    def usd(self) -> int:
        """Picodollars of all priced sends."""
        return self.series.whole.usd

    @property
    def tokens(self) -> int:
        """Input and output tokens of all sends."""
        return self.series.whole.tokens

    @property
    def unpriced(self) -> bool:
        """Whether no send of the run could be priced."""
        return self.spent.unpriced > 0 and self.spent.unpriced >= self.spent.sends

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


def finished(run: Run) -> RunReport:
    """The report of a run whose log is over. Exits and `times_normal` come later: they need the whole scan."""
    report = _seen(run, run.progress)
    report.variants = [_seen(run, other) for other in run.others]
    return report


def _seen(run: Run, progress: Progress) -> RunReport:
    """A run as one of its detectors saw it."""
    state, state_source = run.ended_as()
    episodes, series = progress.tracker.told(), run.ledger.close()
    lost, waiting = wasted(episodes, series)
    notes = list(run.notes)
    notes += gap_note(run.gap)
    if run.compactions:
        notes.append(f"compacted {run.compactions}x")
    notes += progress.tracker.notes()
    notes += money_notes(run.ledger.money)
    verdict = worst(episodes)
    return RunReport(
        run.id, run.session, run.parent, run.source, run.format,
        run.model, run.labels, run.started, run.ended,
        run.turns, run.calls, state, state_source, run.blind,
        None if run.blind and verdict == "clean" else verdict,
        episodes, progress.fired, progress.rule, run.full or run.rejected(), series, run.ledger.money,
        lost, waiting, notes,
    )  # fmt: skip


def gap_note(gap: tuple[float, int]) -> list[str]:
    """What is said of the longest pause of a run: seconds, and the turn behind it."""
    return [f"longest gap: {_duration(gap[0])} before turn {gap[1]}"] if gap[0] >= 60 else []


def _duration(seconds: float) -> str:
    hours, rest = divmod(round(seconds), 3600)
    minutes, secs = divmod(rest, 60)
    return f"{hours}h{minutes:02d}m" if hours else f"{minutes}m{secs:02d}s"


def evaluate(report: RunReport, caps: Caps) -> None:
    """Fill in the exits that fired on a run under `caps`, smallest turn first."""
    # A send rejected after the last turn is no turn of the log, but it did happen.
    full = None if report.full is None else min(report.full, report.turns)
    end = replace(report.series.whole, fired=report.fired, full=full)
    exits = [fired for exit_ in _exits(caps) if exit_.fires(end) and (fired := _fired(exit_, report)) is not None]
    if len(exits) > 1:
        exits.sort(key=lambda f: (f.turn, ORDER.index(f.exit)))
    report.exits = exits


@lru_cache(maxsize=8)
def _exits(caps: Caps) -> tuple[Exit, ...]:
    return tuple(caps.exits())


def _fired(exit_: Exit, report: RunReport) -> Fired | None:
    """An exit that fires on a run by its end."""
    done, series = report.state == "done", report.series
    turn = first_turn(exit_, series, report.fired, report.full, done)
    if turn is None:
        return None
    at = turn - 1 if exit_.name == "context_full" else turn
    paid, usd = series.sends(at), series.at(at).usd if at else 0
    return Fired(
        exit_.name,
        turn,
        paid,
        usd,
        series.sends(len(series)) - paid,
        report.usd - usd,
        done and report.verdict != "stuck",
        report.rule if exit_.name == "no_progress" else None,
        None if exit_.name == "context_full" else closing_call(series, turn),
    )


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
        runs = self.runs
        sends = sum(r.spent.sends for r in runs)
        unpriced = sum(r.spent.unpriced for r in runs)
        priced = sends == 0 or unpriced < sends
        exits = Counter(r.exits[0].exit for r in runs if r.exits)
        return {
            "runs": len(runs),
            "states": dict(Counter(r.state for r in runs).most_common()),
            "verdicts": {v: n for v in reversed(VERDICTS) if (n := sum(r.verdict == v for r in runs))},
            "blind": sum(r.blind for r in runs),
            "first_exits": {name: exits[name] for name in ORDER if name in exits},
            "turns": sum(r.turns for r in runs),
            "calls": sum(r.calls for r in runs),
            "sends": sends,
            "input_tokens": known_sum(r.spent.input for r in runs),
            "output_tokens": known_sum(r.spent.output for r in runs),
            "usd": dollars(sum(r.usd for r in runs)) if priced else None,
            "wasted_turns": sum(r.wasted.turns for r in runs),
            "wasted_usd": dollars(sum(r.wasted.usd for r in runs)) if priced else None,
            "waiting_turns": sum(r.waiting.turns for r in runs),
            "waiting_usd": dollars(sum(r.waiting.usd for r in runs)) if priced else None,
            "unpriced_sends": unpriced,
        }


def known_sum(counts: Iterable[int | None]) -> int | None:
    """The sum of what is known; None where nothing is."""
    known = [count for count in counts if count is not None]
    return sum(known) if known else None


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
    return stamp.isoformat(timespec="milliseconds" if stamp.microsecond else "seconds").replace("+00:00", "Z")
