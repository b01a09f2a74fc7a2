"""The Vercel AI SDK's own attributes, in both nestings of its tool spans."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from loopscan.formats.vercel_ai_legacy import clean_result
from loopscan.model import Usage
from tests.formats.spans import batch, read, span, story, turns


def op(own: str, parent: str | None, at: float, name: str, values: dict[str, Any], **more: Any) -> dict[str, Any]:
    return span(own, parent, at, {"ai.operationId": name} | values, **more)


def model(own: str, parent: str, at: float, *calls: tuple[str, str], text: str | None = None) -> dict[str, Any]:
    asked = [{"toolCallId": i, "toolName": n, "input": '{"id":7}'} for i, n in calls]
    values: dict[str, Any] = {"ai.response.text": text, "ai.response.toolCalls": json.dumps(asked) if asked else None}
    values |= {"ai.usage.inputTokens": 100, "ai.usage.outputTokens": 5, "ai.usage.cachedInputTokens": 80}
    return op(own, parent, at, "ai.generateText.doGenerate", values)


def tool(own: str, parent: str, at: float, call_id: str, name: str, result: str) -> dict[str, Any]:
    values = {"ai.toolCall.name": name, "ai.toolCall.id": call_id, "ai.toolCall.args": '{"id":7}'}
    return op(own, parent, at, "ai.toolCall", values | {"ai.toolCall.result": result})


def root(own: str, parent: str | None, at: float, **more: Any) -> dict[str, Any]:
    values = {"ai.usage.inputTokens": 999, "ai.telemetry.metadata.sessionId": "s-1"}
    return op(own, parent, at, "ai.generateText", values, **{"lasts": 9, **more})


@pytest.mark.parametrize("below", ["r", "m1"])
def test_tool_spans_beside_or_below_their_model_span(tmp_path: Path, below: str) -> None:
    spans = [tool("t1", below, 1, "c1", "get", '"paid"'), model("m1", "r", 1, ("c1", "get"))]
    got = read(
        tmp_path / "x", batch(*spans, model("m2", "r", 2, text="ok"), root("r", None, 0)), name="vercel-ai-legacy"
    )
    assert story(got) == ['t1: get({"id":7})="paid"', "t1: 'ok'", "t1: <done>"]
    first = turns(got)[0]
    assert (first.usage, first.session) == (Usage(100, 5, 80), "s-1")
    assert clean_result("get", first.calls[0].result) == "paid"


def test_a_step_cap_leaves_no_mark(tmp_path: Path) -> None:
    spans = [model("m1", "r", 1, ("c1", "get")), tool("t1", "r", 1.5, "c1", "get", '"paid"')]
    assert story(read(tmp_path / "x", batch(*spans, root("r", None, 0))))[-1] == "t1: <cut>"


def test_a_generation_below_a_tool_is_a_run_but_two_in_a_row_are_one(tmp_path: Path) -> None:
    spans = [
        model("m1", "r", 1, ("c1", "ask")),
        model("in1", "sub", 2, ("c1", "get")),
        tool("in2", "in1", 2.5, "c1", "get", '"paid"'),
        root("sub", "t1", 1.8, lasts=2),
        tool("t1", "m1", 1.7, "c1", "ask", '"yes"'),
        root("r", "w", 0),
        model("n1", "q", 20, text="bye"),
        root("q", "w", 19),
        span("w", None, 0, {}, lasts=60),
    ]
    got = read(tmp_path / "x", batch(*spans))
    assert {t.run: t.parent for t in turns(got)} == {"t1": None, "t1/sub": "t1"}
    assert [line for line in story(got) if line.startswith("t1:")] == [
        't1: ask({"id":7})="yes"',
        "t1: 'bye'",
        "t1: <done>",
    ]


@pytest.mark.parametrize(
    ("values", "want"),
    [
        ({"inputTokenDetails.noCacheTokens": 20, "inputTokenDetails.cacheReadTokens": 80}, Usage(100, 5, 80)),
        ({"inputTokenDetails.cacheReadTokens": 800, "inputTokenDetails.cacheWriteTokens": 9}, Usage(909, 5, 800, 9)),
    ],
)
def test_input_with_or_without_its_cached_part(tmp_path: Path, values: dict[str, int], want: Usage) -> None:
    usage = {"ai.usage.inputTokens": 100, "ai.usage.outputTokens": 5} | {f"ai.usage.{k}": v for k, v in values.items()}
    spans = [op("m1", "r", 1, "ai.streamText.doStream", usage | {"ai.response.text": "ok"}), root("r", None, 0)]
    assert turns(read(tmp_path / "x", batch(*spans)))[0].usage == want
