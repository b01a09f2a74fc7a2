"""CSV, one line per run: the record's main figures flattened. Text that a spreadsheet would run gets a leading `'`."""

from __future__ import annotations

import csv
from typing import Any, TextIO

from loopscan.records import record
from loopscan.render import Options
from loopscan.render._text import clean
from loopscan.report import Report, RunReport

COLUMNS = (
    "run state state_source verdict blind turns calls no_progress_turn period copies rule left_at "
    "block first_exit first_exit_turn saved_turns saved_usd false_stop wasted_turns wasted_usd "
    "waiting_turns waiting_usd sends input_tokens cache_read_tokens cache_write_tokens "
    "cache_write_1h_tokens output_tokens usage_source usd unpriced_sends times_normal model format "
    "session parent source started ended notes"
).split()


_FORMULA = tuple("=+-@＝＋－＠")
"""What a spreadsheet takes for a formula, also in the wide forms of East Asian keyboards."""


def render(report: Report, out: TextIO, options: Options) -> None:
    """Write a header and one line per run."""
    writer = csv.writer(out, lineterminator="\n")
    writer.writerow(COLUMNS)
    for run in report.runs:
        row = flat(run)
        writer.writerow([cell(row[name]) for name in COLUMNS])


def cell(value: Any) -> Any:
    """A value as a CSV cell: empty for null, text made harmless for terminals and spreadsheets."""
    if value is None:
        return ""
    if isinstance(value, bool):
        return "true" if value else "false"
    if not isinstance(value, str):
        return value
    text = clean(value)
    return f"'{text}" if text.startswith(_FORMULA) else text


def flat(run: RunReport) -> dict[str, Any]:
    """The record of a run without nesting."""
    full = record(run)
    np, first = full["no_progress"] or {}, full["first_exit"] or {}
    names = ", ".join(str(b["name"] or b.get("text") or "text") for b in np.get("block", ()))
    flat_: dict[str, Any] = {k: v for k, v in full.items() if not isinstance(v, (dict, list))}
    flat_ |= {
        "no_progress_turn": np.get("turn"),
        "block": names or None,
        **{k: np.get(k) for k in ("period", "copies", "rule", "left_at")},
        "first_exit": first.get("exit"),
        "first_exit_turn": first.get("turn"),
        **{k: first.get(k) for k in ("saved_turns", "saved_usd", "false_stop")},
        **{f"wasted_{k}": full["wasted"][k] for k in ("turns", "usd")},
        **{f"waiting_{k}": full["waiting"][k] for k in ("turns", "usd")},
        **{k: v for k, v in full["usage"].items() if k != "source"},
        "usage_source": full["usage"]["source"],
        **{k: full["cost"][k] for k in ("usd", "unpriced_sends", "times_normal")},
        "notes": "; ".join(full["notes"]) or None,
    }
    return flat_
