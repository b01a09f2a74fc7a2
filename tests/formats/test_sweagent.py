"""SWE-agent: trajectories of both generations, demonstrations, attempts, and how each exit is called."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from loopscan.formats import Scan, load
from loopscan.model import MISSING, End
from tests.formats.logs import read_log, told, turns

NAME = "sweagent"


def step(action: str, observation: Any = "ok", **more: Any) -> dict[str, Any]:
    return {"action": action, "observation": observation, "response": f"I do {action}", "thought": "", **more}


def run(*steps: dict[str, Any], status: Any = "submitted", **info: Any) -> dict[str, Any]:
    return {"trajectory": list(steps), "history": [], "info": {"exit_status": status, **info}}


def ends(path: Path, doc: dict[str, Any]) -> list[tuple[str, str | None]]:
    return [(e.state, e.note) for e in read_log(path, NAME, doc) if isinstance(e, End)]


def test_the_tool_is_the_first_word_and_the_state_is_part_of_the_result(tmp_path: Path) -> None:
    old = json.dumps({"open_file": "n/a", "working_dir": "/a"})
    events = read_log(tmp_path / "x.traj", NAME, run(step("cd ..", "", state=old), step("edit 1:1\nx", "done\n")))
    assert told(events)[str(tmp_path / "x.traj")] == [
        [("cd", "cd ..", {"observation": "", "state": {"open_file": "n/a", "working_dir": "/a"}})],
        [("edit", "edit 1:1\nx", "done\n")],
        "done",
    ]


def test_entries_of_the_harness_are_no_turns(tmp_path: Path) -> None:
    stopped = [
        step("exit_cost", ""),
        {"action": "", "observation": "Exited (autosubmitted)", "response": "Exit due to cost limit"},
        {"action": "", "observation": "", "response": ""},
        step("ls"),
        step("exit_forfeit", ""),
        {"action": " ", "observation": "", "response": "I only think."},
    ]
    events = read_log(tmp_path / "x.traj", NAME, run(step("ls"), *stopped))
    assert [t.calls[0].name if t.calls else t.text for t in turns(events)] == [
        "ls",
        "ls",
        "exit_forfeit",
        "I only think.",
    ]


def test_an_observation_that_was_not_recorded_equals_nothing(tmp_path: Path) -> None:
    (turn,) = turns(read_log(tmp_path / "x.traj", NAME, run(step("ls", None))))
    assert turn.calls[0].result is MISSING
    assert turn.usage is None


@pytest.mark.parametrize(
    ("status", "state"),
    [
        ("submitted", "done"),
        ("submitted (exit_cost)", "cost_cap"),
        ("exit_cost", "cost_cap"),
        ("submitted (exit_context)", "context_full"),
        ("exit_command_timeout", "time_cap"),
        ("submitted (exit_total_execution_time)", "time_cap"),
        ("exit_format", "error"),
        ("submitted (exit_error)", "error"),
        ("exit_api", "error"),
        ("exit_environment_error", "error"),
        ("exit_forfeit", "done"),
        ("early_exit", "cut"),
        ("skipped", "aborted"),
        ("something new", "error"),
    ],
)
def test_exit_status(tmp_path: Path, status: str, state: str) -> None:
    assert ends(tmp_path / "x.traj", run(step("ls"), status=status)) == [(state, status)]


def test_no_status_is_no_end_unless_the_last_action_is_submit(tmp_path: Path) -> None:
    assert ends(tmp_path / "a.traj", run(step("ls"), status=None)) == []
    assert ends(tmp_path / "b.traj", run(step("submit"), status=None)) == [("done", "last action: submit")]


def test_totals_stand_in_the_note(tmp_path: Path) -> None:
    stats = {"instance_cost": 1.25, "tokens_sent": 1000, "tokens_received": 20, "api_calls": 3}
    ((state, note),) = ends(tmp_path / "x.traj", run(step("ls"), status="exit_cost", model_stats=stats))
    assert state == "cost_cap"
    assert note == "exit_cost; totals in the log: 3 model calls, 1000 input and 20 output tokens, $1.25"


def test_a_demonstration_is_read_from_its_history(tmp_path: Path) -> None:
    history = [
        {"role": "system", "content": "s", "agent": "main"},
        {"role": "user", "content": "task", "agent": "main"},
        {"role": "assistant", "content": "shown", "action": "old", "agent": "main", "is_demo": True},
        {"role": "user", "content": "old result", "agent": "main"},
        {"role": "assistant", "content": "look", "action": "ls", "agent": "main"},
        {"role": "tool", "content": [{"type": "text", "text": "a.py"}], "agent": "main"},
        {"role": "assistant", "content": "end", "action": "submit", "agent": "main"},
    ]
    events = read_log(tmp_path / "x.traj", NAME, {"history": history})
    assert list(told(events).values()) == [[[("ls", "ls", "a.py")], [("submit", "submit", "MISSING")], "done"]]


def test_attempts_are_runs_of_their_own(tmp_path: Path) -> None:
    doc = {"attempts": [run(step("ls"), status="exit_cost"), run(step("ls"), step("submit"))], "info": {}}
    path = tmp_path / "x.traj"
    assert {r: len(t) for r, t in told(read_log(path, NAME, doc)).items()} == {f"{path}#1": 2, f"{path}#2": 3}


def test_the_model_comes_from_the_replay_config(tmp_path: Path) -> None:
    doc = run(step("ls")) | {"replay_config": json.dumps({"agent": {"model": {"name": "gpt-4o"}}})}
    assert turns(read_log(tmp_path / "x.traj", NAME, doc))[0].model == "gpt-4o"


def test_shell_line_numbers_are_no_progress() -> None:
    clean = load(NAME).clean_result
    one = {"observation": "bash: line 12: foo: command not found", "state": {}}
    two = {"observation": "bash: line 13: foo: command not found", "state": {}}
    assert clean("foo", one) == clean("foo", two)
    assert clean("x", "/bin/bash: line 3: y") == "/bin/bash: line N: y"
    for kept in ("run.sh: line 12: foo", "line 12: foo", {"observation": None}, None):
        assert clean("foo", kept) == kept


@pytest.mark.parametrize(
    "doc", [[], 3, {"trajectory": [{"action": 1}]}, {"history": [1]}, {"trajectory": 3, "info": {}}]
)
def test_other_documents_are_not_claimed(tmp_path: Path, doc: Any) -> None:
    with pytest.raises(AssertionError):
        read_log(tmp_path / "x.traj", NAME, doc)


def test_values_that_are_no_object_are_skips(tmp_path: Path) -> None:
    scan = Scan()
    assert len(turns(read_log(tmp_path / "x.traj", NAME, run(step("ls")), 3, "{", scan=scan))) == 1
    assert scan.skips.total == 2
