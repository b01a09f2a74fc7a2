"""A run as the store keeps it: one row of figures, a row for each tool it repeated, and its record as JSON."""

from __future__ import annotations

import math
from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Final

from loopscan.decode import canonical
from loopscan.episodes import worst
from loopscan.records import record
from loopscan.waste import wasted

if TYPE_CHECKING:
    from loopscan.episodes import Episode
    from loopscan.report import RunReport

AGENT_LABELS: Final = ("agent", "service", "workflow", "app")
"""The labels that name the agent, the first one that a run has; without any its format does."""

MOST: Final = (1 << 63) - 1
"""Integers of a store end here; absurd figures of a damaged log are held at it."""

LAST: Final = 250_000_000_000.0
"""In the year 9892; times beyond it, or before 1970, are those of a damaged log."""
_EPISODES: Final = 20
"""Episodes kept in the record of a run."""


@dataclass(slots=True)
class Repeated:
    """A tool in the blocks of a run's episodes: the worst verdict of those, and what they wasted."""

    tool: str
    verdict: str
    wasted_turns: int
    wasted_usd: int | None
    waiting_turns: int
    waiting_usd: int | None


@dataclass(slots=True)
class Stored:
    """The figures of a run. Times in epoch seconds, `seconds` the length of the run; money in picodollars.

    None: no times, or no price. `verdict` None: blind.
    """

    format: str
    run: str
    started: float | None
    ended: float | None
    seconds: float | None
    state: str
    verdict: str | None
    turns: int
    calls: int
    tokens: int
    usd: int | None
    unpriced_sends: int
    wasted_turns: int
    wasted_usd: int | None
    waiting_turns: int
    waiting_usd: int | None
    first_exit: str | None
    model: str | None
    agent: str
    parent: str | None
    source: str
    labels: str = "{}"
    record: str = "{}"
    repeats: list[Repeated] = field(default_factory=list)


def stored(report: RunReport) -> Stored:
    """What to keep of a run."""
    priced, labels, series = not report.unpriced, report.labels, report.series
    first = report.first_exit
    return Stored(
        storable(report.format),
        storable(report.run),
        _moment(report.started),
        _moment(report.ended),
        float(series.whole.elapsed) if report.started is not None and len(series) else None,
        report.state,
        report.verdict,
        report.turns,
        report.calls,
        min(report.tokens, MOST),
        report.priced_usd,
        report.spent.unpriced,
        report.wasted.turns,
        report.wasted.usd if priced else None,
        report.waiting.turns,
        report.waiting.usd if priced else None,
        first.exit if first else None,
        None if report.model is None else storable(report.model),
        storable(next((labels[k] for k in AGENT_LABELS if labels.get(k)), report.format)),
        None if report.parent is None else storable(report.parent),
        storable(report.source),
        _json(labels),
        _json(_short(record(report))),
        [_repeated(tool, episodes, report) for tool, episodes in _by_tool(report.episodes).items()],
    )


def storable(text: str) -> str:
    """Text that a store can hold: half a surrogate pair is spelt out."""
    return text if text.isascii() else text.encode("utf-8", "backslashreplace").decode()


def _moment(time: float | None) -> float | None:
    return time if time is not None and math.isfinite(time) and 0 <= time <= LAST else None


def _json(value: Any) -> str:
    return canonical(value).decode("utf-8", "backslashreplace")


def _short(full: dict[str, Any]) -> dict[str, Any]:
    """The record without what is null, and with the first of its episodes only."""
    kept = {k: v for k, v in full.items() if v is not None}
    kept["episodes"] = full["episodes"][:_EPISODES]
    return kept


def _by_tool(episodes: Iterable[Episode]) -> dict[str, list[Episode]]:
    """The episodes in whose block each tool is; text alone is no tool."""
    found: dict[str, list[Episode]] = {}
    for episode in episodes:
        for name in dict.fromkeys(str(entry["name"]) for entry in episode.block if entry.get("name") is not None):
            found.setdefault(storable(name), []).append(episode)
    return found


def _repeated(tool: str, episodes: list[Episode], report: RunReport) -> Repeated:
    lost, waiting = wasted(episodes, report.series)
    priced = not report.unpriced
    return Repeated(
        tool,
        worst(episodes),
        lost.turns,
        lost.usd if priced else None,
        waiting.turns,
        waiting.usd if priced else None,
    )
