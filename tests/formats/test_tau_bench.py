"""tau-bench: ids that repeat inside a run, calls written as text, and how a trial ends."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from loopscan.formats import Scan
from loopscan.model import End
from tests.formats.logs import read_log, told, turns

NAME = "tau-bench"


def asks(name: str, call_id: str | None = "c") -> dict[str, Any]:
    call = {"type": "function", "function": {"name": name, "arguments": "{}"}} | ({"id": call_id} if call_id else {})
    return {"role": "assistant", "content": None, "tool_calls": [call]}


def gives(content: str, call_id: str | None = "c") -> dict[str, Any]:
    return {"role": "tool", "content": content} | ({"tool_call_id": call_id} if call_id else {})


def says(content: str) -> dict[str, Any]:
    return {"role": "assistant", "content": content}


def user(content: str) -> dict[str, Any]:
    return {"role": "user", "content": content}


def trial(*traj: dict[str, Any], task: Any = 0, number: Any = 0, **info: Any) -> dict[str, Any]:
    return {"task_id": task, "trial": number, "reward": 0.0, "info": info, "traj": list(traj)}


def test_results_join_in_order_although_ids_repeat(tmp_path: Path) -> None:
    traj = [user("hi"), asks("f"), gives("1"), asks("f"), gives("Error: no"), says("so"), user("###STOP###")]
    assert told(read_log(tmp_path / "x.json", NAME, [trial(*traj)])) == {
        "0/0": [[("f", "{}", "1")], [("f", "{}", "Error: no", "error")], "so", "done"]
    }


def test_results_without_ids_join_by_order(tmp_path: Path) -> None:
    events = read_log(
        tmp_path / "x.json", NAME, [trial(asks("f", None), gives("1", None), asks("f", None), gives("2", None))]
    )
    assert [t.calls[0].result for t in turns(events)] == ["1", "2"]


def test_calls_written_as_text(tmp_path: Path) -> None:
    traj = [
        user("hi"),
        says('Thought: look\nAction:\n{"name": "find", "arguments": {"id": 1}}'),
        user("API output: Error: none"),
        says('Action:\n{"name": "respond", "arguments": {"content": "sorry"}}'),
        user("bye"),
        says("Action: not json"),
    ]
    found = told(read_log(tmp_path / "x.json", NAME, [trial(*traj)]))["0/0"]
    assert found[0] == [("find", {"id": 1}, "Error: none", "error")]
    assert found[1:] == [traj[3]["content"], traj[5]["content"], "cut"]


@pytest.mark.parametrize(
    ("value", "state"),
    [
        (trial(says("x"), user("thanks ###STOP###")), "done"),
        (trial(asks("transfer_to_human_agents"), gives("Transfer successful")), "done"),
        (trial(asks("transfer_to_human_agents")), "cut"),
        (trial(says("x"), user("go on")), "cut"),
        (trial(says("x")), "cut"),
        (trial(error="boom", traceback="t"), "error"),
    ],
)
def test_ends(tmp_path: Path, value: dict[str, Any], state: str) -> None:
    assert [e.state for e in read_log(tmp_path / "x.json", NAME, [value]) if isinstance(e, End)] == [state]


def test_trials_of_several_files_stay_apart(tmp_path: Path) -> None:
    scan = Scan()
    one = [trial(says("a")), trial(says("b"), number=1), trial(says("c"))]
    first = told(read_log(tmp_path / "gpt.json", NAME, one, scan=scan))
    second = told(read_log(tmp_path / "opus.json", NAME, [trial(says("d"))], scan=scan))
    assert list(first) == ["0/0", "0/1", f"{tmp_path / 'gpt.json'}#0/0"]
    assert list(second) == [f"{tmp_path / 'opus.json'}#0/0"]


def test_damage(tmp_path: Path) -> None:
    scan = Scan()
    assert len(turns(read_log(tmp_path / "x.json", NAME, [trial(says("a")), 3, {"traj": 1}], scan=scan))) == 1
    assert scan.skips.total == 2
