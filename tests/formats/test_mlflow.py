"""MLflow traces: attribute values that are JSON in JSON, in lines and in dataframe rows."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from loopscan.formats import Scan
from loopscan.formats.mlflow import clean_result
from loopscan.model import Usage
from tests.formats.spans import ends, read, story, turns


def span(own: str, parent: str | None, at: int, kind: str, values: dict[str, Any], error: str = "") -> dict[str, Any]:
    return {
        "trace_id": "AAEC", "span_id": own, "parent_span_id": parent, "name": own,
        "start_time_unix_nano": (1_790_000_000 + at) * 10**9, "end_time_unix_nano": (1_790_000_001 + at) * 10**9,
        "events": [], "status": {"code": "STATUS_CODE_ERROR" if error else "STATUS_CODE_OK", "message": error},
        "attributes": {k: json.dumps(v) for k, v in ({"mlflow.spanType": kind} | values).items()},
    }  # fmt: skip


def reply(text: str | None = None, *calls: tuple[str, str]) -> dict[str, Any]:
    asked = [{"id": i, "type": "function", "function": {"name": n, "arguments": '{"id": 7}'}} for i, n in calls]
    return {"choices": [{"message": {"role": "assistant", "content": text, "tool_calls": asked or None}}]}


def trace(*spans: dict[str, Any], state: str = "OK") -> dict[str, Any]:
    info = {"trace_id": "tr-1", "state": state, "trace_metadata": {"mlflow.trace.session": "s-1"}}
    return {"info": info, "data": {"spans": list(spans)}}


USAGE = {"input_tokens": 100, "output_tokens": 5, "total_tokens": 105, "cache_read_input_tokens": 80}
MODEL = {"mlflow.spanOutputs": reply(None, ("c1", "get")), "mlflow.chat.tokenUsage": USAGE, "mlflow.llm.model": "m-1"}
RESULT = {"content": "paid", "type": "tool", "name": "get", "tool_call_id": "c1", "status": "success"}
SPANS = [
    span("root", None, 0, "CHAIN", {"mlflow.chat.tokenUsage": {"input_tokens": 999}}),
    span("m1", "root", 1, "CHAT_MODEL", MODEL),
    span("n1", "root", 2, "CHAIN", {}),
    span("t1", "n1", 3, "TOOL", {"mlflow.spanInputs": {"id": 7}, "mlflow.spanOutputs": RESULT, "tool_call_id": "c1"}),
    span("m2", "root", 5, "LLM", {"mlflow.spanOutputs": reply("It is paid.")}),
]


def row(whole: dict[str, Any], *, nested: bool) -> dict[str, Any]:
    """The same trace as a row of search_traces."""
    spans = whole["data"]["spans"]
    return {"trace_id": "tr-1", "trace": json.dumps(whole) if nested else None, "spans": spans, **whole["info"]}


@pytest.mark.parametrize("shape", ["line", "array", "row", "flat row"])
def test_every_shape_says_the_same(tmp_path: Path, shape: str) -> None:
    whole = trace(*SPANS)
    line = {"line": whole, "array": [whole], "row": row(whole, nested=True), "flat row": row(whole, nested=False)}
    got = read(tmp_path / "x", line[shape], name="mlflow")
    first = turns(got)[0]
    assert (first.run, first.session, first.model, first.usage) == ("tr-1", "s-1", "m-1", Usage(100, 5, 80))
    assert [(c.name, c.args, clean_result(c.name, c.result)) for c in first.calls] == [("get", '{"id": 7}', "paid")]
    assert story(got)[1:] == ["tr-1: 'It is paid.'", "tr-1: <done>"]


@pytest.mark.parametrize(
    ("error", "state", "want"),
    [
        ("Recursion limit of 8 reached", "ERROR", "turn_cap"),
        ("", "ERROR", "error"),
        ("", "OK", "cut"),
    ],
)
def test_ends(tmp_path: Path, error: str, state: str, want: str) -> None:
    spans = [span("root", None, 0, "AGENT", {}, error), span("m1", "root", 1, "CHAT_MODEL", MODEL)]
    assert ends(read(tmp_path / "x", trace(*spans, state=state)))[0].state == want


def test_a_failed_send_and_dollars(tmp_path: Path) -> None:
    spans = [
        span("root", None, 0, "CHAIN", {}, "503"),
        span(
            "m1", "root", 1, "CHAT_MODEL", {"mlflow.spanOutputs": reply("hi"), "mlflow.llm.cost": {"total_cost": 0.5}}
        ),
        span("m2", "root", 2, "CHAT_MODEL", {}, "503 overloaded"),
    ]
    got = read(tmp_path / "x", trace(*spans, state="ERROR"))
    assert story(got) == ["tr-1: 'hi'", "tr-1: FAILED 503 overloaded", "tr-1: <error>"]
    assert [t.usage and t.usage.usd for t in turns(got)] == [0.5, None]


def test_ids_of_the_older_schema(tmp_path: Path) -> None:
    old = {"info": {"request_id": "rq-1", "status": "OK", "request_metadata": {}}, "data": {"spans": SPANS}}
    assert {t.run for t in turns(read(tmp_path / "x", old, name="mlflow"))} == {"rq-1"}


def test_what_is_no_trace_is_a_skip(tmp_path: Path) -> None:
    scan = Scan()
    got = read(tmp_path / "x", trace(*SPANS), '{"info": {}}\n', "3\n", scan=scan)
    assert len(turns(got)) == 2
    assert scan.skips.total == 2
