"""JUnit XML: each run a test case, a stuck run a failure, a blind run skipped. Every CI system draws it.

Written to the strictest of the usual schemas (that of Ant's junitreport task), which the laxer ones take as well.
"""

from __future__ import annotations

from datetime import UTC, datetime
from typing import Any, TextIO
from xml.sax.saxutils import escape, quoteattr

from loopscan.render import Options
from loopscan.render._exits import exit_grid
from loopscan.render._summary import summary
from loopscan.render._text import clean
from loopscan.render.jsonl import dumps
from loopscan.render.table import cost_of, repeating, wasted_of
from loopscan.report import Report, RunReport


def render(report: Report, out: TextIO, options: Options) -> None:
    """Write the document."""
    runs = report.runs
    failed, blind = sum(r.verdict == "stuck" for r in runs), sum(_is_blind(r) for r in runs)
    taken = sum(_seconds(r) for r in runs)
    stamp = datetime.fromtimestamp(options.now, UTC).strftime("%Y-%m-%dT%H:%M:%S")
    out.write(
        '<?xml version="1.0" encoding="UTF-8"?>\n<testsuites>\n'
        f'<testsuite id="0" package="loopscan" name="loopscan" timestamp="{stamp}" hostname="localhost" '
        f'tests="{len(runs)}" failures="{failed}" errors="0" skipped="{blind}" time="{taken:.3f}">\n<properties>\n'
    )
    for name, value in report.settings.items():
        out.write(f"<property name={quoteattr(name)} value={quoteattr(_text(_setting(value)))}/>\n")
    out.write("</properties>\n")
    for run in runs:
        _case(run, out)
    lines = "\n".join(_text(line) for line in summary(report))
    out.write(f"<system-out>{escape(lines)}</system-out>\n<system-err></system-err>\n</testsuite>\n</testsuites>\n")


def _setting(value: Any) -> str:
    return "" if value is None else value if isinstance(value, str) else dumps(value)


def _case(run: RunReport, out: TextIO) -> None:
    name, group = quoteattr(_text(run.run)), quoteattr(f"loopscan.{run.format}")
    out.write(f'<testcase classname={group} name={name} time="{_seconds(run):.3f}">')
    if run.verdict == "stuck":
        message = quoteattr(_text(f"no progress at {repeating(run)}; wasted {wasted_of(run)}"))
        out.write(f'<failure type="stuck" message={message}>{escape(_details(run))}</failure>')
    elif _is_blind(run):
        out.write("<skipped/>")
    out.write("</testcase>\n")


def _details(run: RunReport) -> str:
    """The failure in full: how the run ended, and which exit would have ended it first."""
    lines = [
        f"state {run.state} after {run.turns:,} turns, {cost_of(run)}; {_text(run.source)}",
        *(
            f"{row[1]} at turn {row[2]}: would have saved {row[5]}"
            for row in exit_grid(run, None).rows
            if row[5] != "-"
        ),
        *(_text(note) for note in run.notes),
    ]
    return "\n".join(lines)


def _is_blind(run: RunReport) -> bool:
    return run.blind and run.verdict is None


def _seconds(run: RunReport) -> float:
    """How long the run took, 0 where the log has no times."""
    return 0.0 if run.started is None or run.ended is None else max(0.0, run.ended - run.started)


def _text(value: object) -> str:
    """A value as characters that XML allows: those that it forbids are hidden ones."""
    return clean("" if value is None else value)
