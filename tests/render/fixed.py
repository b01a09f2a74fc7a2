"""The fixed input of every golden file: a few samples, at a fixed time, at flat prices."""

from __future__ import annotations

import io
import os
from contextlib import chdir

from loopscan import audit
from loopscan.prices import from_options
from loopscan.render import Options, load
from loopscan.report import Report
from tests.conftest import ROOT

GOLDEN = ROOT / "tests" / "golden"
NOW = 1_796_040_000.0
FILES = ("deployment", "three-call-cycle", "poll-that-ends", "strict-repeat", "done", "interleaved")


def report() -> Report:
    with chdir(ROOT):  # sources are shown as given
        return audit([f"sample_traces/loopscan/{name}.jsonl" for name in FILES], prices=from_options(3, 15))


def written(format_name: str, report: Report, options: Options | None = None) -> str:
    """What a renderer writes."""
    out = io.StringIO()
    load(format_name).render(report, out, options or Options(now=NOW))
    return out.getvalue()


def check(name: str, got: str) -> None:
    """Compare with a golden file, or renew it under `UPDATE_GOLDEN=1`."""
    golden = GOLDEN / name
    if os.environ.get("UPDATE_GOLDEN"):
        golden.write_text(got)
    assert got == golden.read_text()
