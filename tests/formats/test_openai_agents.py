"""OpenAI Agents SDK lines: spans written at their end, joined by the turn span, errors that look alike."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from loopscan.formats import Scan
from loopscan.model import MISSING, Usage
from tests.formats.traced import calls, ends, events, turns

GENERIC = "An error occurred while running the tool. Please try again."


def span(name: str, parent: str | None, at: float, kind: str, error: Any = None, /, **data: Any) -> dict[str, Any]:
    stamp = f"2026-03-01T10:00:{at:09.6f}+00:00"
    return {
        "object": "trace.span",
        "id": name,
        "trace_id": "t1",
        "parent_id": parent,
        "started_at": stamp,
        "ended_at": stamp,
        "span_data": {"type": kind, **data},
        "error": error,
    }


def response(parent: str, at: float, **more: Any) -> dict[str, Any]:
    usage = {"input_tokens": 100, "output_tokens": 20, "input_tokens_details": {"cached_tokens": 60}}
    return span(f"r{at}", parent, at, "response", **{"response_id": "x", "usage": usage, **more})


def tool(parent: str, at: float, output: Any, reason: str | None = None, name: str = "look") -> dict[str, Any]:
    error = None if reason is None else {"message": "Error running tool (non-fatal)", "data": {"error": reason}}
    return span(f"f{at}", parent, at, "function", error, name=name, input='{"q": 1}', output=output)


def custom(name: str, parent: str | None, at: float, kind: str) -> dict[str, Any]:
    return span(name, parent, at, "custom", name=kind, data={"sdk_span_type": kind})


def agent(name: str, parent: str | None, at: float, error: Any = None) -> dict[str, Any]:
    return span(name, parent, at, "agent", error, name="helper")


def test_a_turn_span_joins_a_send_and_its_tools(tmp_path: Path) -> None:
    found = events(
        "openai-agents",
        tmp_path / "a.jsonl",
        {"object": "trace", "id": "t1", "workflow_name": "w", "group_id": "g"},
        response("u1", 1),
        tool("u1", 2, "a"),
        tool("u1", 3, "b", name="see"),
        custom("u1", "ag", 1, "turn"),
        response("u2", 5),
        custom("u2", "ag", 4, "turn"),
        agent("ag", "k", 1),
        custom("k", None, 0, "task"),
    )
    assert calls("openai-agents", found) == [[("look", "a"), ("see", "b")], []]
    assert ends(found) == [("t1", "done", None)]
    first, last = turns(found)
    assert (first.session, first.labels, first.usage) == ("g", {"workflow": "w"}, Usage(100, 20, 60))
    assert first.text is None
    assert last.text is None


def test_the_reason_of_a_tool_error_is_part_of_the_result(tmp_path: Path) -> None:
    found = events(
        "openai-agents",
        tmp_path / "a.jsonl",
        response("u1", 1),
        tool("u1", 2, GENERIC, "timed out"),
        response("u2", 3),
        tool("u2", 4, GENERIC, "no such user"),
    )
    one, two = (t.calls[0] for t in turns(found))
    assert one.error
    assert (one.result, two.result) == (f"{GENERIC}\ntimed out", f"{GENERIC}\nno such user")


def test_ends_come_from_the_agent_although_the_task_is_fine(tmp_path: Path) -> None:
    caps = {"message": "Max turns exceeded", "data": {"max_turns": 1}}
    bad = {"message": "Error in agent run", "data": {"error": "boom"}}
    lost = {"message": "Error getting response", "data": {"error": "Error code: 503"}}
    found = events(
        "openai-agents",
        tmp_path / "a.jsonl",
        response("a1", 1),
        tool("a1", 2, "x"),
        agent("a1", "k1", 3, caps),
        custom("k1", None, 0, "task"),
        {**response("a2", 1, usage=None), "error": lost, "trace_id": "t2"},
        {**agent("a2", "k2", 1, bad), "trace_id": "t2"},
        {**custom("k2", None, 0, "task"), "trace_id": "t2"},
    )
    assert ends(found) == [("t1", "turn_cap", "Max turns exceeded"), ("t2", "error", "Error in agent run: boom")]
    failed = turns(found, "t2")[0]
    assert (failed.failed, failed.fault) == (True, "Error getting response: Error code: 503")


def test_last_turn_with_answered_calls_and_no_error_is_cut(tmp_path: Path) -> None:
    found = events(
        "openai-agents", tmp_path / "a.jsonl", response("k", 1), tool("k", 2, "x"), custom("k", None, 0, "task")
    )
    assert calls("openai-agents", found) == [[("look", "x")]]
    assert ends(found) == []


def test_generation_spans_name_the_model_and_are_joined_by_arguments(tmp_path: Path) -> None:
    def asks(q: int) -> list[dict[str, Any]]:
        call = {"id": f"c{q}", "type": "function", "function": {"name": "look", "arguments": f'{{"q":{q}}}'}}
        return [{"role": "assistant", "content": None, "tool_calls": [call]}]

    def made(at: float, q: int) -> dict[str, Any]:
        return span(f"f{at}", "ag", at, "function", name="look", input=f'{{"q": {q}}}', output=str(q))

    usage = {"prompt_tokens": 7, "completion_tokens": 2}
    found = events(
        "openai-agents",
        tmp_path / "a.jsonl",
        span("g1", "ag", 1, "generation", output=asks(1), model="m", usage=usage),
        span("g2", "ag", 2, "generation", output=asks(2), model="m", usage=usage),
        made(3, 1),
        made(4, 2),
        span("g3", "ag", 5, "generation", output=[{"role": "assistant", "content": "bye"}], model="m", usage=usage),
        agent("ag", None, 1),
    )
    assert calls("openai-agents", found) == [[("look", "1")], [("look", "2")], []]
    assert [t.text for t in turns(found)] == ["", "", "bye"]
    assert turns(found)[0].model == "m"
    assert turns(found)[0].usage == Usage(7, 2)


def test_older_versions_have_no_task_so_handoffs_stay_one_run(tmp_path: Path) -> None:
    found = events(
        "openai-agents",
        tmp_path / "a.jsonl",
        response("a1", 1),
        span("h", "a1", 2, "handoff", from_agent="Triage", to_agent="Refund Desk"),
        agent("a1", None, 1),
        response("a2", 3),
        agent("a2", None, 3),
    )
    assert calls("openai-agents", found) == [[("transfer_to_refund_desk", {"assistant": "Refund Desk"})], []]
    assert {t.run for t in turns(found)} == {"t1"}
    assert ends(found) == [("t1", "done", None)]


def test_an_agent_inside_a_tool_is_a_run_of_its_own(tmp_path: Path) -> None:
    found = events(
        "openai-agents",
        tmp_path / "a.jsonl",
        response("u1", 1),
        response("iu", 3),
        custom("iu", "ia", 3, "turn"),
        agent("ia", "f2", 3),
        tool("u1", 2, "inner answer", name="ask_expert"),
        custom("u1", "ag", 1, "turn"),
        agent("ag", "k1", 1),
        custom("k1", None, 0, "task"),
    )
    assert {t.run: t.parent for t in turns(found)} == {"t1": None, "t1/ia": "t1"}
    assert calls("openai-agents", found, "t1") == [[("ask_expert", "inner answer")]]
    assert ends(found) == [("t1/ia", "done", None)]


def test_a_second_root_task_of_a_trace(tmp_path: Path) -> None:
    found = events(
        "openai-agents",
        tmp_path / "a.jsonl",
        response("u1", 1),
        custom("u1", "k1", 1, "turn"),
        custom("k1", None, 0, "task"),
        response("u2", 3),
        custom("u2", "k2", 3, "turn"),
        custom("k2", None, 2, "task"),
    )
    assert [t.run for t in turns(found)] == ["t1", "t1/k2"]
    assert [e[:2] for e in ends(found)] == [("t1", "done"), ("t1/k2", "done")]


def test_an_agent_in_a_guardrail_is_no_turn_of_the_run(tmp_path: Path) -> None:
    found = events(
        "openai-agents",
        tmp_path / "a.jsonl",
        response("ga", 1),
        agent("ga", "gr", 1),
        span("gr", "ag", 1, "guardrail", name="check", triggered=False),
        response("ag", 2),
        agent("ag", None, 1),
    )
    assert {t.run: t.parent for t in turns(found)} == {"t1": None, "t1/ga": "t1"}


def test_a_trace_line_written_at_the_end_closes_the_trace(tmp_path: Path) -> None:
    closing = {"object": "trace", "id": "t1", "workflow_name": "w", "group_id": "g"}
    found = events("openai-agents", tmp_path / "a.jsonl", response("a", 1), agent("a", None, 1), closing)
    assert [t.session for t in turns(found)] == ["g"]


def test_exporter_bodies_and_unknown_spans(tmp_path: Path) -> None:
    scan = Scan()
    body = {"data": [response("a", 1), span("n", "a", 2, "quantum"), "junk", {"object": "novel"}]}
    found = events("openai-agents", tmp_path / "a.jsonl", body, scan=scan)
    assert len(turns(found)) == 1
    assert scan.skips.unknown == {"openai-agents:quantum": 1, "openai-agents:novel": 1}
    assert scan.skips.total == 1


def test_a_tool_without_content_is_unknown_and_copies_are_dropped(tmp_path: Path) -> None:
    scan = Scan()
    bare = span("f", "u", 2, "function", name="look", input=None, output=None)
    first = events("openai-agents", tmp_path / "a.jsonl", response("u", 1), bare, scan=scan)
    again = events("openai-agents", tmp_path / "b.jsonl", response("u", 1), bare, scan=scan)
    assert turns(first)[0].calls[0].result is MISSING
    assert again == []
    assert scan.skips.copies == 2
