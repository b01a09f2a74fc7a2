"""The table at fixed widths, against committed text."""

from __future__ import annotations

import io
import os
from pathlib import Path

import pytest

from loopscan import audit
from loopscan.prices import from_options
from loopscan.render import Options, load
from tests.conftest import ROOT

GOLDEN = ROOT / "tests" / "golden"
FILES = ("deployment", "three-call-cycle", "poll-that-ends", "strict-repeat", "done", "interleaved")


def rendered(options: Options) -> str:
    report = audit([str(ROOT / "sample_traces" / "loopscan" / f"{n}.jsonl") for n in FILES], prices=from_options(3, 15))
    out = io.StringIO()
    load("table").render(report, out, options)
    return out.getvalue()


WIDTHS = {"piped": None, "80": 80, "140": 140}


@pytest.mark.parametrize("name", WIDTHS)
def test_table(name: str) -> None:
    got = rendered(Options(width=WIDTHS[name]))
    golden = GOLDEN / f"table-{name}.txt"
    if os.environ.get("UPDATE_GOLDEN"):
        Path(golden).write_text(got)
    assert got == golden.read_text()
    if WIDTHS[name]:
        assert max(map(len, got.splitlines()[: got.splitlines().index("")])) <= (WIDTHS[name] or 0)
