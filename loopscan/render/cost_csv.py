"""The money of a scan as CSV, one line per run."""

from __future__ import annotations

import csv
from typing import Any, TextIO

from loopscan.bill import CLASSES
from loopscan.cost_records import cost_record
from loopscan.exits import ORDER
from loopscan.render import Options
from loopscan.render.csv import cell
from loopscan.report import Report, RunReport

_COST = (
    "usd source price unpriced_sends uncached_usd estimated_usd recorded_usd computed_usd cold_sends cold_usd "
    "children_usd total_usd"
).split()
_FIT = ("base", "growth", "r2", "r2_line")
_WASTED = ("turns", "usd", "history_tokens", "own_growth_tokens")


def render(report: Report, out: TextIO, options: Options) -> None:
    """Write a header and one line per run."""
    writer = csv.writer(out, lineterminator="\n")
    for number, run in enumerate(report.runs):
        row = flat(run)
        if not number:
            writer.writerow(row)
        writer.writerow([cell(value) for value in row.values()])


def flat(run: RunReport) -> dict[str, Any]:
    """The record of a run without nesting: dollars by class, the fit, and the saving of each exit."""
    full = cost_record(run)
    cost, fit = full["cost"], full["fit"] or {}
    exits = {fired["exit"]: fired for fired in full["exits"]}
    return {
        **{name: full[name] for name in ("run", "state", "verdict", "turns")},
        "sends": full["usage"]["sends"],
        **{name: cost[name] for name in _COST},
        **{f"{name}_usd": cost["classes"][name]["usd"] for name in CLASSES},
        **{f"{name}_tokens": cost["classes"][name]["tokens"] for name in CLASSES},
        **{name: fit.get(name) for name in _FIT},
        "breaks": " ".join(map(str, fit["breaks"])) if fit else None,
        **{f"wasted_{name}": full["wasted"][name] for name in _WASTED},
        "first_exit": full["first_exit"] and full["first_exit"]["exit"],
        **{f"saved_usd_{name}": exits.get(name, {}).get("saved_usd") for name in ORDER},
        **{f"closing_usd_{name}": exits.get(name, {}).get("closing_usd") for name in ORDER},
        **{name: full[name] for name in ("model", "format", "session", "parent", "source")},
    }
