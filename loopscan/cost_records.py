"""What `loopscan cost` says of a scan, as data: the record of a run with its money in detail, and the totals."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Final

from loopscan.bill import Line, by_model, total
from loopscan.exits import ORDER
from loopscan.fit import Fit, fit
from loopscan.money import Checked
from loopscan.records import SCHEMA, record, skipped, stated
from loopscan.report import Report, RunReport, dollars

FITTED_FROM: Final = 4
"""Sends from which on a line says more than that it goes through two points."""


@dataclass(slots=True)
class ExitTotal:
    """One exit over all runs. `fired` on so many, `first` on so many of them; `healthy` ones it would have stopped.

    `saved`, `closing`: picodollars saved on the others, and what a closing call on each of them would have cost.
    """

    exit: str
    fired: int = 0
    first: int = 0
    healthy: int = 0
    saved: int = 0
    closing: int = 0


def fitted(report: RunReport) -> Fit | None:
    """Base and growth of a run with recorded input; None where there is too little of it."""
    if not report.spent.usage_sources.get("recorded"):
        return None
    found = fit([tokens or None for tokens in report.series.inputs()])
    return found if found is not None and found.sends >= FITTED_FROM else None


def exit_totals(report: Report) -> list[ExitTotal]:
    """Every exit that fired, in the order of exits."""
    totals: dict[str, ExitTotal] = {}
    for run in report.runs:
        for number, fired in enumerate(run.exits):
            line = totals.setdefault(fired.exit, ExitTotal(fired.exit))
            line.fired += 1
            line.first += number == 0
            line.healthy += fired.false_stop
            if not fired.false_stop:
                line.saved += fired.saved_usd
                line.closing += fired.closing_usd or 0
    return [totals[name] for name in ORDER if name in totals]


def cost_record(report: RunReport) -> dict[str, Any]:
    """The record of a run, with dollars by class and model, the cache's effect and the fit."""
    full, bills = record(report), report.money.bills
    line, found = total(bills), fitted(report)
    full["cost"] |= _detail(line)
    full["models"] = [_model(model) for model in by_model(bills)]
    full["fit"] = None if found is None else _fit(found)
    return full


def cost_document(report: Report) -> dict[str, Any]:
    """The whole scan as one JSON object."""
    bills = [bill for run in report.runs for bill in run.money.bills]
    return {
        "schema": SCHEMA,
        "runs": [cost_record(run) for run in report.runs],
        "models": [_model(line) for line in by_model(bills)],
        "exits": [_exit(line) for line in exit_totals(report)],
        "totals": report.totals() | _detail(total(bills)) | _certainty(report.runs),
        "skipped": skipped(report.skipped),
        "settings": report.settings,
    }


def _certainty(runs: list[RunReport]) -> dict[str, Any]:
    """What the sums hold that was not measured, what checks them, and what a cold cache cost."""
    money, checked = [run.money for run in runs], Checked()
    for one in money:
        checked.join(one.checked)
    return {
        "guessed_usd": dollars(sum(m.guessed.usd for m in money)),
        "baseless_sends": sum(m.guessed.baseless for m in money),
        "placeholder_sends": sum(m.guessed.placeholders for m in money),
        "estimated_usd": dollars(sum(run.usd for run in runs) + sum(m.guessed.more_usd for m in money)),
        **stated(checked),
        "cold_sends": sum(m.cold.sends for m in money),
        "cold_usd": dollars(sum(m.cold.usd for m in money)),
        "children_usd": dollars(sum(run.usd for run in runs if run.parent is not None)),
        "history_tokens": sum(run.wasted.history_tokens for run in runs),
        "own_growth_tokens": sum(run.wasted.own_growth_tokens for run in runs),
    }


def _detail(line: Line) -> dict[str, Any]:
    """Tokens and dollars by class, and the same sends uncached."""
    priced = line.priced_usd is not None
    return {
        "classes": {
            name: {"tokens": tokens, "usd": dollars(line.classes[name]) if priced else None}
            for name, tokens in line.tokens.items()
        },
        "uncached_usd": dollars(line.uncached) if priced else None,
    }


def _model(line: Line) -> dict[str, Any]:
    return {
        "model": line.model,
        "priced_as": line.matched,
        "price": line.source,
        "sends": line.sends,
        "unpriced_sends": line.unpriced,
        **{f"{name}_tokens": tokens for name, tokens in line.tokens.items()},
        "usd": dollars(line.priced_usd),
        "uncached_usd": None if line.priced_usd is None else dollars(line.uncached),
    }


def _fit(found: Fit) -> dict[str, Any]:
    return {
        "base": round(found.base),
        "growth": round(found.growth),
        "r2": round(found.r2, 4),
        "r2_line": round(found.r2_line, 4),
        "breaks": list(found.breaks),
        "credible": found.credible,
    }


def _exit(line: ExitTotal) -> dict[str, Any]:
    return {
        "exit": line.exit,
        "fired": line.fired,
        "first": line.first,
        "healthy": line.healthy,
        "saved_usd": dollars(line.saved),
        "closing_usd": dollars(line.closing),
    }
