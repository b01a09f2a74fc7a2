"""OpenClaw: the marks that tell it from pi, records that are no sends, and the database."""

from __future__ import annotations

import json
import sqlite3
from pathlib import Path
from typing import Any

import pytest

from loopscan.formats import Scan, load
from tests.formats.sessions import calls, ends, lines, read, turns
from tests.formats.test_pi import HEADER, back, call, entry, model, say, user

MARK = {"type": "custom", "customType": "model-snapshot", "data": {}}
SCHEMA = """
CREATE TABLE session_nodes (session_key TEXT PRIMARY KEY, current_session_id TEXT NOT NULL);
CREATE TABLE session_windows (session_id TEXT PRIMARY KEY, session_key TEXT NOT NULL, spawned_by TEXT);
CREATE TABLE transcript_events (session_id TEXT, seq INTEGER, event_json TEXT, PRIMARY KEY (session_id, seq));
"""


@pytest.mark.parametrize(
    "log",
    [
        [HEADER, MARK],
        [HEADER | {"cwd": "/home/x/.openclaw/workspace"}],
        [HEADER | {"version": 4}],
        [HEADER, {"type": "custom_message", "customType": "openclaw.runtime-context"}],
    ],
)
def test_marks(tmp_path: Path, log: list[dict[str, Any]]) -> None:
    found = read(lines(tmp_path / "x.jsonl", *log, user(1), model(2, say("ok"), stop="stop")), "openclaw")
    assert len(turns(found)) == 1


def test_what_the_gateway_wrote_itself_is_no_turn(tmp_path: Path) -> None:
    mirror = entry(3, "assistant", [say("ok")], provider="openclaw", model="delivery-mirror", stopReason="stop")
    log = [HEADER, MARK, user(1), model(2, say("ok"), stop="stop"), mirror]
    assert len(turns(read(lines(tmp_path / "x.jsonl", *log), "openclaw"))) == 1


def test_a_prompt_error_ends_the_prompt(tmp_path: Path) -> None:
    error = {"type": "custom", "customType": "openclaw:prompt-error", "data": {"error": "maximum context exceeded"}}
    log = [HEADER, MARK, user(1), model(2, call("a")), back(3, "a", "A"), error]
    assert ends(read(lines(tmp_path / "x.jsonl", *log), "openclaw")) == [("context_full", "maximum context exceeded")]


def database(path: Path, **sessions: list[Any]) -> Path:
    with sqlite3.connect(path) as db:
        db.executescript(SCHEMA)
        db.execute("INSERT INTO session_nodes VALUES ('agent:main', 'main')")
        for name, log in sessions.items():
            spawned = None if name == "main" else "agent:main"
            db.execute("INSERT INTO session_windows VALUES (?, ?, ?)", (name, f"key-{name}", spawned))
            rows = [(name, n, e if isinstance(e, str) else json.dumps(e)) for n, e in enumerate(log, 1)]
            db.executemany("INSERT INTO transcript_events VALUES (?, ?, ?)", rows)
    db.close()
    return path


def test_a_database_holds_many_sessions(tmp_path: Path) -> None:
    main = [HEADER | {"id": "main"}, user(1), model(2, call("a")), back(3, "a", "A"), model(4, say("ok"), stop="stop")]
    child = [user(11), model(12, call("b")), user(13), "{broken", model(14, say("c"), stop="stop")]
    scan = Scan()
    found = read(database(tmp_path / "a.sqlite", main=main, sub=child), "openclaw", scan)
    assert calls(found) == [[("bash", "A")], [], [("bash", ...)], []]
    assert [(t.run, t.parent, t.prompt) for t in turns(found)[1:3]] == [("main", None, "e1"), ("sub", "main", None)]
    assert scan.skips.total == 1


def test_a_damaged_database_is_a_skip(tmp_path: Path) -> None:
    path = database(tmp_path / "a.sqlite", main=[HEADER, user(1), model(2, say("x" * 9000), stop="stop")])
    path.write_bytes(path.read_bytes()[: 3 * 4096])
    scan = Scan()
    read(path, "openclaw", scan)
    assert scan.skips.total >= 1


def test_names_of_background_commands_are_wrappers() -> None:
    clean = load("openclaw").clean_result
    running = "Command still running (session {}, pid {}). Use process for follow-up."
    assert clean("exec", running.format("calm-ridge", 1)) == clean("exec", running.format("wild-fox", 22))
    assert clean("exec", "(session notes)") == "(session notes)"
    assert clean("exec", [1]) == [1]
