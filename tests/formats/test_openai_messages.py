"""OpenAI chat messages: runs per line, exchanges, and requests that repeat their history."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from loopscan.formats import Scan, load
from loopscan.model import Usage
from loopscan.source import Input, open_input
from tests.formats.logs import read_log, told, turns

NAME = "openai-messages"
ASK = {"role": "user", "content": "do it"}


def call(call_id: str | None, name: str = "f", args: str = "{}") -> dict[str, Any]:
    head = {} if call_id is None else {"id": call_id}
    return {**head, "type": "function", "function": {"name": name, "arguments": args}}


def asks(*calls: dict[str, Any]) -> dict[str, Any]:
    return {"role": "assistant", "content": None, "tool_calls": list(calls)}


def gives(call_id: str | None, content: Any, **more: Any) -> dict[str, Any]:
    return {"role": "tool", "tool_call_id": call_id, "content": content, **more}


def says(text: str) -> dict[str, Any]:
    return {"role": "assistant", "content": text}


CASES: dict[str, tuple[list[Any], list[Any]]] = {
    "a call and a text": (
        [ASK, asks(call("1", "f", '{"a":1}')), gives("1", "r"), says("done")],
        [[("f", '{"a":1}', "r")], "done"],
    ),
    "parallel calls are one turn, results in any order": (
        [ASK, asks(call("1", "f"), call("2", "g")), gives("2", "R2"), gives("1", "R1")],
        [[("f", "{}", "R1"), ("g", "{}", "R2")]],
    ),
    "ids are reused by later turns": (
        [ASK, asks(call("0")), gives("0", "a"), asks(call("0")), gives("0", "b")],
        [[("f", "{}", "a")], [("f", "{}", "b")]],
    ),
    "an id is reused while the older call still waits": (
        [ASK, asks(call("0")), asks(call("0")), gives("0", "b")],
        [[("f", "{}", "MISSING")], [("f", "{}", "b")]],
    ),
    "the same id twice in one turn: results in order": (
        [ASK, asks(call("0"), call("0", "g")), gives("0", "a"), gives("0", "b")],
        [[("f", "{}", "a"), ("g", "{}", "b")]],
    ),
    "a late result finds its turn": (
        [ASK, asks(call("1")), asks(call("2")), gives("2", "b"), gives("1", "a")],
        [[("f", "{}", "a")], [("f", "{}", "b")]],
    ),
    "without ids results come in order": (
        [ASK, asks(call(None), call(None, "g")), gives(None, "a"), gives(None, "b"), gives(None, "lost")],
        [[("f", "{}", "a"), ("g", "{}", "b")]],
    ),
    "a result of a dropped id is not given to another call": (
        [ASK, asks(call("1")), gives("9", "b")],
        [[("f", "{}", "MISSING")]],
    ),
    "the old function_call": (
        [
            ASK,
            {"role": "assistant", "content": None, "function_call": {"name": "f", "arguments": "{}"}},
            {"role": "function", "name": "f", "content": "r"},
        ],
        [[("f", "{}", "r")]],
    ),
    "a custom tool and flat calls": (
        [
            ASK,
            asks({"id": "1", "type": "custom", "custom": {"name": "sql", "input": "select 1"}}),
            gives("1", "1"),
            asks({"id": "2", "function": "bash", "args": {"cmd": "ls"}}, {"id": "3", "name": "g", "arguments": {}}),
            gives("2", "x", error={"message": "denied"}),
            {"role": "tool", "tool_call_id": "3", "error": "no"},
        ],
        [[("sql", "select 1", "1")], [("bash", {"cmd": "ls"}, "x", "error"), ("g", {}, "no", "error")]],
    ),
    "content in parts, null and refusals": (
        [
            ASK,
            asks(call("1")),
            gives("1", [{"type": "text", "text": "a"}, {"type": "text", "text": "b"}]),
            {"role": "assistant", "content": [{"type": "text", "text": "x"}, {"type": "refusal", "refusal": "y"}]},
            {"role": "assistant", "content": None, "refusal": "I will not"},
            {"role": "assistant", "content": None},
        ],
        [[("f", "{}", "a\nb")], "x\ny", "I will not", ""],
    ),
    "arguments that are no JSON stay text": (
        [ASK, asks(call("1", "f", '{"a": ')), gives("1", None)],
        [[("f", '{"a": ', None)]],
    ),
    "rows with calls in the text stand between the others": (
        [ASK, says("<function=ls>\n</function>"), {"role": "user", "content": "a.py"}],
        [[("ls", {}, "a.py")]],
    ),
}


@pytest.mark.parametrize("case", CASES)
def test_runs(case: str, tmp_path: Path) -> None:
    messages, want = CASES[case]
    other = {"id": "other", "messages": [ASK, asks(call("1")), gives("1", "r")]}
    got = told(read_log(tmp_path / "x.jsonl", NAME, other, {"id": "one", "messages": messages}))
    assert got == {"other": [[("f", "{}", "r")]], "one": want}


def test_a_row_says_who_ran_and_how_it_ended(tmp_path: Path) -> None:
    row = {
        "run_id": "r1",
        "id": "x",
        "session_id": "s",
        "model": "gpt-5",
        "created_at": "2026-11-02T10:00:00Z",
        "metadata": {"team": "blue", "n": 3},
        "messages": [ASK, says("done")],
        "usage": {"prompt_tokens": 10, "completion_tokens": 2},
        "finish_reason": "length",
    }
    events = read_log(tmp_path / "x.jsonl", NAME, row)
    assert told(events) == {"r1": ["done", "cut"]}
    turn = turns(events)[0]
    assert (turn.model, turn.time, turn.labels, turn.session) == ("gpt-5", 1793613600.0, {"team": "blue"}, "s")
    assert turn.usage == Usage(10, 2)
    assert turn.written == 4


def test_the_usage_of_a_whole_run_is_no_send(tmp_path: Path) -> None:
    messages = [ASK, asks(call("1")), gives("1", "r"), says("done")]
    events = read_log(tmp_path / "x.jsonl", NAME, {"messages": messages, "usage": {"prompt_tokens": 10}})
    assert [t.usage for t in turns(events)] == [None, None]


def test_names_of_runs(tmp_path: Path) -> None:
    messages = [ASK, asks(call("1")), gives("1", "r")]
    rows = [
        messages,
        {"id": "a", "messages": messages},
        {"id": "a", "messages": messages},
        [{"messages": messages}] * 2,
    ]
    path = tmp_path / "x.jsonl"
    assert list(told(read_log(path, NAME, *rows))) == [f"{path}:1", "a", "a@3", f"{path}:4.1", f"{path}:4.2"]


def test_a_pretty_printed_array(tmp_path: Path) -> None:
    path = tmp_path / "x.json"
    text = '[\n {"role": "user",\n "content": "q"},\n {"role": "assistant", "content": "a"}\n]'
    assert told(read_log(path, NAME, text)) == {f"{path}:1": ["a"]}


def exchange(messages: list[Any], reply: dict[str, Any], name: str, **more: Any) -> dict[str, Any]:
    choice = {"index": 0, "message": reply, "finish_reason": "tool_calls" if reply.get("tool_calls") else "stop"}
    usage = {"prompt_tokens": 100, "completion_tokens": 7, "prompt_tokens_details": {"cached_tokens": 60}}
    response = {"id": name, "model": "gpt-5", "created": 1790000000, "choices": [choice], "usage": usage}
    return {"request": {"model": "gpt", "messages": messages}, "response": response, **more}


FIRST = [ASK]
SECOND = [ASK, asks(call("1")), gives("1", "r")]


def test_exchanges_of_one_run(tmp_path: Path) -> None:
    log = [exchange(FIRST, asks(call("1")), "c1"), exchange(SECOND, says("done"), "c2", cost=0.25)]
    events = read_log(tmp_path / "x.jsonl", NAME, *log)
    assert told(events) == {"c1": [[("f", "{}", "r")], "done", "done"]}
    first, last = turns(events)
    assert first.usage == Usage(100, 7, cache_read=60)
    assert last.usage is not None
    assert last.usage.usd == 0.25
    assert (first.model, first.time) == ("gpt-5", 1790000000.0)


SHAPES: dict[str, list[Any]] = {
    "messages beside the response": [
        {"messages": FIRST, "response": {"choices": [{"message": asks(call("1"))}]}},
        {"messages": SECOND, "response": {"choices": [{"message": says("done"), "finish_reason": "stop"}]}},
    ],
    "input and output": [
        {"input": FIRST, "output": asks(call("1"))},
        {"input": SECOND, "output": {"choices": [{"message": says("done"), "finish_reason": "stop"}]}},
    ],
    "JSON in text, under body": [
        {
            "request_body": '{"messages": [{"role": "user", "content": "do it"}]}',
            "response_body": {"body": asks(call("1"))},
        },
        {"request": {"body": {"messages": SECOND}}, "response": {"status_code": 200, "body": says("done")}},
    ],
    "a local server's message": [
        {"request": {"messages": FIRST}, "response": {"message": asks(call("1")), "done_reason": "stop"}},
        {"request": {"messages": SECOND}, "response": {"message": says("done"), "done_reason": "stop"}},
    ],
}


@pytest.mark.parametrize("shape", SHAPES)
def test_shapes_of_exchanges(shape: str, tmp_path: Path) -> None:
    got = told(read_log(tmp_path / "x.jsonl", NAME, *SHAPES[shape]))
    assert [t for run in got.values() for t in run][:2] == [[("f", "{}", "r")], "done"]
    assert len(got) == 1


def test_failed_sends(tmp_path: Path) -> None:
    log = [
        exchange(FIRST, asks(call("1")), "c1"),
        {"request": {"messages": SECOND}, "response": None, "error": {"message": "overloaded"}, "status": 529},
        {"request": {"messages": SECOND}, "response": {"error": {"message": "busy"}}},
        {"request": {"messages": SECOND}, "response": None},
        exchange(SECOND, says("done"), "c2"),
    ]
    faults = [{"fault": {"message": "overloaded"}}, {"fault": {"message": "busy"}}, {"fault": None}]
    assert told(read_log(tmp_path / "x.jsonl", NAME, *log)) == {"c1": [[("f", "{}", "r")], *faults, "done", "done"]}


def test_embeddings_are_no_turns(tmp_path: Path) -> None:
    odd = {"request": {"input": "text"}, "response": {"object": "list", "data": [{"embedding": [0.1]}]}}
    scan = Scan()
    got = told(read_log(tmp_path / "x.jsonl", NAME, exchange(FIRST, says("a"), "c1"), odd, scan=scan))
    assert got == {"c1": ["a", "done"]}
    assert scan.skips.total == 1


def test_requests_that_repeat_their_history_are_one_run(tmp_path: Path) -> None:
    third = [*SECOND, asks(call("2")), gives("2", "r2")]
    log = [{"model": "m", "messages": m} for m in (FIRST, SECOND, SECOND, third, [*third, says("end"), ASK])]
    path = tmp_path / "x.jsonl"
    got = told(read_log(path, NAME, *log))
    assert got == {f"{path}:1": [[("f", "{}", "r")], [("f", "{}", "r2")], "end"]}


def test_which_logs_can_be_split_anywhere(tmp_path: Path) -> None:
    def independent(*values: Any) -> bool:
        read_log(tmp_path / "x.jsonl", NAME, *values)
        with open_input(Input(str(tmp_path / "x.jsonl"), named=True)) as blob:
            return bool(load(NAME).line_independent(blob.head))  # type: ignore[attr-defined]

    assert independent({"messages": SECOND}, {"messages": [{"role": "user", "content": "other"}, says("x")]})
    assert not independent({"messages": FIRST}, {"messages": SECOND})
    assert not independent(exchange(FIRST, says("a"), "c1"))


def test_what_is_no_message_log_is_skipped(tmp_path: Path) -> None:
    scan = Scan()
    got = told(read_log(tmp_path / "x.jsonl", NAME, {"id": "a", "messages": SECOND}, {"x": 1}, "7", "{", scan=scan))
    assert list(got) == ["a"]
    assert scan.skips.total == 3
