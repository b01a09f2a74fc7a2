"""The money of a scan as one JSON document."""

from __future__ import annotations

from typing import TextIO

from loopscan.cost_records import cost_document
from loopscan.render import Options
from loopscan.render.jsonl import dumps
from loopscan.report import Report


def render(report: Report, out: TextIO, options: Options) -> None:
    """Write the document, indented."""
    out.write(dumps(cost_document(report), indent=True) + "\n")
