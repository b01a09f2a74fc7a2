"""The README is run: every console command works, the shown output is real, the Python block runs."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

from tests.conftest import ROOT

README = (ROOT / "README.md").read_text()
COMMANDS = [
    line.removeprefix("$ ").partition("  #")[0].strip()
    for block in re.findall(r"```console\n(.*?)```", README, re.S)
    for line in block.splitlines()
    if line.startswith("$ ")
]
SHOWN = re.compile(r"<!-- output: audit -->\n```text\n(.*?)```\n<!-- end -->", re.S)


def shell(command: str) -> subprocess.CompletedProcess[str]:
    bin_ = Path(sys.executable).parent
    env = {**os.environ, "PATH": f"{bin_}{os.pathsep}{os.environ['PATH']}"}
    return subprocess.run(command, shell=True, capture_output=True, text=True, cwd=ROOT, env=env, check=False)


@pytest.mark.parametrize("command", COMMANDS)
def test_every_command_works(command: str) -> None:
    done = shell(command)
    assert done.returncode == 0, done.stderr
    assert done.stdout


def test_the_shown_output_is_real() -> None:
    got = shell(next(c for c in COMMANDS if c.startswith("loopscan audit"))).stdout
    if os.environ.get("UPDATE_GOLDEN"):
        text = SHOWN.sub(lambda _: f"<!-- output: audit -->\n```text\n{got}```\n<!-- end -->", README)
        (ROOT / "README.md").write_text(text)
        return
    match = SHOWN.search(README)
    assert match is not None
    assert match[1] == got


def test_the_python_block_runs() -> None:
    for block in re.findall(r"```python\n(.*?)```", README, re.S):
        done = subprocess.run([sys.executable, "-c", block], capture_output=True, text=True, cwd=ROOT, check=False)
        assert done.returncode == 0, done.stderr
        assert "no_progress" in done.stdout


def test_the_first_screen_names_the_two_commands() -> None:
    first = README.splitlines()[:25]
    assert any("make demo" in line for line in first)
    assert any("make test" in line for line in first)
