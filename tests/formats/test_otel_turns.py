"""Tool spans joined to the model spans that asked for them; sends, failures and ends."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from loopscan.model import Usage
from tests.formats.spans import agent, asks, batch, chat, ends, read, span, story, tool, turns

ARGS = '{"id": 7}'


def test_by_id_although_it_ran_later(tmp_path: Path) -> None:
    got = read(
        tmp_path / "x",
        batch(
            chat("a", "r", 1, asks(("c1", "get", {}), ("c2", "put", {}))),
            chat("b", "r", 2, asks(text="meanwhile")),
            tool("d", "r", 3, "put", "ok", id="c2"),
            tool("e", "r", 4, "get", "ok too", id="c1"),
            agent("r", None, 0),
        ),
    )
    assert story(got)[0] == "t1: get({})=ok too put({})=ok"


def test_repeated_ids_are_taken_in_order(tmp_path: Path) -> None:
    got = read(
        tmp_path / "x",
        batch(
            chat("a", "r", 1, asks(("call_0", "get", {}))),
            tool("b", "r", 2, "get", "1", id="call_0"),
            chat("c", "r", 3, asks(("call_0", "get", {}))),
            tool("d", "r", 4, "get", "2", id="call_0"),
            agent("r", None, 0),
        ),
    )
    assert story(got)[:2] == ["t1: get({})=1", "t1: get({})=2"]


def test_by_step_span_where_times_are_rounded_to_one_instant(tmp_path: Path) -> None:
    step = {"gen_ai.operation.name": "agent_step"}
    spans = []
    for n in ("1", "2"):
        spans += [
            tool(f"t{n}", f"s{n}", 5, "get", f"r{n}", args=ARGS),
            chat(f"m{n}", f"s{n}", 5, asks((f"c{n}", "get", {"id": 7}))),
            span(f"s{n}", "r", 5, step),
        ]
    got = read(tmp_path / "x", batch(*spans, agent("r", None, 0)))
    assert story(got)[:2] == ["t1: get({'id': 7})=r1", "t1: get({'id': 7})=r2"]


def test_by_time_also_where_the_model_span_holds_no_calls(tmp_path: Path) -> None:
    got = read(
        tmp_path / "x",
        batch(
            chat("a", "r", 1, None),
            tool("b", "r", 2, "get", "one", args=ARGS),
            tool("c", "r", 2.5, "put", "two", args=ARGS),
            chat("d", "r", 3, None),
            agent("r", None, 0),
        ),
    )
    assert story(got) == [f"t1: get({ARGS})=one put({ARGS})=two", "t1: None", "t1: <done>"]


def test_a_tool_inside_a_tool_was_asked_by_no_model(tmp_path: Path) -> None:
    got = read(
        tmp_path / "x",
        batch(
            chat("a", "r", 1, asks(("c1", "get", {}))),
            tool("b", "r", 2, "get", "ok", id="c1"),
            tool("c", "b", 2.1, "tools/call get", "raw"),
            agent("r", None, 0),
        ),
    )
    assert story(got)[0] == "t1: get({})=ok"


def test_results_stand_in_the_next_input_only(tmp_path: Path) -> None:
    old = {"role": "tool", "parts": [{"type": "tool_call_response", "id": "c0", "response": "old"}]}
    said = {"role": "assistant", "parts": [{"type": "tool_call", "id": "c1", "name": "get", "arguments": {}}]}
    new = {"role": "user", "parts": [{"type": "tool_call_response", "id": "c1", "result": "new"}]}
    got = read(
        tmp_path / "x",
        batch(
            chat("a", "r", 1, asks(("c1", "get", {}))),
            chat("b", "r", 2, asks(text="ok"), gen_ai__input__messages=json.dumps([old, said, new])),
            agent("r", None, 0),
        ),
    )
    assert story(got)[0] == "t1: get({})=new"


def test_parallel_calls_are_one_turn(tmp_path: Path) -> None:
    got = read(
        tmp_path / "x",
        batch(
            chat("a", "r", 1, asks(("c1", "get", {"id": 1}), ("c2", "get", {"id": 2}))),
            tool("b", "r", 2, "get", "two", id="c2"),
            tool("c", "r", 2, "get", "one", id="c1"),
            {**tool("d", "r", 2.2, "(merged tools)", "both"), "name": "execute_tool (merged)"},
            agent("r", None, 0),
        ),
    )
    assert story(got)[0] == "t1: get({'id': 1})=one get({'id': 2})=two"


@pytest.mark.parametrize(
    ("values", "want"),
    [
        ({"input_tokens": 100, "output_tokens": 5}, Usage(100, 5)),
        ({"input_tokens": 100, "output_tokens": 5, "cache_read.input_tokens": 80}, Usage(100, 5, 80)),
        ({"input_tokens": 9, "output_tokens": 5, "cache_read.input_tokens": 80}, Usage(89, 5, 80)),
        (
            {"input_tokens": 90, "output_tokens": 5, "cache_read_input_tokens": 80, "total_tokens": 175},
            Usage(170, 5, 80),
        ),
        ({"prompt_tokens": 90, "completion_tokens": 5, "cache_creation.input_tokens": 9}, Usage(90, 5, None, 9)),
        ({"input_tokens": 90, "cache_write.input_tokens": 9}, Usage(90, None, None, 9)),
    ],
)
def test_usage(tmp_path: Path, values: dict[str, int], want: Usage) -> None:
    usage = {f"gen_ai.usage.{k}": v for k, v in values.items()}
    base = {"gen_ai.operation.name": "chat", "gen_ai.output.messages": asks(text="hi")}
    got = read(tmp_path / "x", batch(span("a", "r", 1, base | usage), agent("r", None, 0, values=usage)))
    assert [t.usage for t in turns(got)] == [want]


def test_dollars_are_no_request_units(tmp_path: Path) -> None:
    more = {"github__copilot__cost": 3.0}
    spans = [chat("a", "r", 1, asks(text="x"), **more), chat("b", "r", 2, asks(text="y"), operation__cost=0.25)]
    got = turns(read(tmp_path / "x", batch(*spans, agent("r", None, 0))))
    assert [t.usage and t.usage.usd for t in got] == [None, 0.25]


def test_a_client_instrumented_twice_sends_once(tmp_path: Path) -> None:
    spans = [
        chat("in", "out", 1.1, None, gen_ai__usage__input_tokens=9),
        chat("out", "r", 1, asks(("c1", "get", {})), gen_ai__usage__input_tokens=9),
        tool("t", "r", 2, "get", "paid", id="c1"),
        agent("r", None, 0),
    ]
    got = read(tmp_path / "x", batch(*spans))
    assert story(got)[0] == "t1: get({})=paid"
    assert len(turns(got)) == 1


def test_a_model_span_around_several_sends_is_none(tmp_path: Path) -> None:
    spans = [chat(f"in{n}", "out", 1 + n, asks(text=str(n))) for n in range(3)]
    got = read(tmp_path / "x", batch(*spans, chat("out", "r", 1, asks(text="2")), agent("r", None, 0)))
    assert [t.text for t in turns(got)] == ["0", "1", "2"]


def test_a_failed_send(tmp_path: Path) -> None:
    event = ("exception", {"exception.type": "openai.RateLimitError", "exception.message": "429: slow down"})
    got = read(
        tmp_path / "x",
        batch(chat("a", "r", 1, None, error="x", events=[event]), agent("r", None, 0, error="429: slow down")),
    )
    assert story(got) == ["t1: FAILED RateLimitError: 429: slow down", "t1: <error>"]


@pytest.mark.parametrize(
    ("error", "state"),
    [
        ("UsageLimitExceeded: The next request would exceed the request_limit of 11", "turn_cap"),
        ("UsageLimitExceeded: Exceeded the total_tokens_limit of 500", "token_cap"),
        ("LlmCallsLimitExceededError: Max number of llm calls limit of `11` exceeded", "turn_cap"),
        ("Max turns exceeded: {'max_turns': 11}", "turn_cap"),
        ("Recursion limit of 22 reached without hitting a stop condition", "turn_cap"),
        ("Stopped because it is not making progress.", "no_progress"),
        ("litellm.BudgetExceededError: over budget", "cost_cap"),
        ("This model's maximum context length is 128000 tokens", "context_full"),
        ("asyncio.CancelledError", "aborted"),
        ("ThrottlingException: Too many tokens, please wait before trying again.", "error"),
        ("RecursionError: maximum recursion depth exceeded", "error"),
        ("503 model overloaded", "error"),
        ("", "error"),
    ],
)
def test_terminal_states(tmp_path: Path, error: str, state: str) -> None:
    got = read(tmp_path / "x", batch(chat("a", "r", 1, asks(("c", "get", {}))), agent("r", None, 0, error=error)))
    assert ends(got)[0].state == state


@pytest.mark.parametrize(
    ("spans", "state"),
    [
        ([chat("a", "r", 1, asks(text="ok")), agent("r", None, 0)], "done"),
        ([chat("a", "r", 1, asks(("c", "get", {}))), agent("r", None, 0)], "cut"),
        ([chat("a", "r", 1, None, gen_ai__response__finish_reasons=["tool-calls"]), agent("r", None, 0)], "cut"),
        ([chat("a", "r", 1, asks(("c", "final_result", {}))), agent("r", None, 0)], "done"),
        ([chat("a", "r", 1, asks(("c", "x", {}))), agent("r", None, 0, values={"final_result": "{}"})], "done"),
        ([chat("a", "r", 1, None, error="503"), agent("r", None, 0)], "error"),
        ([chat("a", "r", 1, None, lasts=None)], "cut"),
        ([chat("a", "r", 1, asks(text="ok"))], None),
    ],
)
def test_how_a_run_without_an_error_ended(tmp_path: Path, spans: list[dict[str, Any]], state: str | None) -> None:
    assert [e.state for e in ends(read(tmp_path / "x", batch(*spans)))] == ([state] if state else [])
