"""Streams of `claude -p` and `cursor-agent`."""

from __future__ import annotations

import io
import json
from pathlib import Path
from typing import Any

import pytest

from loopscan.blob import Blob
from loopscan.formats import Scan, detect, load
from loopscan.model import MISSING, End, Event, Turn, Usage

INIT = {"type": "system", "subtype": "init", "session_id": "s1", "model": "claude-x", "tools": []}


def events(path: Path, scan: Scan | None = None) -> list[Event]:
    blob = Blob(str(path), path)
    try:
        assert detect(blob.head) == "claude-stream"
        return list(load("claude-stream").read(blob, scan or Scan()))
    finally:
        blob.close()


def lines(path: Path, *records: dict[str, Any]) -> Path:
    path.write_text("\n".join(json.dumps({"session_id": "s1", **r}) for r in records))
    return path


def turns(found: list[Event]) -> list[Turn]:
    return [e for e in found if isinstance(e, Turn)]


def ends(found: list[Event]) -> list[tuple[str, str, str | None]]:
    return [(e.run, e.state, e.note) for e in found if isinstance(e, End)]


def said(name: str, *content: dict[str, Any], out: int = 1, agent: str | None = None, **more: Any) -> dict[str, Any]:
    usage = {
        "input_tokens": 10,
        "cache_read_input_tokens": 900,
        "cache_creation_input_tokens": 90,
        "output_tokens": out,
    }
    message = {"id": name, "role": "assistant", "model": "claude-x", "content": list(content), "usage": usage, **more}
    return {"type": "assistant", "message": message, "parent_tool_use_id": agent}


def use(call: str, command: str) -> dict[str, Any]:
    return {"type": "tool_use", "id": call, "name": "Bash", "input": {"command": command}}


def back(call: str, words: str, agent: str | None = None, **extra: Any) -> dict[str, Any]:
    block = {"type": "tool_result", "tool_use_id": call, "content": words, **extra}
    return {"type": "user", "message": {"role": "user", "content": [block]}, "parent_tool_use_id": agent}


def text(words: str) -> dict[str, Any]:
    return {"type": "text", "text": words}


def result(subtype: str = "success", usd: float | None = 0.5, **extra: Any) -> dict[str, Any]:
    return {"type": "result", "subtype": subtype, "is_error": subtype != "success", "total_cost_usd": usd, **extra}


def test_blocks_of_one_message_are_one_turn_counted_once(tmp_path: Path) -> None:
    path = lines(
        tmp_path / "out.jsonl",
        INIT,
        said("m1", text("both")),
        said("m1", use("c1", "a"), out=7),
        said("m1", use("c2", "b"), out=7),
        back("c2", "B", is_error=True),
        back("c1", "A"),
        said("m2", text("done")),
        result(),
    )
    found = events(path)
    first, last = turns(found)
    assert [(c.args["command"], c.result, c.error) for c in first.calls] == [("a", "A", False), ("b", "B", True)]
    assert (first.run, first.prompt, first.text, first.model) == ("s1", None, "both", "claude-x")
    assert first.usage is not None
    assert (first.usage.input, first.usage.output, first.usage.cache_read) == (1000, 7, 900)
    assert ends(found) == [("s1", "done", "success")]
    assert (last.text, last.calls) == ("done", [])


def test_the_recorded_dollars_are_shared_out_and_keep_their_sum(tmp_path: Path) -> None:
    window = {"claude-x": {"contextWindow": 200000}}
    path = lines(
        tmp_path / "out.jsonl",
        INIT,
        said("m1", use("c1", "a"), out=100),
        back("c1", "A"),
        said("m2", text("done")),
        result(usd=0.8, modelUsage=window),
        said("m3", text("more")),
        result(usd=1.0),
    )
    found = turns(events(path))
    shares = [t.usage.usd for t in found if t.usage and t.usage.usd]
    assert sum(shares[:2]) == pytest.approx(0.8)
    assert shares[0] > shares[1]
    assert shares[2] == pytest.approx(0.2)
    assert [t.window for t in found] == [200000, 200000, None]
    assert [t.run for t in found] == ["s1", "s1", "s1/2"]


@pytest.mark.parametrize(("input_", "outputs"), [(2000, [6, 54]), (1999, [1, 1])])
def test_output_of_the_result_is_shared_out_where_the_input_adds_up(
    tmp_path: Path, input_: int, outputs: list[int]
) -> None:
    total = {"input_tokens": input_ - 1980, "cache_read_input_tokens": 1800, "cache_creation_input_tokens": 180}
    agent = said("m9", text("sub"), agent="t1")
    first, last = said("m1", text("0123456789")), said("m2", text("0123456789" * 9))
    path = lines(tmp_path / "x", INIT, first, agent, last, result(usage={**total, "output_tokens": 60}))
    found = turns(events(path))
    assert [t.usage.output for t in found if t.usage and not t.parent] == outputs
    assert [t.usage.output for t in found if t.usage and t.parent] == [1]


def test_a_session_that_broke_off_has_no_part_in_the_bill_of_the_next(tmp_path: Path) -> None:
    """Streams appended to one file: the first was killed before its result line."""
    killed = [{**said(f"k{i}", use(f"c{i}", "make")), "session_id": "s0"} for i in (1, 2, 3)]
    whole = [INIT, said("m1", use("d1", "make")), back("d1", "ok"), result(total_cost_usd=0.5)]
    found = turns(events(lines(tmp_path / "x.jsonl", {**INIT, "session_id": "s0"}, *killed, *whole)))
    dollars = {t.run: t.usage.usd for t in found if t.usage is not None}
    assert dollars == {"s0": None, "s1": 0.5}


def test_a_line_without_a_session_belongs_to_the_one_that_began_before_it(tmp_path: Path) -> None:
    cut = {**said("k1", use("c1", "make")), "session_id": None}
    log = lines(tmp_path / "x.jsonl", {**INIT, "session_id": "s0"}, cut, INIT, said("m1"), result(total_cost_usd=0.5))
    assert [(t.run, t.session, t.usage.usd if t.usage else None) for t in turns(events(log))] == [
        ("s0", "s0", None),
        ("s1", "s1", 0.5),
    ]


def test_standard_input_has_no_dollars(tmp_path: Path) -> None:
    data = lines(tmp_path / "x", INIT, said("m1", text("hi")), result()).read_bytes()
    found = list(load("claude-stream").read(Blob("<stdin>", None, io.BytesIO(data)), Scan()))
    assert turns(found)[0].usage == Usage(1000, 1, 900, 90)


def test_partial_messages_give_the_whole_output(tmp_path: Path) -> None:
    delta = {"type": "stream_event", "event": {"type": "message_delta", "usage": {"output_tokens": 77}}}
    found = turns(events(lines(tmp_path / "x", INIT, said("m1", text("hi")), delta, result())))
    assert found[0].usage is not None
    assert found[0].usage.output == 77


def test_a_sub_agent_is_a_run_of_its_own(tmp_path: Path) -> None:
    path = lines(
        tmp_path / "x",
        INIT,
        said("m1", {"type": "tool_use", "id": "t1", "name": "Task", "input": {"prompt": "look"}}),
        said("m2", use("c1", "a"), agent="t1"),
        back("c1", "A", agent="t1"),
        back("t1", "found"),
        said("m3", text("done")),
        result(),
    )
    found = turns(events(path))
    assert [(t.run, t.parent) for t in found] == [("s1", None), ("s1", None), ("agent-t1", "s1")]
    assert [c.result for t in found for c in t.calls] == ["found", "A"]


@pytest.mark.parametrize(
    ("line", "state", "note"),
    [
        (result("error_max_turns"), "turn_cap", "error_max_turns"),
        (result("error_max_budget_usd"), "cost_cap", "error_max_budget_usd"),
        (result("error_during_execution"), "error", "error_during_execution"),
        (result(is_error=True, result="API Error: 529 overloaded"), "error", "API Error: 529 overloaded"),
        (result(is_error=True, result="Prompt is too long"), "context_full", "Prompt is too long"),
    ],
)
def test_how_a_run_ended(tmp_path: Path, line: dict[str, Any], state: str, note: str) -> None:
    found = events(lines(tmp_path / "x", INIT, said("m1", use("c1", "a")), line))
    assert ends(found) == [("s1", state, note)]
    assert turns(found)[0].calls[0].result is MISSING


def test_a_line_of_the_client_is_no_turn_but_says_why_the_stream_broke_off(tmp_path: Path) -> None:
    broken = said("m2", text("API Error: Connection error."), model="<synthetic>")
    found = events(lines(tmp_path / "x", INIT, said("m1", text("hi")), broken))
    assert len(turns(found)) == 1
    assert ends(found) == [("s1", "error", "API Error: Connection error.")]


def test_an_interrupted_run_is_aborted(tmp_path: Path) -> None:
    stop = {"type": "user", "message": {"role": "user", "content": [text("[Request interrupted by user]")]}}
    found = events(lines(tmp_path / "x", INIT, said("m1", text("hi")), stop, result("error_during_execution")))
    assert ends(found) == [("s1", "aborted", "error_during_execution")]


def test_compaction_and_unknown_lines(tmp_path: Path) -> None:
    scan = Scan()
    boundary = {"type": "system", "subtype": "compact_boundary"}
    path = lines(tmp_path / "x", INIT, said("m1", text("a")), boundary, said("m2", text("b")), {"type": "hologram"})
    assert [t.compacted for t in turns(events(path, scan))] == [False, True]
    assert dict(scan.skips.unknown) == {"claude-stream:hologram": 1}


def test_an_array_and_a_session_file_read_before(tmp_path: Path) -> None:
    path = tmp_path / "out.json"
    path.write_text(json.dumps([{"session_id": "s1", **r} for r in (INIT, said("m1", text("a")), result())]))
    assert [t.text for t in turns(events(path))] == ["a"]
    scan = Scan()
    scan.copy_of("claude-code", "m1")
    assert turns(events(path, scan)) == []
    assert scan.skips.copies == 1


def test_damage_is_a_skip(tmp_path: Path) -> None:
    path = lines(tmp_path / "x", INIT, said("m1", text("a")))
    path.write_text(path.read_text() + '\nnpm warn\n{"type": "assis')
    scan = Scan()
    assert len(turns(events(path, scan))) == 1
    assert scan.skips.total == 2


def cursor(subtype: str, call: str, name: str, batch: str | None = None, **body: Any) -> dict[str, Any]:
    line = {"type": "tool_call", "subtype": subtype, "call_id": call, "tool_call": {name: body}}
    return {**line, "model_call_id": batch} if batch else line


def piece(words: str) -> dict[str, Any]:
    return {"type": "assistant", "message": {"role": "assistant", "content": [text(words)]}}


def test_cursor_calls_that_run_together_are_one_turn(tmp_path: Path) -> None:
    ok = {"success": {"stdout": "x", "exitCode": 0, "executionTime": 12}}
    path = lines(
        tmp_path / "x",
        {**INIT, "apiKeySource": "login"},
        piece("I "),
        piece("look."),
        piece("I look."),
        cursor("started", "c1", "readToolCall", args={"path": "a"}),
        cursor("started", "c2", "shellToolCall", args={"command": "ls"}),
        cursor("completed", "c1", "readToolCall", args={"path": "a"}, result={"error": {"errorMessage": "none"}}),
        cursor("completed", "c2", "shellToolCall", args={"command": "ls"}, result=ok),
        cursor("started", "c3", "mcpToolCall", args={"toolName": "find", "args": {"q": 1}}),
        cursor("completed", "c3", "mcpToolCall", args={"toolName": "find", "args": {"q": 1}}, result=ok),
        piece("done"),
        {"type": "result", "subtype": "success", "is_error": False, "result": "done"},
    )
    found = events(path)
    assert [(t.text, [c.name for c in t.calls]) for t in turns(found)] == [
        ("I look.", ["read", "shell"]),
        ("", ["find"]),
        ("done", []),
    ]
    first = turns(found)[0]
    assert [(c.result, c.error) for c in first.calls] == [({"errorMessage": "none"}, True), (ok["success"], False)]
    assert load("claude-stream").clean_result("shell", ok["success"]) == {"stdout": "x", "exitCode": 0}
    assert ends(found) == [("s1", "done", "success")]


def test_cursor_calls_of_one_model_call_by_its_id(tmp_path: Path) -> None:
    path = lines(
        tmp_path / "x",
        INIT,
        cursor("started", "c1", "readToolCall", "k1", args={}),
        cursor("completed", "c1", "readToolCall", "k1", args={}, result={"success": {}}),
        cursor("started", "c2", "readToolCall", "k1", args={}),
        cursor("started", "c3", "readToolCall", "k2", args={}),
    )
    assert [len(t.calls) for t in turns(events(path))] == [2, 1]
