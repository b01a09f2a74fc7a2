"""The table for people: a row per run, costliest first, the exits of the worst runs, a summary."""

from __future__ import annotations

from collections.abc import Iterable
from heapq import nsmallest
from typing import Final, TextIO

from loopscan.episodes import Episode
from loopscan.render import Options
from loopscan.render._exits import exit_grid, run_name
from loopscan.render._grid import Column, Grid
from loopscan.render._money import amount, cost_cell, mark
from loopscan.render._summary import summary
from loopscan.render._text import clean, folded, plural, short
from loopscan.report import Report, RunReport

_STYLES: Final = {
    "stuck": {3: "bold red"},
    "suspect": {3: "yellow"},
    "recovered": {3: "cyan"},
    "waited": {3: "blue"},
    "blind": {3: "dim"},
}
_FINE: Final = {3: "green"}
_NARROW: Final = 110


def render(report: Report, out: TextIO, options: Options) -> None:
    """Write runs, the exits of the worst runs, and the summary."""
    runs = report.runs
    shown = ranked(runs, options.limit)
    if runs:
        _runs(shown, options).write(out, options.width, options.color)
        if len(shown) < len(runs):
            out.write(f"… {plural(len(runs) - len(shown), 'more run')} (--limit 0 shows all)\n")
        out.write("\n")
    for run in worst_runs(runs, options.detail):
        exit_grid(run, options.width).write(out, options.width, options.color)
        out.write("\n")
    for line in summary(report):
        out.writelines(part + "\n" for part in folded(line, options.width))


def ranked(runs: Iterable[RunReport], most: int = 0) -> list[RunReport]:
    """Costliest first; by tokens where unpriced; then by turns and name. `most` of them, 0 = all."""
    return nsmallest(most, runs, _rank) if most else sorted(runs, key=_rank)


def _rank(run: RunReport) -> tuple[int, int, int, str]:
    whole = run.whole
    return -whole.usd, -whole.tokens, -run.turns, run.run


def worst_runs(runs: list[RunReport], most: int) -> list[RunReport]:
    """The runs that wasted most and had an exit to stop them, stuck before suspect before recovered."""
    order = {"stuck": 0, "suspect": 1, "recovered": 2}
    bad = [r for r in runs if r.verdict in order and r.exits and r.wasted.turns]
    return sorted(ranked(bad), key=lambda r: (order[r.verdict or ""], -r.wasted.usd, -r.wasted.turns))[:most]


def _runs(runs: list[RunReport], options: Options) -> Grid:
    narrow = options.width is not None and options.width < _NARROW
    columns = [
        Column("run", least=12),
        Column("state"),
        Column("turns", right=True),
        Column("verdict"),
        Column("no progress at", least=14),
        *([] if narrow else [Column("first exit")]),
        Column("wasted", right=narrow, least=0 if narrow else 8),
        Column("cost", right=narrow),
    ]
    grid = Grid(columns, gap=1 if narrow else 2)
    for run in runs:
        verdict = run.verdict or "blind"
        row = [run_name(run, options.width), run.state, f"{run.turns:,}", verdict, repeating(run, narrow)]
        if not narrow:
            first = run.first_exit
            row.append(f"{first.exit} @ {first.turn}" if first else "-")
        grid.add([*row, wasted_of(run, narrow), cost_of(run, narrow)], _STYLES.get(verdict, _FINE))
    return grid


def block_names(episode: Episode) -> str:
    """What the block of an episode calls: `search, open`."""
    names = [clean(entry["name"] if entry["name"] is not None else _words(entry), 40) for entry in episode.block]
    more = f", +{len(names) - 4}" if len(names) > 4 else ""
    return f"{', '.join(names[:4])}{more}"


def _words(entry: dict[str, object]) -> str:
    return '"' + clean(entry.get("text") or "", 30) + '"'


def repeating(run: RunReport, narrow: bool = False) -> str:
    """Where and what the run repeats: the headline episode; its rule where that is not the period rule."""
    episode = run.headline
    if episode is None:
        return "-"
    copies, names = f"x{episode.copies:,}", block_names(episode)
    if narrow:
        return f"turn {episode.turn} {copies}: {names}"
    rule = "" if episode.rule == "period" else f" [{episode.rule}]"
    first = f"; first at {run.fired}" if run.fired is not None and run.fired < episode.turn else ""
    return f"turn {episode.turn}: {names} ({copies}){rule}{first}"


def wasted_of(run: RunReport, narrow: bool = False) -> str:
    """Turns and dollars that bought nothing, or were spent waiting."""
    waste, word = run.wasted, ""
    if not waste.turns and run.waiting.turns:
        waste, word = run.waiting, " waiting"
    if not waste.turns:
        return "-"
    if narrow:
        return plural(waste.turns, "turn") if run.unpriced else f"{mark(run)}{amount(waste.usd)}"
    price = "" if run.unpriced else f" {mark(run)}{amount(waste.usd)}"
    return f"{plural(waste.turns, 'turn')}{price}{word}"


def cost_of(run: RunReport, narrow: bool = False) -> str:
    """Dollars of the run, tokens where it is unpriced."""
    if run.unpriced or not run.spent.sends:
        return f"{mark(run)}{short(run.tokens)} tokens" if run.tokens else "-"
    times = f"  {run.times_normal:,.0f}x normal" if run.times_normal and run.times_normal >= 10 and not narrow else ""
    below = run.children.priced_usd if run.children and not narrow else None
    more = f" + {amount(below)} in {plural(run.children.runs, 'sub-agent')}" if below and run.children else ""
    return f"{cost_cell(run, narrow)}{more}{times}"
