"""Copilot CLI events: sends, results, prompts, sub-agents, usage and ends.

`session.usage_record` and sub-agents by `agentId` are built here from the published event types.
"""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from loopscan.blob import Blob, Head
from loopscan.formats import Scan, detect, load
from loopscan.model import MISSING, End, Event, Turn, Usage

Record = dict[str, Any]
COPILOT = load("copilot-cli")


def event(kind: str, data: Any = None, **top: Any) -> Record:
    return {"type": kind, "data": {} if data is None else data, "parentId": None, **top}


START = event("session.start", {"sessionId": "s1", "copilotVersion": "1.0.95", "selectedModel": "gpt-5-mini"})


def user(text: str = "Go on", top: Record | None = None, **data: Any) -> Record:
    return event("user.message", {"content": text, **data}, **(top or {}))


def request(call: str, command: str = "ls", name: str = "bash") -> Record:
    return {"toolCallId": call, "name": name, "arguments": {"command": command}, "intentionSummary": "List"}


def message(text: str = "", *requests: Record, top: Record | None = None, **data: Any) -> Record:
    return event("assistant.message", {"content": text, "toolRequests": list(requests), **data}, **(top or {}))


def done(call: str, content: str | None = "a.txt", top: Record | None = None, **data: Any) -> Record:
    result = {} if content is None else {"result": {"content": content}}
    return event("tool.execution_complete", {"toolCallId": call, "success": True, **result, **data}, **(top or {}))


def usage(send: str, input_: int, **more: int) -> Record:
    return event("session.usage_record", {"usage": {"apiCallId": send, "inputTokens": input_, "cost": 1, **more}})


def read(path: Path, *records: Any, scan: Scan | None = None, name: str = "events.jsonl") -> list[Event]:
    lines = []
    for i, record in enumerate(records):
        stamped = isinstance(record, dict) and "data" in record and "timestamp" not in record
        full = {**record, "id": f"e{i}", "timestamp": f"2026-09-01T12:00:{i:02d}Z"} if stamped else record
        lines.append(full if isinstance(full, str) else json.dumps(full))
    (path / name).write_text("\n".join(lines) + "\n")
    blob = Blob(str(path / name), path / name)
    try:
        assert detect(blob.head) == "copilot-cli"
        return list(COPILOT.read(blob, scan or Scan()))
    finally:
        blob.close()


def turns(events: list[Event]) -> list[Turn]:
    return [e for e in events if isinstance(e, Turn)]


def ends(events: list[Event]) -> list[tuple[str, str, str | None]]:
    return [(e.run, e.state, e.note) for e in events if isinstance(e, End)]


def test_messages_of_one_send_are_one_turn(tmp_path: Path) -> None:
    a, b = request("a"), request("b")
    events = read(
        tmp_path, START, user(), message("One", apiCallId="x"), message("two", a, b, a, apiCallId="x"), message(""),
        event("tool.execution_start", {"toolCallId": "a", "toolName": "bash", "arguments": {}}),
        done("b", "B"), done("a", "A"), message("End", apiCallId="y"), message("old style"), message("old style"),
    )  # fmt: skip
    assert [(t.text, [c.result for c in t.calls]) for t in turns(events)] == [
        ("One\ntwo", ["A", "B"]), ("End", []), ("old style", []), ("old style", []),
    ]  # fmt: skip
    assert {(t.run, t.session, t.model, t.prompt) for t in turns(events)} == {("s1", "s1", "gpt-5-mini", "2")}


@pytest.mark.parametrize(
    ("data", "want", "error"),
    [
        ({"result": {"text_result_for_llm": "x"}}, "x", False),
        ({"success": False, "error": {"message": "no such file", "code": "f"}}, "no such file", True),
        ({"success": False}, MISSING, True),
        ({"result": {"content": "x\n<shellId: 3 completed with exit code 1>"}},
         "x\n<shellId: 3 completed with exit code 1>", True),
        ({"result": {"content": "x\n<exited with exit code 0>"}}, "x\n<exited with exit code 0>", False),
    ],
)  # fmt: skip
def test_results(tmp_path: Path, data: Record, want: Any, error: bool) -> None:
    events = read(tmp_path, START, user(), message("", request("a")), done("a", None, **data))
    (call,) = turns(events)[0].calls
    assert (call.result, call.error) == (want, error)


def test_the_number_of_the_shell_is_no_part_of_a_result() -> None:
    def clean(n: int, code: int) -> Any:
        return COPILOT.clean_result("bash", f"x\n<shellId: {n} completed with exit code {code}>")

    assert clean(1, 0) == clean(27, 0)
    assert clean(1, 0) != clean(1, 1)
    assert "shellId" in COPILOT.COSMETIC_ARGS["bash"]


def test_prompts_start_runs_and_other_messages_do_not(tmp_path: Path) -> None:
    events = read(
        tmp_path, START, user(), message("a"), user("more", delivery="steering"), message("b"),
        user("go on", isAutopilotContinuation=True), user("skill text", source="skill-pdf"),
        user("<system_notification>done</system_notification>"), message("c"),
        user("next", delivery="queued", parentAgentTaskId="t"), message("d"),
        user("tick", source="schedule-1"), message("e"),
    )  # fmt: skip
    assert [t.prompt for t in turns(events)] == ["2", "2", "2", "10", "12"]


def test_sub_agents_are_runs_of_their_own(tmp_path: Path) -> None:
    """Told by `agentId`; before that by `parentToolCallId`; the two may stand together."""
    top = {"agentId": "ag"}
    events = read(
        tmp_path, START, user(), message("", request("task1", name="task"), request("task2", name="task")),
        user("look", top=top, source="agent-ag"), message("", request("x"), top=top, parentToolCallId="task1"),
        done("x", "X", parentToolCallId="task1"), message("found", top=top),
        message("also", parentToolCallId="task2"), event("subagent.completed", {"toolCallId": "task1"}),
        done("task1", "found"), done("task2", "also"), message("ok"),
    )  # fmt: skip
    by_run: dict[str, list[Turn]] = {}
    for turn in turns(events):
        by_run.setdefault(turn.run, []).append(turn)
    assert {run: len(found) for run, found in by_run.items()} == {"s1": 2, "sub:ag": 2, "sub:task2": 1}
    assert {(t.parent, t.prompt) for t in by_run["sub:ag"]} == {("s1", None)}
    assert by_run["sub:ag"][0].calls[0].result == "X"


def test_usage_is_joined_by_the_call_to_the_model(tmp_path: Path) -> None:
    events = read(
        tmp_path, START, user(), usage("x", 500, outputTokens=20, cacheReadTokens=400, maxPromptTokens=64000),
        message("a", apiCallId="x", outputTokens=20), message("b", apiCallId="y", outputTokens=7),
        usage("y", 600, cacheWriteTokens=90), usage("compaction", 9000), message("c", apiCallId="z", outputTokens=3),
        event("session.shutdown", {"shutdownType": "routine", "modelMetrics": {"m": {"usage": {"inputTokens": 9}}}}),
    )  # fmt: skip
    assert [t.usage for t in turns(events)] == [Usage(500, 20, 400), Usage(600, None, None, 90), None]
    assert turns(events)[0].window == 64000
    assert ends(events) == []


def test_models_and_windows_hold_until_changed(tmp_path: Path) -> None:
    events = read(
        tmp_path, START, user(), message("a"), event("session.model_change", {"newModel": "gpt-4.1"}), message("b"),
        message("c", model="o4"), event("session.compaction_start", {"tokenLimit": 90000}),
        event("session.compaction_complete", {"success": True}), message("d"), message("e"),
    )  # fmt: skip
    assert [t.model for t in turns(events)] == ["gpt-5-mini", "gpt-4.1", "o4", "gpt-4.1", "gpt-4.1"]
    assert [t.compacted for t in turns(events)] == [False, False, False, True, False]
    assert turns(events)[3].window == 90000


@pytest.mark.parametrize(
    ("last", "want"),
    [
        ([event("abort", {"reason": "user_initiated"})], [("s1", "aborted", "user_initiated")]),
        ([event("session.task_complete", {"summary": "x"})], [("s1", "done", "task_complete")]),
        ([event("session.task_complete", {"success": False})], []),
        ([event("session.task_complete", {"outcome": "blocked"})], []),
        ([event("session.shutdown", {"shutdownType": "error"})], [("s1", "error", "shutdown: error")]),
        ([event("session.shutdown", {"shutdownType": "routine"})], []),
    ],
)
def test_ends(tmp_path: Path, last: list[Record], want: list[tuple[str, str, str]]) -> None:
    assert ends(read(tmp_path, START, user(), message("a"), *last)) == want


@pytest.mark.parametrize(("kind", "state"), [("context_limit", "context_full"), ("query", "error")])
def test_a_model_call_that_failed(tmp_path: Path, kind: str, state: str) -> None:
    error = event("session.error", {"errorType": kind, "message": "too much"})
    events = read(tmp_path, START, user(), message("a"), error)
    assert [(t.failed, t.fault) for t in turns(events)][1] == (True, f"{kind}: too much")
    assert ends(events) == [("s1", state, f"{kind}: too much")]
    assert ends(read(tmp_path, START, user(), error, message("it went on"))) == []
    assert len(turns(read(tmp_path, START, error, user(), message("a")))) == 1


def test_a_resumed_session_goes_on(tmp_path: Path) -> None:
    resumed = event("session.resume", {"resumeTime": "x", "selectedModel": "gpt-5"})
    events = read(tmp_path, START, user(), message("a"), event("session.shutdown"), resumed, user(), message("b"))
    assert [(t.run, t.prompt, t.model) for t in turns(events)] == [("s1", "2", "gpt-5-mini"), ("s1", "6", "gpt-5")]


def test_a_copied_session_counts_once(tmp_path: Path) -> None:
    scan = Scan()
    log = [START, user(), message("a"), message("a")]
    assert len(turns(read(tmp_path, *log, scan=scan))) == 2
    assert turns(read(tmp_path, *log, scan=scan, name="copy.jsonl")) == []
    assert scan.skips.copies == 2


def test_damage_and_unknown_types(tmp_path: Path) -> None:
    scan = Scan()
    odd = [[1], '{"cut', {"type": "user.message"}, event("dream.started"), event("hook.start"), event("assistant.nods")]
    events = read(tmp_path, START, *odd, user(), message("a"), scan=scan)
    assert len(turns(events)) == 1
    assert scan.skips.total == 3
    assert set(scan.skips.unknown) == {"copilot-cli:dream.started", "copilot-cli:assistant.nods"}


def test_the_folder_names_the_session_where_its_start_is_lost(tmp_path: Path) -> None:
    (tmp_path / "s9").mkdir()
    assert [t.run for t in turns(read(tmp_path / "s9", user(), message("a")))] == ["s9"]
    assert [t.run for t in turns(read(tmp_path, user(), message("a"), name="s8.jsonl"))] == ["s8"]


def test_sniff() -> None:
    def claims(*values: Any) -> bool:
        return COPILOT.sniff(Head(b"", list(values), False))

    assert claims(START)
    assert claims(3, {"type": {}, "data": {}}, message("a"))
    assert not claims({"type": "session.start", "data": []}, {"type": "user.message", "data": {}})
