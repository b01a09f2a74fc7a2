"""ATIF: copied steps, continuations, sub-agents, agents without function calling, the trial's result."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from loopscan.blob import Blob
from loopscan.formats import Scan, detect, load
from loopscan.model import MISSING, End, Event, Usage
from tests.formats.logs import read_log, told, turns

NAME = "atif"


def step(n: int, *calls: str, source: str = "agent", message: Any = "", **more: Any) -> dict[str, Any]:
    made = [{"tool_call_id": c, "function_name": "bash", "arguments": {"command": c}} for c in calls]
    found = {"step_id": n, "source": source, "message": message, **more}
    return found | ({"tool_calls": made} if made else {})


def seen(*results: dict[str, Any]) -> dict[str, Any]:
    return {"observation": {"results": list(results)}}


def doc(*steps: dict[str, Any], session: str | None = "s-1", **more: Any) -> dict[str, Any]:
    agent = {"name": "a", "version": "1", "model_name": "m", **more.pop("agent", {})}
    return {"schema_version": "ATIF-v1.7", "session_id": session, "agent": agent, "steps": list(steps), **more}


def read_files(*paths: Path, scan: Scan | None = None) -> list[Event]:
    scan, found = scan or Scan(), []
    for path in paths:
        blob = Blob(str(path), path)
        assert detect(blob.head) == NAME
        found += load(NAME).read(blob, scan)
        blob.close()
    return found


def test_parallel_calls_join_by_id_and_lone_results_by_order(tmp_path: Path) -> None:
    by_id = seen(
        {"source_call_id": "b", "content": "B"}, {"source_call_id": "a", "content": [{"type": "text", "text": "A"}]}
    )
    by_order = seen({"content": "C"}, {"content": "D"})
    events = read_log(
        tmp_path / "x.json", NAME, doc(step(1, "a", "b", **by_id), step(2, "c", "d", **by_order), step(3, "e"))
    )
    assert [[c.result for c in t.calls] for t in turns(events)] == [["A", "B"], ["C", "D"], [MISSING]]
    assert {(t.run, t.model) for t in turns(events)} == {("s-1", "m")}


def test_what_is_no_turn(tmp_path: Path) -> None:
    steps = [
        step(1, source="user"),
        step(2, "a", is_copied_context=True),
        step(3, source="system", extra={"context_management": {"type": "compaction"}}),
        step(4, "b", llm_call_count=0),
        step(5, "c"),
        step(6, message="hm", llm_call_count=3),
    ]
    events = turns(read_log(tmp_path / "x.json", NAME, doc(*steps)))
    assert [(t.calls[0].id if t.calls else t.text, t.compacted) for t in events] == [("c", True), ("hm", False)]


def test_a_delegation_whose_answer_lies_elsewhere_equals_nothing(tmp_path: Path) -> None:
    steps = [
        step(1, "a", **seen({"source_call_id": "a", "content": None, "subagent_trajectory_ref": [{"session_id": "x"}]}))
    ]
    (turn,) = turns(read_log(tmp_path / "x.json", NAME, doc(*steps)))
    assert turn.calls[0].result is MISSING


@pytest.mark.parametrize(
    ("metrics", "usage"),
    [
        (
            {"prompt_tokens": 100, "completion_tokens": 5, "cached_tokens": 60, "cost_usd": 0.5},
            Usage(100, 5, 60, usd=0.5),
        ),
        ({"prompt_tokens": 100, "completion_tokens": 5, "cost_usd": 0}, Usage(100, 5)),
        ({"prompt_tokens": 9, "extra": {"cache_creation_input_tokens": 4}}, Usage(9, None, None, 4)),
        (None, None),
    ],
)
def test_usage(tmp_path: Path, metrics: Any, usage: Usage | None) -> None:
    assert turns(read_log(tmp_path / "x.json", NAME, doc(step(1, "a", metrics=metrics))))[0].usage == usage


def test_commands_in_the_message_are_one_call(tmp_path: Path) -> None:
    command = json.dumps({"analysis": "x", "plan": "y", "commands": [{"keystrokes": "ls\n"}], "task_complete": False})
    events = read_log(
        tmp_path / "x.json", NAME, doc(step(1, message=command, **seen({"content": "a.py"})), step(2, message="ok"))
    )
    assert next(iter(told(events).values())) == [[("message", command, "a.py")], "ok"]
    assert load(NAME).COSMETIC_ARGS["message"] >= {"analysis", "plan"}


@pytest.mark.parametrize(
    ("last", "note"),
    [
        (step(2, message="<function=finish>\n</function>"), "<function=finish>"),
        (step(2, message='{"commands": [], "task_complete": true}', **seen({"content": ""})), "task_complete"),
        ({**step(2), "tool_calls": [{"tool_call_id": "f", "function_name": "finish", "arguments": {}}]}, "finish"),
        (step(2, "a"), None),
    ],
)
def test_the_agents_own_finish(tmp_path: Path, last: dict[str, Any], note: str | None) -> None:
    events = read_log(tmp_path / "x.json", NAME, doc(step(1, "a"), last))
    assert [(e.state, e.note) for e in events if isinstance(e, End)] == ([("done", note)] if note else [])


def chain(path: Path) -> list[Path]:
    path.mkdir()
    copied = step(1, "a", is_copied_context=True)
    parts = {
        "trajectory.json": doc(step(1, "a"), continued_trajectory_ref="trajectory.cont-1.json"),
        "trajectory.cont-1.json": doc(
            copied,
            step(2, "b"),
            agent={"extra": {"continuation_index": 1}},
            continued_trajectory_ref="trajectory.cont-2.json",
        ),
        "trajectory.cont-2.json": doc(
            copied, step(3, "c", message="<function=finish>"), agent={"extra": {"continuation_index": 2}}
        ),
    }
    for name, value in parts.items():
        (path / name).write_text(json.dumps(value, indent=1))
    return [path / name for name in parts]


def test_a_chain_is_read_at_its_start_in_order(tmp_path: Path) -> None:
    scan = Scan()
    events = read_files(*sorted(chain(tmp_path / "agent")), scan=scan)
    assert [(t.calls[0].id, t.compacted) for t in turns(events)] == [("a", False), ("b", True), ("c", True)]
    assert [type(e) for e in events][-1] is End
    assert scan.skips.copies == 2


def test_a_broken_chain_is_read_as_far_as_it_goes(tmp_path: Path) -> None:
    base, first, second = chain(tmp_path / "agent")
    first.unlink()
    assert [t.calls[0].id for t in turns(read_files(base))] == ["a"]
    assert [t.calls[0].id for t in turns(read_files(second))] == ["c"]
    first.write_text("{")
    scan = Scan()
    assert len(turns(read_files(base, scan=scan))) == 1
    assert scan.skips.total == 1


@pytest.mark.parametrize("ref", ["../x.json", "/etc/passwd", "trajectory.json", "", 3, None])
def test_a_reference_leads_nowhere_else(tmp_path: Path, ref: Any) -> None:
    path = tmp_path / "trajectory.json"
    path.write_text(json.dumps(doc(step(1, "a"), continued_trajectory_ref=ref)))
    assert len(turns(read_files(path))) == 1


def test_sub_agents_are_runs_of_their_own(tmp_path: Path) -> None:
    inner = doc(step(1, "x", message="<function=finish>"), session=None, trajectory_id="t-2")
    nameless = doc(step(1, "y"), session=None)
    main = doc(step(1, "a"), subagent_trajectories=[inner, nameless])
    apart = doc(step(1, "z"), session="s-9", agent={"extra": {"parent_session_id": "s-1"}})
    events = read_log(tmp_path / "x.json", NAME, main, apart)
    assert [(t.run, t.parent) for t in turns(events)] == [
        ("s-1", None),
        ("t-2", "s-1"),
        ("s-1/sub2", "s-1"),
        ("s-9", "s-1"),
    ]
    assert [(e.run, e.state) for e in events if isinstance(e, End)] == [("t-2", "done")]


def test_the_same_document_twice_is_one(tmp_path: Path) -> None:
    scan = Scan()
    assert len(turns(read_log(tmp_path / "x.json", NAME, doc(step(1, "a")), doc(step(1, "a")), scan=scan))) == 1
    assert scan.skips.copies == 1


@pytest.mark.parametrize(
    ("exception", "state"),
    [
        (None, "done"),
        ({"exception_type": "AgentTimeoutError", "exception_message": "after 600 s"}, "time_cap"),
        ({"exception_type": "ContextLengthExceededError"}, "context_full"),
        ({"exception_type": "ContextWindowExceededError"}, "context_full"),
        ({"exception_type": "CancelledError"}, "aborted"),
        ({"exception_type": "NonZeroAgentExitCodeError", "exception_message": "1"}, "error"),
        ({"exception_type": "VerifierTimeoutError"}, None),
    ],
)
def test_the_trial_tells_the_end(tmp_path: Path, exception: Any, state: str | None) -> None:
    path = tmp_path / "agent" / "trajectory.json"
    path.parent.mkdir()
    path.write_text(json.dumps(doc(step(1, "a"))))
    result = {"trial_name": "t", "agent_result": None, "exception_info": exception}
    (tmp_path / "result.json").write_text(json.dumps(result))
    assert [e.state for e in read_files(path) if isinstance(e, End)] == ([state] if state else [])


def test_damage(tmp_path: Path) -> None:
    scan = Scan()
    odd = doc(step(1, "a"), {"source": {}}, {"source": "agent", "tool_calls": 3, "observation": [], "metrics": 1})
    assert len(turns(read_log(tmp_path / "x.json", NAME, odd, {"schema_version": "ATIF-v1.9"}, [1], scan=scan))) == 2
    assert scan.skips.total == 2
