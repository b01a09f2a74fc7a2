"""Phoenix exports: REST spans and dataframe rows, newest first."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from loopscan.formats.phoenix import clean_result
from loopscan.model import Usage
from tests.formats.spans import read, story, turns

ENVELOPE = json.dumps({"type": "tool", "data": {"content": "paid", "tool_call_id": "c1", "status": "success"}})
SENT = [
    {"message.role": "assistant"},
    {"message.role": "tool", "message.tool_call_id": "c2", "message.content": "late"},
]


def row(
    own: str, parent: str | None, second: int, kind: str, values: dict[str, Any], error: str = ""
) -> dict[str, Any]:
    return {
        "name": own,
        "span_kind": kind,
        "parent_id": parent,
        "start_time": f"2026-10-01T09:00:{second:02}.000Z",
        "end_time": f"2026-10-01T09:00:{second + 1:02}.000Z",
        "status_code": "ERROR" if error else "OK",
        "status_message": error,
        "events": [],
        "context.span_id": own,
        "context.trace_id": "t1",
        **{f"attributes.{k}": v for k, v in values.items()},
    }


def asks(*calls: tuple[str, str]) -> list[dict[str, Any]]:
    listed = [
        {"tool_call.id": i, "tool_call.function.name": n, "tool_call.function.arguments": '{"id": 7}'} for i, n in calls
    ]
    return [{"message.role": "assistant", "message.tool_calls": listed}]


TOKENS = {"llm.token_count.prompt": 100.0, "llm.token_count.completion": 5.0, "llm.token_count.total": None}
CAPPED = "GraphRecursionError('Recursion limit of 8 reached')Traceback (most recent call last): ..."
ASKED = {"llm.output_messages": repr(asks(("c1", "get"), ("c2", "put"))), "tool.name": None}
SAID = {
    "llm.output_messages": [{"message.role": "assistant", "message.content": "hm"}],
    "llm.input_messages": repr(SENT),
}
ROWS = [
    row("r", None, 0, "AGENT", {"session.id": "s-1"}, CAPPED),
    row("m2", "r", 4, "LLM", SAID),
    row("t1", "r", 3, "TOOL", {"tool.name": "get", "input.value": "7", "output.value": ENVELOPE}),
    row("m1", "r", 1, "LLM", ASKED | TOKENS),
]


def rest(fields: dict[str, Any]) -> dict[str, Any]:
    """The same span as the REST client returns it: flat attribute keys."""
    attributes: dict[str, Any] = {}
    for key, value in fields.items():
        name = key.removeprefix("attributes.")
        if name != key and isinstance(value, (list, str)) and name.endswith("_messages"):
            messages = eval(value) if isinstance(value, str) else value
            for n, message in enumerate(messages):
                for k, v in message.items():
                    if k == "message.tool_calls":
                        flat = {f"tool_calls.{i}.{f}": x for i, call in enumerate(v) for f, x in call.items()}
                        attributes |= {f"{name}.{n}.message.{f}": x for f, x in flat.items()}
                    else:
                        attributes[f"{name}.{n}.{k}"] = v
        elif name != key and value is not None:
            attributes[name] = value
    kept = {k: v for k, v in fields.items() if not k.startswith(("attributes.", "context."))}
    return {
        **kept,
        "id": "x",
        "context": {"trace_id": "t1", "span_id": fields["context.span_id"]},
        "attributes": attributes,
    }


@pytest.mark.parametrize("shape", ["dataframe", "rest", "array", "page"])
def test_both_exports_say_the_same(tmp_path: Path, shape: str) -> None:
    spans = ROWS if shape == "dataframe" else [rest(r) for r in ROWS]
    lines: list[Any] = {"array": [spans], "page": [{"data": spans, "next_cursor": None}]}.get(shape, spans)
    got = read(tmp_path / "x", *lines, name="phoenix")
    first = turns(got)[0]
    assert [(c.name, c.args, clean_result(c.name, c.result)) for c in first.calls] == [
        ("get", '{"id": 7}', "paid"),
        ("put", '{"id": 7}', "late"),
    ]
    assert (first.usage, first.session) == (Usage(100, 5), "s-1")
    assert story(got)[1:] == ["t1: 'hm'", "t1: <turn_cap>"]


@pytest.mark.parametrize("cell", ["[{'message.role': 'assistant'", "[{'a': " + "[" * 500, "[{'x': open('/etc')}]"])
def test_a_cell_that_is_no_literal_is_left_unread(tmp_path: Path, cell: str) -> None:
    rows = [row("m1", "r", 1, "LLM", {"llm.output_messages": cell}), row("r", None, 0, "AGENT", {})]
    assert turns(read(tmp_path / "x", *rows))[0].text is None
