"""What happens at the limits: a stop, a closed pipe, a full disk, few open files; nothing is left behind."""

from __future__ import annotations

import json
import os
import re
import resource
import signal
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import pytest

from loopscan import audit
from loopscan.stop import STOP
from tests.conftest import ROOT, SAMPLES, loopscan, native

LINE = {"name": "t", "args": {}, "result": 1}
PROGRAM = [sys.executable, "-m", "loopscan"]


def started(*args: str, **more: Any) -> subprocess.Popen[str]:
    return subprocess.Popen(
        [*PROGRAM, *args], cwd=ROOT, text=True,
        **{"stdin": subprocess.DEVNULL, "stdout": subprocess.PIPE, "stderr": subprocess.PIPE, **more},
    )  # fmt: skip


_BEGUN = 1 << 19
"""Bytes from which on a log is read, not only told by its beginning."""


def interrupted(child: subprocess.Popen[str], log: Path, *signals: int, read: int = 0) -> tuple[str, str]:
    """Send signals to a program that has opened a log, and read some bytes of it; what it wrote."""
    opened, until = Path(f"/proc/{child.pid}/fd"), time.monotonic() + 30
    while opened.is_dir() and time.monotonic() < until and not any(_is_in(fd, log, read) for fd in opened.iterdir()):
        time.sleep(0.02)
    time.sleep(0.1 if opened.is_dir() and not read else 0 if opened.is_dir() else 1.2)
    for number in signals:
        child.send_signal(number)
    return child.communicate(timeout=30)


def _is_in(link: Path, target: Path, read: int) -> bool:
    try:
        position = Path(str(link).replace("/fd/", "/fdinfo/")).read_text().split()[1]
        return os.readlink(link) == str(target) and int(position) >= read
    except OSError:
        return False


@pytest.fixture(scope="module")
def long_log(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A log that takes a few seconds."""
    target = tmp_path_factory.mktemp("long") / "a.jsonl"
    with target.open("w") as out:
        for i in range(250_000):
            out.write(
                f'{{"run_id":"r{i % 500}","turn":{i},"name":"t","args":{{"i":{i}}},"result":"line {i} of many"}}\n'
            )
    (target.parent / "b.jsonl").write_text("".join(json.dumps({"run_id": "last", **LINE}) + "\n"))
    return target


@pytest.mark.parametrize("jobs", [1, 2])
@pytest.mark.parametrize("form", ["table", "json"])
def test_ctrl_c_shows_what_is_known(form: str, jobs: int, long_log: Path) -> None:
    child = started("audit", str(long_log), str(long_log.parent), "-f", form, "--jobs", str(jobs))
    out, err = interrupted(child, long_log, signal.SIGINT, read=_BEGUN if jobs == 1 else 0)
    assert child.returncode == 130
    assert "Traceback" not in err
    told = re.search(r"stopped: what was being read is there in part, ([12]) more were not read", err)
    assert told is not None
    least = 1 if jobs == 1 else 0  # several processes may not have begun by then
    if form == "table":
        assert told[0] in out
        assert "runs: " in out or (not least and "no run found" in out)
    else:
        document = json.loads(out)
        assert document["skipped"]["unread_inputs"] == int(told[1])
        assert least <= len(document["runs"]) <= 500
        assert least <= document["totals"]["turns"] < 250_000


def test_ctrl_c_while_a_pipe_says_nothing(tmp_path: Path) -> None:
    with started("audit", "-", "-f", "json", stdin=subprocess.PIPE) as child:
        assert child.stdin is not None
        assert child.stdout is not None
        child.stdin.write((json.dumps({"run_id": "r", **LINE}) + "\n") * 5)
        child.stdin.flush()
        time.sleep(1.5)
        child.send_signal(signal.SIGINT)
        assert child.wait(timeout=20) == 130
        assert json.loads(child.stdout.read())["totals"]["turns"] == 5


def test_ctrl_c_writes_the_report_of_what_is_known(long_log: Path, tmp_path: Path) -> None:
    for command in (["audit", "-f", "jsonl", "--jobs", "1"], ["convert"]):
        target = tmp_path / "out.jsonl"
        child = started(*command, str(long_log), "-o", str(target))
        _, err = interrupted(child, long_log, signal.SIGINT, read=_BEGUN)
        assert (child.returncode, "Traceback" in err) == (130, False)
        assert os.listdir(tmp_path) == ["out.jsonl"]
        assert all(json.loads(line) for line in target.read_text().splitlines())
        target.unlink()


def test_two_ctrl_c_end_it_at_once(long_log: Path) -> None:
    child = started("audit", str(long_log), "-f", "json")
    _, err = interrupted(child, long_log, signal.SIGINT, signal.SIGINT)
    assert (child.returncode, "Traceback" in err) == (130, False)


def test_a_terminated_program_leaves_nothing_behind(long_log: Path, tmp_path: Path) -> None:
    temp = set(os.listdir("/tmp"))
    child = started("convert", str(long_log), "-o", str(tmp_path / "out.jsonl"))
    interrupted(child, long_log, signal.SIGTERM)
    assert child.returncode == 143
    assert os.listdir(tmp_path) == []
    assert not {n for n in set(os.listdir("/tmp")) - temp if n.startswith("loopscan")}


def test_a_function_call_is_interrupted_as_usual(long_log: Path) -> None:
    code = "import sys; from loopscan import audit; audit(sys.argv[1])"
    child = subprocess.Popen([sys.executable, "-c", code, str(long_log)], cwd=ROOT, stderr=subprocess.PIPE, text=True)
    _, err = interrupted(child, long_log, signal.SIGINT)
    assert "KeyboardInterrupt" in err
    assert not STOP.asked


COMMANDS = [["audit", "-f", "jsonl"], ["audit"], ["convert"], ["formats"], ["--help"]]


@pytest.mark.parametrize("command", COMMANDS, ids=" ".join)
def test_a_closed_pipe_is_quiet(command: list[str]) -> None:
    paths = [] if command[0] in ("formats", "--help") else ["sample_traces/loopscan"]
    for size in (0, 10) if command == ["audit", "-f", "jsonl"] else (10,):
        with started(*command, *paths) as child:
            assert child.stdout is not None
            assert child.stderr is not None
            child.stdout.read(size)
            child.stdout.close()
            assert child.stderr.read() == ""
            assert child.wait(timeout=30) == 0


FULL = pytest.mark.skipif(not os.path.exists("/dev/full"), reason="no /dev/full")


@FULL
@pytest.mark.parametrize("command", [*COMMANDS, ["--version"], ["config"]], ids=" ".join)
def test_a_full_disk_is_one_line(command: list[str]) -> None:
    paths = [] if command[0] in ("formats", "--help", "--version", "config") else ["sample_traces/loopscan"]
    with open("/dev/full", "w") as full:
        done = subprocess.run(
            [*PROGRAM, *command, *paths], cwd=ROOT, stdout=full, stderr=subprocess.PIPE, text=True, check=False
        )
    assert done.returncode == 2
    assert done.stderr == "loopscan: standard output cannot be written: No space left on device\n"


@FULL
def test_a_full_disk_behind_output_is_one_line(tmp_path: Path) -> None:
    (tmp_path / "full").symlink_to("/dev/full")
    done = loopscan("audit", "sample_traces/loopscan", "-o", str(tmp_path / "full"))
    assert done.returncode == 2
    assert done.stderr == f"loopscan: --output {tmp_path}/full: cannot be written: No space left on device\n"
    assert os.path.exists("/dev/full")


@FULL
def test_messages_that_nobody_can_take_stop_nothing(tmp_path: Path) -> None:
    log = native(tmp_path / "x.jsonl", {"run_id": "r", **LINE}, "broken")
    with open("/dev/full", "w") as full:
        done = subprocess.run(
            [*PROGRAM, "audit", str(log), "-f", "jsonl"],
            cwd=ROOT,
            stdout=subprocess.PIPE,
            stderr=full,
            text=True,
            check=False,
        )
    assert (done.returncode, len(done.stdout.splitlines())) == (0, 1)


CLOSED = {
    "input": ("<&-", ["audit", "-"], 3, "-: standard input is closed"),
    "input that is not asked for": ("<&-", ["audit", "sample_traces/loopscan"], 0, ""),
    "output": (">&-", ["audit", "sample_traces/loopscan"], 2, "standard output is closed: name a file with --output"),
    "errors": ("2>&-", ["audit", "sample_traces/loopscan", "nowhere"], 0, ""),
}


@pytest.mark.parametrize(("close", "args", "code", "words"), CLOSED.values(), ids=CLOSED)
def test_closed_streams(close: str, args: list[str], code: int, words: str) -> None:
    command = " ".join([sys.executable, "-m", "loopscan", *args, close])
    done = subprocess.run(["sh", "-c", command], capture_output=True, cwd=ROOT, text=True, timeout=60, check=False)
    assert (done.returncode, "Traceback" in done.stderr) == (code, False)
    assert words in done.stderr


def test_few_files_are_open_at_a_time(tmp_path: Path) -> None:
    for i in range(400):
        native(tmp_path / f"{i}.jsonl", {"run_id": f"r{i}", **LINE})
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    resource.setrlimit(resource.RLIMIT_NOFILE, (48, hard))
    try:
        done = loopscan("audit", str(tmp_path), str(SAMPLES), "-f", "json", "-q")
    finally:
        resource.setrlimit(resource.RLIMIT_NOFILE, (soft, hard))
    assert (done.returncode, done.stderr) == (0, "")
    assert len(json.loads(done.stdout)["runs"]) > 400


def test_an_output_keeps_its_mode_and_its_link(tmp_path: Path) -> None:
    real, link = tmp_path / "real.csv", tmp_path / "link.csv"
    real.write_text("old")
    real.chmod(0o640)
    link.symlink_to(real)
    assert loopscan("audit", "sample_traces/loopscan", "-f", "csv", "-o", str(link)).returncode == 0
    assert link.is_symlink()
    assert real.read_text().startswith("run,")
    assert real.stat().st_mode & 0o777 == 0o640
    assert loopscan("audit", "sample_traces/loopscan", "-o", "/dev/null").returncode == 0
    assert not os.path.isfile("/dev/null")


def test_an_output_that_fails_leaves_the_old_one(tmp_path: Path) -> None:
    target = tmp_path / "report.json"
    target.write_text("old")
    done = loopscan("audit", str(tmp_path / "nowhere"), "-f", "json", "-o", str(target))
    assert (done.returncode, target.read_text(), os.listdir(tmp_path)) == (3, "old", ["report.json"])


EXITS: dict[str, tuple[list[str], int]] = {
    "read": ([], 0),
    "read, strict": (["--strict"], 4),
    "read, strict, quiet": (["--strict", "-q"], 4),
    "a rule trips before": (["--strict", "--fail-on", "stuck"], 1),
}


@pytest.mark.parametrize(("options", "code"), EXITS.values(), ids=EXITS)
@pytest.mark.parametrize("form", ["table", "json", "csv", "junit", "markdown", "prometheus"])
def test_exit_codes_of_a_damaged_log(options: list[str], code: int, form: str, tmp_path: Path) -> None:
    from loopscan.cli import run

    log = native(tmp_path / "x.jsonl", *[{"run_id": "r", **LINE}] * 9, '{"run_id":')
    assert run(["audit", str(log), *options, "-f", form, "-o", str(tmp_path / "out")]) == code


def test_many_bad_lines_are_counted_and_a_few_are_said(tmp_path: Path) -> None:
    log = native(tmp_path / "x.jsonl", {"run_id": "r", **LINE}, *["broken"] * 5000)
    done = loopscan("audit", str(log), "-f", "json")
    lines = done.stderr.splitlines()
    assert len(lines) == 21
    assert lines[0].startswith(f"loopscan: {log}:2: no JSON")
    assert lines[-1] == "loopscan: 4980 more skipped records are not shown"
    assert json.loads(done.stdout)["skipped"]["records"] == 5000


def test_quoted_types_and_reasons_are_bounded() -> None:
    from loopscan.skips import Skips

    said: list[str] = []
    skips = Skips(said.append)
    for i in range(5000):
        skips.unknown_type("x", f"{i}" + "y" * 10_000)
    skips.unknown_type("x", {"a": 1})
    skips.unknown_type("x", None)
    skips.add("file", 1, "z" * 100_000)
    assert len(skips.unknown) <= 1001
    assert max(map(len, skips.unknown)) < 400
    assert sum(skips.unknown.values()) == 5002
    assert max(map(len, said)) < 500


def test_an_audit_of_all_samples_leaves_no_file_open() -> None:
    before = len(os.listdir("/proc/self/fd")) if os.path.isdir("/proc/self/fd") else 0
    audit(str(SAMPLES))
    after = len(os.listdir("/proc/self/fd")) if os.path.isdir("/proc/self/fd") else 0
    assert after == before


OWN: dict[str, tuple[list[str], str | bytes]] = {
    "prices": (["audit", "{log}", "--prices", "{file}"], "prices.toml"),
    "a policy": (["replay", "{log}", "--policy", "{file}"], "policy.toml"),
    "outcomes": (["replay", "{log}", "--policy", "seed", "--outcomes", "{file}"], "outcomes.csv"),
    "settings": (["audit", "{log}"], "loopscan.toml"),
}
BAD_FILES: dict[str, bytes] = {
    "endless": b"",
    "nested too deeply": b"a = " + b"[" * 100_000,
    "no text": b"\xff\xfe\x00",
    "NUL bytes": bytes(100),
}


@pytest.mark.parametrize("bad", BAD_FILES)
@pytest.mark.parametrize(("args", "name"), OWN.values(), ids=OWN)
def test_a_file_of_the_user_that_is_none(
    args: list[str], name: str, bad: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:  # fmt: skip
    from loopscan.cli import run

    log, file = native(tmp_path / "x.jsonl", {"run_id": "r", **LINE}), tmp_path / name
    if BAD_FILES[bad]:
        file.write_bytes(BAD_FILES[bad] + b"\n" + BAD_FILES[bad])
    elif name == "policy.toml" or not os.path.exists("/dev/zero"):
        return
    else:
        file.symlink_to("/dev/zero")
    monkeypatch.chdir(tmp_path)
    code = run([a.format(log=log, file=file) for a in args])
    said = capsys.readouterr().err
    assert (code in (2, 3) and name in said) or (name, bad) == ("loopscan.toml", "endless"), said
    assert "Traceback" not in said


@pytest.mark.parametrize("window", ["100001", "9" * 30, "9" * 5000])
@pytest.mark.parametrize("how", [["audit", "--window"], ["replay", "--policy"]], ids=" ".join)
def test_a_window_that_no_memory_holds(
    how: list[str], window: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    from loopscan.cli import run

    log = native(tmp_path / "x.jsonl", {"run_id": "r", **LINE})
    assert run([how[0], str(log), how[1], window if how[0] == "audit" else f"window={window}"]) == 2
    assert "window" in capsys.readouterr().err
