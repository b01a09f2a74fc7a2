"""Spans of time: what their words mean, which runs count in them, which files are left unread."""

from __future__ import annotations

import json
import os
from datetime import UTC, datetime
from pathlib import Path

import pytest

from loopscan import Settings, audit
from loopscan.errors import UsageError
from loopscan.outside import cannot_hold
from loopscan.span import Span, span
from tests.conftest import loopscan, native

NOW = datetime(2026, 11, 30, 12, tzinfo=UTC).timestamp()
DAY = 86400.0


def at(text: str) -> float:
    return datetime.fromisoformat(text).timestamp()


WORDS = {
    "days ago": ("7d", None, NOW - 7 * DAY),
    "hours ago": ("12h", None, NOW - DAY / 2),
    "weeks ago": ("1.5w", None, NOW - 10.5 * DAY),
    "a day begins in UTC": ("2026-11-23", None, at("2026-11-23T00:00:00+00:00")),
    "or where the user is": ("2026-11-23", "Europe/Berlin", at("2026-11-23T00:00:00+01:00")),
    "summer time is the zone's": ("2026-07-01", "Europe/Berlin", at("2026-07-01T00:00:00+02:00")),
    "a time": ("2026-11-23T08:30", "America/New_York", at("2026-11-23T08:30:00-05:00")),
    "a time with its own zone": ("2026-11-23T08:30:00Z", "America/New_York", at("2026-11-23T08:30:00+00:00")),
    "an ISO week": ("2026-W48-1", None, at("2026-11-23T00:00:00+00:00")),
}


@pytest.mark.parametrize(("text", "zone", "expected"), WORDS.values(), ids=WORDS)
def test_since(text: str, zone: str | None, expected: float) -> None:
    assert span(text, None, zone, NOW) == Span(expected, None)


def test_local_is_the_machines_own_zone() -> None:
    naive = datetime(2026, 11, 23).timestamp()  # noqa: DTZ001 - local is meant
    assert span(None, "2026-11-23", "local", NOW) == Span(None, naive)


WRONG = {
    "no date": ("yesterday", None, None, "--since 'yesterday'"),
    "no such day": ("2026-02-30", None, None, "--since"),
    "no such until": (None, "x", None, "--until 'x'"),
    "no such zone": ("7d", None, "Mars/Olympus", "--tz 'Mars/Olympus'"),
    "a zone that is a path": ("7d", None, "/etc/passwd", "--tz"),
    "empty": ("1d", "7d", None, "is not before"),
}


@pytest.mark.parametrize(("since", "until", "zone", "message"), WRONG.values(), ids=WRONG)
def test_what_is_no_span(since: str | None, until: str | None, zone: str | None, message: str) -> None:
    with pytest.raises(UsageError, match=message):
        span(since, until, zone, NOW)


def run(name: str, *times: str) -> list[dict[str, object]]:
    return [{"run_id": name, "name": "t", "args": {"i": i}, "result": i, "ts": t} for i, t in enumerate(times)]


def test_a_run_counts_where_it_ended(tmp_path: Path) -> None:
    log = native(
        tmp_path / "t.jsonl",
        *run("before", "2026-11-22T10:00:00Z"),
        *run("over the border", "2026-11-22T23:00:00Z", "2026-11-23T00:00:00Z"),
        *run("inside", "2026-11-25T10:00:00Z"),
        *run("to the next week", "2026-11-29T23:59:00Z", "2026-11-30T00:00:00Z"),
        {"run_id": "timeless", "name": "t", "args": {}, "result": 1},
    )
    weeks = [Span(at(f"2026-{a}T00:00:00+00:00"), at(f"2026-{b}T00:00:00+00:00"))
             for a, b in (("11-16", "11-23"), ("11-23", "11-30"), ("11-30", "12-07"))]  # fmt: skip
    found = [[r.run for r in audit(log, Settings(span=week)).runs] for week in weeks]
    assert found == [
        ["before", "timeless"],
        ["over the border", "inside", "timeless"],
        ["to the next week", "timeless"],
    ]
    report = audit(log, Settings(span=weeks[1]))
    assert (report.outside, report.untimed, report.unopened) == (2, 1, 0)
    out = loopscan("audit", str(log), "--since", "2026-11-23", "--until", "2026-11-30").stdout
    span_ = "runs that ended since 2026-11-23T00:00:00Z before 2026-11-30T00:00:00Z"
    assert f"{span_}; outside that span 2 runs" in out
    assert "1 run without times, counted whatever the span" in out


def test_runs_outside_set_no_cap(tmp_path: Path) -> None:
    def done(name: str, turns: int, day: str) -> list[dict[str, object]]:
        lines = run(name, *(f"{day}T10:{i:02}:00Z" for i in range(turns)))
        return [*lines, {"run_id": name, "state": "done", "ts": f"{day}T11:00:00Z"}]

    logs = [line for i in range(20) for line in done(f"old{i}", 40, "2026-11-10") + done(f"new{i}", 3, "2026-11-25")]
    log = native(tmp_path / "t.jsonl", *logs)
    assert audit(log).caps.turns == 80
    assert audit(log, Settings(span=Span(at("2026-11-20T00:00:00+00:00")))).caps.turns == 6


def test_no_run_in_the_span_is_no_failure(tmp_path: Path) -> None:
    log = native(tmp_path / "t.jsonl", *run("r", "2026-11-22T10:00:00Z"))
    done = loopscan("audit", str(log), "--since", "2026-11-23")
    assert (done.returncode, done.stderr) == (0, "")
    assert done.stdout.splitlines() == [
        "no run found",
        "runs that ended since 2026-11-23T00:00:00Z; outside that span 1 run",
    ]


UUID = "0b6f7c1e-8d43-4f3a-9a5e-2f1d6c7b8a90"
WEEK = Span(NOW - 7 * DAY, NOW)
FILES = {
    "an old session": (f"projects/x/{UUID}.jsonl", None, 8.0, True),
    "a new one": (f"projects/x/{UUID}.jsonl", None, 6.0, False),
    "a clock may be off": (f"projects/x/{UUID}.jsonl", None, 7.01, False),
    "an old sub-agent": (f"projects/x/{UUID}/subagents/agent-a1.jsonl", None, 8.0, True),
    "any name, once the format is known": ("chat.jsonl", "gemini-cli", 8.0, True),
    "any name of a format nobody knows yet": ("chat.jsonl", None, 8.0, False),
    "a rotated log may hold the beginning of a run": ("app.jsonl.1", "loopscan", 800.0, False),
    "an old rollout": ("sessions/2026/11/01/rollout-2026-11-01T09-00-00-x.jsonl", None, 20.0, True),
    "a resumed rollout": ("sessions/2026/11/01/rollout-2026-11-01T09-00-00-x.jsonl", None, 1.0, False),
    "a packed rollout": ("rollout-2026-11-01T09-00-00-x.jsonl.zst", None, 20.0, True),
    "a rollout that begins later": ("rollout-2026-12-02T09-00-00-x.jsonl", None, 0.0, True),
    "a rollout of the next day, somewhere": ("rollout-2026-12-01T00-30-00-x.jsonl", None, 0.0, False),
    "a rollout of no day": ("rollout-2026-13-41T09-00-00-x.jsonl", None, 20.0, False),
}


@pytest.mark.parametrize(("name", "format_name", "days", "expected"), FILES.values(), ids=FILES)
def test_files_that_cannot_hold_the_span(
    tmp_path: Path, name: str, format_name: str | None, days: float, expected: bool
) -> None:
    file = tmp_path / name
    file.parent.mkdir(parents=True, exist_ok=True)
    file.touch()
    os.utime(file, (NOW - days * DAY,) * 2)
    assert cannot_hold(str(file), format_name, WEEK) is expected
    assert cannot_hold(str(file), format_name, Span()) is False


def test_a_missing_file_is_not_left_out() -> None:
    assert cannot_hold(f"projects/x/{UUID}.jsonl", None, WEEK) is False


def rollout(folder: Path, day: str, *, damaged: bool = False) -> Path:
    file = folder / day.replace("-", "/") / f"rollout-{day}T09-00-00-{day}.jsonl"
    file.parent.mkdir(parents=True)
    lines: list[dict[str, object]] = [
        {"timestamp": f"{day}T09:00:00.000Z", "type": "session_meta", "payload": {"id": day, "cwd": "/w"}},
        {"timestamp": f"{day}T09:00:01.000Z", "type": "response_item",
         "payload": {"type": "function_call", "name": "shell", "arguments": '{"command":["ls"]}', "call_id": "c1"}},
        {"timestamp": f"{day}T09:00:02.000Z", "type": "response_item",
         "payload": {"type": "function_call_output", "call_id": "c1", "output": "a.txt"}},
    ]  # fmt: skip
    file.write_text("not a log" if damaged else "".join(json.dumps(line) + "\n" for line in lines))
    os.utime(file, (at(f"{day}T12:00:00+00:00"),) * 2)
    return file


def test_date_folders_outside_the_span_are_not_opened(tmp_path: Path) -> None:
    """Files that hold no log at all would be failures if they were opened."""
    kept = rollout(tmp_path, "2026-11-24")
    old, late = rollout(tmp_path, "2026-10-02", damaged=True), rollout(tmp_path, "2026-12-24", damaged=True)
    words = ("audit", str(kept), str(old), str(late), "--since", "2026-11-23", "--until", "2026-11-30", "--strict")
    done = loopscan(*words, "-f", "json")
    assert (done.returncode, done.stderr) == (0, "")
    document = json.loads(done.stdout)
    assert [r["format"] for r in document["runs"]] == ["codex"]
    assert document["totals"]["files_outside_span"] == 2
    assert document["settings"]["since"] == "2026-11-23T00:00:00Z"
    assert "2 files left unread" in loopscan(*words).stdout
