"""OpenAI Responses items: which items make a turn, and exchanges with and without the history."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from loopscan.formats import Scan
from loopscan.model import Usage
from tests.formats.logs import read_log, told, turns

NAME = "openai-responses"
ASK = {"role": "user", "content": "do it"}


def call(call_id: str, name: str = "f", args: str = "{}") -> dict[str, Any]:
    return {"type": "function_call", "id": f"fc_{call_id}", "call_id": call_id, "name": name, "arguments": args}


def output(call_id: str, value: Any, kind: str = "function_call_output", **more: Any) -> dict[str, Any]:
    return {"type": kind, "call_id": call_id, "output": value, **more}


def said(words: str) -> dict[str, Any]:
    return {"type": "message", "role": "assistant", "content": [{"type": "output_text", "text": words}]}


THOUGHT = {"type": "reasoning", "id": "rs", "summary": [{"type": "summary_text", "text": "hm"}]}

CASES: dict[str, tuple[list[Any], list[Any]]] = {
    "reasoning, words and calls in a row are one turn": (
        [ASK, THOUGHT, said("I look"), call("1"), call("2", "g"), output("2", "b"), output("1", "a"), said("end")],
        [[("f", "{}", "a"), ("g", "{}", "b")], "end"],
    ),
    "an output closes the turn": (
        [ASK, call("1"), output("1", "a"), call("2"), output("2", "a")],
        [[("f", "{}", "a")], [("f", "{}", "a")]],
    ),
    "shells and custom tools": (
        [
            ASK,
            {"type": "local_shell_call", "call_id": "1", "action": {"command": ["ls"]}},
            output("1", "a.py", "local_shell_call_output"),
            {"type": "custom_tool_call", "call_id": "2", "name": "patch", "input": "***"},
            output("2", [{"type": "input_text", "text": "ok"}], "custom_tool_call_output"),
            {"type": "apply_patch_call", "call_id": "3", "operation": {"type": "delete_file"}},
            output("3", "no", "apply_patch_call_output", status="failed"),
        ],
        [
            [("local_shell", {"command": ["ls"]}, "a.py")],
            [("patch", "***", "ok")],
            [("apply_patch", {"type": "delete_file"}, "no", "error")],
        ],
    ),
    "tools that the provider runs": (
        [
            ASK,
            {"type": "mcp_call", "id": "m", "name": "find", "arguments": "{}", "output": "x", "error": None},
            {"type": "mcp_call", "id": "n", "name": "find", "arguments": "{}", "error": "down"},
            {"type": "web_search_call", "id": "w", "status": "completed", "action": {"query": "q"}},
            said("end"),
        ],
        [[("find", "{}", "x"), ("find", "{}", "down", "error"), ("web_search", {"query": "q"}, "MISSING")]],
    ),
    "messages without a type": (
        [ASK, {"role": "assistant", "content": "a"}, ASK, call("1"), output("1", "x")],
        ["a", [("f", "{}", "x")]],
    ),
}


@pytest.mark.parametrize("case", CASES)
@pytest.mark.parametrize("bare", [False, True])
def test_runs(case: str, bare: bool, tmp_path: Path) -> None:
    items, want = CASES[case]
    path = tmp_path / "x.jsonl"
    got = told(read_log(path, NAME, items if bare else {"id": "r", "input": items}))
    assert got == {f"{path}:1" if bare else "r": want}


def test_unknown_items_and_compaction(tmp_path: Path) -> None:
    scan = Scan()
    items = [
        ASK,
        call("1"),
        output("1", "a"),
        {"type": "compaction"},
        {"type": "hologram"},
        call("2"),
        output("2", "b"),
    ]
    found = turns(read_log(tmp_path / "x.jsonl", NAME, {"id": "r", "input": items}, scan=scan))
    assert [t.compacted for t in found] == [False, True]
    assert scan.skips.unknown == {"openai-responses:hologram": 1}


def exchange(given: Any, items: list[Any], name: str, after: str | None = None, **more: Any) -> dict[str, Any]:
    usage = {"input_tokens": 90, "input_tokens_details": {"cached_tokens": 40}, "output_tokens": 9}
    response = {"id": name, "object": "response", "model": "gpt-5", "status": "completed", "output": items}
    request = {"input": given, **({"previous_response_id": after} if after else {})}
    return {"request": request, "response": {**response, "usage": usage, **more}}


def test_exchanges_by_history(tmp_path: Path) -> None:
    log = [
        exchange("do it", [THOUGHT, call("1")], "r1"),
        exchange([ASK, THOUGHT, call("1"), output("1", "a")], [call("2")], "r2"),
        exchange([ASK, call("1"), output("1", "a"), call("2"), output("2", "b")], [said("end")], "r3"),
    ]
    events = read_log(tmp_path / "x.jsonl", NAME, *log)
    assert told(events) == {"r1": [[("f", "{}", "a")], [("f", "{}", "b")], "end", "done"]}
    assert turns(events)[0].usage == Usage(90, 9, 40)


def test_exchanges_by_the_response_before(tmp_path: Path) -> None:
    log = [
        exchange([ASK], [call("1")], "r1"),
        exchange([ASK], [call("x")], "q1"),
        exchange([output("1", "a")], [call("2")], "r2", "r1"),
        exchange([output("x", "b")], [said("other")], "q2", "q1"),
        exchange([output("2", "c")], [said("end")], "r3", "r2"),
    ]
    assert told(read_log(tmp_path / "x.jsonl", NAME, *log)) == {
        "r1": [[("f", "{}", "a")], [("f", "{}", "c")], "end", "done"],
        "q1": [[("f", "{}", "b")], "other", "done"],
    }


def test_exchanges_of_a_conversation(tmp_path: Path) -> None:
    log = [
        exchange([ASK], [call("1")], "r1"),
        exchange([output("1", "a")], [call("2")], "r2"),
        exchange([output("2", "b")], [said("end")], "r3"),
    ]
    for line in log:
        line["request"]["conversation"] = {"id": "conv"}
    events = read_log(tmp_path / "x.jsonl", NAME, *log)
    assert told(events) == {"conv": [[("f", "{}", "a")], [("f", "{}", "b")], "end", "done"]}
    assert not any(t.compacted for t in turns(events))


def test_how_a_response_stopped(tmp_path: Path) -> None:
    cut = {"status": "incomplete", "incomplete_details": {"reason": "max_output_tokens"}}
    log = [
        exchange([ASK], [said("so")], "r1", **cut),
        exchange([{"role": "user", "content": "b"}], [], "r2", status="failed", error={"code": "server_error"}),
    ]
    assert told(read_log(tmp_path / "x.jsonl", NAME, *log)) == {
        "r1": ["so", "cut"],
        "r2": [{"fault": {"code": "server_error"}}],
    }
