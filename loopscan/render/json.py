"""One JSON document: `{"schema":1,"runs":[…],"totals":{…},"skipped":{…},"settings":{…}}`."""

from __future__ import annotations

from typing import TextIO

from loopscan.records import document
from loopscan.render import Options
from loopscan.render.jsonl import dumps
from loopscan.report import Report


def render(report: Report, out: TextIO, options: Options) -> None:
    """Write the document, indented."""
    out.write(dumps(document(report), indent=True) + "\n")
