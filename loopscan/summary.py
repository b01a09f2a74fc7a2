"""What a whole scan comes to beside its sums: caps that its own runs suggest, and the tools its stuck runs call."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Final

from loopscan.auto import healthy, resolve, typical
from loopscan.exits import Caps, CostCap, Exit, TokenCap, TurnCap, first_turn
from loopscan.report import Report, RunReport, dollars
from loopscan.settings import CapSettings
from loopscan.waste import wasted_by

_AUTO: Final = CapSettings()
TEXT: Final = "(text only)"
"""A block without a call."""


@dataclass(slots=True, frozen=True)
class Suggested:
    """A cap of twice the 95th percentile of healthy runs. `cap` in its own unit (`cost_cap`: picodollars).

    `would_stop`: healthy runs it would have ended before they were done, of `runs`.
    """

    exit: str
    cap: int
    would_stop: int
    runs: int


@dataclass(slots=True)
class StuckTool:
    """A tool in the blocks of stuck runs: the runs, and the turns and picodollars wasted by episodes that call it."""

    name: str
    runs: int = 0
    turns: int = 0
    usd: int = 0


def suggested(report: Report) -> list[Suggested]:
    """Caps on turns, tokens and dollars; none for what too few healthy runs tell of."""
    good = healthy(report.runs)
    known = typical(good)
    caps = resolve(_AUTO, known)
    if known.turns is None:
        return []
    return [
        Suggested(exit_.name, cap, sum(_stops(exit_, run) for run in good), len(good)) for exit_, cap in _exits(caps)
    ]


def _exits(caps: Caps) -> list[tuple[Exit, int]]:
    found: list[tuple[Exit, int]] = []
    if caps.turns is not None:
        found.append((TurnCap(caps.turns), caps.turns))
    if caps.tokens is not None:
        found.append((TokenCap(caps.tokens), caps.tokens))
    if caps.usd is not None:
        found.append((CostCap(caps.usd), caps.usd))
    return found


def _stops(exit_: Exit, run: RunReport) -> bool:
    return first_turn(exit_, run.series, None, None, True) is not None


def stuck_tools(runs: list[RunReport]) -> list[StuckTool]:
    """The tools of stuck blocks, those of most runs first."""
    tools: dict[str, StuckTool] = {}
    for run in runs:
        if run.verdict != "stuck":
            continue
        met: set[str] = set()
        for episode in run.episodes:
            if episode.verdict != "stuck":
                continue
            waste = wasted_by(episode, run.series)
            for name in {str(entry["name"] or TEXT) for entry in episode.block}:
                tool = tools.setdefault(name, StuckTool(name))
                tool.runs += name not in met
                tool.turns += waste.turns
                tool.usd += waste.usd
                met.add(name)
    return sorted(tools.values(), key=lambda t: (-t.runs, -t.usd, -t.turns, t.name))


def figures(report: Report) -> dict[str, Any]:
    """The summary as it goes into the totals of a JSON document."""
    runs = report.runs
    priced = any(r.priced_usd is not None for r in runs)
    return {
        "without_exit": sum(not r.exits for r in runs),
        "unpriced_runs": sum(r.unpriced for r in runs),
        "skipped_records": report.skipped.total,
        "outside_span": report.outside,
        "without_times": report.untimed,
        "files_outside_span": report.unopened,
        "suggested_caps": [
            {
                "exit": s.exit,
                "cap": dollars(s.cap) if s.exit == "cost_cap" else s.cap,
                "would_stop": s.would_stop,
                "healthy_runs": s.runs,
            }
            for s in suggested(report)
        ],
        "stuck_tools": [
            {"name": t.name, "runs": t.runs, "wasted_turns": t.turns, "wasted_usd": dollars(t.usd) if priced else None}
            for t in stuck_tools(runs)[:20]
        ],
    }
