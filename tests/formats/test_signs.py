"""Which readers are loaded to tell a format: signs leave out those that could not have claimed it."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

from loopscan.blob import Blob
from loopscan.formats import FORMATS, detect, load
from tests.conftest import ROOT, SAMPLES, SHARED

LOGS = [p for folder in (SAMPLES, SHARED / "traces") for p in sorted(folder.rglob("*")) if p.is_file()]


@pytest.mark.parametrize("path", LOGS, ids=lambda p: f"{p.parent.name}-{p.name}")
def test_the_signs_leave_out_no_format(path: Path) -> None:
    with Blob(str(path), path) as blob:
        assert detect(blob.head) == next((n for n in FORMATS if load(n).sniff(blob.head)), None)


def test_a_key_in_escapes_is_told_all_the_same(tmp_path: Path) -> None:
    (log,) = (SAMPLES / "langsmith").glob("*.jsonl")
    odd = tmp_path / "odd.jsonl"
    odd.write_bytes(log.read_bytes().replace(b'"run_type"', b'"run\\u005ftype"'))
    with Blob(str(odd), odd) as blob:
        assert b"run_type" not in blob.head.raw
        assert detect(blob.head) == "langsmith"


def test_a_reader_without_a_sign_in_the_log_is_not_loaded() -> None:
    code = (
        "import sys, loopscan; loopscan.audit('sample_traces/loopscan/done.jsonl');"
        "print([m for m in sys.modules if m in ('loopscan.formats.litellm', 'loopscan.formats._otel_files')])"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True, cwd=ROOT)
    assert done.stdout.strip() == "[]"
