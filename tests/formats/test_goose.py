"""Goose: the database, whose rows are parts of model calls, session files, exports and streams."""

from __future__ import annotations

import json
import sqlite3
from pathlib import Path
from typing import Any

import pytest

from loopscan.blob import Blob
from loopscan.formats import Scan, detect, load
from loopscan.model import MISSING, End, Event, Turn, Usage

SCHEMA = """
CREATE TABLE sessions (id TEXT PRIMARY KEY, session_type TEXT NOT NULL DEFAULT 'user', working_dir TEXT,
  created_at TIMESTAMP DEFAULT CURRENT_TIMESTAMP, model_config_json TEXT, parent_session_id TEXT);
CREATE TABLE messages (id INTEGER PRIMARY KEY AUTOINCREMENT, message_id TEXT, session_id TEXT NOT NULL,
  role TEXT NOT NULL, content_json TEXT NOT NULL, created_timestamp INTEGER NOT NULL, metadata_json TEXT);
"""
T0 = 1_790_000_000
VISIBLE = {"userVisible": True, "agentVisible": True}


def events(path: Path, scan: Scan | None = None) -> list[Event]:
    blob = Blob(str(path), path)
    try:
        assert detect(blob.head) == "goose"
        return list(load("goose").read(blob, scan or Scan()))
    finally:
        blob.close()


def turns(found: list[Event]) -> list[Turn]:
    return [e for e in found if isinstance(e, Turn)]


def message(role: str, at: int, *content: dict[str, Any], name: str | None = None, **meta: Any) -> dict[str, Any]:
    return {"id": name, "role": role, "created": T0 + at, "content": list(content), "metadata": {**VISIBLE, **meta}}


def say(words: str) -> dict[str, Any]:
    return {"type": "text", "text": words}


def ask(call: str, command: str, tool: str = "developer__shell") -> dict[str, Any]:
    value = {"name": tool, "arguments": {"command": command}}
    return {"type": "toolRequest", "id": call, "toolCall": {"status": "success", "value": value}}


def back(call: str, words: str, **value: Any) -> dict[str, Any]:
    given = {"content": [say(words)], "isError": False, **value}
    return {"type": "toolResponse", "id": call, "toolResult": {"status": "success", "value": given}}


def database(path: Path, *sessions: tuple[str, list[dict[str, Any]]], **about: Any) -> Path:
    with sqlite3.connect(path) as db:
        db.executescript(SCHEMA)
        for run, messages in sessions:
            row = (run, about.get("kind", "user"), about.get("parent"), json.dumps(about.get("config", {})))
            db.execute(
                "INSERT INTO sessions (id, session_type, parent_session_id, model_config_json) VALUES (?, ?, ?, ?)",
                row,
            )
            for m in messages:
                values = (m["id"], run, m["role"], json.dumps(m["content"]), m["created"], json.dumps(m["metadata"]))
                db.execute(
                    "INSERT INTO messages (message_id, session_id, role, content_json, created_timestamp,"
                    " metadata_json) VALUES (?, ?, ?, ?, ?, ?)",
                    values,
                )
    db.close()
    return path


def lines(path: Path, *records: dict[str, Any]) -> Path:
    path.write_text("\n".join(json.dumps(r) for r in records))
    return path


HEAD = {"working_dir": "/w", "description": "d", "message_count": 4, "total_tokens": None}


def test_the_rows_of_one_parallel_call_are_one_turn(tmp_path: Path) -> None:
    path = database(
        tmp_path / "sessions.db",
        (
            "20261101_1",
            [
                message("user", 0, say("go"), name="u1"),
                message("assistant", 3, say("I look."), name="resp_1"),
                message("assistant", 4, ask("c1", "ls"), name="msg_a"),
                message("user", 4, back("c1", "a"), name="r1"),
                message("assistant", 4, ask("c2", "pwd"), name="msg_b"),
                message("user", 4, back("c2", "/w"), name="r2"),
                message("assistant", 9, ask("c3", "ls"), name="msg_c"),
                message("user", 9, back("c3", "a"), name="r3"),
                message("assistant", 12, say("done"), name="resp_3"),
            ],
        ),
    )
    found = turns(events(path))
    assert [([c.args["command"] for c in t.calls], t.text) for t in found] == [
        (["ls", "pwd"], "I look."),
        (["ls"], ""),
        ([], "done"),
    ]
    assert [c.result for t in found for c in t.calls] == ["a", "/w", "a"]
    assert {t.prompt for t in found} == {"u1"}


def test_two_sends_with_their_own_usage_stay_two_turns(tmp_path: Path) -> None:
    usage = {"inputTokens": 100, "outputTokens": 5, "cacheReadTokens": 80, "cost": 0.01, "costSource": "estimated"}
    path = database(
        tmp_path / "sessions.db",
        (
            "s",
            [
                message("user", 0, say("go"), name="u1"),
                message("assistant", 1, ask("c1", "ls"), name="a", usage=usage),
                message("user", 1, back("c1", "x"), name="b"),
                message("assistant", 1, ask("c2", "ls"), name="c", usage=usage, inference={"resolvedModel": "m2"}),
                message("user", 1, back("c2", "x"), name="d"),
            ],
        ),
        config={"model_name": "m1", "context_limit": 128000},
    )
    found = turns(events(path))
    assert [(t.model, t.window, len(t.calls)) for t in found] == [("m1", 128000, 1), ("m2", 128000, 1)]
    assert found[0].usage == Usage(100, 5, 80, None, usd=0.01)


@pytest.mark.parametrize(
    ("response", "result", "error"),
    [
        (back("c1", "x"), "x", False),
        (back("c1", "x", isError=True), "x", True),
        ({"type": "toolResponse", "id": "c1", "toolResult": {"status": "error", "error": "no"}}, "no", True),
        (
            {"type": "toolResponse", "id": "c1", "toolResult": {"status": "success", "value": [say("old")]}},
            "old",
            False,
        ),
        (
            back("c1", "x", content=[{**say("for you"), "annotations": {"audience": ["user"]}}, say("for it")]),
            "for it",
            False,
        ),
        (back("c1", "", content=[], structuredContent={"n": 1}), {"n": 1}, False),
        (back("other", "x"), MISSING, False),
        (
            {"type": "toolResponse", "id": "c1", "toolResult": {"status": "error", "error": "Interrupted by the user"}},
            MISSING,
            False,
        ),
    ],
)
def test_what_a_response_says(tmp_path: Path, response: dict[str, Any], result: Any, error: bool) -> None:
    path = lines(tmp_path / "s.jsonl", HEAD, message("assistant", 1, ask("c1", "ls")), message("user", 2, response))
    call = turns(events(path))[0].calls[0]
    assert call.error is error
    assert call.result is result if result is MISSING else call.result == result


def test_session_file_messages_are_whole_model_calls(tmp_path: Path) -> None:
    path = lines(
        tmp_path / "20250901_7.jsonl",
        HEAD,
        message("user", 0, say("go")),
        message("assistant", 1, say("both"), ask("c1", "a"), ask("c2", "b")),
        message("user", 1, back("c2", "B"), back("c1", "A")),
        message("assistant", 1, ask("c3", "a")),
    )
    found = turns(events(path))
    assert [[(c.id, c.result) for c in t.calls] for t in found] == [[("c1", "A"), ("c2", "B")], [("c3", MISSING)]]
    assert {(t.run, t.session, t.prompt) for t in found} == {("20250901_7", "20250901_7", "message 2")}


@pytest.mark.parametrize(
    ("content", "state"),
    [
        (say("I've reached the maximum number of actions I can do without user input. Shall I go on?"), "turn_cap"),
        (say("The existing call to shell was interrupted. How would you like to proceed?"), "aborted"),
        (
            {"type": "systemNotification", "msg": "Unable to continue: Context limit still exceeded after compaction."},
            "context_full",
        ),
    ],
)
def test_words_of_goose_itself_end_a_run_and_are_no_turn(tmp_path: Path, content: dict[str, Any], state: str) -> None:
    rows = [message("user", 0, say("go")), message("assistant", 1, ask("c1", "ls")), message("assistant", 2, content)]
    found = events(lines(tmp_path / "s.jsonl", HEAD, *rows))
    assert [e.state for e in found if isinstance(e, End)] == [state]
    assert len(turns(found)) == 1


def test_a_provider_error_is_a_failed_turn(tmp_path: Path) -> None:
    words = "Ran into this error: Rate limited.\n\nPlease retry."
    found = turns(events(lines(tmp_path / "s.jsonl", HEAD, message("assistant", 1, say(words)))))
    assert [(t.failed, t.fault) for t in found] == [(True, words)]


def test_summaries_that_only_the_agent_sees_are_no_turns(tmp_path: Path) -> None:
    found = events(
        lines(
            tmp_path / "s.jsonl",
            HEAD,
            message("user", 0, say("go"), name="u1"),
            message("assistant", 1, say("old"), agentVisible=False),
            message("user", 2, say("summary"), userVisible=False),
            message("assistant", 2, say("I go on from the summary"), userVisible=False),
            message("assistant", 3, say("new")),
        )
    )
    assert [(t.text, t.compacted, t.prompt) for t in turns(found)] == [("old", False, "u1"), ("new", True, "u1")]


def test_words_during_the_work_steer_and_words_after_it_start_a_run(tmp_path: Path) -> None:
    found = events(
        lines(
            tmp_path / "s.jsonl",
            HEAD,
            message("user", 0, say("go"), name="u1"),
            message("assistant", 1, ask("c1", "ls")),
            message("user", 2, back("c1", "x")),
            message("user", 3, say("in json"), name="u2"),
            message("assistant", 4, say("done")),
            message("user", 5, say("next"), name="u3"),
            message("assistant", 6, say("done")),
        )
    )
    assert [t.prompt for t in turns(found)] == ["u1", "u1", "u3"]


def test_a_sub_agent_is_a_run_of_its_own(tmp_path: Path) -> None:
    rows = [message("user", 0, say("look"), name="u"), message("assistant", 1, say("found"), name="a")]
    found = turns(events(database(tmp_path / "sessions.db", ("s2", rows), kind="sub_agent", parent="s1")))
    assert [(t.run, t.parent, t.prompt) for t in found] == [("s2", "s1", None)]


def test_a_session_file_that_the_database_took_over_counts_once(tmp_path: Path) -> None:
    rows = [message("user", 0, say("go"), name="u"), message("assistant", 1, say("done"), name="a")]
    database(tmp_path / "sessions.db", ("20250901_7", rows))
    scan = Scan()
    assert events(lines(tmp_path / "20250901_7.jsonl", HEAD, *rows), scan) == []
    assert scan.skips.copies == 1
    assert len(turns(events(lines(tmp_path / "20250901_8.jsonl", HEAD, *rows), scan))) == 1


def test_a_copied_session_keeps_the_ids(tmp_path: Path) -> None:
    rows = [message("user", 0, say("go"), name="u"), message("assistant", 1, say("done"), name="a")]
    more = [*rows, message("user", 2, say("more"), name="u2"), message("assistant", 3, say("ok"), name="b")]
    path = database(tmp_path / "sessions.db", ("s1", rows), ("s2", more))
    assert [(t.run, t.text) for t in turns(events(path))] == [("s1", "done"), ("s2", "ok")]


def test_stream_joins_the_pieces_of_a_message(tmp_path: Path) -> None:
    path = lines(
        tmp_path / "out.jsonl",
        {"type": "message", "message": message("assistant", 1, say("I "), name="r1")},
        {"type": "message", "message": message("assistant", 1, say("look"), name="r1")},
        {"type": "message", "message": message("assistant", 1, ask("c1", "ls"), name="r1")},
        {"type": "message", "message": message("user", 2, back("c1", "x"), name="t1")},
        {"type": "notification", "extension_id": "developer", "log": {"message": "x"}},
        {"type": "message", "message": message("assistant", 3, say("done"), name="r2")},
        {"type": "complete", "total_tokens": 900},
    )
    found = events(path)
    assert [(t.text, len(t.calls), t.prompt) for t in turns(found)] == [("I look", 1, None), ("done", 0, None)]
    assert [(e.state, e.note) for e in found if isinstance(e, End)] == [("done", "complete")]


def test_export_document(tmp_path: Path) -> None:
    rows = [message("user", 0, say("go"), name="u"), message("assistant", 1, say("done"), name="a")]
    document = {"id": "20261101_1", "working_dir": "/w", "session_type": "user", "conversation": rows}
    path = tmp_path / "export.json"
    path.write_text(json.dumps(document, indent=2))
    assert [(t.run, t.text) for t in turns(events(path))] == [("20261101_1", "done")]


def test_damage_is_a_skip(tmp_path: Path) -> None:
    path = database(tmp_path / "sessions.db", ("s", [message("assistant", 1, say("ok"), name="a")]))
    with sqlite3.connect(path) as db:
        db.execute(
            "INSERT INTO messages (session_id, role, content_json, created_timestamp)"
            " VALUES ('s', 'assistant', '[{', 2)"
        )
    db.close()
    scan = Scan()
    assert len(turns(events(path, scan))) == 1
    assert list(scan.skips.by_reason) == ["damaged row"]
