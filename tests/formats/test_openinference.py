"""OpenInference attributes: flattened messages, LangChain envelopes, graph nodes called agent, lost attributes."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from loopscan.formats.openinference import clean_result
from loopscan.model import Usage
from tests.formats.spans import batch, ends, read, span, story, turns

KIND = "openinference.span.kind"
ASKED = "llm.output_messages.0.message.tool_calls.{n}.tool_call.{field}"


def llm(own: str, parent: str, at: float, *calls: tuple[str, str, str], text: str = "", **more: Any) -> dict[str, Any]:
    values: dict[str, Any] = {KIND: "LLM", "llm.model_name": "m-1", "llm.output_messages.0.message.role": "assistant"}
    if text:
        values["llm.output_messages.0.message.content"] = text
    for n, (call_id, name, args) in enumerate(calls):
        values[ASKED.format(n=n, field="id")] = call_id
        values[ASKED.format(n=n, field="function.name")] = name
        values[ASKED.format(n=n, field="function.arguments")] = args
    return span(own, parent, at, values | more.pop("values", {}), **more)


def tool(own: str, parent: str, at: float, name: str, given: str | None, result: str | None) -> dict[str, Any]:
    return span(own, parent, at, {KIND: "TOOL", "tool.name": name, "input.value": given, "output.value": result})


def node(own: str, parent: str | None, at: float, kind: str, **more: Any) -> dict[str, Any]:
    return span(own, parent, at, {KIND: kind} | more.pop("values", {}), **{"lasts": 60, **more})


def envelope(call_id: str, content: str, status: str = "success") -> str:
    return json.dumps({"type": "tool", "data": {"content": content, "tool_call_id": call_id, "status": status}})


def test_turns_of_step_spans(tmp_path: Path) -> None:
    tokens = {
        "llm.token_count.prompt": 100,
        "llm.token_count.completion": 5,
        "llm.token_count.prompt_details.cache_read": 80,
        "llm.token_count.total": 105,
    }
    got = read(
        tmp_path / "x",
        batch(
            llm("m1", "s1", 1, ("c1", "get", '{"id": 7}'), values=tokens),
            tool("t1", "s1", 1, "get", '{"id": 7}', "paid"),
            node("s1", "r", 1, "CHAIN"),
            llm("m2", "s2", 2, text="It is paid."),
            node("s2", "r", 2, "CHAIN"),
            node("r", None, 0, "AGENT", values={"session.id": "thread-1"}),
        ),
        name="openinference",
    )
    assert story(got) == ['t1: get({"id": 7})=paid', "t1: 'It is paid.'", "t1: <done>"]
    assert turns(got)[0].usage == Usage(100, 5, 80)
    assert turns(got)[0].session == "thread-1"


def test_the_tool_message_of_langchain(tmp_path: Path) -> None:
    """It names the call, tells a failure that the span does not, and is no part of the result."""
    got = read(
        tmp_path / "x",
        batch(
            llm("m1", "r", 1, ("c1", "find", '{"q": "x"}'), ("c2", "find", '{"q": "y"}')),
            tool("t2", "n2", 2, "find", "y", envelope("c2", "nothing", "error")),
            tool("t1", "n1", 2, "find", "x", envelope("c1", "one")),
            node("n1", "r", 2, "CHAIN"),
            node("n2", "r", 2, "CHAIN"),
            node("r", None, 0, "AGENT"),
        ),
    )
    calls = turns(got)[0].calls
    assert [(c.args, c.error) for c in calls] == [('{"q": "x"}', False), ('{"q": "y"}', True)]
    assert [clean_result(c.name, c.result) for c in calls] == ["one", "nothing"]


def test_graph_nodes_called_agent_are_steps_of_one_run(tmp_path: Path) -> None:
    spans = []
    for n in range(3):
        spans += [llm(f"m{n}", f"a{n}", n * 2, (f"c{n}", "get", "{}")), node(f"a{n}", "g", n * 2, "AGENT", lasts=1)]
        spans += [tool(f"t{n}", f"b{n}", n * 2 + 1, "get", "{}", envelope(f"c{n}", "pending"))]
        spans += [node(f"b{n}", "g", n * 2 + 1, "CHAIN", lasts=1)]
    spans += [llm("m9", "a9", 8, text="done"), node("a9", "g", 8, "AGENT", lasts=1)]
    got = read(tmp_path / "x", batch(*spans, node("g", None, 0, "CHAIN")))
    assert {t.run for t in turns(got)} == {"t1"}
    assert [len(t.calls) for t in turns(got)] == [1, 1, 1, 0]
    assert ends(got)[0].state == "done"


def test_an_agent_inside_a_workflow_tells_the_end_that_its_root_does_not(tmp_path: Path) -> None:
    got = read(
        tmp_path / "x",
        batch(
            llm("m1", "a", 1, ("c1", "get", "{}")),
            node("a", "w", 0.5, "AGENT", error="Max turns exceeded: {'max_turns': 1}"),
            node("w", "r", 0.2, "CHAIN"),
            node("r", None, 0, "AGENT"),
        ),
    )
    assert story(got) == ["t1: get({})=-", "t1: <turn_cap>"]


def test_lost_attributes_leave_the_call_to_the_tool_span(tmp_path: Path) -> None:
    got = read(
        tmp_path / "x",
        batch(
            span("m1", "s1", 1, {KIND: "LLM"}),
            tool("t1", "s1", 1.6, "get", '{"id": 7}', "paid"),
            node("s1", "r", 1, "CHAIN"),
            node("r", None, 0, "AGENT"),
        ),
    )
    assert story(got)[0] == 't1: get({"id": 7})=paid'
    assert turns(got)[0].usage is None


def test_results_in_the_next_input_where_tools_have_no_spans(tmp_path: Path) -> None:
    sent = {
        "llm.input_messages.0.message.role": "user",
        "llm.input_messages.1.message.role": "assistant",
        "llm.input_messages.2.message.role": "tool",
        "llm.input_messages.2.message.tool_call_id": "c1",
        "llm.input_messages.2.message.content": "paid",
        "llm.input_messages.10.message.role": "user",
    }
    spans = [llm("m1", "r", 1, ("c1", "get", "{}")), llm("m2", "r", 2, text="ok", values=sent)]
    assert story(read(tmp_path / "x", batch(*spans, node("r", None, 0, "AGENT"))))[0] == "t1: get({})=paid"


def test_contents_in_parts_and_a_plain_output(tmp_path: Path) -> None:
    part = "llm.output_messages.0.message.contents.0.message_content."
    spans = [
        span("m1", "r", 1, {KIND: "LLM", part + "type": "text", part + "text": "in parts"}),
        span("m2", "r", 2, {KIND: "LLM", "output.value": "plain"}),
        span("m3", "r", 3, {KIND: "LLM", "output.value": '{"answer": 5}'}),
    ]
    got = read(tmp_path / "x", batch(*spans, node("r", None, 0, "AGENT")))
    assert [t.text for t in turns(got)] == ["in parts", "plain", '{"answer": 5}']


def test_without_model_spans_each_tool_span_is_a_turn(tmp_path: Path) -> None:
    error = "Agent 'desk' called 'get' 5 times and got the same result. Stopped because it is not making progress."
    spans = [tool(f"t{n}", "a", n, "get", "{}", "same") for n in range(2)]
    spans += [node("a", "k", 0, "AGENT", error=error), node("k", None, 0, "CHAIN", error=error)]
    got = read(tmp_path / "x", batch(*spans))
    assert story(got) == ["t1: get({})=same", "t1: get({})=same", "t1: <no_progress>"]
