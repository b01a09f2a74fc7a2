"""JSON Lines: one record per run (DESIGN section 6), in the order of the report."""

from __future__ import annotations

import json
from typing import Any, TextIO

import orjson

from loopscan.decode import canonical
from loopscan.hidden import escaped
from loopscan.records import record
from loopscan.render import Options
from loopscan.report import Report


def dumps(value: Any, indent: bool = False) -> str:
    """JSON text; hidden characters are written as escapes, and so is what the fast encoder refuses."""
    try:
        return escaped(orjson.dumps(value, option=orjson.OPT_INDENT_2 if indent else 0).decode())
    except (orjson.JSONEncodeError, RecursionError):
        pass
    try:
        return json.dumps(value, indent=2 if indent else None)
    except RecursionError:
        return canonical(value).decode()


def render(report: Report, out: TextIO, options: Options) -> None:
    """Write one line per run."""
    for run in report.runs:
        out.write(dumps(record(run)) + "\n")
