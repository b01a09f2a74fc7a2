"""The money of a scan for people: runs, models, exits, and the worst runs exit by exit."""

from __future__ import annotations

from typing import TextIO

from loopscan.bill import Line, by_model, total
from loopscan.cost_records import ExitTotal, exit_totals, fitted
from loopscan.fit import Fit
from loopscan.render import Options
from loopscan.render._exits import exit_grid, run_name
from loopscan.render._grid import Column, Grid
from loopscan.render._money import amount, cost_cell, mark, money_lines
from loopscan.render._summary import caps_line, left_out
from loopscan.render._text import cents, clean, folded, plural, short
from loopscan.render.table import ranked, worst_runs
from loopscan.report import Report, RunReport

_NARROW, _WIDE = 130, 165
"""Columns of a terminal from which on dollars are shown by class, and the first exit beside them."""

_TITLES = {
    "input": "uncached in",
    "cache_read": "cache read",
    "cache_write": "5m write",
    "cache_write_1h": "1h write",
    "output": "output",
}


def render(report: Report, out: TextIO, options: Options) -> None:
    """Write runs, models, exits, the worst runs, and the summary."""
    runs = report.runs
    shown = ranked(runs, options.limit)
    if runs:
        _runs(shown, options.width).write(out, options.width, options.color)
        if len(shown) < len(runs):
            out.write(f"… {plural(len(runs) - len(shown), 'more run')} (--limit 0 shows all)\n")
        out.write("\n")
        models = by_model(bill for run in runs for bill in run.money.bills)
        some = models[: options.limit] if options.limit else models
        _models(some, options.width).write(out, options.width, options.color)
        if len(some) < len(models):
            out.write(f"… {plural(len(models) - len(some), 'more model')}\n")
        out.write("\n")
    exits = exit_totals(report)
    if exits:
        _exit_totals(exits).write(out, options.width, options.color)
        out.write("\n")
    for run in worst_runs(runs, options.detail):
        exit_grid(run, options.width).write(out, options.width, options.color)
        out.write("\n")
    for line in _summary(report):
        out.writelines(part + "\n" for part in folded(line, options.width))


def _runs(runs: list[RunReport], width: int | None) -> Grid:
    narrow, wide = width is not None and width < _NARROW, width is None or width >= _WIDE
    classes = [] if narrow else [Column(title, right=True) for title in _TITLES.values()]
    columns = [
        Column("run", least=12),
        Column("sends", right=True),
        Column("cost", right=True),
        *classes,
        Column("without cache", right=True),
        Column("base + growth", right=True),
        Column("R2", right=True),
        *([] if narrow else [Column("breaks", right=True)]),
        Column("wasted", right=True),
        *([Column("first exit saves", least=8)] if wide else []),
    ]
    grid = Grid(columns, gap=1 if narrow else 2)
    for run in runs:
        line, found = total(run.money.bills), fitted(run)
        usd, about = line.priced_usd, mark(run)
        row = [run_name(run, width), f"{run.spent.sends:,}", _cost(run, narrow)]
        row += [] if narrow else [_part(usd, line.classes[name], about) for name in _TITLES]
        row += [_uncached(line, about), _line(found), "-" if found is None else f"{found.r2:.2f}"]
        row += [] if narrow else [f"{len(found.breaks):,}" if found and found.breaks else "-"]
        row.append(_part(usd, run.wasted.usd, about))
        row += [_first(run)] if wide else []
        grid.add(row)
    return grid


def _cost(run: RunReport, narrow: bool) -> str:
    if not run.spent.sends:
        return "-"
    if run.priced_usd is None:
        return "unpriced"
    return cost_cell(run, narrow)


def _part(known: int | None, usd: int, about: str) -> str:
    return about + amount(usd) if known is not None and usd else "-"


def _uncached(line: Line, about: str = "") -> str:
    """What the same sends would have cost without a cache, and how many times as much that is."""
    usd = line.priced_usd
    if not usd:
        return "-"
    return f"{about}{amount(line.uncached)} ({line.uncached / usd:.1f}x)"


def _line(found: Fit | None) -> str:
    if found is None or not found.credible:
        return "-"
    loop = found.loop()
    return f"{loop.base:,} + {loop.growth:,}"


def _first(run: RunReport) -> str:
    first = run.first_exit
    if first is None:
        return "-"
    saved = "" if run.unpriced or not first.saved_usd else f" {mark(run)}{amount(first.saved_usd)}"
    return f"{first.exit} @ {first.turn}{saved}{' (healthy)' if first.false_stop else ''}"


def _models(lines: list[Line], width: int | None) -> Grid:
    narrow = width is not None and width < _NARROW
    grid = Grid(
        [
            Column("model", least=12),
            *([] if narrow else [Column("priced as")]),
            Column("sends", right=True),
            *[Column(title, right=True) for title in _TITLES.values()],
            Column("cost", right=True),
            *([] if narrow else [Column("without cache", right=True)]),
        ],
        gap=1 if narrow else 2,
    )
    for line in lines:
        usd = line.priced_usd
        row = [clean(line.model or "(no name)", 60)]
        row += [] if narrow else [clean(line.matched or line.source or "-", 60)]
        row += [f"{line.sends:,}", *[short(line.tokens[name]) if line.tokens[name] else "-" for name in _TITLES]]
        row += ["unpriced" if usd is None else amount(usd)]
        row += [] if narrow else [_uncached(line)]
        grid.add(row)
    return grid


def _exit_totals(lines: list[ExitTotal]) -> Grid:
    """Every exit over all runs; a healthy run it would have stopped saves nothing."""
    titles = ("fires in", "first in", "would have saved", "closing", "healthy stopped")
    grid = Grid([Column("exit"), *[Column(title, right=True) for title in titles]])
    for line in lines:
        healthy = f"{line.healthy:,}" if line.healthy else "-"
        counts = [plural(line.fired, "run"), plural(line.first, "run")]
        dollars = [amount(usd) if usd else "-" for usd in (line.saved, line.closing)]
        grid.add([line.exit, *counts, *dollars, healthy])
    return grid


def _summary(report: Report) -> list[str]:
    """Dollars by class, the cache's effect, waste, and what every report ends with."""
    runs = report.runs
    if not runs:
        return ["no run found", *left_out(report)]
    line = total(bill for run in runs for bill in run.money.bills)
    head = f"{plural(len(runs), 'run')}, {plural(line.sends, 'send')}: "
    if line.priced_usd is None:
        return [f"{head}unpriced", caps_line(report), *money_lines(report), *left_out(report)]
    parts = [
        f"{title} {cents(line.classes[name])} ({line.classes[name] / whole:.1%})"
        for name, title in _TITLES.items()
        if line.classes[name] and (whole := sum(line.classes.values()))
    ]
    lost, about = sum(run.wasted.usd for run in runs), mark(*runs)
    lines = [
        f"{head}{about}{cents(line.usd)}, of it {about}{cents(lost)} wasted; without cache {_uncached(line, about)}"
    ]
    if parts:
        lines.append(f"list price by class: {', '.join(parts)}")
    again, grown = sum(r.wasted.history_tokens for r in runs), sum(r.wasted.own_growth_tokens for r in runs)
    if again or grown:
        lines.append(
            f"wasted input: {short(again)} tokens of history sent again, {short(grown)} that the loops added themselves"
        )
    return [*lines, caps_line(report), *money_lines(report), *left_out(report)]
