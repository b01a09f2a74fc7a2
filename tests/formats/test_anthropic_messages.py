"""Anthropic messages: runs per line, and exchanges stitched although the client rewrites its history."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from loopscan.model import Usage
from tests.formats.logs import read_log, told, turns

NAME = "anthropic-messages"
ASK = {"role": "user", "content": "do it"}


def use(call_id: str, name: str = "f", **given: Any) -> dict[str, Any]:
    return {"type": "tool_use", "id": call_id, "name": name, "input": given}


def reply(*blocks: dict[str, Any]) -> dict[str, Any]:
    return {"role": "assistant", "content": list(blocks)}


def result(call_id: str, content: Any, **more: Any) -> dict[str, Any]:
    return {"type": "tool_result", "tool_use_id": call_id, "content": content, **more}


def user(*blocks: dict[str, Any]) -> dict[str, Any]:
    return {"role": "user", "content": list(blocks)}


def text(words: str, **more: Any) -> dict[str, Any]:
    return {"type": "text", "text": words, **more}


CASES: dict[str, tuple[list[Any], list[Any]]] = {
    "text blocks of a result are its text": (
        [ASK, reply(text("hm"), use("1", a=1)), user(result("1", [text("x"), text("y")]))],
        [[("f", {"a": 1}, "x\ny")]],
    ),
    "parallel calls, one failed, user words beside": (
        [
            ASK,
            reply(use("1"), use("2", "g")),
            user(result("2", "no", is_error=True), result("1", "ok"), text("go on")),
            reply(text("end")),
        ],
        [[("f", {}, "ok"), ("g", {}, "no", "error")], "end"],
    ),
    "server tools answer in the reply": (
        [
            ASK,
            reply(
                {"type": "server_tool_use", "id": "s", "name": "web_search", "input": {"q": "x"}},
                {"type": "web_search_tool_result", "tool_use_id": "s", "content": [{"url": "u"}]},
                {"type": "server_tool_use", "id": "t", "name": "web_fetch", "input": {}},
                {"type": "web_fetch_tool_result", "tool_use_id": "t", "content": {"type": "web_fetch_tool_error"}},
            ),
        ],
        [
            [
                ("web_search", {"q": "x"}, [{"url": "u"}]),
                ("web_fetch", {}, {"type": "web_fetch_tool_error"}, "error"),
            ]
        ],
    ),
    "an empty result is a result": (
        [ASK, reply(use("1")), user({"type": "tool_result", "tool_use_id": "1"})],
        [[("f", {}, None)]],
    ),
    "thinking is no text": (
        [ASK, reply({"type": "thinking", "thinking": "let me"}, use("1")), reply(text("x"))],
        [[("f", {}, "MISSING")], "x"],
    ),
}


@pytest.mark.parametrize("case", CASES)
def test_runs(case: str, tmp_path: Path) -> None:
    messages, want = CASES[case]
    assert told(read_log(tmp_path / "x.jsonl", NAME, {"id": "r", "messages": messages})) == {"r": want}


@pytest.mark.parametrize(
    ("reason", "state"),
    [
        ("end_turn", "done"),
        ("max_tokens", "cut"),
        ("model_context_window_exceeded", "context_full"),
        ("refusal", "error"),
        ("tool_use", None),
        ("new word", None),
    ],
)
def test_stop_reason_of_a_run(reason: str, state: str | None, tmp_path: Path) -> None:
    row = {"id": "r", "messages": [ASK, reply(use("1")), reply(text("x"))], "stop_reason": reason}
    want = [[("f", {}, "MISSING")], "x", *([state] if state else [])]
    assert told(read_log(tmp_path / "x.jsonl", NAME, row)) == {"r": want}


def exchange(messages: list[Any], blocks: list[Any], name: str) -> dict[str, Any]:
    stop = "tool_use" if any(b["type"] == "tool_use" for b in blocks) else "end_turn"
    usage = {
        "input_tokens": 10,
        "cache_read_input_tokens": 100,
        "cache_creation_input_tokens": 30,
        "cache_creation": {"ephemeral_1h_input_tokens": 20, "ephemeral_5m_input_tokens": 10},
        "output_tokens": 5,
    }
    response = {"id": name, "type": "message", "role": "assistant", "model": "claude", "content": blocks}
    response |= {"stop_reason": stop, "usage": usage}
    return {"timestamp": "2026-11-02T10:00:00Z", "request": {"messages": messages}, "response": response, "status": 200}


def test_usage_classes_are_summed(tmp_path: Path) -> None:
    turn = turns(read_log(tmp_path / "x.jsonl", NAME, exchange([ASK], [text("hi")], "m1")))[0]
    assert turn.usage == Usage(140, 5, 100, 30, 20)
    assert turn.time == 1793613600.0


def test_the_history_is_known_again(tmp_path: Path) -> None:
    """Cache marks move, texts get wrapped to be marked, thinking is dropped: still the same run."""
    mark = {"cache_control": {"type": "ephemeral"}}
    thought = {"type": "thinking", "thinking": "hm", "signature": "s"}
    log = [
        exchange([user(text("do it", **mark))], [thought, use("1")], "m1"),
        exchange([ASK, reply(thought, use("1")), user(result("1", "r", **mark))], [use("2")], "m2"),
        exchange(
            [
                ASK,
                reply(use("1")),
                user(result("1", "r")),
                reply(use("2")),
                user(result("2", "r2"), text("ok", **mark)),
            ],
            [text("end")],
            "m3",
        ),
    ]
    assert told(read_log(tmp_path / "x.jsonl", NAME, *log)) == {
        "m1": [[("f", {}, "r")], [("f", {}, "r2")], "end", "done"]
    }


def test_interleaved_runs_with_the_same_first_messages(tmp_path: Path) -> None:
    """Until the reply differs both look alike; the ids in the history tell whose turn it is."""
    log = [
        exchange([ASK], [use("a1")], "m1"),
        exchange([ASK], [use("b1")], "m2"),
        exchange([ASK, reply(use("a1")), user(result("a1", "A"))], [use("a2")], "m3"),
        exchange([ASK, reply(use("b1")), user(result("b1", "B"))], [text("b")], "m4"),
        exchange(
            [ASK, reply(use("a1")), user(result("a1", "A")), reply(use("a2")), user(result("a2", "A2"))],
            [text("a")],
            "m5",
        ),
    ]
    assert told(read_log(tmp_path / "x.jsonl", NAME, *log)) == {
        "m1": [[("f", {}, "A")], [("f", {}, "A2")], "a", "done"],
        "m2": [[("f", {}, "B")], "b", "done"],
    }


def test_a_failed_send_and_its_retry_are_one_run(tmp_path: Path) -> None:
    failed = {"request": {"messages": [ASK]}, "response": {"type": "error", "error": {"type": "overloaded_error"}}}
    events = read_log(tmp_path / "x.jsonl", NAME, failed, exchange([ASK], [use("1")], "m1"))
    path = tmp_path / "x.jsonl"
    assert told(events) == {f"{path}:1": [{"fault": {"type": "overloaded_error"}}, [("f", {}, "MISSING")]]}
