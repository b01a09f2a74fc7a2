"""Files that are not what they seem, or not for long: the real program says so in one line and reads the rest."""

from __future__ import annotations

import contextlib
import gzip
import json
import os
import re
import socket
import sqlite3
import subprocess
import sys
import threading
import time
from collections.abc import Callable
from pathlib import Path

import pytest

from loopscan import audit
from loopscan.blob import Blob
from loopscan.cli import run
from loopscan.skips import Skips
from loopscan.source import expand
from tests.conftest import ROOT, SAMPLES, loopscan, native
from tests.hostile.scanning import patience

Program = Callable[..., subprocess.CompletedProcess[str]]


@pytest.fixture
def program(capsys: pytest.CaptureFixture[str]) -> Program:
    """The command line, run in this process."""

    def call(*args: str) -> subprocess.CompletedProcess[str]:
        code = run(list(args))
        shown = capsys.readouterr()
        return subprocess.CompletedProcess(args, code, shown.out, shown.err)

    return call


GOOD = [{"run_id": f"good-{i}", "turn": 1, "name": "t", "args": {}, "result": i} for i in range(3)]
GOODS = {f"good-{i}" for i in range(3)}


def runs_of(text: str) -> set[str]:
    return {json.loads(line)["run"] for line in text.splitlines()}


def _fifo(path: Path) -> None:
    os.mkfifo(path)


def _socket(path: Path) -> None:
    with socket.socket(socket.AF_UNIX) as end:
        end.bind(str(path))


def _locked(path: Path) -> None:
    path.write_bytes((SAMPLES / "opencode" / "opencode.db").read_bytes())


MAKE: dict[str, tuple[Callable[[Path], object], str]] = {
    "an empty file": (lambda p: p.write_bytes(b""), "empty, no turn in it"),
    "NUL bytes only": (lambda p: p.write_bytes(bytes(9000)), "empty, no turn in it"),
    "no log": (lambda p: p.write_bytes(b"hello\n"), "no known log format"),
    "an empty archive": (lambda p: p.write_bytes(gzip.compress(b"")), "empty, no turn in it"),
    "an archive cut in its head": (lambda p: p.write_bytes(gzip.compress(b"x" * 99)[:7]), "damaged or cut short"),
    "zstd cut in its head": (lambda p: p.write_bytes(b"\x28\xb5\x2f\xfd\x04"), "damaged or cut short"),
    "a folder's name": (lambda p: p.mkdir(), ""),
    "nothing": (lambda p: None, "no such file or folder"),
    "a link that leads nowhere": (lambda p: p.symlink_to("nowhere"), "no such file or folder"),
    "a link to itself": (lambda p: p.symlink_to(p.name), "cannot be read: Too many levels of symbolic links"),
    "a pipe that nobody writes to": (_fifo, "nobody writes to this pipe"),
    "a socket": (_socket, "cannot be read: No such device or address"),
    "a device without an end": (lambda p: p.symlink_to("/dev/zero"), "no known log format"),
    "a database cut short": (
        lambda p: p.write_bytes((SAMPLES / "opencode" / "opencode.db").read_bytes()[:9000]),
        "it is a database without the tables of a known agent",
    ),
    "a database that ends too early": (
        lambda p: p.write_bytes((SAMPLES / "goose" / "sessions.db").read_bytes()[:-6000]),
        "database cannot be",
    ),
    "a database in an archive": (
        lambda p: p.write_bytes(gzip.compress((SAMPLES / "goose" / "sessions.db").read_bytes())),
        "compressed database: unpack it first",
    ),
}


@pytest.mark.parametrize(("make", "words"), MAKE.values(), ids=MAKE)
def test_a_named_file(make: Callable[[Path], object], words: str, tmp_path: Path, program: Program) -> None:
    odd, good = tmp_path / "odd", native(tmp_path / "good.jsonl", *GOOD)
    make(odd)
    done = program("audit", str(odd), str(good), "-f", "jsonl")
    assert done.returncode == 0
    assert runs_of(done.stdout) >= GOODS
    assert (f"loopscan: {odd}" in done.stderr and words in done.stderr) or not words
    assert len(done.stderr.splitlines()) <= 1
    if "nobody writes" in words:  # waited for long enough
        return
    alone = program("audit", str(odd), "-f", "jsonl")
    fine = "empty" in words or not words or words.startswith(("database", "compressed database"))
    assert (alone.returncode, "Traceback" in alone.stderr) == (0 if fine else 3, False)


IN_FOLDERS = {
    "a pipe": (_fifo, "a pipe, a socket or a device, not a file"),
    "a socket": (_socket, "a pipe, a socket or a device, not a file"),
    "a link that leads nowhere": (lambda p: p.symlink_to("nowhere"), "a link that leads nowhere"),
    "a link to itself": (lambda p: p.symlink_to(p.name), "a link that leads nowhere"),
    "a cut archive": (lambda p: p.write_bytes(gzip.compress(b"x" * 99)[:7]), "compressed data is damaged"),
}


@pytest.mark.parametrize(("make", "words"), IN_FOLDERS.values(), ids=IN_FOLDERS)
def test_in_a_folder_it_is_a_counted_skip(
    make: Callable[[Path], object], words: str, tmp_path: Path, program: Program
) -> None:
    native(tmp_path / "good.jsonl", *GOOD)
    make(tmp_path / "odd")
    done = program("audit", str(tmp_path), "-f", "json")
    document = json.loads(done.stdout)
    assert f"loopscan: {tmp_path}/odd: {words}" in done.stderr
    assert (len(document["runs"]), document["skipped"]["records"]) == (3, 1)
    assert document["skipped"]["files"] == {f"{tmp_path}/odd": 1}
    assert program("audit", str(tmp_path), "-q", "--strict").returncode == 4


def test_a_folder_in_a_loop_is_read_once(tmp_path: Path, program: Program) -> None:
    (tmp_path / "a" / "b").mkdir(parents=True)
    native(tmp_path / "a" / "b" / "good.jsonl", *GOOD)
    (tmp_path / "a" / "b" / "up").symlink_to(tmp_path)
    (tmp_path / "a" / "again").symlink_to(tmp_path / "a" / "b")
    done = program("audit", str(tmp_path), "-f", "jsonl", "--strict")
    assert (done.returncode, runs_of(done.stdout), done.stderr) == (0, GOODS, "")


def _give_up_rights() -> None:
    """In a child: what the administrator may do beyond the bits of a file is gone after the next exec."""
    import ctypes

    drop, override, search = 24, 1, 2
    libc = ctypes.CDLL(None, use_errno=True)
    if libc.prctl(drop, override, 0, 0, 0) or libc.prctl(drop, search, 0, 0, 0):
        os._exit(99)


def test_files_and_folders_without_permission(tmp_path: Path) -> None:
    native(tmp_path / "good.jsonl", *GOOD)
    native(tmp_path / "closed.jsonl", *GOOD).chmod(0)
    (tmp_path / "shut").mkdir()
    native(tmp_path / "shut" / "x.jsonl", *GOOD)
    (tmp_path / "shut").chmod(0)

    def limited(*args: str) -> subprocess.CompletedProcess[str]:
        command = [sys.executable, "-m", "loopscan", "audit", *args]
        limit = _give_up_rights if os.geteuid() == 0 else None
        done = subprocess.run(command, capture_output=True, cwd=ROOT, text=True, preexec_fn=limit, check=False)
        if done.returncode == 99:
            pytest.skip("run by an administrator who cannot give up rights")
        return done

    done = limited(str(tmp_path), "-f", "json")
    assert json.loads(done.stdout)["skipped"]["reasons"] == {"cannot be read": 2}
    assert f"{tmp_path}/closed.jsonl: cannot be read: Permission denied" in done.stderr
    assert f"{tmp_path}/shut: cannot be read: Permission denied" in done.stderr
    closed = f"{tmp_path}/closed.jsonl"
    alone = limited(closed)
    assert (alone.returncode, alone.stderr) == (3, f"loopscan: {closed}: cannot be read: Permission denied\n")
    shut = limited(f"{tmp_path}/shut")
    assert (shut.returncode, "Permission denied" in shut.stderr) == (0, True)
    (tmp_path / "shut").chmod(0o700)


NAMES = ["\x1b[2J.jsonl", "two\nlines.jsonl", "\u202egpj.jsonl", "[bold]x.jsonl", "-rf.jsonl", "*?.jsonl", " .jsonl"]


@pytest.mark.parametrize("name", NAMES, ids=repr)
def test_odd_names(name: str, tmp_path: Path, program: Program) -> None:
    log = native(tmp_path / name, *GOOD, "broken")
    for path in (log, tmp_path):
        done = program("audit", str(path), "-f", "json")
        assert runs_of("\n".join(map(json.dumps, json.loads(done.stdout)["runs"]))) == GOODS
        assert len(done.stderr.splitlines()) == 1
        assert not set("\x1b\u202e") & set(done.stdout + done.stderr)
    missing = program("audit", f"{log}\nloopscan: all is well")
    assert (missing.returncode, len(missing.stderr.splitlines())) == (3, 1)


def test_a_name_that_is_no_text(tmp_path: Path, program: Program) -> None:
    path = os.fsencode(tmp_path) + b"/\xff\xfe.jsonl"
    with open(path, "wb") as out:
        out.write(b"".join(json.dumps(line).encode() + b"\n" for line in GOOD) + b"broken\n")
    for form in ("table", "json", "csv"):
        done = program("audit", str(tmp_path), "-f", form)
        assert (done.returncode, len(done.stderr.splitlines())) == (0, 1)


def test_a_great_many_small_files(tmp_path: Path) -> None:
    line = json.dumps({"name": "t", "args": {}, "result": 1, "turn": 1}) + "\n"
    for i in range(1000):
        folder = tmp_path / str(i % 20)
        folder.mkdir(exist_ok=True)
        (folder / f"{i}.jsonl").write_text(line)
    began = time.monotonic()
    report = audit(str(tmp_path))
    assert len(report.runs) == 1000
    assert time.monotonic() - began < 20


def test_a_pipe_with_a_writer(tmp_path: Path) -> None:
    for delay in (0.0, 0.5):
        pipe = tmp_path / f"pipe{delay}"
        os.mkfifo(pipe)

        def write(pipe: Path = pipe, delay: float = delay) -> None:
            with open(pipe, "wb") as out:
                time.sleep(delay)
                for line in GOOD:
                    out.write(json.dumps(line).encode() + b"\n")
                    out.flush()

        writer = threading.Thread(target=write)
        writer.start()
        with patience(20):
            assert {r.run for r in audit(str(pipe)).runs} == GOODS
        writer.join()


def test_a_file_that_grows(tmp_path: Path) -> None:
    """The writer is in the middle of a line: what is whole is read, the rest is a skip until it is."""
    log = native(tmp_path / "x.jsonl", *GOOD)
    with log.open("a") as out:
        with Blob(str(log), log) as blob:
            values = blob.values(Skips())
            next(values)
            out.write(json.dumps(GOOD[0]) + '\n{"run_id": "half", "na')
            out.flush()
            assert len(list(values)) >= 2
        skips = Skips()
        with Blob(str(log), log) as blob:
            assert len(list(blob.values(skips))) == 4
        assert skips.total == 1
        out.write('me": "t", "args": {}, "result": 1}\n')
    assert {r.run for r in audit(str(log)).runs} == GOODS | {"half"}


@pytest.mark.parametrize("change", ["rotated", "truncated", "removed", "replaced"])
def test_a_file_that_changes_while_it_is_read(change: str, tmp_path: Path) -> None:
    lines = [{"run_id": "r", "turn": i, "name": "t", "args": {"i": i}, "result": "x" * 500} for i in range(20_000)]
    log = native(tmp_path / "x.jsonl", *lines)
    skips = Skips()
    with Blob(str(log), log) as blob:
        values = blob.values(skips)
        first = [next(values) for _ in range(100)]
        if change == "rotated":
            log.rename(tmp_path / "x.jsonl.1")
            native(log, *GOOD)
        elif change == "truncated":
            os.truncate(log, 0)
        elif change == "removed":
            log.unlink()
        else:
            native(tmp_path / "new", *GOOD).replace(log)
        rest = list(values)
    assert len(first) == 100
    assert (len(rest) == 19_900) or change == "truncated"
    assert skips.total <= 1


def test_a_file_that_is_gone_when_its_turn_comes(tmp_path: Path, program: Program) -> None:
    for name in ("a.jsonl", "b.jsonl", "c.jsonl"):
        native(tmp_path / name, *GOOD)
    items = expand([str(tmp_path)])
    (tmp_path / "b.jsonl").unlink()
    assert len(items) == 3
    done = program("audit", str(tmp_path / "a.jsonl"), str(tmp_path / "b.jsonl"), str(tmp_path / "c.jsonl"))
    assert done.returncode == 0
    assert "b.jsonl: no such file" in done.stderr


def test_the_output_is_no_input(tmp_path: Path) -> None:
    """A report that is written into the folder that is read must not be read, nor grow without end."""
    native(tmp_path / "good.jsonl", *GOOD)
    target = tmp_path / "all.jsonl"
    done = loopscan("convert", str(tmp_path), "-o", str(target))
    assert (done.returncode, len(target.read_text().splitlines())) == (0, 3)
    with (tmp_path / "zzz.jsonl").open("wb") as out:
        subprocess.run(
            [sys.executable, "-m", "loopscan", "convert", str(tmp_path)], stdout=out, cwd=ROOT, check=True, timeout=60
        )
    assert len((tmp_path / "zzz.jsonl").read_text().splitlines()) <= 6


@pytest.fixture
def database(tmp_path: Path) -> Path:
    target = tmp_path / "opencode.db"
    target.write_bytes((SAMPLES / "opencode" / "opencode.db").read_bytes())
    return target


def test_a_database_that_is_locked(database: Path, program: Program) -> None:
    with contextlib.closing(sqlite3.connect(database, isolation_level=None)) as writer:
        writer.execute("BEGIN EXCLUSIVE")
        writer.execute("CREATE TABLE t (x)")
        writer.execute("INSERT INTO t VALUES (zeroblob(3000000))")  # more than its cache: a journal is on disk
        done = program("audit", str(database), str(SAMPLES / "loopscan" / "done.jsonl"), "-f", "json")
        assert done.returncode == 0
        document = json.loads(done.stdout)
        assert "Traceback" not in done.stderr
        assert len(document["runs"]) >= 3
        writer.execute("ROLLBACK")
    assert os.listdir(database.parent) == ["opencode.db"]


def test_a_database_that_is_being_written(database: Path) -> None:
    want = sorted((r.run, r.turns) for r in audit(str(database)).runs)
    with contextlib.closing(sqlite3.connect(database)) as writer:
        writer.execute("PRAGMA journal_mode = WAL")
        writer.execute("CREATE TABLE t (x)")
        writer.commit()
        writer.execute("INSERT INTO t VALUES (1)")
        before, temp = sorted(os.listdir(database.parent)), set(os.listdir("/tmp"))
        report = audit(str(database))
        assert sorted((r.run, r.turns) for r in report.runs) == want
        assert sorted(os.listdir(database.parent)) == before
        writer.commit()
    assert not [n for n in set(os.listdir("/tmp")) - temp if n.startswith("loopscan-")]


def test_a_database_whose_table_never_ends(tmp_path: Path) -> None:
    path = tmp_path / "opencode.db"
    with contextlib.closing(sqlite3.connect(path)) as made:
        made.execute("CREATE TABLE session (id TEXT, parent_id TEXT, time_created INTEGER)")
        made.execute("CREATE TABLE message (id TEXT, session_id TEXT, data TEXT, time_created INTEGER)")
        made.execute("CREATE TABLE part (id TEXT, message_id TEXT, session_id TEXT, data TEXT)")
        made.execute("INSERT INTO session VALUES ('s', NULL, 1)")
        made.executemany("INSERT INTO message VALUES (?, 's', ?, 1)", [("m", "{"), ("n", "[" * 5000), ("o", None)])
        made.commit()
    report = audit(str(path))
    assert report.runs == []
    assert report.skipped.total >= 1
    assert all(re.match(r"[a-z ]+", reason) for reason in report.skipped.by_reason)
