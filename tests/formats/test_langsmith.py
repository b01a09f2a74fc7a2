"""LangSmith runs: wrapped results, starts and completions apart, every place of the token counts."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from loopscan.formats import Scan, load
from loopscan.model import MISSING, Usage
from tests.formats.traced import calls, ends, events, turns


def run(name: str, kind: str, at: int, parent: str | None = "root", /, **more: Any) -> dict[str, Any]:
    return {
        "id": name,
        "trace_id": "T",
        "parent_run_id": parent,
        "run_type": kind,
        "name": name,
        "start_time": f"2026-03-01T10:00:{at:02d}+00:00",
        "end_time": f"2026-03-01T10:00:{at:02d}.500000+00:00",
        **more,
    }


def root(**more: Any) -> dict[str, Any]:
    return run("root", "chain", 0, None, **{"end_time": "2026-03-01T10:01:00+00:00", **more})


def llm(name: str, at: int, *asked: tuple[str, str, Any], text: str = "", **more: Any) -> dict[str, Any]:
    listed = [{"id": i, "name": n, "args": a, "type": "tool_call"} for i, n, a in asked]
    message = {
        "content": text,
        "type": "ai",
        "tool_calls": listed,
        "usage_metadata": {"input_tokens": 9, "output_tokens": 1},
    }
    outputs = {"generations": [[{"text": text, "message": {"lc": 1, "kwargs": message}}]]}
    return run(name, "llm", at, **{"outputs": outputs, **more})


def tool(name: str, at: int, content: Any, call_id: str, status: str = "success", /, **more: Any) -> dict[str, Any]:
    message = {"content": content, "type": "tool", "tool_call_id": call_id, "status": status}
    return run(f"{name}{at}", "tool", at, **{"name": name, "inputs": {"q": 1}, "outputs": {"output": message}, **more})


def test_results_are_joined_by_id_and_unwrapped(tmp_path: Path) -> None:
    found = events(
        "langsmith",
        tmp_path / "a.jsonl",
        root(extra={"metadata": {"thread_id": "th"}}),
        llm("l1", 1, ("c1", "see", {"q": 1}), ("c2", "see", {"q": 2}), extra={"metadata": {"ls_model_name": "m"}}),
        tool("see", 2, "two", "c2"),
        tool("see", 3, "Error: down", "c1", "error"),
        llm("l2", 4, text="bye"),
    )
    assert calls("langsmith", found) == [[("see", "Error: down"), ("see", "two")], []]
    first, last = turns(found)
    assert [c.error for c in first.calls] == [True, False]
    assert first.calls[0].result["tool_call_id"] == "c1", "kept for exact keys"
    assert (first.run, first.session, first.model, first.labels) == ("T", "th", "m", {"agent": "root"})
    assert last.text == "bye"
    assert ends(found) == [("T", "done", None)]


@pytest.mark.parametrize(
    ("wrapped", "inner"),
    [
        ({"tool_call_id": "1", "content": "x"}, "x"),
        ({"type": "tool", "data": {"tool_call_id": "1", "content": ["y"]}}, ["y"]),
        ('{"kwargs": {"tool_call_id": "1", "content": "z"}}', "z"),
        ({"content": "no message"}, {"content": "no message"}),
    ],
)
def test_wrappers_of_results(wrapped: Any, inner: Any) -> None:
    assert load("langsmith").clean_result("see", wrapped) == inner


@pytest.mark.parametrize(
    ("error", "state", "note"),
    [
        (
            "GraphRecursionError('Recursion limit of 4')Traceback (most recent call last):\n x",
            "turn_cap",
            "GraphRecursionError('Recursion limit of 4')",
        ),
        (
            "BadRequestError('maximum context length is 8192 tokens')",
            "context_full",
            "BadRequestError('maximum context length is 8192 tokens')",
        ),
        ("CancelledError()", "aborted", "CancelledError()"),
        ("ValueError('x')", "error", "ValueError('x')"),
    ],
)
def test_ends(tmp_path: Path, error: str, state: str, note: str) -> None:
    found = events(
        "langsmith", tmp_path / "a.jsonl", root(error=error), llm("l", 1, ("c", "see", {})), tool("see", 2, "x", "c")
    )
    assert ends(found) == [("T", state, note)]


def test_a_failed_send_and_a_run_that_was_killed(tmp_path: Path) -> None:
    empty = {"generations": [[{"text": "", "message": {"kwargs": {"content": "", "tool_calls": []}}}]]}
    pending = {k: v for k, v in root().items() if k != "end_time"}
    found = events("langsmith", tmp_path / "a.jsonl", pending, run("l", "llm", 1, outputs=empty, error="Overloaded()"))
    assert [(t.failed, t.fault) for t in turns(found)] == [(True, "Overloaded()")]
    assert ends(found) == []


def test_starts_and_completions_are_one_run(tmp_path: Path) -> None:
    whole = llm("l", 1, ("c", "see", {"q": 1}))
    start = {k: v for k, v in whole.items() if k not in ("outputs", "end_time")}
    body = {
        "post": [{**root(), "end_time": None}, start],
        "patch": [{"id": "l", "outputs": whole["outputs"], "end_time": whole["end_time"]}],
    }
    scan, done = Scan(), {"id": "root", "end_time": "2026-03-01T10:01:00Z"}
    found = events("langsmith", tmp_path / "a.jsonl", body, tool("see", 2, "x", "c"), done, scan=scan)
    assert calls("langsmith", found) == [[("see", "x")]]
    assert scan.skips.total == 0


@pytest.mark.parametrize(
    ("more", "usage"),
    [
        (
            {
                "outputs": {
                    "choices": [{"message": {"role": "assistant", "content": "a"}}],
                    "usage": {
                        "prompt_tokens": 5,
                        "completion_tokens": 2,
                        "prompt_tokens_details": {"cached_tokens": 4},
                    },
                }
            },
            Usage(5, 2, 4),
        ),
        (
            {
                "outputs": {
                    "role": "assistant",
                    "content": [{"type": "text", "text": "a"}],
                    "usage": {
                        "input_tokens": 5,
                        "output_tokens": 2,
                        "cache_read_input_tokens": 10,
                        "cache_creation_input_tokens": 1,
                    },
                }
            },
            Usage(16, 2, 10, 1),
        ),
        (
            {
                "outputs": {"content": "a"},
                "prompt_tokens": 5,
                "completion_tokens": 2,
                "prompt_token_details": {"cache_read": 3},
                "total_cost": "0.25",
            },
            Usage(5, 2, 3, usd=0.25),
        ),
        (
            {
                "outputs": {
                    "content": "a",
                    "usage_metadata": {
                        "input_tokens": 9,
                        "output_tokens": 2,
                        "input_token_details": {
                            "cache_read": 1,
                            "cache_creation": 0,
                            "ephemeral_1h_input_tokens": 4,
                            "ephemeral_5m_input_tokens": 2,
                        },
                    },
                }
            },
            Usage(9, 2, 1, 6, 4),
        ),
        ({"outputs": {"content": "a"}}, None),
    ],
)
def test_where_tokens_are_counted(tmp_path: Path, more: dict[str, Any], usage: Usage | None) -> None:
    found = events("langsmith", tmp_path / "a.jsonl", run("l", "llm", 1, **more))
    assert turns(found)[0].usage == usage
    assert turns(found)[0].text == "a"


def test_an_agent_inside_a_tool_is_a_run_of_its_own(tmp_path: Path) -> None:
    found = events(
        "langsmith",
        tmp_path / "a.jsonl",
        root(),
        llm("l1", 1, ("c1", "ask", {})),
        tool("ask", 2, "fine", "c1", end_time="2026-03-01T10:00:09+00:00"),
        run("sub", "chain", 3, "ask2"),
        {**llm("l2", 4, text="fine"), "parent_run_id": "sub"},
        llm("l3", 10, text="bye"),
    )
    assert [(t.run, t.parent, t.text) for t in turns(found)] == [
        ("T", None, ""),
        ("T", None, "bye"),
        ("T/sub", "T", "fine"),
    ]


def test_exports_without_trace_id_and_with_bare_inputs(tmp_path: Path) -> None:
    first = {k: v for k, v in llm("l", 1).items() if k != "trace_id"} | {"dotted_order": "20260301T100000000000ZT0.x"}
    bare = run("t", "tool", 2, inputs={"input": "{'q': 1}"}, outputs={"output": "r"}) | {
        "dotted_order": "20260301T100000000000ZT0.y"
    }
    bare.pop("trace_id")
    found = events("langsmith", tmp_path / "a.jsonl", {"runs": [first, bare]})
    assert [(t.run, t.calls[0].args) for t in turns(found)] == [("T0", "{'q': 1}")]


def test_tools_before_any_send_belong_to_no_turn_and_tools_alone_are_turns(tmp_path: Path) -> None:
    early = tool("see", 0, "x", "c0")
    assert calls("langsmith", events("langsmith", tmp_path / "a.jsonl", early, llm("l", 1, text="hi"))) == [[]]
    alone = events("langsmith", tmp_path / "b.jsonl", tool("see", 1, "x", "c1"), tool("see", 2, "y", "c2"))
    assert calls("langsmith", alone) == [[("see", "x")], [("see", "y")]]


def test_a_call_without_a_span_is_unanswered_unless_a_later_send_shows_its_result(tmp_path: Path) -> None:
    shown = {"messages": [[{"kwargs": {"type": "tool", "tool_call_id": "c1", "content": "seen", "status": "error"}}]]}
    found = events(
        "langsmith",
        tmp_path / "a.jsonl",
        llm("l1", 1, ("c1", "see", {})),
        llm("l2", 2, ("c2", "see", {}), inputs=shown),
        llm("l3", 3, text="x"),
    )
    first, second, _ = turns(found)
    assert (first.calls[0].result, first.calls[0].error) == ("seen", True)
    assert second.calls[0].result is MISSING


def test_damage_is_counted(tmp_path: Path) -> None:
    scan = Scan()
    odd = [{"run_type": "llm", "trace_id": "T"}, 3, run("x", "novelty", 1), {"id": "later", "outputs": {}}]
    events("langsmith", tmp_path / "a.jsonl", llm("l", 1), *odd, scan=scan)
    assert scan.skips.total == 2
    assert scan.skips.unknown == {"langsmith:novelty": 1}
