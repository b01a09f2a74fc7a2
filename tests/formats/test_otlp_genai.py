"""OTLP JSON with GenAI attributes: the tree of spans, the joins, the runs, usage and ends."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from loopscan import audit
from loopscan.blob import Blob, Head
from loopscan.formats import Scan, load
from loopscan.formats._otel_traces import Traces
from loopscan.formats._otlp import raw_span
from loopscan.formats.otlp_genai import clean_result, sniff
from loopscan.records import skipped
from loopscan.render._summary import left_out
from loopscan.skips import Skips
from tests.formats.spans import T0, agent, asks, batch, chat, ends, read, span, story, tool, turns

ARGS = '{"id": 7}'


def test_root_last_and_out_of_order(tmp_path: Path) -> None:
    got = read(
        tmp_path / "x",
        batch(tool("b", "r", 2, "get", "paid", id="c1"), chat("c", "r", 3, asks(text="It is paid."))),
        batch(chat("a", "r", 1, asks(("c1", "get", {"id": 7}))), agent("r", None, 0)),
        name="otlp-genai",
    )
    assert story(got) == ["t1: get({'id': 7})=paid", "t1: 'It is paid.'", "t1: <done>"]
    first = turns(got)[0]
    assert (first.model, first.time, first.line) == ("m-1", T0 + 1, 2)
    assert first.labels == {"agent": "desk", "service": "desk"}
    assert ends(got)[0].final


def test_interleaved_traces_are_runs_of_their_own(tmp_path: Path) -> None:
    got = read(
        tmp_path / "x",
        batch(chat("a", "r", 1, asks(text="one")), chat("a", "r", 1, asks(text="two"), trace="t2")),
        batch(agent("r", None, 0, trace="t2"), agent("r", None, 0)),
    )
    assert sorted(story(got)) == ["t1: 'one'", "t1: <done>", "t2: 'two'", "t2: <done>"]


@pytest.mark.parametrize("first", ["unfinished", "finished"])
def test_a_repeated_span_counts_once_and_the_finished_one_stands(tmp_path: Path, first: str) -> None:
    both = [chat("a", "r", 1, None, lasts=None), chat("a", "r", 1, asks(text="done"))]
    got = read(tmp_path / "x", batch(*(both if first == "unfinished" else both[::-1])), batch(agent("r", None, 0)))
    assert story(got) == ["t1: 'done'", "t1: <done>"]


def test_the_same_span_in_two_files_counts_once(tmp_path: Path) -> None:
    scan = Scan()
    lines = batch(chat("a", "r", 1, asks(text="hi")), agent("r", None, 0))
    assert story(read(tmp_path / "x", lines, scan=scan)) == ["t1: 'hi'", "t1: <done>"]
    assert read(tmp_path / "y", lines, scan=scan) == []
    assert scan.skips.copies == 1


def test_a_trace_split_over_two_files_goes_on_and_ends(tmp_path: Path) -> None:
    scan = Scan()
    one = read(tmp_path / "x", batch(chat("a", "r", 1, asks(("c", "get", {})))), scan=scan)
    two = read(tmp_path / "y", batch(agent("r", None, 0, error="UsageLimitExceeded: request_limit of 1")), scan=scan)
    assert story(one + two) == ["t1: get({})=-", "t1: <turn_cap>"]


PLAIN = {"gen_ai.operation.name": "chat", "gen_ai.output.messages": asks(text="hi")}


@pytest.mark.parametrize(
    "line",
    [
        batch(chat("a", None, 1, asks(text="hi")))["resourceSpans"][0],
        chat("a", None, 1, asks(text="hi")),
        [chat("a", None, 1, asks(text="hi"))],
        {"data": [chat("a", None, 1, asks(text="hi"))]},
        {
            "type": "span", "traceId": "t1", "spanId": "a", "name": "chat", "kind": 2, "startTime": [T0 + 1, 0],
            "endTime": [T0 + 1, 500000000], "attributes": PLAIN, "status": {"code": 0},
            "resource": {"attributes": {"service.name": "desk"}},
        },
        {
            "_spanContext": {"traceId": "t1", "spanId": "a"}, "name": "chat", "startTime": [T0 + 1, 0],
            "endTime": [T0 + 1, 5], "attributes": PLAIN,
        },
        {
            "trace_id": "t1", "span_id": "a", "start_time_unix_nano": (T0 + 1) * 10**9,
            "end_time_unix_nano": (T0 + 2) * 10**9,
            "attributes": [
                {"key": "gen_ai.operation.name", "value": {"string_value": "chat"}},
                {"key": "gen_ai.output.messages", "value": {"string_value": asks(text="hi")}},
            ],
        },
    ],
    ids=["resource", "span", "array", "data", "copilot-cli", "copilot-vscode", "snake"],
)  # fmt: skip
def test_envelopes(tmp_path: Path, line: Any) -> None:
    got = read(tmp_path / "x", line, name="otlp-genai")
    assert story(got) == ["t1: 'hi'", "t1: <done>"]
    assert turns(got)[0].time == T0 + 1


def test_a_pretty_printed_document(tmp_path: Path) -> None:
    text = json.dumps(batch(chat("a", None, 1, asks(text="hi"))), indent=2)
    assert story(read(tmp_path / "x", text)) == ["t1: 'hi'", "t1: <done>"]


@pytest.mark.parametrize("code", [2, "STATUS_CODE_ERROR"])
def test_status_as_number_or_name(tmp_path: Path, code: object) -> None:
    failed = {**agent("r", None, 0), "status": {"code": code, "message": "boom"}}
    assert ends(read(tmp_path / "x", batch(chat("a", "r", 1, asks(text="hi")), failed)))[0].state == "error"


def test_an_announced_span_is_the_span_itself(tmp_path: Path) -> None:
    pending = {"logfire.span_type": "pending_span", "logfire.pending_parent_id": "0" * 16}
    announced = {"gen_ai.operation.name": "chat", **pending}
    lines = [batch(span("p", "a", 1, announced, lasts=0)), batch(chat("a", None, 1, asks(text="hi")))]
    assert story(read(tmp_path / "x", *lines)) == ["t1: 'hi'", "t1: <done>"]
    assert story(read(tmp_path / "y", lines[0])) == ["t1: None", "t1: <cut>"]


def test_other_signals_and_strange_lines_are_counted(tmp_path: Path) -> None:
    scan = Scan()
    lines = ['{"resourceLogs": []}\n', '{"type": "metric", "name": "x"}\n', "{cut\n", '{"spanId": "b"}\n']
    got = read(tmp_path / "x", batch(chat("a", None, 1, asks(text="hi"))), *lines, scan=scan)
    assert story(got) == ["t1: 'hi'", "t1: <done>"]
    assert scan.skips.unknown == {"otlp-genai:resourceLogs": 1, "otlp-genai:metric": 1}
    assert scan.skips.total == 2


def test_spans_that_are_no_genai_give_no_run(tmp_path: Path) -> None:
    assert read(tmp_path / "x", batch(span("a", None, 1, {"http.route": "/"}))) == []


@pytest.mark.parametrize(
    "value",
    [{"traceId": "t", "spanId": "s", "msg": "a log line"}, {"startTime": "2026", "attributes": {}}, [], 3, "x"],
)
def test_what_is_no_span_is_not_claimed(value: Any) -> None:
    assert not sniff(Head(b"", [value], False))


def test_what_is_held_is_bounded() -> None:
    """A trace is released some spans after its root; without roots the quietest goes when too much is held."""

    def count(values: list[dict[str, Any]], **limits: int) -> list[int]:
        traces = Traces("otlp-genai", Scan(), **limits)
        seen = [len(list(traces.add(raw))) for v in values if (raw := raw_span(v, None, 1))]
        return [*seen, len(list(traces.flush()))]

    rooted = [s for t in "ab" for s in (chat("m", "r", 1, asks(text=t), trace=t), agent("r", None, 0, trace=t))]
    assert count(rooted, quiet=1) == [0, 0, 0, 2, 2]
    rootless = [chat(f"m{n}", "r", n, asks(text="x" * 5000), trace=f"t{n}") for n in range(4)]
    assert count(rootless, held=12_000) == [0, 0, 1, 1, 2]


@pytest.mark.parametrize(
    ("result", "want"),
    [
        ('"3 tickets"', "3 tickets"),
        ('"{\\"a\\": 1}"', '{"a": 1}'),
        ("plain", "plain"),
        ('{"status": "paid"}', '{"status": "paid"}'),
        ('{"type": "tool", "data": {"content": "paid", "tool_call_id": "c1", "status": "success"}}', "paid"),
        ({"content": "paid", "tool_call_id": "c1", "type": "tool"}, "paid"),
        ({"lc": 1, "type": "constructor", "kwargs": {"content": "paid", "tool_call_id": "c1"}}, "paid"),
        ('[{"text": "paid"}]', "paid"),
        ({"content": [{"type": "text", "text": "paid"}], "isError": False}, "paid"),
        ({"content": "kept", "title": "a page"}, {"content": "kept", "title": "a page"}),
        ('"cut', '"cut'),
        (None, None),
    ],
)
def test_clean_result(result: Any, want: Any) -> None:
    assert clean_result("get", result) == want


STRANGE = {
    "without attributes": ([{"attributes": []}], 1),
    "of a web server": ([{"attributes": [{"key": "http.method", "value": {"stringValue": "GET"}}]}] * 3, 3),
    "with an error": ([{"attributes": [], "status": {"code": 2, "message": "gen_ai"}}], 1),
    "of a tool": ([{"attributes": [{"key": "gen_ai.tool.name", "value": {"stringValue": "ls"}}]}], 0),
    "one of them of a tool": (
        [{"attributes": []}, {"attributes": [{"key": "gen_ai.tool.name", "value": {"stringValue": "ls"}}]}], 0,
    ),
    "none": ([], 0),
}  # fmt: skip


@pytest.mark.parametrize(("given", "told"), STRANGE.values(), ids=STRANGE)
@pytest.mark.parametrize("name", ["otlp-genai", "otel-console", "openinference"])
def test_spans_of_other_programs_are_said_once_a_file(
    tmp_path: Path, name: str, given: list[dict[str, Any]], told: int
) -> None:
    lines = [
        {"traceId": "t", "spanId": f"s{i}", "name": "GET", "startTimeUnixNano": "1", "endTimeUnixNano": "2", **g}
        for i, g in enumerate(given)
    ]
    log = tmp_path / "x.jsonl"
    log.write_text("".join(json.dumps(line) + "\n" for line in lines))
    said: list[str] = []
    scan = Scan(Skips(said.append))
    with Blob(str(log), log) as blob:
        list(load(name).read(blob, scan))
    assert scan.skips.total == 0
    assert dict(scan.skips.barren) == ({"no GenAI span": 1} if told else {})
    assert [s.partition(" without")[0] for s in said] == (
        [f"{log}: no GenAI span: {told} span{'' if told == 1 else 's'}"] if told else []
    )


def test_files_with_nothing_to_audit_are_counted_in_every_report(tmp_path: Path) -> None:
    for name in ("a", "b"):
        (tmp_path / f"{name}.jsonl").write_text(
            '{"traceId":"t","spanId":"s","name":"GET","startTimeUnixNano":"1","attributes":[]}\n'
        )
    report = audit(str(tmp_path))
    assert skipped(report.skipped)["files_without_runs"] == {"no GenAI span": 2}
    assert "2 files with nothing to audit: no GenAI span" in left_out(report)
