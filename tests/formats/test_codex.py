"""Codex rollouts of all three generations: turns, calls, results, runs and their ends.

The first generation and `item_completed` logs are built here from the described records; the second is checked
against real files by `test_golden.py` too.
"""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from loopscan.blob import Head
from loopscan.formats import Scan, load
from loopscan.model import End
from tests.formats.rollouts import (
    OWN,
    Record,
    at,
    calls,
    done,
    ends,
    event,
    gives,
    item,
    meta,
    read,
    says,
    thread,
    tokens,
    turns,
    used,
    user,
)  # fmt: skip

CODEX = load("codex")
MESSAGE = {"type": "message", "content": [{"type": "input_text", "text": "List the files"}]}


def asked(events: list[Any]) -> list[list[str]]:
    return [[c.name for c in t.calls] for t in turns(events)]


def test_first_generation_has_bare_items(tmp_path: Path) -> None:
    flat: list[Record] = [
        {"id": OWN, "timestamp": "2025-07-01T10:00:00.000Z", "instructions": None, "git": {}},
        {**MESSAGE, "role": "user", "content": [{"type": "input_text", "text": "<environment_context>x"}]},
        {"record_type": "state"},
        {**MESSAGE, "role": "user"},
        {"record_type": "state"},
        {"type": "reasoning", "summary": [{"type": "summary_text", "text": "hm"}]},
        {"type": "function_call", "name": "shell", "arguments": '{"command":["ls"]}', "call_id": "a"},
        {"type": "function_call_output", "call_id": "a", "output": '{"output":"x","metadata":{"exit_code":1}}'},
        {"type": "reasoning", "summary": []},
        {"type": "local_shell_call", "call_id": "b", "action": {"type": "exec", "command": ["ls"]}},
        {"type": "function_call_output", "call_id": "b", "output": "y"},
        {**MESSAGE, "role": "assistant", "content": [{"type": "output_text", "text": "Two files."}]},
        {**MESSAGE, "role": "user"},
        {**MESSAGE, "role": "assistant", "content": [{"type": "output_text", "text": "Welcome."}]},
    ]
    events = read(tmp_path / "r.jsonl", flat)
    assert asked(events) == [["shell"], ["local_shell"], [], []]
    assert [t.prompt for t in turns(events)] == [4, 4, 4, 13]
    assert [(t.run, t.text, t.usage, t.time) for t in turns(events)][2:] == [
        (OWN, "Two files.", None, None), (OWN, "Welcome.", None, None),
    ]  # fmt: skip
    assert turns(events)[0].calls[0].error


def test_without_counts_an_item_after_a_result_is_the_next_turn(tmp_path: Path) -> None:
    log = [
        meta(),
        user(1),
        says(2, "I look"),
        calls(2, "a"),
        calls(2, "b"),
        gives(3, "b"),
        gives(3, "a"),
        says(4, "ok"),
    ]
    events = read(tmp_path / "r.jsonl", log)
    assert asked(events) == [["shell_command"] * 2, []]
    assert [t.text for t in turns(events)] == ["I look", "ok"]


def test_each_prompt_is_a_run_and_steering_is_none(tmp_path: Path) -> None:
    log = [
        meta(), event(1, "task_started", model_context_window=400000), user(1), says(2, "a"), used(2, "r", tokens(5)),
        user(3, "Also the tests"), says(4, "b"), event(5, "task_complete", last_agent_message="b"),
        event(60, "task_started"), done(60, type="UserMessage", content=[]), says(61, "c"),
        event(62, "turn_aborted", reason="budget_limited"),
        event(70, "task_started"), says(71, "goal goes on"), event(72, "task_complete"),
    ]  # fmt: skip
    events = read(tmp_path / "r.jsonl", log)
    assert [t.prompt for t in turns(events)] == [3, 3, 10, 13]
    assert [e.prompt for e in events if isinstance(e, End)] == [3, 10, 13]
    assert ends(events) == [("done", "task_complete"), ("token_cap", "budget_limited"), ("done", "task_complete")]
    assert turns(events)[0].window == 400000


@pytest.mark.parametrize(
    ("info", "message", "state"),
    [
        ("context_window_exceeded", "Codex ran out of room in the model's context window.", "context_full"),
        ({"http_connection_failed": {"http_status_code": 502}}, "bad gateway", "error"),
    ],
)
@pytest.mark.parametrize("where", ["error", "task_complete"])
def test_a_model_call_that_failed(tmp_path: Path, info: Any, message: str, state: str, where: str) -> None:
    error = {"message": message, "codex_error_info": info}
    last = [event(5, "error", **error), event(6, "task_complete")] if where == "error" else []
    last = last or [event(6, "task_complete", error=error)]
    events = read(tmp_path / "r.jsonl", [meta(), user(1), calls(2, "a"), gives(3, "a"), *last, user(9), says(10, "x")])
    failed = turns(events)[1]
    assert (failed.failed, failed.fault, failed.calls) == (True, message, [])
    assert ends(events) == [(state, message)]
    assert [t.prompt for t in turns(events)] == [2, 2, len(last) + 5]


def test_errors_that_are_no_sends(tmp_path: Path) -> None:
    rollback = event(3, "error", message="no", codex_error_info="thread_rollback_failed")
    early = event(0.5, "error", message="no login")
    events = read(tmp_path / "r.jsonl", [meta(), early, user(1), says(2, "a"), rollback, event(4, "task_complete")])
    assert len(turns(events)) == 1
    assert ends(events) == [("done", "task_complete")]


def test_a_task_without_turns_ends_no_run(tmp_path: Path) -> None:
    log = [meta(), event(1, "task_started"), event(2, "task_complete"), event(3, "turn_aborted", reason="replaced")]
    assert read(tmp_path / "r.jsonl", log) == []


def test_the_model_may_change_between_turns(tmp_path: Path) -> None:
    settings = event(4, "thread_settings_applied", thread_settings={"model": "gpt-5.6-sol"})
    log = [meta(), at(1, "turn_context", {"model": "gpt-5.1"}), user(1), says(2, "a"), settings, user(5), says(6, "b")]
    assert [t.model for t in turns(read(tmp_path / "r.jsonl", log))] == ["gpt-5.1", "gpt-5.6-sol"]


def test_damage_is_located_and_unknown_types_are_counted(tmp_path: Path) -> None:
    scan = Scan()
    log = [
        meta(),
        "[1]",
        '{"type":"event_msg"}',
        '{"cut',
        item(1, "hologram"),
        event(1, "sneeze"),
        at(1, "aura", {}),
        user(2),
    ]
    events = read(tmp_path / "r.jsonl", [*log, says(3, "a")], scan)
    assert len(turns(events)) == 1
    assert scan.skips.total == 3
    assert set(scan.skips.unknown) == {"codex:response_item/hologram", "codex:event_msg/sneeze", "codex:aura"}


def test_the_run_is_named_by_the_file_where_its_header_is_lost(tmp_path: Path) -> None:
    path = tmp_path / f"rollout-2026-09-01T12-00-00-{thread(0, 7)}.jsonl"
    assert [t.run for t in turns(read(path, ['{"timestamp":"2026-0', user(1), says(2, "a")]))] == [thread(0, 7)]


def test_sniff() -> None:
    def claims(*values: Any) -> bool:
        return CODEX.sniff(Head(b"", list(values), False))

    assert claims(3, {"type": []}, {"type": "event_msg", "payload": {}})
    assert claims({"id": "x", "timestamp": "t", "instructions": None}, {"record_type": "state"})
    assert not claims({"id": "x", "timestamp": "t", "instructions": None})
    assert not claims({"type": "message", "role": "user", "content": []}, {"type": "function_call", "call_id": "a"})
    assert not claims({"type": "event_msg", "payload": "text"})


def test_written_counts_what_the_model_wrote(tmp_path: Path) -> None:
    log = [meta(), user(1), item(2, "reasoning", summary=[{"text": "abc"}]), says(2, "de"), calls(2, "a", "ls", "sh")]
    (turn,) = turns(read(tmp_path / "r.jsonl", log))
    assert turn.written == 3 + 2 + len("sh") + len(json.dumps({"command": "ls"}))
