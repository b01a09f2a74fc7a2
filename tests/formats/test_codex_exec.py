"""`codex exec --json` output: turns told from the order of items, one prompt after another, failures."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from loopscan.blob import Blob, Head
from loopscan.formats import Scan, detect, load
from loopscan.model import MISSING, End, Event, Turn

Record = dict[str, Any]
STARTED: Record = {"type": "thread.started", "thread_id": "t1"}
PROMPT: Record = {"type": "turn.started"}
USAGE = {"input_tokens": 6087, "cached_input_tokens": 5120, "output_tokens": 204}
COMPLETED: Record = {"type": "turn.completed", "usage": USAGE}


def item(event: str, kind: str, number: int, **fields: Any) -> Record:
    return {"type": f"item.{event}", "item": {"id": f"item_{number}", "type": kind, **fields}}


def thinks(number: int) -> Record:
    return item("completed", "reasoning", number, text="hm")


def says(number: int, text: str) -> Record:
    return item("completed", "agent_message", number, text=text)


def starts(number: int, command: str) -> Record:
    fields = {"command": command, "aggregated_output": "", "exit_code": None, "status": "in_progress"}
    return item("started", "command_execution", number, **fields)


def ends(number: int, command: str, output: str, code: int = 0) -> Record:
    fields = {"command": command, "aggregated_output": output, "exit_code": code}
    return item("completed", "command_execution", number, **fields, status="failed" if code else "completed")


def read(path: Path, *records: Record | str, scan: Scan | None = None) -> list[Event]:
    target = path / "out.jsonl"
    target.write_text("".join((r if isinstance(r, str) else json.dumps(r)) + "\n" for r in records))
    blob = Blob(str(target), target)
    try:
        assert detect(blob.head) == "codex-exec"
        return list(load("codex-exec").read(blob, scan or Scan()))
    finally:
        blob.close()


def turns(events: list[Event]) -> list[Turn]:
    return [e for e in events if isinstance(e, Turn)]


def test_what_follows_the_results_is_the_next_turn(tmp_path: Path) -> None:
    events = read(
        tmp_path, STARTED, PROMPT, thinks(0), starts(1, "ls"), ends(1, "ls", "a"), thinks(2), says(3, "One file"),
        COMPLETED,
    )  # fmt: skip
    first, second = turns(events)
    (call,) = first.calls
    assert (call.name, call.args, call.result) == ("shell", {"command": "ls"}, {"output": "a", "exit_code": 0})
    assert (second.calls, second.text, second.usage, second.prompt) == ([], "One file", None, 2)
    note = "turn.completed, thread total 6,087 input, 5,120 cached, 204 output tokens"
    assert events[-1] == End("t1", "done", note, 8, prompt=2)


def test_calls_that_overlap_are_one_turn(tmp_path: Path) -> None:
    events = read(
        tmp_path, STARTED, PROMPT, says(0, "Both"), starts(1, "a"), starts(2, "b"), ends(2, "b", "B"),
        ends(1, "a", "A"), starts(3, "c"), ends(3, "c", "C", 2),
    )  # fmt: skip
    assert [[(c.args["command"], c.result["output"]) for c in t.calls] for t in turns(events)] == [
        [("a", "A"), ("b", "B")], [("c", "C")],
    ]  # fmt: skip
    assert turns(events)[1].calls[0].error


def test_each_prompt_is_a_run(tmp_path: Path) -> None:
    """A resumed thread writes its head again and counts its items from 0."""
    one = [PROMPT, starts(0, "ls"), ends(0, "ls", "a"), says(1, "ok"), COMPLETED]
    events = read(tmp_path, STARTED, *one, *one, STARTED, *one)
    assert [t.prompt for t in turns(events)] == [2, 2, 7, 7, 13, 13]
    assert {t.run for t in turns(events)} == {"t1"}


@pytest.mark.parametrize(
    ("message", "state"),
    [
        ("stream disconnected", "error"),
        ("Codex ran out of room in the model's context window.", "context_full"),
    ],
)
def test_a_prompt_that_failed(tmp_path: Path, message: str, state: str) -> None:
    error = {"message": message}
    events = read(tmp_path, STARTED, PROMPT, {"type": "error", **error}, {"type": "turn.failed", "error": error})
    (turn,) = turns(events)
    assert (turn.failed, turn.fault) == (True, message)
    assert events[-1] == End("t1", state, message, 4, prompt=2)


def test_an_interrupted_prompt_is_no_failed_model_call(tmp_path: Path) -> None:
    failed = {"type": "turn.failed", "error": {"message": "turn interrupted"}}
    events = read(tmp_path, STARTED, PROMPT, says(0, "a"), failed)
    assert [e.state for e in events if isinstance(e, End)] == ["aborted"]
    assert len(turns(events)) == 1


def test_an_error_is_a_retry_unless_nothing_follows(tmp_path: Path) -> None:
    retry = {"type": "error", "message": "Reconnecting... 1/5"}
    assert len(turns(read(tmp_path, STARTED, PROMPT, retry, says(0, "a"), COMPLETED))) == 1
    events = read(tmp_path, STARTED, PROMPT, says(0, "a"), retry)
    assert [t.failed for t in turns(events)] == [False, True]
    assert [e.state for e in events if isinstance(e, End)] == ["error"]


def test_other_calls_and_what_is_known_of_their_results(tmp_path: Path) -> None:
    edit = {"path": "a", "kind": "update"}
    todo = [{"text": "x", "completed": False}]
    events = read(
        tmp_path, STARTED, PROMPT,
        item("completed", "file_change", 0, changes=[edit], status="completed"),
        item("completed", "file_change", 1, changes=[{**edit, "diff": "+b"}], status="failed"),
        item("started", "mcp_tool_call", 2, server="db", tool="q", arguments={"n": 1}, status="in_progress"),
        item("completed", "mcp_tool_call", 2, server="db", tool="q", arguments={"n": 1}, status="completed",
             result={"content": [{"type": "text", "text": "r"}]}),
        item("completed", "mcp_tool_call", 3, server="db", tool="q", arguments={}, error={"message": "no"}),
        item("started", "web_search", 4, query=""), item("completed", "web_search", 4, query="tides"),
        item("started", "todo_list", 5, items=todo), item("updated", "todo_list", 5, items=todo),
        item("completed", "collab_tool_call", 6, tool="wait", agents_states={"x": "done"}),
        item("completed", "todo_list", 5, items=todo), COMPLETED,
    )  # fmt: skip
    assert [[(c.name, c.result, c.error) for c in t.calls] for t in turns(events)] == [
        [("apply_patch", MISSING, False)],
        [("apply_patch", {"status": "failed"}, True)],
        [("mcp__db__q", "r", False)],
        [("mcp__db__q", {"message": "no"}, True)],
        [("web_search", MISSING, False)],
        [("update_plan", MISSING, False)],
        [("update_plan", MISSING, False)],
        [("wait", {"x": "done"}, False)],
    ]
    assert turns(events)[4].calls[0].args == {"query": "tides"}


def test_a_command_that_never_ended_has_no_result(tmp_path: Path) -> None:
    (turn,) = turns(read(tmp_path, STARTED, PROMPT, starts(0, "sleep 9")))
    assert turn.calls[0].result is MISSING


def test_other_output_between_the_events_is_skipped(tmp_path: Path) -> None:
    scan = Scan()
    odd: list[Record | str] = ["Reading prompt from stdin...", "[1]", {"type": "turn.dreamt"}]
    odd += [item("completed", "hologram", 0), item("completed", "error", 1, message="deprecated")]
    events = read(tmp_path, STARTED, *odd, PROMPT, says(2, "a"), COMPLETED, scan=scan)
    assert len(turns(events)) == 1
    assert scan.skips.total == 2
    assert set(scan.skips.unknown) == {"codex-exec:turn.dreamt", "codex-exec:item/hologram"}


def test_sniff() -> None:
    def claims(*values: Any) -> bool:
        return load("codex-exec").sniff(Head(b"", list(values), False))

    assert claims(STARTED)
    assert claims(1, {"type": []}, thinks(0))
    assert not claims({"type": "thread.started", "thread_id": 3}, PROMPT, COMPLETED)
    assert not claims({"type": "item.completed", "item": {"id": "a", "type": {}}})
