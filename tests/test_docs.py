"""The README is run: every console command works, the shown output is real, the Python block runs."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from pathlib import Path
from tempfile import TemporaryDirectory

import pytest

from tests.conftest import ROOT

README = (ROOT / "README.md").read_text()
COMMANDS = [
    line.removeprefix("$ ").partition("  #")[0].strip()
    for block in re.findall(r"```console\n(.*?)```", README, re.S)
    for line in block.splitlines()
    if line.startswith("$ ")
]
SHOWN = re.findall(r"<!-- output: (\w+) -->", README)


def shown(name: str) -> re.Pattern[str]:
    return re.compile(rf"(<!-- output: {name} -->\n```text\n)(.*?)(```\n<!-- end -->)", re.S)


def shell(command: str) -> subprocess.CompletedProcess[str]:
    """Run a command beside the sample traces, in a folder that it may write to."""
    bin_ = Path(sys.executable).parent
    env = {**os.environ, "PATH": f"{bin_}{os.pathsep}{os.environ['PATH']}"}
    with TemporaryDirectory() as folder:
        os.symlink(ROOT / "sample_traces", Path(folder) / "sample_traces")
        return subprocess.run(command, shell=True, capture_output=True, text=True, cwd=folder, env=env, check=False)


@pytest.mark.parametrize("command", COMMANDS)
def test_every_command_works(command: str) -> None:
    done = shell(command)
    assert done.returncode == 0, done.stderr
    assert done.stdout


@pytest.mark.parametrize("name", SHOWN)
def test_the_shown_output_is_real(name: str) -> None:
    """The output under a command's name is that of its first command."""
    got = shell(next(c for c in COMMANDS if c.startswith(f"loopscan {name}"))).stdout
    if os.environ.get("UPDATE_GOLDEN"):
        text = (ROOT / "README.md").read_text()
        (ROOT / "README.md").write_text(shown(name).sub(lambda m: m[1] + got + m[3], text))
        return
    match = shown(name).search(README)
    assert match is not None
    assert match[2] == got


def test_the_audit_is_shown() -> None:
    assert "audit" in SHOWN


def test_the_python_block_runs() -> None:
    for block in re.findall(r"```python\n(.*?)```", README, re.S):
        done = subprocess.run([sys.executable, "-c", block], capture_output=True, text=True, cwd=ROOT, check=False)
        assert done.returncode == 0, done.stderr
        assert "no_progress" in done.stdout


def test_the_first_screen_names_the_two_commands() -> None:
    first = README.splitlines()[:25]
    assert any("make demo" in line for line in first)
    assert any("make test" in line for line in first)
