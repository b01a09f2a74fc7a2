"""The content of model and tool spans in the dialects of attributes and events."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from tests.formats.spans import agent, asks, batch, chat, read, span, story, tool, turns

ARGS = '{"id": 7}'


def test_neither_arguments_nor_results(tmp_path: Path) -> None:
    silent = json.dumps([{"role": "assistant", "parts": [{"type": "text"}]}])
    got = read(
        tmp_path / "x",
        batch(chat("a", "r", 1, None), tool("b", "r", 2, "get"), chat("c", "r", 3, silent), agent("r", None, 0)),
    )
    assert story(got) == ["t1: get(None)=-", "t1: None", "t1: <done>"]


def test_an_empty_object_of_the_adk_is_redacted_content(tmp_path: Path) -> None:
    values = {
        "gen_ai.operation.name": "execute_tool",
        "gen_ai.tool.name": "get",
        "gcp.vertex.agent.tool_call_args": "{}",
        "gcp.vertex.agent.tool_response": "{}",
    }
    got = read(tmp_path / "x", batch(chat("a", "r", 1, None), span("b", "r", 2, values), agent("r", None, 0)))
    assert story(got)[0] == "t1: get(None)=-"


@pytest.mark.parametrize(
    ("values", "events"),
    [
        ({"tool_arguments": ARGS, "tool_response": "paid"}, []),
        ({"gcp.vertex.agent.tool_call_args": ARGS, "gcp.vertex.agent.tool_response": "paid"}, []),
        ({"traceloop.entity.input": ARGS, "traceloop.entity.output": "paid"}, []),
        ({}, [("gen_ai.tool.message", {"content": ARGS}), ("gen_ai.choice", {"message": "paid"})]),
    ],
)
def test_dialects_of_tool_spans(
    tmp_path: Path, values: dict[str, Any], events: list[tuple[str, dict[str, Any]]]
) -> None:
    base = {"gen_ai.operation.name": "execute_tool", "gen_ai.tool.name": "get"}
    spans = [chat("a", "r", 1, None), span("b", "r", 2, base | values, events=events), agent("r", None, 0)]
    assert story(read(tmp_path / "x", batch(*spans)))[0] == f"t1: get({ARGS})=paid"


def test_content_in_the_details_event(tmp_path: Path) -> None:
    name = "gen_ai.client.inference.operation.details"
    sent = [{"role": "tool", "parts": [{"type": "tool_call", "id": "c", "name": "get", "arguments": {"id": 7}}]}]
    back = [{"role": "tool", "parts": [{"type": "tool_call_response", "id": "c", "response": [{"text": "paid"}]}]}]
    events = [
        (name, {"gen_ai.input.messages": json.dumps(sent)}),
        (name, {"gen_ai.output.messages": json.dumps(back)}),
    ]
    base = {"gen_ai.operation.name": "execute_tool", "gen_ai.tool.name": "get"}
    model = chat("a", "r", 1, None, events=[(name, {"gen_ai.output.messages": asks(text="hm")})])
    got = read(tmp_path / "x", batch(model, span("b", "r", 2, base, events=events), agent("r", None, 0)))
    assert story(got)[0] == "t1: get({'id': 7})=[{'text': 'paid'}]"
    assert turns(got)[0].text == "hm"


@pytest.mark.parametrize(
    "choice",
    [
        [{"toolUse": {"toolUseId": "c1", "name": "get", "input": {"id": 7}}}],
        {"role": "assistant", "tool_calls": [{"id": "c1", "function": {"name": "get", "arguments": {"id": 7}}}]},
        {"content": [{"type": "tool_use", "id": "c1", "name": "get", "input": {"id": 7}}]},
    ],
)
def test_dialects_of_the_choice_event(tmp_path: Path, choice: Any) -> None:
    model = chat("a", "r", 1, None, events=[("gen_ai.choice", {"message": json.dumps(choice)})])
    got = read(tmp_path / "x", batch(model, tool("b", "r", 2, "get", "paid", id="c1"), agent("r", None, 0)))
    assert story(got)[0] == "t1: get({'id': 7})=paid"


def test_a_failed_tool_says_why(tmp_path: Path) -> None:
    event = ("exception", {"exception.type": "app.Timeout", "exception.message": "no answer in 5 s"})
    got = read(
        tmp_path / "x",
        batch(
            chat("a", "r", 1, asks(("c1", "get", {}))),
            tool("b", "r", 2, "get", id="c1", error="failed", events=[event]),
            agent("r", None, 0),
        ),
    )
    assert story(got)[0] == "t1: get({})=no answer in 5 s!"
