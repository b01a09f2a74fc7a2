"""Qwen Code: joined results, failed sends in telemetry, sub-agents, branches, turn results."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from loopscan.formats import Scan
from loopscan.model import Usage
from tests.formats.sessions import calls, ends, lines, prompts, read, turns


def record(n: int, kind: str, *parts: Any, **more: Any) -> dict[str, Any]:
    listed = [{"text": p} if isinstance(p, str) else p for p in parts]
    stamp = f"2026-09-01T10:00:{n:02d}Z"
    base = {"uuid": f"u{n}", "parentUuid": None, "sessionId": "s1", "timestamp": stamp, "type": kind}
    return base | ({"message": {"role": kind, "parts": listed}} if parts else {}) | more


def call(key: str, name: str = "ls", **args: Any) -> dict[str, Any]:
    return {"functionCall": {"id": key, "name": name, "args": args}}


def back(n: int, key: str, status: str = "success", **response: Any) -> dict[str, Any]:
    part = {"functionResponse": {"id": key, "name": "ls", "response": response}}
    return record(n, "tool_result", part, toolCallResult={"callId": key, "status": status})


def system(n: int, subtype: str, **payload: Any) -> dict[str, Any]:
    return record(n, "system", subtype=subtype, systemPayload=payload)


def api_error(n: int, prompt: str = "s1########0", text: str = "503 busy") -> dict[str, Any]:
    event = {"event.name": "qwen-code.api_error", "error_message": text, "prompt_id": prompt, "model": "m"}
    return system(n, "ui_telemetry", uiEvent=event)


def test_turns_results_and_usage(tmp_path: Path) -> None:
    usage = {"promptTokenCount": 100, "candidatesTokenCount": 9, "thoughtsTokenCount": 4, "cachedContentTokenCount": 70}
    answer = record(
        2, "assistant", {"text": "hm", "thought": True}, call("a"), call("b"), model="m", contextWindowSize=1000
    )
    answer["usageMetadata"] = usage | {"totalTokenCount": 109}
    log = [record(1, "user", "go"), answer, back(3, "b", output="B"), back(4, "a", "error", error="A")]
    found = read(lines(tmp_path / "x.jsonl", *log, record(5, "assistant", "Done.")), "qwen")
    first, last = turns(found)
    assert calls(found) == [[("ls", "A"), ("ls", "B")], []]
    assert ([c.error for c in first.calls], first.text, last.text) == ([True, False], "", "Done.")
    assert (first.usage, last.usage) == (Usage(100, 9, 70), None)
    assert (first.run, first.prompt, first.model, first.window) == ("s1", "u1", "m", 1000)


def test_what_is_no_prompt(tmp_path: Path) -> None:
    log = [record(1, "user", "go"), record(2, "assistant", call("a")), back(3, "a", output="A")]
    log += [record(4, "user", "wait", subtype="mid_turn_user_message"), record(5, "assistant", "ok")]
    log += [record(6, "user", "task ended", subtype="notification"), record(7, "assistant", "seen")]
    log += [record(8, "user", "tick", subtype="cron"), record(9, "assistant", "done")]
    assert prompts(read(lines(tmp_path / "x.jsonl", *log), "qwen")) == ["u1", "u1", "u1", "u8"]


@pytest.mark.parametrize(
    ("after", "failed"),
    [
        ([api_error(3)], [False, True]),
        ([api_error(3), record(4, "user", "again"), record(5, "assistant", "ok")], [False, True, False]),
        ([api_error(3), record(4, "assistant", "ok")], [False, False]),
        ([api_error(3, prompt="title-generation")], [False]),
    ],
)
def test_a_failed_send_that_was_not_retried(tmp_path: Path, after: list[Any], failed: list[bool]) -> None:
    log = [record(0, "user", "go"), record(1, "assistant", call("a")), back(2, "a", output="A"), *after]
    found = read(lines(tmp_path / "x.jsonl", *log), "qwen")
    assert [t.failed for t in turns(found)] == failed
    assert ends(found) == ([("error", "503 busy")] if True in failed else [])


def test_a_failed_side_query_after_the_answer_is_none_of_the_run(tmp_path: Path) -> None:
    found = read(
        lines(tmp_path / "x.jsonl", record(0, "user", "go"), record(1, "assistant", "ok"), api_error(2)), "qwen"
    )
    assert [t.failed for t in turns(found)] == [False]


@pytest.mark.parametrize(
    ("payload", "state"),
    [
        ({"state": "completed", "stopReason": "end_turn"}, "done"),
        ({"state": "cancelled", "stopReason": "cancelled"}, "aborted"),
        ({"state": "completed", "stopReason": "max_turn_requests"}, "turn_cap"),
        ({"state": "error", "error": {"message": "maximum context length is 1000"}}, "context_full"),
        ({"state": "error", "error": {"message": "boom"}}, "error"),
    ],
)
def test_turn_results(tmp_path: Path, payload: dict[str, Any], state: str) -> None:
    log = [record(0, "user", "go"), record(1, "assistant", "ok"), system(2, "turn_result", promptId="p", **payload)]
    assert [s for s, _ in ends(read(lines(tmp_path / "x.jsonl", *log), "qwen"))] == [state]


def test_sub_agents_branches_and_compression(tmp_path: Path) -> None:
    agent = {"agentId": "explore-7f3c", "isSidechain": True}
    log = [record(1, "user", "go"), record(2, "assistant", "old", forkedFrom={"sessionId": "s0"})]
    log += [record(3, "user", "look", **agent), record(4, "assistant", "seen", **agent)]
    log += [system(5, "chat_compression", info={}), record(6, "assistant", "Done.")]
    scan = Scan()
    found = read(lines(tmp_path / "x.jsonl", *log), "qwen", scan)
    view = [(t.run, t.parent, t.prompt, t.compacted) for t in turns(found)]
    assert sorted(view) == [("s1", None, "u1", True), ("s1/explore-7f3c", "s1", None, False)]
    assert scan.skips.copies == 1


def test_values_glued_on_one_line_and_copies(tmp_path: Path) -> None:
    import json

    glued = json.dumps(record(1, "user", "go")) + json.dumps(record(2, "assistant", "ok"))
    scan = Scan()
    assert len(turns(read(lines(tmp_path / "x.jsonl", glued), "qwen", scan))) == 1
    assert turns(read(lines(tmp_path / "y.jsonl", glued), "qwen", scan)) == []
