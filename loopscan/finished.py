"""The report of a run of any kind: what its detectors and its ledger say once its log is over."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import Any

from loopscan.episodes import Episode, worst
from loopscan.fired import Fired
from loopscan.money import Children, Money, money_notes
from loopscan.progress import Progress
from loopscan.report import RunReport
from loopscan.run import Run
from loopscan.series import Series
from loopscan.waste import Waste, wasted


@dataclass(slots=True)
class Finished(RunReport):
    """A report that holds all of it."""

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
    series: Series = field()
    money: Money = field()
    wasted: Waste
    waiting: Waste
    notes: list[str] = field()
    exits: list[Fired] = field(default_factory=list)
    times_normal: float | None = None
    children: Children | None = None
    variants: list[RunReport] = field(default_factory=list)

    plain = False

    def altered(self, **changes: Any) -> RunReport:
        """The same with other values of some fields."""
        return replace(self, **changes)


def finished(run: Run) -> Finished:
    """The report of a run whose log is over. Exits and `times_normal` come later: they need the whole scan."""
    report = _seen(run, run.progress)
    report.variants = [_seen(run, other) for other in run.others]
    return report


def _seen(run: Run, progress: Progress) -> Finished:
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
    return Finished(
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
