"""What a person sees: colour, width, the bar, how much is said, completion. On a real pseudo-terminal."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

from tests.conftest import ROOT, SAMPLES, loopscan, native

pty = pytest.importorskip("pty")

LOGS = "sample_traces/loopscan"
CSI = re.compile(r"\x1b\[[0-9;?]*[A-Za-z]")
SEE = "from loopscan.cli import run; import sys; sys.exit(run(sys.argv[1:]))"


def seen(*args: str, columns: int = 80, code: str = SEE, stderr: bool = False, **env: str) -> str:
    """What the program writes to a terminal, on standard output or on standard error (the other one is dropped)."""
    import fcntl
    import struct
    import termios

    ours, theirs = pty.openpty()
    fcntl.ioctl(theirs, termios.TIOCSWINSZ, struct.pack("HHHH", 40, columns, 0, 0))
    kept = {k: v for k, v in os.environ.items() if k not in ("NO_COLOR", "FORCE_COLOR", "COLUMNS", "LINES")}
    run = subprocess.Popen(
        [sys.executable, "-c", code, *args], cwd=ROOT, stdin=subprocess.DEVNULL,
        stdout=subprocess.DEVNULL if stderr else theirs, stderr=theirs if stderr else subprocess.DEVNULL,
        env={**kept, "TERM": "xterm-256color", "PYTHONPATH": str(ROOT), "PYTHONUTF8": "1", **env},
    )  # fmt: skip
    os.close(theirs)
    parts = []
    try:
        while part := os.read(ours, 1 << 16):
            parts.append(part)
    except OSError:  # how Linux says that the other end is closed
        pass
    os.close(ours)
    run.wait(timeout=60)
    return b"".join(parts).decode().replace("\r\n", "\n")


COLOUR = {
    "a terminal": ({}, True),
    "NO_COLOR": ({"NO_COLOR": "1"}, False),
    "an empty NO_COLOR says nothing": ({"NO_COLOR": ""}, True),
    "a dumb terminal": ({"TERM": "dumb"}, False),
    "NO_COLOR is the person's own word": ({"NO_COLOR": "1", "FORCE_COLOR": "1"}, False),
    "a dumb terminal cannot be forced": ({"TERM": "dumb", "FORCE_COLOR": "1"}, False),
}


@pytest.mark.parametrize(("env", "coloured"), COLOUR.values(), ids=COLOUR)
def test_colour_on_a_terminal(env: dict[str, str], coloured: bool) -> None:
    assert bool(CSI.search(seen("audit", LOGS, **env))) is coloured


@pytest.mark.parametrize(("value", "coloured"), [("1", True), ("0", True), ("", False)])
def test_colour_in_a_pipe_only_when_forced(value: str, coloured: bool) -> None:
    env = {"FORCE_COLOR": value, "NO_COLOR": "", "TERM": "xterm"}
    text = loopscan("audit", LOGS, COLUMNS="40", **env).stdout
    assert bool(CSI.search(text)) is coloured
    assert "…" not in text  # nothing is cut
    assert CSI.sub("", text) == loopscan("audit", LOGS, NO_COLOR="1").stdout


@pytest.mark.parametrize("columns", [80, 100, 140])
def test_no_line_is_wider_than_the_terminal(columns: int) -> None:
    text = CSI.sub("", seen("audit", LOGS, "--p-in", "3", "--p-out", "15", columns=columns))
    assert max(map(len, text.splitlines())) <= columns
    assert all(word in text for word in ("deploy-0412", "context_full", "stuck", "$119.65"))
    if columns == 80:
        assert all(w in text.splitlines()[0].split() for w in ("run", "state", "turns", "verdict", "wasted", "cost"))


def test_twenty_rows_on_a_terminal(tmp_path: Path) -> None:
    log = native(tmp_path / "t.jsonl", *[{"run_id": f"r{i}", "name": "t", "args": {}, "result": 1} for i in range(30)])
    assert "… 10 more runs (--limit 0 shows all)" in seen("audit", str(log))
    assert "more runs" not in loopscan("audit", str(log)).stdout


def test_data_is_never_coloured() -> None:
    for name in ("json", "jsonl", "csv", "markdown", "junit", "prometheus"):
        assert not CSI.search(seen("audit", LOGS, "-f", name, FORCE_COLOR="1"))


IMPATIENT = "import loopscan.cli_bar as bar; bar.PATIENCE = 0.0; " + SEE


def test_a_bar_of_bytes_on_standard_error() -> None:
    args = ("audit", str(SAMPLES))
    text = seen(*args, code=IMPATIENT, stderr=True)
    assert re.search(r"reading .*\d+(\.\d+)?/\d+(\.\d+)? [kM]?B", CSI.sub("", text))
    for quiet in ((*args, "--quiet"), args):
        env = {} if "--quiet" in quiet else {"TERM": "dumb"}
        assert "reading" not in seen(*quiet, code=IMPATIENT, stderr=True, **env)
    assert "reading" not in seen("audit", LOGS, stderr=True)  # over before anybody waits


def test_no_bar_in_a_pipe() -> None:
    done = subprocess.run([sys.executable, "-c", IMPATIENT, "audit", str(SAMPLES)], cwd=ROOT, capture_output=True,
                          text=True, env={**os.environ, "PYTHONPATH": str(ROOT)}, check=True)  # fmt: skip
    assert "reading" not in done.stderr


def test_quiet_and_verbose(tmp_path: Path) -> None:
    log = native(tmp_path / "a.jsonl", *[{"run_id": "r", "name": "t", "args": {}, "result": 1}, "{broken"] * 30)
    (tmp_path / "notes.txt").write_text("no log")
    said = loopscan("audit", str(tmp_path)).stderr.splitlines()
    assert said[-1] == "loopscan: 10 more skipped records are not shown"
    assert len(said) == 21
    assert loopscan("audit", str(tmp_path), "-q").stderr == ""
    verbose = loopscan("audit", str(tmp_path), "-v").stderr.splitlines()
    assert verbose[0] == f"loopscan: {log}: loopscan"
    assert verbose[-1] == f"loopscan: {tmp_path}/notes.txt: no known log format"
    assert len(verbose) == 32
    done = loopscan("audit", "nowhere.jsonl", "-q")  # an error is said all the same
    assert (done.returncode, done.stderr) == (3, "loopscan: nowhere.jsonl: no such file or folder\n")


def test_closed_standard_error_leaves_the_report_alone() -> None:
    command = f"{sys.executable} -m loopscan audit {LOGS} nowhere.jsonl -f jsonl 2>&-"
    done = subprocess.run(command, shell=True, capture_output=True, text=True, cwd=ROOT, check=True)
    assert all(line.startswith("{") for line in done.stdout.splitlines())


COMPLETED = {
    "commands": ("loopscan au", "audit"),
    "options": ("loopscan audit --fail", "--fail-on"),
    "values": ("loopscan audit --format jun", "junit"),
}


@pytest.mark.parametrize(("typed", "expected"), COMPLETED.values(), ids=COMPLETED)
def test_shell_completion(typed: str, expected: str, tmp_path: Path) -> None:
    (tmp_path / "loopscan.toml").write_text("broken = [")  # is no hindrance
    code = "import sys; sys.argv[0] = 'loopscan'; from loopscan.__main__ import main; main()"
    words = typed.split()
    env = {**os.environ, "PYTHONPATH": str(ROOT), "_LOOPSCAN_COMPLETE": "complete_bash", "COMP_WORDS": typed,
           "COMP_CWORD": str(len(words) - 1)}  # fmt: skip
    done = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, cwd=tmp_path, env=env, check=False
    )
    assert expected in done.stdout.split(), done.stderr


def test_the_completion_script_is_printed() -> None:
    assert "_LOOPSCAN_COMPLETE=complete_bash" in loopscan("--show-completion", "bash", SHELL="/bin/bash").stdout
