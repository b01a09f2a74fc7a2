"""The console exporter's print-outs: over many lines, one a line, among other output, cut short."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from loopscan.formats import Scan, detect
from loopscan.source import Input, open_input
from tests.formats.spans import asks, ends, read, story, turns


def printed(own: str, parent: str | None, second: int, values: dict[str, Any], status: str = "UNSET") -> dict[str, Any]:
    return {
        "name": "span",
        "context": {"trace_id": "0xabc", "span_id": own, "trace_state": "[]"},
        "kind": "SpanKind.INTERNAL",
        "parent_id": parent,
        "start_time": f"2026-10-01T09:00:{second:02}.000000Z",
        "end_time": f"2026-10-01T09:00:{second + 1:02}.000000Z",
        "status": {"status_code": status, "description": "RuntimeError: turn cap reached"},
        "attributes": values,
        "events": [],
        "links": [],
        "resource": {"attributes": {"service.name": "desk"}, "schema_url": ""},
    }


CHAT = {
    "gen_ai.operation.name": "chat",
    "gen_ai.output.messages": asks(("c1", "get", {})),
    "gen_ai.usage.input_tokens": 9,
}
TOOL = {"gen_ai.operation.name": "execute_tool", "gen_ai.tool.name": "get", "gen_ai.tool.call.result": "paid"}
SPANS = [printed("0x1", "0x9", 1, CHAT), printed("0x2", "0x9", 3, TOOL), printed("0x9", None, 0, {}, "ERROR")]
WANT = ["0xabc: get({})=paid", "0xabc: <turn_cap>"]


@pytest.mark.parametrize("indent", [4, None])
def test_over_many_lines_or_one_a_line(tmp_path: Path, indent: int | None) -> None:
    got = read(tmp_path / "x", *(json.dumps(s, indent=indent) + "\n" for s in SPANS), name="otel-console")
    assert story(got) == WANT
    assert turns(got)[0].labels == {"service": "desk"}
    assert ends(got)[0].note == "RuntimeError: turn cap reached"


@pytest.mark.parametrize("first", ["Starting agent\n", ""])
def test_among_other_output(tmp_path: Path, first: str) -> None:
    scan = Scan()
    lines = [first, *(json.dumps(s, indent=4) + "\nAgent: [thinking] {hm}\n\n" for s in SPANS)]
    assert story(read(tmp_path / "x", *lines, name="otel-console", scan=scan)) == WANT
    assert scan.skips.total == 0
    assert scan.skips.unknown["otel-console:printed line"] >= 3


@pytest.mark.parametrize("cut", [20, 200, 400])
def test_an_object_cut_short_loses_no_neighbour(tmp_path: Path, cut: int) -> None:
    scan = Scan()
    whole = [json.dumps(s, indent=4) + "\n" for s in SPANS]
    lines = [whole[0], whole[1], whole[2][:cut] + "\n", whole[2]]
    assert story(read(tmp_path / "x", *lines, scan=scan)) == WANT
    assert scan.skips.total == 1


def test_crlf_and_a_last_object_without_its_end(tmp_path: Path) -> None:
    scan = Scan()
    text = "\n".join(json.dumps(s, indent=4) for s in SPANS).replace("\n", "\r\n")
    assert story(read(tmp_path / "x", text[:-4], scan=scan)) == WANT[:1]
    assert scan.skips.total == 1


def test_other_objects_with_a_context_are_not_claimed(tmp_path: Path) -> None:
    path = tmp_path / "x"
    path.write_text('{"context": {"trace_id": "1"}, "msg": "a log line"}\n')
    with open_input(Input(str(path), named=True)) as blob:
        assert detect(blob.head) != "otel-console"
