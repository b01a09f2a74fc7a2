"""The store: each run once whatever overlaps, many writers at once, and one clear line for what is no store."""

from __future__ import annotations

import json
import os
import sqlite3
import subprocess
import sys
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from loopscan import audit
from loopscan.auto import healthy, resolve, typical
from loopscan.cli_given import Given
from loopscan.cli_history import save
from loopscan.errors import InputError, UsageError
from loopscan.history import Saved, open_store, supersedes
from loopscan.prices import from_options
from loopscan.records import record
from loopscan.schema import APPLICATION, MIGRATIONS
from loopscan.settings import CapSettings
from loopscan.stored import MOST, Stored, stored
from tests.bench import month
from tests.conftest import ROOT, loopscan, native

SAMPLES = "sample_traces/loopscan"


def line(run: str, at: int, result: Any = None, **more: Any) -> dict[str, Any]:
    """A call `at` seconds into a day; without a result its own."""
    stamp = month.START + at
    return {"run_id": run, "ts": stamp, "name": "t", "args": {}, "result": at if result is None else result, **more}


def keep(store: Path, *paths: Path) -> Saved:
    with open_store(str(store)) as opened:
        return opened.save(map(stored, audit(list(paths), prices=from_options(3, 15)).runs), month.END)


def rows(store: Path, columns: str = "run, turns, state, verdict") -> list[tuple[Any, ...]]:
    with sqlite3.connect(f"file:{store}?mode=ro", uri=True) as db:
        found = db.execute(f"SELECT {columns} FROM runs ORDER BY run").fetchall()
    db.close()
    return found


def test_the_figures_of_a_record_are_kept(tmp_path: Path) -> None:
    report = audit([str(ROOT / SAMPLES)], prices=from_options(3, 15))
    with open_store(str(tmp_path / "s.db")) as store:
        assert store.save(map(stored, report.runs), 0.0) == Saved(new=len(report.runs))
    for run in report.runs:
        where = f"* FROM runs WHERE run = '{run.run}'"
        db = sqlite3.connect(tmp_path / "s.db")
        db.row_factory = sqlite3.Row
        row = db.execute(f"SELECT {where}").fetchone()
        db.close()
        assert (row["state"], row["verdict"], row["turns"], row["tokens"]) == (
            run.state, run.verdict, run.turns, run.tokens,
        )  # fmt: skip
        assert (row["usd"], row["wasted_usd"], row["waiting_usd"]) == (run.usd, run.wasted.usd, run.waiting.usd)
        assert row["ended"] == run.ended


def test_the_record_can_be_asked_with_sql(tmp_path: Path) -> None:
    keep(tmp_path / "s.db", ROOT / SAMPLES / "deployment.jsonl")
    db = sqlite3.connect(tmp_path / "s.db")
    query = "SELECT json_extract(record, '$.no_progress.turn'), json_extract(record, '$.state') FROM records"
    assert db.execute(query).fetchall() == [(3, "context_full")]
    assert db.execute("SELECT tool, verdict FROM repeats").fetchall() == [("get_deploy_status", "stuck")]
    db.close()


def test_overlapping_audits_count_once(tmp_path: Path) -> None:
    days = [native(tmp_path / f"{d}.jsonl", *[line(f"r{d}", d * 86400 + i) for i in range(3)]) for d in range(9)]
    assert keep(tmp_path / "s.db", *days[:6]) == Saved(new=6)
    assert keep(tmp_path / "s.db", *days[4:]) == Saved(new=3, replaced=2)
    keep(tmp_path / "whole.db", *days)
    assert rows(tmp_path / "s.db") == rows(tmp_path / "whole.db")


def test_a_run_that_grew_replaces_its_older_row(tmp_path: Path) -> None:
    log = native(tmp_path / "a.jsonl", line("r", 1), line("r", 2))
    keep(tmp_path / "s.db", log)
    assert rows(tmp_path / "s.db") == [("r", 2, "cut", "clean")]
    native(log, line("r", 1), line("r", 2), line("r", 3, 2), line("r", 4, 2), {"run_id": "r", "text": "ok"})
    keep(tmp_path / "s.db", log)
    assert rows(tmp_path / "s.db") == [("r", 5, "done", "recovered")]


def test_the_end_of_a_run_alone_does_not_replace_it(tmp_path: Path) -> None:
    night = native(tmp_path / "1.jsonl", line("r", 86390), line("r", 86395))
    morning = native(tmp_path / "2.jsonl", line("r", 86405), line("s", 90000))
    keep(tmp_path / "s.db", night, morning)
    assert keep(tmp_path / "s.db", morning) == Saved(replaced=1, kept=1)
    assert rows(tmp_path / "s.db", "run, turns") == [("r", 3), ("s", 1)]


SUPERSEDES = {
    "it went on": ((9.0, 5, "a"), (8.0, 4, "a"), True),
    "it went on, its beginning was not read": ((9.0, 2, "b"), (8.0, 4, "a"), True),
    "its end alone": ((9.0, 2, "b"), (9.0, 4, "a"), False),
    "the same again": ((9.0, 4, "a"), (9.0, 4, "a"), True),
    "the same file, copies dropped": ((9.0, 3, "a"), (9.0, 4, "a"), True),
    "an older copy of the log": ((8.0, 3, "b"), (9.0, 4, "a"), False),
    "without times, more": ((None, 5, "a"), (None, 4, "a"), True),
    "without times, less": ((None, 3, "a"), (None, 4, "a"), False),
    "times only now": ((9.0, 4, "a"), (None, 4, "a"), True),
}


@pytest.mark.parametrize(("new", "old", "replaces"), SUPERSEDES.values(), ids=SUPERSEDES)
def test_what_replaces_a_row(new: Any, old: Any, replaces: bool) -> None:
    assert supersedes(new, old) is replaces


def test_a_run_without_times_keeps_the_moment_it_was_first_stored(tmp_path: Path) -> None:
    run = stored(audit(native(tmp_path / "a.jsonl", {"run_id": "r", "name": "t", "result": 1})).runs[0])
    with open_store(str(tmp_path / "s.db")) as store:
        store.save([run], 5.0)
        store.save([replace(run, turns=2)], 9.0)
        assert store.newest(1e9) == 5.0
    assert rows(tmp_path / "s.db", "turns, first_stored, stored") == [(2, 5.0, 9.0)]


def test_text_and_numbers_that_sqlite_refuses(tmp_path: Path) -> None:
    odd = {"run_id": "r\ud83d\x00", "name": "\udc00", "args": {}, "result": 1, "labels": {"agent": "\ud800"}}
    log = native(tmp_path / "a.jsonl", *[odd | {"ts": 1e300}] * 5)
    report = audit(log).runs[0]
    report.series.whole.tokens = report.series.whole.usd = MOST
    with open_store(str(tmp_path / "s.db")) as store:
        store.save([stored(report)], 0.0)
    assert rows(tmp_path / "s.db", "run, ended, tokens, agent") == [("r\\ud83d\x00", None, MOST, "\\ud800")]


def bare(run: str, **more: Any) -> Stored:
    """A healthy run of no further interest."""
    empty: dict[str, Any] = dict.fromkeys(Stored.__dataclass_fields__)
    counts = dict.fromkeys("turns calls tokens unpriced_sends wasted_turns waiting_turns".split(), 0)
    texts = {"format": "loopscan", "run": run, "state": "done", "agent": "a", "source": "f", "verdict": "clean"}
    return Stored(**{**empty, **counts, **texts, "labels": "{}", "record": "{}", "repeats": [], **more})


def test_a_save_is_whole_or_nothing(tmp_path: Path) -> None:
    broken = bare("b", format=None)
    with open_store(str(tmp_path / "s.db")) as store, pytest.raises(UsageError, match="NOT NULL"):
        store.save([bare("a"), broken], 0.0)
    assert rows(tmp_path / "s.db") == []


WRITER = """
import sys
from loopscan.history import open_store
from tests.test_history import bare
path, mine = sys.argv[1:]
for round in range(5):
    with open_store(path) as store:
        store.save([bare(f"{mine}-{i}", turns=round) for i in range(40)] + [bare(f"both-{i}") for i in range(9)], 0.0)
"""


def test_processes_that_write_at_once_lose_no_row(tmp_path: Path) -> None:
    command = [sys.executable, "-c", WRITER, str(tmp_path / "s.db")]
    writers = [subprocess.Popen([*command, str(n)], cwd=ROOT, stderr=subprocess.PIPE) for n in range(4)]
    assert [w.communicate()[1] for w in writers] == [b""] * 4
    names = [run for run, *_ in rows(tmp_path / "s.db")]
    assert sorted(names) == sorted([f"{n}-{i}" for n in range(4) for i in range(40)] + [f"both-{i}" for i in range(9)])
    assert {turns for run, turns, *_ in rows(tmp_path / "s.db") if not run.startswith("both")} == {4}


def test_two_cron_jobs_at_once(tmp_path: Path) -> None:
    month.write(tmp_path / "logs")
    jobs = [
        subprocess.Popen(
            [sys.executable, "-m", "loopscan", "audit", tmp_path / "logs" / name, "--store", tmp_path / "s.db"],
            cwd=ROOT, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE,
        )
        for name in ("support", "coder")
    ]  # fmt: skip
    assert [job.communicate()[1] for job in jobs] == [b"", b""]
    expected = {r.run for r in audit([tmp_path / "logs" / "support", tmp_path / "logs" / "coder"]).runs}
    assert {run for run, *_ in rows(tmp_path / "s.db")} == expected


def test_a_store_that_several_make_at_once(tmp_path: Path) -> None:
    def make(path: str) -> None:
        open_store(path).close()

    for n in range(25):
        with ThreadPoolExecutor(4) as pool:
            for made in [pool.submit(make, str(tmp_path / f"{n}.db")) for _ in range(4)]:
                made.result()


def other_database(path: Path) -> None:
    db = sqlite3.connect(path)
    db.execute("CREATE TABLE cookies (name TEXT)")
    db.commit()
    db.close()


def newer_store(path: Path) -> None:
    open_store(str(path)).close()
    db = sqlite3.connect(path)
    db.execute("PRAGMA user_version = 99")
    db.close()


def damaged_store(path: Path) -> None:
    with open_store(str(path)) as store:
        store.save([bare(f"r{i}") for i in range(500)], 0.0)
    data = path.read_bytes()
    path.write_bytes(data[:4096] + b"\xff" * (len(data) - 4096))


TROUBLE: dict[str, tuple[Callable[[Path], object], str]] = {
    "a text file": (lambda p: p.write_text("hello, " * 500), "is no loopscan store; name another file"),
    "another database": (other_database, "is no loopscan store but another SQLite database"),
    "a newer store": (newer_store, "made by a newer loopscan (schema 99, this one knows 1): upgrade"),
    "a damaged store": (damaged_store, "is damaged"),
    "a folder": (Path.mkdir, "cannot be opened"),
}


@pytest.mark.parametrize(("make", "message"), TROUBLE.values(), ids=TROUBLE)
def test_what_is_no_store_is_one_clear_line(tmp_path: Path, make: Callable[[Path], object], message: str) -> None:
    path = tmp_path / "s.db"
    make(path)
    before = path.read_bytes() if path.is_file() else None
    done = loopscan("audit", SAMPLES, "--store", str(path))
    assert (done.returncode, len(done.stderr.splitlines())) == (2, 1)
    assert done.stderr.startswith(f"loopscan: --store {path}: ")
    assert message in done.stderr
    assert done.stdout == "" or message == "is damaged"
    assert before is None or path.read_bytes() == before or message == "is damaged"
    if path.is_file():
        asked = loopscan("history", "--store", str(path))
        assert (asked.returncode, len(asked.stderr.splitlines())) == (3, 1)


PLACES = {
    "no such folder": ["audit", SAMPLES, "--store", "/no/such/folder/s.db"],
    "nowhere to write": ["audit", SAMPLES, "--store", "/proc/s.db"],
    "no such store": ["history", "--store", "/no/such/s.db"],
    "no store named": ["history"],
    "an unknown group": ["history", "--store", "x", "--by", "colour"],
}


@pytest.mark.parametrize("args", PLACES.values(), ids=PLACES)
def test_a_store_that_cannot_be_is_one_clear_line(args: list[str]) -> None:
    done = loopscan(*args)
    assert done.returncode in (2, 3)
    assert len(done.stderr.splitlines()) == 1
    assert "Traceback" not in done.stderr
    assert done.stdout == ""


@pytest.mark.skipif(os.geteuid() == 0, reason="root may write anywhere")
def test_a_read_only_folder(tmp_path: Path) -> None:
    keep(tmp_path / "s.db", ROOT / SAMPLES)
    (tmp_path / "s.db").chmod(0o444)
    tmp_path.chmod(0o555)
    try:
        assert "stuck" in loopscan("history", "--store", str(tmp_path / "s.db")).stdout
        done = loopscan("audit", SAMPLES, "--store", str(tmp_path / "s.db"))
        assert (done.returncode, "read-only" in done.stderr) == (2, True)
        assert "cannot be opened" in loopscan("audit", SAMPLES, "--store", str(tmp_path / "new.db")).stderr
    finally:
        tmp_path.chmod(0o755)


def test_a_held_store_is_waited_for_and_then_told(tmp_path: Path) -> None:
    open_store(str(tmp_path / "s.db")).close()
    holder = sqlite3.connect(tmp_path / "s.db", isolation_level=None)
    holder.execute("BEGIN IMMEDIATE")
    with open_store(str(tmp_path / "s.db"), wait=0.1) as store:
        assert store.stuck() == set()
        with pytest.raises(UsageError, match="held by another process: try again"):
            store.save([bare("a")], 0.0)
    holder.execute("ROLLBACK")
    holder.close()


NEXT = (*MIGRATIONS, ("ALTER TABLE runs ADD COLUMN host TEXT", "CREATE INDEX by_host ON runs (host)"))


def test_an_older_store_is_brought_up_to_date(tmp_path: Path) -> None:
    path = str(tmp_path / "s.db")
    keep(tmp_path / "s.db", ROOT / SAMPLES)
    before = rows(tmp_path / "s.db")
    with open_store(path, migrations=NEXT, reading=True) as store:
        assert store.stuck()
    assert rows(tmp_path / "s.db") == before
    assert rows(tmp_path / "s.db", "host")[0] == (None,)
    with open_store(path, migrations=NEXT) as store:
        store.save([bare("more")], 0.0)
    with pytest.raises(InputError, match=r"schema 2, this one knows 1"):
        open_store(path, reading=True)


def test_a_migration_that_fails_changes_nothing(tmp_path: Path) -> None:
    path = str(tmp_path / "s.db")
    keep(tmp_path / "s.db", ROOT / SAMPLES)
    before = rows(tmp_path / "s.db", "*")
    with pytest.raises(UsageError, match="no such table"):
        open_store(path, migrations=(*NEXT, ("DROP TABLE nowhere",)))
    assert rows(tmp_path / "s.db", "*") == before
    open_store(path).close()


def test_the_application_of_a_store(tmp_path: Path) -> None:
    open_store(str(tmp_path / "s.db")).close()
    db = sqlite3.connect(tmp_path / "s.db")
    assert db.execute("PRAGMA application_id").fetchone() == (APPLICATION,)
    assert db.execute("PRAGMA journal_mode").fetchone() == ("wal",)
    db.close()


def test_a_store_leaves_one_file_behind(tmp_path: Path) -> None:
    loopscan("audit", SAMPLES, "--store", str(tmp_path / "s.db"))
    loopscan("history", "--store", str(tmp_path / "s.db"))
    assert os.listdir(tmp_path) == ["s.db"]


@settings(max_examples=30, deadline=None)
@given(st.lists(st.tuples(st.integers(1, 99), st.booleans()), max_size=60))
def test_auto_caps_of_a_store_are_those_of_its_runs(runs: list[tuple[int, bool]]) -> None:
    """The same percentile over a store as over the reports; stuck runs change neither."""
    report = audit([str(ROOT / SAMPLES / "done.jsonl")], prices=from_options(3, 15)).runs[0]
    reports = [
        replace(report, run=str(i), turns=turns, state="done", verdict="stuck" if bad else "clean")
        for i, (turns, bad) in enumerate(runs)
    ]
    with TemporaryDirectory() as folder, open_store(f"{folder}/s.db") as store:
        store.save(map(stored, reports), 0.0)
        known = store.typical()
    scanned = typical(healthy(reports))
    assert replace(known, source="") == replace(scanned, source="")
    assert resolve(CapSettings(), known) == resolve(CapSettings(), scanned)


def test_auto_caps_come_from_the_store_once_it_knows_enough(tmp_path: Path) -> None:
    old = [line(f"r{i}", i * 60 + t) for i in range(30) for t in range(10)]
    old += [{"run_id": f"r{i}", "ts": month.START + i * 60 + 30, "text": "ok"} for i in range(30)]
    native(tmp_path / "old.jsonl", *old)
    native(tmp_path / "new.jsonl", *[line("s", 86400 + t, t) for t in range(40)])
    store = str(tmp_path / "s.db")
    first = loopscan("audit", str(tmp_path / "old.jsonl"), "--store", store, "-f", "json")
    assert '"auto_from": "scan"' in first.stdout
    done = loopscan("audit", str(tmp_path / "new.jsonl"), "--store", store, "-f", "json")
    assert '"auto_from": "store"' in done.stdout
    assert '"turn_cap": 22' in done.stdout


def test_a_store_that_cannot_be_written_leaves_the_report(tmp_path: Path) -> None:
    open_store(str(tmp_path / "s.db")).close()
    db = sqlite3.connect(tmp_path / "s.db")
    db.execute("DROP TABLE repeats")
    db.close()
    done = loopscan("audit", SAMPLES, "--store", str(tmp_path / "s.db"), "-f", "csv")
    assert (done.returncode, "cannot be used: no such table" in done.stderr) == (2, True)
    assert "deploy-0412" in done.stdout


def test_a_stopped_audit_is_not_kept(tmp_path: Path) -> None:
    report = audit([str(ROOT / SAMPLES)])
    report.stopped = True
    with open_store(str(tmp_path / "s.db")) as store:
        save(report, store, Given())
    assert rows(tmp_path / "s.db") == []


def test_new_stuck_is_what_the_store_did_not_know(tmp_path: Path) -> None:
    store = str(tmp_path / "s.db")
    native(tmp_path / "a.jsonl", *[line("old", t, 0) for t in range(9)])
    first = loopscan("audit", str(tmp_path), "--store", store, "--fail-on", "new:stuck")
    assert (first.returncode, first.stderr) == (1, "loopscan: --fail-on new:stuck: 1 run: old\n")
    assert loopscan("audit", str(tmp_path), "--store", store, "--fail-on", "new:stuck").returncode == 0
    native(tmp_path / "b.jsonl", *[line("later", t, 0) for t in range(9)])
    again = loopscan("audit", str(tmp_path), "--store", store, "--fail-on", "new:stuck", "--fail-on", "stuck")
    assert "new:stuck: 1 run: later\n" in again.stderr
    assert "stuck: 2 runs: old, later" in again.stderr


def test_new_stuck_needs_a_store() -> None:
    done = loopscan("audit", SAMPLES, "--fail-on", "new:stuck")
    assert (done.returncode, len(done.stderr.splitlines())) == (2, 1)
    assert "needs --store FILE" in done.stderr


def test_what_is_shown_is_not_what_is_stored(tmp_path: Path) -> None:
    """`--only` and `--limit` are about the page."""
    store = tmp_path / "s.db"
    loopscan("audit", SAMPLES, "--store", str(store), "--only", "waited", "--limit", "1")
    assert len(rows(store)) == len(audit([str(ROOT / SAMPLES)]).runs)


def test_the_record_in_the_store_is_that_of_the_report(tmp_path: Path) -> None:
    report = audit([str(ROOT / SAMPLES / "deployment.jsonl")]).runs[0]
    full = record(report)
    assert json.loads(stored(report).record) == {k: v for k, v in full.items() if v is not None}


def test_a_redacted_audit_keeps_no_words(tmp_path: Path) -> None:
    """What goes into the store is what is shown, and runs that are named by their file are still known again."""
    log = native(tmp_path / "a.jsonl", *[{"name": "t", "args": {"password": "hunter2"}, "result": 1}] * 9)
    args = ("audit", str(log), "--redact", "--store", str(tmp_path / "s.db"), "--fail-on", "new:stuck")
    assert [loopscan(*args).returncode, loopscan(*args).returncode] == [1, 0]
    data = (tmp_path / "s.db").read_bytes()
    assert b"hunter2" not in data
    assert b"a.jsonl" not in data


def test_a_configuration_names_a_store_below_its_folder_only(tmp_path: Path) -> None:
    (tmp_path / "inside").mkdir()
    for name, code in (("runs.db", 0), ("../outside.db", 2)):
        (tmp_path / "inside" / "loopscan.toml").write_text(f'store = "{name}"\n')
        command = [sys.executable, "-m", "loopscan", "audit", str(ROOT / SAMPLES), "-q"]
        env = {**os.environ, "PYTHONPATH": str(ROOT)}
        done = subprocess.run(command, cwd=tmp_path / "inside", env=env, capture_output=True, text=True, check=False)
        assert done.returncode == code, done.stderr
    assert sorted(os.listdir(tmp_path / "inside")) == ["loopscan.toml", "runs.db"]
    assert os.listdir(tmp_path) == ["inside"]
