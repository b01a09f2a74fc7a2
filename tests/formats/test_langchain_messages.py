"""LangChain messages in their three spellings."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from loopscan.formats import Scan
from loopscan.model import Usage
from tests.formats.logs import read_log, told, turns

NAME = "langchain-messages"
CLASSES = {"ai": "AIMessage", "tool": "ToolMessage", "human": "HumanMessage"}


def spelled(spelling: str, kind: str, fields: dict[str, Any]) -> dict[str, Any]:
    if spelling == "data":
        return {"type": kind, "data": fields}
    if spelling == "constructor":
        path = ["langchain", "schema", "messages", CLASSES[kind]]
        return {"lc": 1, "type": "constructor", "id": path, "kwargs": fields}
    return {"type": kind, **fields}


def call(call_id: str, name: str = "f", **args: Any) -> dict[str, Any]:
    return {"name": name, "args": args, "id": call_id, "type": "tool_call"}


HISTORY = [
    ("human", {"content": "do it"}),
    ("ai", {"content": "", "tool_calls": [call("1", a=1), call("2", "g")]}),
    ("tool", {"content": "no", "tool_call_id": "2", "status": "error"}),
    ("tool", {"content": [{"type": "text", "text": "x"}], "tool_call_id": "1", "status": "success"}),
    ("ai", {"content": [{"type": "text", "text": "end"}], "response_metadata": {"finish_reason": "stop"}}),
]
WANT = [[("f", {"a": 1}, "x"), ("g", {}, "no", "error")], "end", "done"]


@pytest.mark.parametrize("spelling", ["data", "constructor", "flat"])
@pytest.mark.parametrize("container", ["thread", "bare", "state"])
def test_spellings(spelling: str, container: str, tmp_path: Path) -> None:
    messages = [spelled(spelling, *m) for m in HISTORY]
    path = tmp_path / "x.jsonl"
    line: Any = {
        "thread": {"thread_id": "t", "messages": messages},
        "bare": messages,
        "state": {"values": {"messages": messages}, "next": [], "config": {"configurable": {"thread_id": "t"}}},
    }[container]
    assert told(read_log(path, NAME, line)) == {f"{path}:1" if container == "bare" else "t": WANT}


def test_calls_in_other_places(tmp_path: Path) -> None:
    both = {
        "content": [{"type": "text", "text": "a"}, {"type": "tool_use", "id": "1", "name": "f", "input": {}}],
        "tool_calls": [call("1")],
    }
    bad = {"content": "", "tool_calls": [], "invalid_tool_calls": [{"name": "f", "args": "{", "id": "2", "error": "e"}]}
    old = {
        "content": "",
        "additional_kwargs": {"tool_calls": [{"id": "3", "function": {"name": "f", "arguments": "{}"}}]},
    }
    messages = [spelled("data", "ai", m) for m in (both, bad, old)]
    got = told(read_log(tmp_path / "x.jsonl", NAME, {"thread_id": "t", "messages": messages}))
    assert got == {"t": [[("f", {}, "MISSING")], [("f", "{", "MISSING")], [("f", "{}", "MISSING")]]}


def test_usage(tmp_path: Path) -> None:
    details = {"cache_read": 50, "cache_creation": 0, "ephemeral_5m_input_tokens": 20, "ephemeral_1h_input_tokens": 10}
    usage = {"input_tokens": 100, "output_tokens": 9, "input_token_details": details}
    old = {"token_usage": {"prompt_tokens": 7, "completion_tokens": 1}, "model_name": "m"}
    messages = [
        spelled("data", "ai", {"content": "a", "usage_metadata": usage}),
        spelled("data", "ai", {"content": "b", "response_metadata": old}),
    ]
    found = turns(read_log(tmp_path / "x.jsonl", NAME, messages))
    assert [t.usage for t in found] == [Usage(100, 9, 50, 30, 10), Usage(7, 1)]
    assert [t.model for t in found] == [None, "m"]


def test_a_thread_dumped_again_repeats_its_messages(tmp_path: Path) -> None:
    messages = [spelled("data", kind, {**fields, "id": f"m{i}"}) for i, (kind, fields) in enumerate(HISTORY)]
    more = [*messages, spelled("data", "ai", {"content": "more", "id": "m9"})]
    lines = [{"thread_id": "t", "messages": m} for m in (messages[:4], messages, more)]
    scan = Scan()
    got = told(read_log(tmp_path / "x.jsonl", NAME, *lines, scan=scan))
    assert got == {"t": [*WANT, "more"]}
    assert scan.skips.copies == 3


def test_what_is_no_history_is_skipped(tmp_path: Path) -> None:
    scan = Scan()
    line = {"thread_id": "t", "messages": [spelled("data", *m) for m in HISTORY]}
    mixed = [spelled("data", *HISTORY[0]), {"type": "mystery", "data": {}}]
    assert told(read_log(tmp_path / "x.jsonl", NAME, line, mixed, {"a": 1}, scan=scan)) == {"t": WANT}
    assert scan.skips.total == 2
