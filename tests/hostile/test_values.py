"""Absurd values in good JSON: each is read as what it can mean, and harms nothing else."""

from __future__ import annotations

import io
import json
import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from loopscan.blob import Blob
from loopscan.engine import Audit
from loopscan.formats import load
from loopscan.records import record
from loopscan.report import Report
from tests.conftest import loopscan, native
from tests.hostile.nasty import VALUES, spelt
from tests.hostile.scanning import scanned, shown

CALL = {"name": "t", "args": {"a": 1}, "result": "r", "input_tokens": 10, "output_tokens": 1}


def audited(*lines: dict[str, Any], **settings: Any) -> Report:
    data = "\n".join(spelt(json.dumps(line)) for line in lines).encode()
    piped, filed = Audit(), Audit()
    with Blob("x", None, io.BytesIO(data)) as blob:
        piped.read(blob, "loopscan", load("loopscan"))
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "x"
        path.write_bytes(data)
        with Blob("x", path) as blob:
            filed.read(blob, "loopscan", load("loopscan"))
        report, again = piped.finish(), filed.finish()
    assert [record(r) for r in report.runs] == [record(r) for r in again.runs]
    return report


def run_of(*lines: dict[str, Any]) -> dict[str, Any]:
    (run,) = audited(*({"run_id": "r", **CALL, **line} for line in lines)).runs
    return record(run)


TURNS: dict[str, tuple[list[Any], int]] = {
    "in order": ([1, 2, 3], 3),
    "out of order": ([3, 1, 2], 3),
    "repeated": ([1, 1, 1], 1),
    "repeated later": ([1, 2, 1], 3),
    "negative": ([-3, -2, -1], 3),
    "huge": ([10**30, 10**31, 10**31 + 1], 3),
    "equal beyond 64 bits": ([10**30, 10**30], 1),
    "fractions": ([1.5, 2.5, 1e300, 1e308], 4),
    "not finite": ([float("nan"), float("nan"), float("inf")], 2),
    "text": (["1", "1", "2"], 2),
    "lists and objects": ([[1], [1], {"a": 1}], 2),
    "true, 1 and 1.0": ([True, 1, 1.0], 1),
    "null": ([None, None, None], 3),
}


@pytest.mark.parametrize(("numbers", "turns"), TURNS.values(), ids=TURNS)
def test_turn_numbers(numbers: list[Any], turns: int) -> None:
    got = run_of(*({"turn": n, "args": {"i": i}} for i, n in enumerate(numbers)))
    assert (got["turns"], got["calls"]) == (turns, len(numbers))


TIMES: dict[str, tuple[list[Any], str | None, str | None]] = {
    "in the future": (["2999-12-31T23:00:00Z"], "2999-12-31T23:00:00Z", "2999-12-31T23:00:00Z"),
    "missing": ([None, None], None, None),
    "missing in the middle": (
        ["2026-11-01T00:00:00Z", None, "2026-11-01T00:00:05Z"],
        "2026-11-01T00:00:00Z",
        "2026-11-01T00:00:05Z",
    ),
    "out of order": (
        ["2026-11-01T00:00:09Z", "2026-11-01T00:00:01Z"],
        "2026-11-01T00:00:09Z",
        "2026-11-01T00:00:09Z",
    ),
    "mixed zones": (
        ["2026-11-01T02:00:00+02:00", "2026-10-31T19:00:01-05:00", "2026-11-01T00:00:02"],
        "2026-11-01T00:00:00Z",
        "2026-11-01T00:00:02Z",
    ),
    "numbers": ([1793491200, 1793491201000, 1793491202000000], "2026-11-01T00:00:00Z", "2026-11-01T00:00:02Z"),
    "negative": ([-5, -1e300], None, None),
    "beyond the calendar": (["9999-12-31T23:59:59-23:59", 1e300, 10**40], None, None),
    "before the calendar": (["0001-01-01T00:00:00+23:59"], None, None),
    "no time": (["yesterday", "", [], {}, True, float("nan")], None, None),
}


@pytest.mark.parametrize(("stamps", "started", "ended"), TIMES.values(), ids=TIMES)
def test_times(stamps: list[Any], started: str | None, ended: str | None) -> None:
    got = run_of(*({"ts": stamp} for stamp in stamps))
    assert got["turns"] == len(stamps)
    assert (got["started"], got["ended"]) == (started, ended)


COUNTS: dict[str, tuple[Any, int | None]] = {
    "negative": (-5, None),
    "zero": (0, 0),
    "a whole float": (7.0, 7),
    "a part": (7.5, None),
    "text": ("7", 7),
    "beyond 2^53": (1 << 60, None),
    "beyond a double": (10**400, None),
    "not finite": (float("inf"), None),
    "true": (True, None),
    "a list": ([7], None),
    "five thousand digits": ("9" * 5000, None),
}


@pytest.mark.parametrize(("tokens", "counted"), COUNTS.values(), ids=COUNTS)
def test_token_counts(tokens: Any, counted: int | None) -> None:
    got = run_of({"input_tokens": tokens}, {"input_tokens": 100})
    assert got["usage"]["input_tokens"] == (counted or 0) + 100
    assert got["turns"] == 2


def test_absurd_sums_stay_numbers(tmp_path: Path) -> None:
    line = {
        "run_id": "r",
        **CALL,
        "input_tokens": (1 << 53) - 1,
        "output_tokens": (1 << 53) - 1,
        "usd": 999_999_999_999,
    }
    log = native(tmp_path / "x.jsonl", *[{**line, "args": {"i": i}} for i in range(3000)])
    done = loopscan("audit", str(log), "--cost", "recorded", "-f", "jsonl")
    assert done.returncode == 0, done.stderr
    assert json.loads(done.stdout)["turns"] == 3000


STATES = ["finished", "DONE", "", 7, [], {}, "x" * 100_000, "\x1b[31m", float("nan")]


@pytest.mark.parametrize("state", STATES, ids=lambda s: repr(s)[:20])
def test_a_state_that_nobody_knows_is_a_skip(state: Any) -> None:
    report = audited({"run_id": "r", **CALL}, {"run_id": "r", "state": state}, {"run_id": "s", "state": "done", **CALL})
    assert [(r.run, r.turns, r.state) for r in report.runs] == [("r", 1, "cut"), ("s", 1, "done")]
    assert dict(report.skipped.by_reason) == {"unknown state": 1}


IDS: dict[str, tuple[Any, str]] = {
    "a number": (7, "7"),
    "a float": (7.0, "7.0"),
    "beyond 64 bits": (10**30, str(10**30)),
    "a list": ([1, "a"], '[1,"a"]'),
    "an object": ({"b": 1, "a": 2}, '{"a":2,"b":1}'),
    "an emoji": ("🙂", "🙂"),
    "a megabyte": ("x" * 1_000_000, "x" * 1_000_000),
    "a path": ("../../etc/passwd", "../../etc/passwd"),
    "a hash sign": ("a#1", "a#1"),
    "true": (True, "true"),
}


@pytest.mark.parametrize(("given", "told"), IDS.values(), ids=IDS)
def test_run_ids(given: Any, told: str) -> None:
    report = audited({"run_id": given, **CALL}, {"run_id": "other", **CALL}, {"run_id": given, **CALL})
    assert [(r.run, r.turns) for r in report.runs] == [(told, 2), ("other", 1)]
    pages = shown(report)
    assert told in json.loads(pages["json"])["runs"][0]["run"]
    assert max(map(len, pages["table"].splitlines()[1:2])) <= len(told) + 300
    assert len(pages["table"]) < 3 * len(told) + 5000, "one long name pads no other row"


@pytest.mark.parametrize("value", VALUES, ids=lambda v: repr(v)[:30])
def test_any_value_in_any_field(value: Any) -> None:
    line = {"run_id": "r", "turn": 1, **CALL, "ts": 1793491200, "model": "m", "state": None, "parent": "p", "text": "x"}
    line |= {"error": False, "labels": {"a": "b"}, "usd": 0.1, "cache_read_tokens": 1, "session": "s", "written": 3}
    good = [{"run_id": "good", **CALL, "args": {"i": i}} for i in range(3)]
    for number, name in enumerate([*line, "calls", "prompt", "context_window", "compacted", "note", "error"]):
        report = audited(*good[:2], {**line, name: value}, {**line, name: value, "turn": 2}, good[2])
        if (number + len(repr(value))) % 3 == 0:
            shown(report)
        (whole,) = [r for r in report.runs if r.run == "good"]
        assert (whole.turns, whole.calls, whole.tokens) == (3, 3, 33), name


GROWTH: dict[str, Callable[[int], dict[str, Any]]] = {
    "the same call": lambda i: {"args": {}},
    "new numbers each time": lambda i: {"args": {}, "result": f"done {i} of 900"},
    "new errors each time": lambda i: {"args": {}, "result": f"error {i}", "error": True},
    "many episodes": lambda i: {"args": {}} if i % 9 < 6 else {"name": "u", "args": {"i": i}, "result": i},
    "new texts": lambda i: {"name": None, "text": f"I will try that again, attempt {i}."},
    "one number for all": lambda i: {"turn": 1, "args": {"i": i}},
    "numbers that fall": lambda i: {"turn": -i},
    "log copies": lambda i: {"turn": i % 50, "ts": 1 + i % 50, "args": {"i": i % 50}},
    "a run a line": lambda i: {"run_id": f"r{i}"},
    "a state a line": lambda i: {"state": "done"},
}


@pytest.mark.parametrize("line", GROWTH.values(), ids=GROWTH)
def test_time_grows_with_the_turns_and_not_with_their_square(line: Callable[[int], dict[str, Any]]) -> None:
    def seconds(turns: int) -> float:
        lines = [{"run_id": "r", **CALL, **line(i)} for i in range(turns)]
        began = time.process_time()
        audited(*lines)
        return time.process_time() - began

    seconds(300)
    assert seconds(2000) < 10 * seconds(500) + 0.3


def test_a_hostile_scan_says_nothing_of_good_runs(tmp_path: Path) -> None:
    got = scanned(native(tmp_path / "x.jsonl", {"run_id": "r", **CALL, "state": "lost"}))
    assert [r.turns for r in got.report.runs] == [1]
    assert len(got.said) == 1
