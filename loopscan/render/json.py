"""One JSON document: `{"schema":1,"runs":[…],"totals":{…},"skipped":{…},"settings":{…}}`."""

from __future__ import annotations

from typing import TextIO

from loopscan.records import frame
from loopscan.render import Options
from loopscan.render.jsonl import dumps, texts
from loopscan.report import Report


def render(report: Report, out: TextIO, options: Options) -> None:
    """Write the document, indented, run by run: all records at once take much memory."""
    before, runs, after = dumps(frame(report), indent=True).partition('"runs": [')
    out.write(before + runs)
    for number, text in enumerate(texts(report.runs, indent=True)):
        out.write((",\n    " if number else "\n    ") + text.replace("\n", "\n    "))
    out.write(("\n  " if report.runs else "") + after + "\n")
