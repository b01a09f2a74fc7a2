"""The money of a scan as JSON Lines: the record of each run with its money in detail."""

from __future__ import annotations

from typing import TextIO

from loopscan.cost_records import cost_record
from loopscan.render import Options
from loopscan.render.jsonl import dumps
from loopscan.report import Report


def render(report: Report, out: TextIO, options: Options) -> None:
    """Write one line per run."""
    for run in report.runs:
        out.write(dumps(cost_record(run)) + "\n")
