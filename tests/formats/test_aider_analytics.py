"""Aider's analytics log."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from loopscan.blob import Blob
from loopscan.formats import Scan, detect, load
from loopscan.model import End, Event, Turn, Usage


def events(path: Path, scan: Scan | None = None) -> list[Event]:
    blob = Blob(str(path), path)
    try:
        assert detect(blob.head) == "aider-analytics"
        return list(load("aider-analytics").read(blob, scan or Scan()))
    finally:
        blob.close()


def log(path: Path, *happened: tuple[str, dict[str, Any]]) -> Path:
    lines = [{"event": e, "properties": p, "user_id": "u", "time": 1790000000 + i} for i, (e, p) in enumerate(happened)]
    path.write_text("\n".join(json.dumps(line) for line in lines))
    return path


SEND = {"main_model": "gpt-5.2", "prompt_tokens": 900, "completion_tokens": 40, "cost": 0.002, "total_cost": 0.004}


def test_a_process_is_a_run_and_a_send_a_turn(tmp_path: Path) -> None:
    done = {"reason": "Completed --message"}
    first = [("launched", {}), ("message_send", SEND), ("message_send", SEND), ("exit", done)]
    path = log(tmp_path / "a.jsonl", *first, ("launched", {}), ("launched", {}), ("message_send", SEND))
    found = events(path)
    turns = [e for e in found if isinstance(e, Turn)]
    assert [(t.run, t.line) for t in turns] == [("launch-line-1", 2), ("launch-line-1", 3), ("launch-line-6", 7)]
    assert {(t.text, t.model, t.time) for t in turns[:1]} == {(None, "gpt-5.2", 1790000001.0)}
    assert turns[0].usage == Usage(900, 40, usd=0.002)
    ends = [(e.run, e.state, e.note) for e in found if isinstance(e, End)]
    assert ends == [("launch-line-1", "done", "Completed --message")]


@pytest.mark.parametrize(
    ("reason", "state"),
    [
        ("Control-C", "aborted"),
        ("/exit", "done"),
        ("Completed main CLI coder.run", "done"),
        ("Unknown edit format", "error"),
    ],
)
def test_why_a_process_ended(tmp_path: Path, reason: str, state: str) -> None:
    path = log(tmp_path / "a.jsonl", ("launched", {}), ("message_send", SEND), ("exit", {"reason": reason}))
    assert [e.state for e in events(path) if isinstance(e, End)] == [state]


def test_a_cut_head_and_a_second_log_keep_their_runs_apart(tmp_path: Path) -> None:
    scan = Scan()
    one = events(log(tmp_path / "a.jsonl", ("cli session", {}), ("message_send", SEND)), scan)
    two = events(log(tmp_path / "b.jsonl", ("cli session", {}), ("message_send", {"cost": 0})), scan)
    assert [e.run for e in one + two] == ["launch-line-1", f"{tmp_path / 'b.jsonl'}:launch-line-1"]
    assert isinstance(two[0], Turn)
    assert two[0].usage is None


def test_damaged_lines_are_skips(tmp_path: Path) -> None:
    path = log(tmp_path / "a.jsonl", ("launched", {}), ("message_send", SEND))
    path.write_text(path.read_text() + '\n{"event": "exi\n[1]\n')
    scan = Scan()
    assert len(events(path, scan)) == 1
    assert scan.skips.total == 2
