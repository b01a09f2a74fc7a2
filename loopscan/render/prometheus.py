"""Gauges for the textfile collector of Prometheus' node exporter; `--output` lets the file appear whole.

No run ids (cardinality) and no time stamps (the collector forbids them). A figure that is not known has no line. The
format: https://prometheus.io/docs/instrumenting/exposition_formats/
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from typing import Any, Final, TextIO

from loopscan.exits import ORDER
from loopscan.model import STATES
from loopscan.render import Options
from loopscan.report import Report

VERDICTS: Final = ("stuck", "suspect", "waited", "recovered", "clean", "blind")
_ESCAPES: Final = str.maketrans({"\\": "\\\\", '"': '\\"', "\n": "\\n"})

Labels = tuple[tuple[str, str], ...]


def render(report: Report, out: TextIO, options: Options) -> None:
    """Write the gauges."""
    totals = report.totals()
    runs = Counter((r.state, r.format) for r in report.runs)
    verdicts = Counter(r.verdict or "blind" for r in report.runs)
    formats = sorted({r.format for r in report.runs})
    ended: dict[Labels, Any] = {
        (("terminal_state", state), ("format", name)): runs[state, name] for name in formats for state in STATES
    }
    judged: dict[Labels, Any] = {(("verdict", v),): verdicts[v] for v in VERDICTS}
    fired: dict[Labels, Any] = {(("exit", e),): totals["first_exits"].get(e, 0) for e in ORDER}
    _gauge(out, "runs", "Agent runs by how they ended and by log format.", ended)
    _gauge(out, "verdicts", "Agent runs by what hindsight says of their repetition.", judged)
    _gauge(out, "first_exit", "Agent runs by the exit that would have ended them first.", fired)
    for name, words, value in (
        ("usd", "USD of all priced sends.", totals["usd"]),
        ("wasted_usd", "USD of sends that bought nothing.", totals["wasted_usd"]),
        ("wasted_turns", "Sends that bought nothing.", totals["wasted_turns"]),
        ("waiting_usd", "USD of sends spent waiting.", totals["waiting_usd"]),
        ("unpriced_sends", "Sends without a known price.", totals["unpriced_sends"]),
        ("skipped_records", "Damaged log records that were left out.", report.skipped.total),
        ("last_success_timestamp_seconds", "When these figures were worked out.", round(options.now)),
    ):
        _gauge(out, name, words, {(): value})


def _gauge(out: TextIO, name: str, words: str, samples: Mapping[Labels, int | float | None]) -> None:
    known = {labels: value for labels, value in samples.items() if value is not None}
    if not known:
        return
    out.write(f"# HELP loopscan_{name} {words}\n# TYPE loopscan_{name} gauge\n")
    for labels, value in known.items():
        pairs = ",".join(f'{key}="{text.translate(_ESCAPES)}"' for key, text in labels)
        out.write(f"loopscan_{name}{f'{{{pairs}}}' if pairs else ''} {value}\n")
