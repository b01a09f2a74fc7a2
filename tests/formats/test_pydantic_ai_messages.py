"""Pydantic AI histories: arrays of requests and responses, of old and new versions."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from loopscan.formats import Scan
from loopscan.model import Usage
from tests.formats.logs import read_log, told, turns

NAME = "pydantic-ai-messages"
T0 = "2026-11-02T10:00:0"


def request(*parts: dict[str, Any], **more: Any) -> dict[str, Any]:
    return {"kind": "request", "parts": list(parts), **more}


def response(*parts: dict[str, Any], **more: Any) -> dict[str, Any]:
    return {"kind": "response", "parts": list(parts), **more}


PROMPT = request({"part_kind": "user-prompt", "content": "do it"})


def call(call_id: str | None, args: Any = "{}", name: str = "f", kind: str = "tool-call") -> dict[str, Any]:
    return {"part_kind": kind, "tool_name": name, "args": args, "tool_call_id": call_id}


def returns(call_id: str | None, content: Any, kind: str = "tool-return", **more: Any) -> dict[str, Any]:
    return {"part_kind": kind, "tool_name": "f", "content": content, "tool_call_id": call_id, **more}


def text(words: str) -> dict[str, Any]:
    return {"part_kind": "text", "content": words}


CASES: dict[str, tuple[list[Any], list[Any]]] = {
    "a call, its result, a text": (
        [PROMPT, response(call("1", {"a": 1})), request(returns("1", {"x": 2})), response(text("end"))],
        [[("f", {"a": 1}, {"x": 2})], "end"],
    ),
    "a retry prompt of a tool is its failed result": (
        [PROMPT, response(call("1")), request(returns("1", [{"type": "missing"}], "retry-prompt"))],
        [[("f", "{}", [{"type": "missing"}], "error")]],
    ),
    "a retry prompt without a tool answers no call": (
        [PROMPT, response(call("1")), request({"part_kind": "retry-prompt", "content": "say it", "tool_name": None})],
        [[("f", "{}", "MISSING")]],
    ),
    "outcomes": (
        [
            PROMPT,
            response(call("1"), call("2")),
            request(returns("2", "ok", outcome="success"), returns("1", "no", outcome="denied")),
        ],
        [[("f", "{}", "no", "error"), ("f", "{}", "ok")]],
    ),
    "tools of the provider answer in the response": (
        [PROMPT, response(call("1", kind="builtin-tool-call"), returns("1", "r", "builtin-tool-return"), text("end"))],
        [[("f", "{}", "r")]],
    ),
    "arguments as the first versions wrote them, no ids": (
        [
            PROMPT,
            response(call(None, {"args_json": '{"a":1}'}), call(None, {"args_dict": {"b": 2}})),
            request(returns(None, "x"), returns(None, "y")),
        ],
        [[("f", '{"a":1}', "x"), ("f", {"b": 2}, "y")]],
    ),
    "thinking is no text": (
        [PROMPT, response({"part_kind": "thinking", "content": "hm"}, text("a"), text("b"))],
        ["a\nb"],
    ),
}


@pytest.mark.parametrize("case", CASES)
def test_histories(case: str, tmp_path: Path) -> None:
    history, want = CASES[case]
    path = tmp_path / "x.jsonl"
    assert told(read_log(path, NAME, history)) == {f"{path}:1": want}


def test_what_a_response_records(tmp_path: Path) -> None:
    usage = {
        "input_tokens": 500,
        "cache_read_tokens": 300,
        "cache_write_tokens": 100,
        "cache_write_1h_tokens": 40,
        "output_tokens": 20,
        "cost": "0.0125",
    }
    about = {"run_id": "r", "conversation_id": "c", "timestamp": T0 + "1Z", "model_name": "m", "finish_reason": "stop"}
    events = read_log(tmp_path / "x.jsonl", NAME, [PROMPT, response(text("end"), usage=usage, **about)])
    assert told(events) == {"r": ["end", "done"]}
    turn = turns(events)[0]
    assert turn.usage == Usage(500, 20, 300, 100, 40, 0.0125)
    assert (turn.model, turn.session, turn.time) == ("m", "c", 1793613601.0)


@pytest.mark.parametrize(
    ("usage", "want"),
    [
        (
            {"request_tokens": 9, "response_tokens": 2, "details": {"cached_tokens": 4}},
            Usage(9, 2, 4),
        ),
        ({"input_tokens": 0, "output_tokens": 0, "cache_read_tokens": 0}, None),
        ({}, None),
    ],
)
def test_usage_of_other_versions(usage: dict[str, Any], want: Usage | None, tmp_path: Path) -> None:
    found = turns(read_log(tmp_path / "x.jsonl", NAME, [PROMPT, response(text("end"), usage=usage)]))
    assert found[0].usage == want


def test_a_history_passed_on_is_a_copy(tmp_path: Path) -> None:
    one = [
        request(text("q"), run_id="r1"),
        response(call("1"), run_id="r1", timestamp=T0 + "1Z"),
        request(returns("1", "a"), run_id="r1"),
        response(text("end"), run_id="r1", timestamp=T0 + "2Z"),
    ]
    two = [*one, request(text("q2"), run_id="r2"), response(text("end"), run_id="r2", timestamp=T0 + "3Z")]
    scan = Scan()
    assert told(read_log(tmp_path / "x.jsonl", NAME, one, two, scan=scan)) == {
        "r1": [[("f", "{}", "a")], "end"],
        "r2": ["end"],
    }
    assert scan.skips.copies == 2
    exact = told(read_log(tmp_path / "x.jsonl", NAME, one, two, scan=Scan(exact=True)))
    assert len(exact["r1"]) == 4


def test_equal_answers_without_ids_are_no_copies(tmp_path: Path) -> None:
    history = [PROMPT, response(text("OK"), timestamp=T0 + "1Z")]
    assert len(read_log(tmp_path / "x.jsonl", NAME, history, history)) == 2


def test_other_containers_and_rubbish(tmp_path: Path) -> None:
    history = [PROMPT, response(text("end"))]
    scan = Scan()
    events = read_log(tmp_path / "x.jsonl", NAME, {"messages": history}, [history, history], [1], {"a": 1}, scan=scan)
    assert [t.text for t in turns(events)] == ["end"] * 3
    assert scan.skips.total == 2
