"""What tests share: the sample traces, the shared real logs where they are present, runs made in one line."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

ROOT = Path(__file__).parent.parent
SAMPLES = ROOT / "sample_traces"
SHARED = ROOT.parent / "shared"


def loopscan(*args: str, stdin: bytes | None = None, cwd: Path = ROOT, **env: str) -> subprocess.CompletedProcess[str]:
    """Run the real program as a user would, output captured."""
    import os

    done = subprocess.run(
        [sys.executable, "-m", "loopscan", *args],
        input=stdin if stdin is not None else b"",
        capture_output=True,
        cwd=cwd,
        env={**os.environ, "PYTHONUTF8": "1", "PYTHONPATH": str(ROOT), **env},
        timeout=120,
        check=False,
    )
    return subprocess.CompletedProcess(done.args, done.returncode, done.stdout.decode(), done.stderr.decode())


def native(path: Path, *lines: dict[str, Any] | str | bytes) -> Path:
    """Write a native log: dicts as JSON lines, text and bytes as they are."""
    parts = [
        line if isinstance(line, bytes) else line.encode() if isinstance(line, str) else json.dumps(line).encode()
        for line in lines
    ]
    path.write_bytes(b"\n".join(parts) + b"\n")
    return path


@pytest.fixture(scope="session")
def shared() -> Path:
    """The folder of real logs and labelled cases; tests that need it skip where it is absent."""
    if not SHARED.is_dir():
        pytest.skip("../shared is not there")
    return SHARED
