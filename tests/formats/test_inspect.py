"""Inspect: events, spans of sub-agents and scorers, both ways to count cached tokens, archives whole and broken."""

from __future__ import annotations

import json
import sys
import zipfile
from pathlib import Path
from typing import Any

import pytest

from loopscan.blob import Blob
from loopscan.formats import Scan, detect, load
from loopscan.model import MISSING, End, Event, Usage
from tests.formats.logs import read_log, told, turns

NAME = "inspect"


def model(*calls: str, text: Any = "", span: str = "main", usage: Any = None, **more: Any) -> dict[str, Any]:
    asked = [{"id": c, "function": f"tool_{c}", "arguments": {"k": c}} for c in calls]
    message = {"role": "assistant", "content": text, "tool_calls": asked}
    output = {"choices": [{"message": message}], "usage": usage}
    return {
        "event": "model",
        "span_id": span,
        "model": "m",
        "timestamp": "2026-01-01T00:00:00Z",
        "output": output,
        **more,
    }


def tool(call: str, result: Any = "ok", span: str = "main", **more: Any) -> dict[str, Any]:
    return {"event": "tool", "id": call, "function": f"tool_{call}", "span_id": span, "result": result, **more}


def span(own: str, kind: str, parent: str | None = None) -> dict[str, Any]:
    return {"event": "span_begin", "id": own, "type": kind, "name": own, "parent_id": parent}


def sample(*events: Any, **more: Any) -> dict[str, Any]:
    return {"id": "s", "epoch": 1, "messages": [], "events": list(events), **more}


def log(*samples: Any, status: str = "success", **spec: Any) -> dict[str, Any]:
    return {"version": 2, "status": status, "eval": {"run_id": "R", "task": "t", **spec}, "samples": list(samples)}


def read(path: Path, *events: Any, **more: Any) -> list[Event]:
    return read_log(path, NAME, log(sample(*events, **more)))


def test_results_join_by_id_and_attachments_are_resolved(tmp_path: Path) -> None:
    texts = {"h1": "long one", "h2": "long two"}
    events = read(
        tmp_path / "x.json",
        model("a", "b", text="attachment://h2"),
        tool("b", [{"type": "text", "text": "attachment://h1"}]),
        tool("a", "attachment://h0"),
        model(text=[{"type": "reasoning", "reasoning": "hm"}, {"type": "text", "text": "done"}]),
        attachments=texts,
    )
    assert told(events) == {
        "R/s/1": [[("tool_a", {"k": "a"}, "attachment://h0"), ("tool_b", {"k": "b"}, "long one")], "done", "done"]
    }
    assert turns(events)[0].text == "long two"


@pytest.mark.parametrize(
    ("came_back", "result", "error"),
    [
        (tool("a", "", error={"type": "timeout", "message": "too slow"}), "too slow", True),
        (tool("a", "half", error={"type": "output_limit", "message": "cut"}), "half", True),
        (tool("a", "x", failed=True), "x", True),
        (tool("a", "x", pending=True), MISSING, False),
        (tool("a", None), None, False),
    ],
)
def test_what_came_back(tmp_path: Path, came_back: dict[str, Any], result: Any, error: bool) -> None:
    (turn,) = turns(read(tmp_path / "x.json", model("a"), came_back))
    assert (turn.calls[0].result, turn.calls[0].error) == (result, error)


@pytest.mark.parametrize(
    ("usage", "want"),
    [
        (
            {"input_tokens": 100, "output_tokens": 5, "total_tokens": 105, "input_tokens_cache_read": 60},
            Usage(100, 5, 60),
        ),
        (
            {"input_tokens": 40, "output_tokens": 5, "total_tokens": 115, "input_tokens_cache_read": 60,
             "input_tokens_cache_write": 10, "total_cost": 0.5},
            Usage(110, 5, 60, 10, usd=0.5),
        ),
        ({"input_tokens": 4, "output_tokens": 5, "total_tokens": 9, "input_tokens_cache_read": 60}, Usage(64, 5, 60)),
        ({"input_tokens": 100, "output_tokens": 5}, Usage(100, 5)),
        (None, None),
    ],
)  # fmt: skip
def test_usage(tmp_path: Path, usage: Any, want: Usage | None) -> None:
    assert turns(read(tmp_path / "x.json", model(text="a", usage=usage)))[0].usage == want


def test_a_reply_from_the_cache_is_free(tmp_path: Path) -> None:
    usage = {"input_tokens": 100, "output_tokens": 5}
    assert turns(read(tmp_path / "x.json", model(text="a", usage=usage, cache="read")))[0].usage == Usage(0, 0, usd=0.0)


def test_failed_and_unfinished_sends(tmp_path: Path) -> None:
    broken = {"event": "model", "model": "m", "output": {"choices": []}}
    events = read(tmp_path / "x.json", {**broken, "error": "429"}, {**broken, "pending": True}, model(text="ok"))
    assert told(events)["R/s/1"] == [{"fault": "429"}, {"fault": None}, "ok", "done"]


def test_scorers_and_graders_are_left_out(tmp_path: Path) -> None:
    events = read(
        tmp_path / "x.json",
        span("solve", "solver"),
        model(text="mine", span="solve"),
        model(text="grade", span="solve", role="grader"),
        span("score", "scorer"),
        span("inner", "agent", "score"),
        model(text="judge", span="inner"),
        {"event": "step", "type": "scorer", "action": "begin"},
        model(text="old judge"),
        {"event": "step", "type": "scorer", "action": "end"},
        model(text="mine too"),
    )
    assert [t.text for t in turns(events)] == ["mine", "mine too"]


def test_sub_agents_are_runs_of_their_own(tmp_path: Path) -> None:
    events = read(
        tmp_path / "x.json",
        span("react", "agent"),
        model("a", span="react"),
        span("call_a", "tool", "react"),
        tool("a", "from outside", span="call_a"),
        span("helper", "agent", "call_a"),
        model("b", span="helper"),
        span("call_b", "tool", "helper"),
        tool("b", "from helper", span="call_b"),
        model(text="of a tool", span="call_b"),
        model(text="end", span="react"),
    )
    assert [(t.run, t.parent, t.calls[0].result if t.calls else t.text) for t in turns(events)] == [
        ("R/s/1", None, "from outside"),
        ("R/s/1", None, "end"),
        ("R/s/1/helper", "R/s/1", "from helper"),
        ("R/s/1/call_b", "R/s/1/helper", "of a tool"),
    ]


def test_events_nested_in_a_tool_event(tmp_path: Path) -> None:
    nested = [model("x", span="n"), tool("x", "in", span="n")]
    events = read(tmp_path / "x.json", model("a"), tool("a", "out", events=nested))
    assert [(t.run, t.parent, t.calls[0].result) for t in turns(events)] == [
        ("R/s/1", None, "out"),
        ("R/s/1/a", "R/s/1", "in"),
    ]


def test_a_sample_without_events_is_read_from_its_messages(tmp_path: Path) -> None:
    messages = [
        {"role": "assistant", "content": "given", "source": "input"},
        {
            "role": "assistant",
            "content": "",
            "model": "m",
            "tool_calls": [{"id": "a", "function": "f", "arguments": {}}],
        },
        {"role": "tool", "tool_call_id": "a", "content": "", "error": {"type": "timeout", "message": "slow"}},
        {"role": "tool", "tool_call_id": "z", "content": "stray"},
        {"role": "assistant", "content": "end"},
    ]
    events = read(tmp_path / "x.json", messages=messages)
    assert told(events)["R/s/1"] == [[("f", {}, "slow", "error")], "end", "done"]


@pytest.mark.parametrize(
    ("more", "status", "state"),
    [
        ({}, "success", "done"),
        ({"limit": {"type": "context", "limit": 1}}, "success", "context_full"),
        ({"limit": {"type": "time", "limit": 1}}, "success", "time_cap"),
        ({"limit": {"type": "working", "limit": 1}}, "success", "time_cap"),
        ({"limit": {"type": "message", "limit": 1}}, "success", "turn_cap"),
        ({"limit": {"type": "turn", "limit": 1}}, "success", "turn_cap"),
        ({"limit": {"type": "token", "limit": 1}}, "success", "token_cap"),
        ({"limit": {"type": "cost", "limit": 1}}, "success", "cost_cap"),
        ({"limit": {"type": "operator", "limit": 1}}, "success", "aborted"),
        ({"limit": {"type": "custom", "limit": 1}}, "success", "error"),
        ({"error": {"message": "RuntimeError('x')"}}, "error", "error"),
        ({"error": {"message": "CancelledError()"}}, "cancelled", "aborted"),
        ({"scores": {"a": {}}}, "error", "done"),
        ({"completed_at": "2026-01-01T00:00:00Z"}, "started", "done"),
        ({}, "cancelled", "aborted"),
        ({}, "started", "cut"),
        ({}, "error", None),
    ],
)
def test_ends(tmp_path: Path, more: dict[str, Any], status: str, state: str | None) -> None:
    events = read_log(tmp_path / "x.json", NAME, log(sample(model("a"), **more), status=status))
    assert [e.state for e in events if isinstance(e, End)] == ([state] if state else [])


def test_samples_without_a_model_call_are_said(tmp_path: Path) -> None:
    scan = Scan()
    value = log(sample(tool("a")), sample(error={"message": "no sandbox"}))
    events = read_log(tmp_path / "x.json", NAME, value, scan=scan)
    assert [(e.state, e.final) for e in events if isinstance(e, End)] == [("done", False), ("error", True)]
    assert dict(scan.skips.unknown) == {"inspect:samples without a model call": 1}


def test_copies_and_namesakes(tmp_path: Path) -> None:
    scan = Scan()
    taken_over = sample(model(text="a"), uuid="u-1")
    path = tmp_path / "x.json"
    events = read_log(path, NAME, log(taken_over), log(taken_over), log(sample(model(text="b"))), scan=scan)
    assert [t.run for t in turns(events)] == ["R/s/1", f"{path}#R/s/1"]
    assert scan.skips.copies == 1


def test_unknown_events_are_counted(tmp_path: Path) -> None:
    scan = Scan()
    read_log(
        tmp_path / "x.json", NAME, log(sample({"event": "dream"}, {"event": "state"}, 3, model(text="a"))), 7, scan=scan
    )
    assert scan.skips.unknown["inspect:dream"] == 1
    assert scan.skips.total == 1


def archive(path: Path, members: dict[str, Any], method: int = zipfile.ZIP_DEFLATED) -> Path:
    with zipfile.ZipFile(path, "w", method) as out:
        for name, value in members.items():
            out.writestr(name, value if isinstance(value, (str, bytes)) else json.dumps(value))
    return path


def read_archive(path: Path, scan: Scan | None = None) -> list[Event]:
    blob = Blob(str(path), path)
    try:
        assert detect(blob.head) == NAME
        return list(load(NAME).read(blob, scan or Scan()))
    finally:
        blob.close()


HEADER = {k: v for k, v in log().items() if k != "samples"}
START = {"version": 2, "eval": HEADER["eval"]}


def test_an_archive(tmp_path: Path) -> None:
    members = {"_journal/start.json": START, "samples/s_epoch_1.json": sample(model(text="a")), "summaries.json": [],
               "samples/t_epoch_1.json": sample(model(text="b"), id="t"), "header.json": HEADER}  # fmt: skip
    found = told(read_archive(archive(tmp_path / "x.eval", members)))
    assert found == {"R/s/1": ["a", "done"], "R/t/1": ["b", "done"]}


def test_an_archive_of_a_crashed_run_has_a_journal_only(tmp_path: Path) -> None:
    members = {"_journal/start.json": START, "samples/s_epoch_1.json": sample(model("a"))}
    assert told(read_archive(archive(tmp_path / "x.eval", members)))["R/s/1"][-1] == "cut"


def test_damaged_members_lose_no_neighbour(tmp_path: Path) -> None:
    scan = Scan()
    members = {"_journal/start.json": START, "samples/a_epoch_1.json": "{", "samples/b_epoch_1.json": b"\x00",
               "samples/c_epoch_1/sample.json": {}, "samples/c_epoch_1/events/0.json": [],
               "samples/s_epoch_1.json": sample(model(text="a")), "header.json": HEADER}  # fmt: skip
    assert len(turns(read_archive(archive(tmp_path / "x.eval", members), scan))) == 1
    assert scan.skips.total == 3


def test_a_cut_archive_is_a_skip(tmp_path: Path) -> None:
    whole = archive(tmp_path / "x.eval", {"_journal/start.json": START, "samples/s_epoch_1.json": sample(model("a"))})
    data = whole.read_bytes()
    for size in (len(data) - 1, len(data) // 2, 60):
        scan, cut = Scan(), tmp_path / "cut.eval"
        cut.write_bytes(data[:size])
        assert read_archive(cut, scan) == []
        assert scan.skips.total == 1


def test_an_archive_from_a_pipe_is_a_skip(tmp_path: Path) -> None:
    path = archive(tmp_path / "x.eval", {"_journal/start.json": START})
    scan = Scan()
    with path.open("rb") as stream:
        assert list(load(NAME).read(Blob("<stdin>", None, stream), scan)) == []
    assert dict(scan.skips.by_reason) == {"an archive cannot be read from a pipe": 1}


def test_other_zips_are_not_claimed(tmp_path: Path) -> None:
    path = archive(tmp_path / "x.zip", {"notes.txt": "x", "header.json": HEADER})
    blob = Blob(str(path), path)
    assert not load(NAME).sniff(blob.head)
    blob.close()


def zstd_archive(path: Path, text: bytes, frames: int = 1) -> Path:
    """An archive whose sample is compressed as current versions do: deflated by zipfile, then patched to zstd."""
    zstd = pytest.importorskip("backports.zstd" if sys.version_info < (3, 14) else "compression.zstd")
    size = -(-len(text) // frames)
    packed = b"".join(zstd.compress(text[i : i + size]) for i in range(0, len(text), size))
    archive(path, {"_journal/start.json": START, "samples/s_epoch_1.json": packed}, zipfile.ZIP_STORED)
    with zipfile.ZipFile(path) as plain:
        info = plain.getinfo("samples/s_epoch_1.json")
        start, directory = info.header_offset, plain.start_dir
    data = bytearray(path.read_bytes())
    entry = data.index(b"PK\x01\x02", data.index(b"PK\x01\x02", directory) + 1)
    for method, real in ((start + 8, start + 22), (entry + 10, entry + 24)):
        data[method : method + 2] = (93).to_bytes(2, "little")
        data[real : real + 4] = len(text).to_bytes(4, "little")
    path.write_bytes(data)
    return path


@pytest.mark.parametrize("frames", [1, 3])
def test_zstd_members(tmp_path: Path, frames: int) -> None:
    text = json.dumps(sample(model("a"), tool("a", "x" * 5000))).encode()
    (turn,) = turns(read_archive(zstd_archive(tmp_path / "x.eval", text, frames)))
    assert turn.calls[0].result == "x" * 5000


def test_without_a_zstd_package_one_message_says_what_to_install(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = zstd_archive(tmp_path / "x.eval", json.dumps(sample(model("a"))).encode())
    monkeypatch.setitem(sys.modules, "backports.zstd", None)
    monkeypatch.setitem(sys.modules, "compression.zstd", None)
    lines: list[str] = []
    scan = Scan()
    scan.skips.report = lines.append
    assert read_archive(path, scan) == []
    assert len(lines) == 1
    assert "install backports.zstd" in lines[0]


def test_damaged_zstd_is_a_skip(tmp_path: Path) -> None:
    path = zstd_archive(tmp_path / "x.eval", json.dumps(sample(model("a"))).encode())
    data = bytearray(path.read_bytes())
    at = data.index(b"\x28\xb5\x2f\xfd")
    data[at + 6 : at + 12] = b"\xff" * 6
    path.write_bytes(data)
    scan = Scan()
    assert turns(read_archive(path, scan)) == []
    assert scan.skips.total >= 1
