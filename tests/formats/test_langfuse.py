"""Langfuse observations: camelCase and snake_case, unsorted, JSON in text, wrappers, tools that are SPANs."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from loopscan.formats import Scan, load
from loopscan.formats._langfuse_usage import usage_of
from loopscan.model import MISSING, Usage
from tests.formats.traced import calls, ends, events, turns


def row(name: str, kind: str, at: float, parent: str | None = "top", /, **more: Any) -> dict[str, Any]:
    return {
        "id": name,
        "traceId": "T",
        "parentObservationId": parent,
        "type": kind,
        "name": name,
        "level": "DEFAULT",
        "startTime": f"2026-03-01T10:00:{at:06.3f}Z",
        "endTime": f"2026-03-01T10:00:{at + 0.5:06.3f}Z",
        **more,
    }


def top(**more: Any) -> dict[str, Any]:
    return row("top", "AGENT", 0, None, **{"endTime": "2026-03-01T10:01:00Z", **more})


def send(
    name: str, at: float, *asked: tuple[str | None, str, Any], text: str | None = None, **more: Any
) -> dict[str, Any]:
    listed = [{"type": "tool_call", "id": i, "name": n, "arguments": a} for i, n, a in asked]
    said = [{"type": "text", "content": text}] if text is not None else []
    return row(
        name,
        "GENERATION",
        at,
        **{"output": json.dumps([{"role": "assistant", "parts": [*said, *listed]}]), "model": "m", **more},
    )


def tool(
    name: str, at: float, output: Any, call_id: str | None = None, args: Any = None, **more: Any
) -> dict[str, Any]:
    attributes = {"gen_ai.tool.name": name} | ({"gen_ai.tool.call.id": call_id} if call_id else {})
    metadata = json.dumps({"attributes": json.dumps(attributes)})
    given = json.dumps({} if args is None else args)
    return row(
        f"{name}{at}",
        "TOOL",
        at,
        **{"name": f"execute_tool {name}", "input": given, "output": output, "metadata": metadata, **more},
    )


def test_a_trace_download(tmp_path: Path) -> None:
    rows = [
        send(
            "g2",
            5,
            text="bye",
            usageDetails={"input": 5, "input_cached_tokens": 95, "output": 7, "total": 107},
            costDetails={"total": 0.5},
        ),
        tool("see", 2, '"two"', "c2"),
        top(),
        tool("see", 3, "one", "c1"),
        send("g1", 1, ("c1", "see", "{}"), ("c2", "see", "{}")),
    ]
    trace = {
        "id": "T",
        "name": "desk",
        "sessionId": "s",
        "observations": [{**r, "input": None, "output": None} for r in rows],
    }
    found = events("langfuse", tmp_path / "t.json", {"trace": trace, "observations": rows}, indent=2)
    assert calls("langfuse", found) == [[("see", "one"), ("see", "two")], []]
    last = turns(found)[1]
    assert (last.run, last.session, last.labels, last.model) == ("T", "s", {"agent": "desk"}, "m")
    assert last.usage == Usage(100, 7, 95, usd=0.5)
    assert ends(found) == []


def test_export_rows_in_snake_case_and_pages(tmp_path: Path) -> None:
    def snake(r: dict[str, Any]) -> dict[str, Any]:
        names = {"traceId": "trace_id", "parentObservationId": "parent_observation_id", "model": "provided_model_name"}
        times = {"startTime": "start_time", "endTime": "end_time", "statusMessage": "status_message"}
        return {(names | times).get(k, k): v for k, v in r.items()} | {"session_id": "s", "trace_name": "desk"}

    fails = top(level="ERROR", statusMessage="UsageLimitExceeded: request_limit of 2")
    page = {"data": [snake(send("g1", 1, ("c1", "see", "{}"))), snake(tool("see", 2, "x", "c1"))], "meta": {"page": 1}}
    found = events("langfuse", tmp_path / "a.jsonl", snake(fails), page, [snake(send("g2", 3, ("c2", "see", "{}")))])
    assert calls("langfuse", found) == [[("see", "x")], [("see", ...)]]
    assert turns(found)[0].session == "s"
    assert turns(found)[0].model == "m"
    assert ends(found) == [("T", "turn_cap", "UsageLimitExceeded: request_limit of 2")]


def test_a_generation_that_wraps_another_is_no_turn(tmp_path: Path) -> None:
    asks = json.dumps([{"toolCallId": "c1", "toolName": "see", "input": '{"q":1}'}])
    outer = row("outer", "GENERATION", 0, None, output=asks, endTime="2026-03-01T10:00:09Z")
    inner = row("inner", "GENERATION", 0.001, "outer", output=asks, usageDetails={"input": 5, "output": 1, "total": 6})
    meta = {"attributes": {"ai.toolCall.name": "see", "ai.toolCall.id": "c1"}}
    used = row("t", "TOOL", 0.5, "outer", name="see", input='{"q":1}', output='{"a":2}', metadata=meta)
    found = events("langfuse", tmp_path / "a.jsonl", outer, inner, used)
    assert calls("langfuse", found) == [[("see", {"a": 2})]]
    assert [t.usage for t in turns(found)] == [Usage(5, 1)]
    assert ends(found) == []


def test_tools_by_parent_span_and_later_send(tmp_path: Path) -> None:
    message = {"content": "r1", "type": "tool", "tool_call_id": "c1", "status": "error"}
    history = [{"role": "tool", "tool_call_id": "c4", "content": "r4"}]
    found = events(
        "langfuse",
        tmp_path / "a.jsonl",
        send("g1", 1, ("c1", "see", {"q": 1})),
        row("s", "SPAN", 2, "x", name="see", input="{'q': 1}", output=json.dumps(message)),
        send("g2", 3, (None, "dig", {})),
        row("d", "TOOL", 4, "g2", name="running tool: dig", input="{}", output="r2"),
        send("g3", 5, (None, "run", {"a": 1})),
        row("r", "SPAN", 6, "y", name="run", input={"a": 1}, output="r3"),
        row("noise", "SPAN", 6.5, "y", name="should_continue", output="end"),
        send("g4", 7, ("c4", "lost", {})),
        send("g5", 8, text="bye", input=json.dumps(history)),
    )
    assert calls("langfuse", found) == [[("see", "r1")], [("dig", "r2")], [("run", "r3")], [("lost", "r4")], []]
    assert turns(found)[0].calls[0].error


def test_failures(tmp_path: Path) -> None:
    broken = row("g2", "GENERATION", 3, level="ERROR", statusMessage="ModelHTTPError: 529")
    missing = tool("see", 2, None, "c1", level="ERROR", statusMessage="no disk")
    found = events("langfuse", tmp_path / "a.jsonl", top(), send("g1", 1, ("c1", "see", "{}")), missing, broken)
    first, last = turns(found)
    assert (first.calls[0].result, first.calls[0].error) == ("no disk", True)
    assert (last.failed, last.fault, last.usage) == (True, "ModelHTTPError: 529", None)
    assert ends(found) == []


def test_an_agent_error_counts_only_if_nothing_followed_it(tmp_path: Path) -> None:
    agent = row("a1", "AGENT", 1, level="ERROR", statusMessage="gave up")
    root = row("top", "CHAIN", 0, None, endTime="2026-03-01T10:01:00Z")
    inside = {**send("g1", 1.1, text="hm"), "parentObservationId": "a1"}
    assert ends(events("langfuse", tmp_path / "a.jsonl", root, agent, inside)) == [("T", "error", "gave up")]
    assert ends(events("langfuse", tmp_path / "b.jsonl", root, agent, inside, send("g2", 9, text="ok"))) == []


def test_structured_output_is_an_answer_not_an_open_call(tmp_path: Path) -> None:
    found = events(
        "langfuse",
        tmp_path / "a.jsonl",
        top(),
        send("g1", 1, ("c1", "see", "{}")),
        tool("see", 2, "x", "c1"),
        send("g2", 3, ("c2", "Verdict", "{}")),
    )
    assert ends(found) == [("T", "done", "the call of Verdict was taken as the answer")]
    assert turns(found)[1].calls[0].result is MISSING
    blind = events("langfuse", tmp_path / "b.jsonl", top(), send("g1", 1, ("c1", "see", "{}")))
    assert ends(blind) == []


def test_content_that_was_not_exported(tmp_path: Path) -> None:
    plain = row("g1", "GENERATION", 1)
    listed = row("g2", "GENERATION", 3, toolCalls=['{"id":"c1","arguments":"{}"}'], toolCallNames=["see"])
    bare = row("t", "TOOL", 4, name="see", input=None, output=None)
    found = events("langfuse", tmp_path / "a.jsonl", plain, listed, bare)
    assert [t.text for t in turns(found)] == [None, None]
    assert calls("langfuse", found) == [[], [("see", ...)]]


def test_synthetic_spans_and_trace_lists_without_observations(tmp_path: Path) -> None:
    merged = row("m", "TOOL", 2, name="execute_tool (merged)", input="{}", output="x")
    scan = Scan()
    odd = [{"data": [{"id": "T2", "name": "n", "observations": ["o1"]}]}, 5, row("x", "NOVEL", 1)]
    found = events("langfuse", tmp_path / "a.jsonl", send("g", 1, ("c", "see", "{}")), merged, *odd, scan=scan)
    assert calls("langfuse", found) == [[("see", ...)]]
    assert scan.skips.total == 2
    assert scan.skips.unknown == {"langfuse:NOVEL": 1}


@pytest.mark.parametrize(
    ("fields", "usage"),
    [
        (
            {"usageDetails": {"input": 85, "output": 29, "total": 114, "prompt_details.cache_read": 40}},
            Usage(85, 29, 40),
        ),
        (
            {"usageDetails": {"input": 60, "output": 15, "total": 75, "input_cache_read": 20, "output_reasoning": 5}},
            Usage(60, 15, 20),
        ),
        (
            {"usage_details": '{"input": 60, "output": 15, "input_cache_read": 20, "output_reasoning_tokens": 5}'},
            Usage(80, 20, 20),
        ),
        (
            {
                "usageDetails": {
                    "input": 10,
                    "output": 5,
                    "cache_read_input_tokens": 500,
                    "cache_creation_input_tokens": 20,
                    "total": 15,
                }
            },
            Usage(530, 5, 500, 20),
        ),
        (
            {"usageDetails": {"input": 1, "output": 1, "input_cache_creation": 6, "input_cache_creation_1h": 4}},
            Usage(11, 1, None, 10, 4),
        ),
        (
            {
                "usage": {"promptTokens": 3, "completionTokens": 2, "totalTokens": 5, "unit": "TOKENS"},
                "calculatedTotalCost": 0.1,
            },
            Usage(3, 2, usd=0.1),
        ),
        ({"usageDetails": {"total": 9}}, Usage(9)),
        ({"usageDetails": {}, "costDetails": {}, "totalCost": 0}, None),
        ({"usageDetails": {}, "costDetails": {"total": 0}}, Usage(usd=0.0)),
    ],
)
def test_usage(fields: dict[str, Any], usage: Usage | None) -> None:
    assert usage_of(fields) == usage


@pytest.mark.parametrize(
    ("result", "inner"),
    [
        ('"said"', "said"),
        ('"{\\"a\\": 1}"', {"a": 1}),
        ('{"content":[{"type":"text","text":"hi"}]}', "hi"),
        ({"content": "x", "tool_call_id": "1", "status": "success"}, "x"),
        ("plain", "plain"),
        ('{"content": 1, "more": 2}', {"content": 1, "more": 2}),
        (None, None),
    ],
)
def test_wrappers_of_results(result: Any, inner: Any) -> None:
    assert load("langfuse").clean_result("see", result) == inner
