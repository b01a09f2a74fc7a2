"""Braintrust rows: errors are stack traces, scorers ask models of their own, rows come in parts."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from loopscan.formats import Scan
from loopscan.model import MISSING, Usage
from tests.formats.traced import calls, ends, events, turns

TRACE = 'Traceback (most recent call last):\n  File "a.py", line 3, in run\n    raise X\n'


def row(name: str, kind: str | None, at: int, parent: str | None = "top", /, **more: Any) -> dict[str, Any]:
    base = {
        "id": f"row-{name}",
        "span_id": name,
        "root_span_id": "R",
        "span_parents": [parent] if parent else None,
        "span_attributes": {"name": name, "type": kind},
        "metrics": {"start": 100.0 + at, "end": 100.5 + at},
    }
    return {**base, **more}


def top(**more: Any) -> dict[str, Any]:
    return row("top", "task", 0, None, **{"metrics": {"start": 100.0, "end": 190.0}, **more})


def llm(name: str, at: int, *asked: tuple[str, str, str], text: str | None = None, **more: Any) -> dict[str, Any]:
    listed = [{"id": i, "type": "function", "function": {"name": n, "arguments": a}} for i, n, a in asked]
    output = [{"index": 0, "message": {"role": "assistant", "content": text, "tool_calls": listed}}]
    metrics = {
        "start": 100.0 + at,
        "end": 101.0 + at,
        "prompt_tokens": 50,
        "completion_tokens": 5,
        "prompt_cached_tokens": 30,
    }
    return row(name, "llm", at, **{"output": output, "metrics": metrics, "metadata": {"model": "m"}, **more})


def test_flat_rows_are_joined_by_name_arguments_and_time(tmp_path: Path) -> None:
    found = events(
        "braintrust",
        tmp_path / "a.jsonl",
        top(metadata={"session_id": "s"}, input="go"),
        llm("l1", 1, ("c1", "see", '{"q": 1}'), ("c2", "see", '{"q": 2}')),
        row("see", "tool", 3, input={"q": 2}, output="two"),
        row("see2", "tool", 4, input={"q": 1}, output="one", span_attributes={"name": "see", "type": "tool"}),
        llm("l2", 5, text="bye"),
    )
    assert calls("braintrust", found) == [[("see", "one"), ("see", "two")], []]
    first, last = turns(found)
    assert (first.run, first.session, first.model, first.labels) == ("R", "s", "m", {"agent": "top"})
    assert (first.usage, first.time, last.text) == (Usage(50, 5, 30), 101.0, "bye")
    assert ends(found) == [("R", "done", None)]


def test_errors_are_the_last_line_of_a_stack_trace(tmp_path: Path) -> None:
    found = events(
        "braintrust",
        tmp_path / "a.jsonl",
        top(error=f"{TRACE}RuntimeError: max_turns reached\n"),
        llm("l1", 1, ("c1", "see", "{}")),
        row("see", "tool", 2, input={}, error=f"{TRACE}KeyError: 'x'\n"),
    )
    call = turns(found)[0].calls[0]
    assert (call.result, call.error) == ("KeyError: 'x'", True)
    assert ends(found) == [("R", "turn_cap", "RuntimeError: max_turns reached")]


def test_a_send_that_left_nothing_but_the_error_of_the_run_failed(tmp_path: Path) -> None:
    bare = row("l2", "llm", 3, input=[])
    found = events(
        "braintrust",
        tmp_path / "a.jsonl",
        top(error=f"{TRACE}InternalServerError: overloaded\n"),
        llm("l1", 1, ("c1", "see", "{}")),
        row("see", "tool", 2, input={}, output="x"),
        bare,
    )
    assert [(t.failed, t.fault) for t in turns(found)] == [(False, MISSING), (True, "InternalServerError: overloaded")]
    assert ends(found) == [("R", "error", "InternalServerError: overloaded")]


def test_a_function_is_a_tool_where_the_model_asked_for_its_name(tmp_path: Path) -> None:
    found = events(
        "braintrust",
        tmp_path / "a.jsonl",
        top(),
        llm("l1", 1, ("c1", "see", "{}")),
        row("see", "function", 2, input={}, output="x"),
        row("helper", "function", 3, input={}, output="y"),
        llm("l2", 4, text="bye"),
    )
    assert calls("braintrust", found) == [[("see", "x")], []]


def test_what_a_scorer_asks_is_no_turn_of_the_run(tmp_path: Path) -> None:
    judge = {**llm("l9", 8, text="4 of 5"), "span_parents": ["quality"]}
    found = events(
        "braintrust", tmp_path / "a.jsonl", top(), llm("l1", 1, text="bye"), row("quality", "score", 7), judge
    )
    assert [(t.run, t.parent) for t in turns(found)] == [("R", None), ("R/quality", "R")]


def test_rows_in_parts_are_joined(tmp_path: Path) -> None:
    start = {**llm("l1", 1, ("c1", "see", "{}")), "output": None, "metrics": {"start": 101.0}}
    rest = {
        "id": "row-l1",
        "span_id": "l1",
        "_is_merge": True,
        "metrics": {"end": 102.0, "prompt_tokens": 4, "completion_tokens": 1},
        "output": [
            {"message": {"content": None, "tool_calls": [{"id": "c1", "function": {"name": "see", "arguments": "{}"}}]}}
        ],
    }
    found = events(
        "braintrust",
        tmp_path / "a.jsonl",
        {"events": [top(), start, rest, row("see", "tool", 2, input={}, output="x")]},
    )
    assert calls("braintrust", found) == [[("see", "x")]]
    assert turns(found)[0].usage == Usage(4, 1)
    assert turns(found)[0].time == 101.0


def test_a_tool_with_a_loop_inside_is_a_run_of_its_own(tmp_path: Path) -> None:
    inner = [
        {**llm("i1", 3, ("d", "dig", "{}")), "span_parents": ["ask"]},
        row("dig", "tool", 4, "ask", input={}, output="gold"),
    ]
    found = events(
        "braintrust",
        tmp_path / "a.jsonl",
        top(),
        llm("l1", 1, ("c", "ask", "{}")),
        row("ask", "tool", 2, input={}, output="gold"),
        *inner,
        llm("l2", 6, text="bye"),
    )
    assert calls("braintrust", found, "R") == [[("ask", "gold")], []]
    assert calls("braintrust", found, "R/ask") == [[("dig", "gold")]]
    assert turns(found, "R/ask")[0].parent == "R"


def test_damage_and_circles(tmp_path: Path) -> None:
    scan = Scan()
    circle = [row("a", "task", 1, "b"), row("b", "task", 1, "a"), {**llm("l", 2, text="x"), "span_parents": ["a"]}]
    found = events(
        "braintrust", tmp_path / "a.jsonl", *circle, {"root_span_id": "R"}, 7, row("n", "novel", 1), scan=scan
    )
    assert len(turns(found)) == 1
    assert scan.skips.total == 2
    assert scan.skips.unknown == {"braintrust:novel": 1}
