"""OpenHands V0: joining by cause and by order, usage from four places, and what ends are called."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from loopscan.formats import Scan
from loopscan.formats.openhands_v0 import COSMETIC_ARGS
from loopscan.model import End, Usage
from tests.formats.logs import read_log, told, turns

NAME = "openhands-v0"


def act(number: int, name: str = "run", reply: str | None = None, source: str = "agent", **more: Any) -> dict[str, Any]:
    event = {
        "id": number,
        "timestamp": "2026-01-01T00:00:00",
        "source": source,
        "action": name,
        "args": {"command": "ls"},
    }
    if reply is not None:
        event["tool_call_metadata"] = {"model_response": {"id": reply, "model": "m", **more.pop("response", {})}}
    return event | more


def saw(cause: int | None, content: str = "a.py", name: str = "run", **extras: Any) -> dict[str, Any]:
    event = {"source": "agent", "observation": name, "content": content, "extras": extras}
    return event | ({"cause": cause} if cause is not None else {})


def row(*events: Any, **more: Any) -> dict[str, Any]:
    return {"instance_id": "i-1", "history": list(events), **more}


def short(path: Path, value: Any) -> list[Any]:
    return next(iter(told(read_log(path, NAME, value)).values()))


LS = {"command": "ls"}


def test_results_join_by_cause_in_any_order(tmp_path: Path) -> None:
    events = [act(1, reply="r1"), act(2, reply="r1"), saw(2, "two"), saw(1, "one"), act(3, reply="r2"), saw(3, "three")]
    assert short(tmp_path / "x.json", events) == [
        [("run", LS, "one"), ("run", LS, "two")],
        [("run", LS, "three")],
    ]


def test_without_ids_an_observation_follows_its_action(tmp_path: Path) -> None:
    task = {"action": "message", "content": "do it", "wait_for_response": False}
    first = {"action": "run", "command": "ls", "thought": "t", "action_risk": None}
    seen = {"observation": "run", "content": "no", "exit_code": 2}
    end = {"action": "finish", "outputs": {}, "thought": "done"}
    value = {"issue": {}, "history": [task, first, seen, {"observation": "null", "content": "x"}, end], "error": None}
    assert short(tmp_path / "x.jsonl", value) == [
        [("run", {"command": "ls", "thought": "t", "action_risk": None}, {"content": "no", "exit_code": 2}, "error")],
        [("finish", {"outputs": {}, "thought": "done"}, "MISSING")],
        "done",
    ]


def test_pairs_are_laid_flat(tmp_path: Path) -> None:
    assert short(tmp_path / "x.jsonl", row([act(1), saw(1)], [act(2), saw(2, "b")])) == [
        [("run", LS, "a.py")],
        [("run", LS, "b")],
    ]


@pytest.mark.parametrize(
    ("observation", "result", "error"),
    [
        (saw(1, metadata={"exit_code": 0}), "a.py", False),
        (saw(1, metadata={"exit_code": -1}), "a.py", False),
        (saw(1, metadata={"exit_code": 1}), {"content": "a.py", "exit_code": 1}, True),
        (saw(1, "ERROR:\nno such file", "edit"), "ERROR:\nno such file", True),
        (saw(1, "unknown tool", "error"), "unknown tool", True),
        (saw(1, "no", "user_rejected"), "no", True),
    ],
)
def test_what_came_back(tmp_path: Path, observation: dict[str, Any], result: Any, error: bool) -> None:
    (turn,) = turns(read_log(tmp_path / "x.json", NAME, row(act(1), observation)))
    assert (turn.calls[0].result, turn.calls[0].error) == (result, error)


def test_what_is_no_turn(tmp_path: Path) -> None:
    quiet = [act(0, "system"), act(1, "recall", source="user"), act(2, "change_agent_state"), act(3, source="user")]
    rejected = {"source": "agent", "observation": "error", "content": "could not parse the reply"}
    value = row(*quiet, act(4), saw(4), rejected, act(5, "condensation"), act(6))
    events = turns(read_log(tmp_path / "x.jsonl", NAME, value))
    assert [(len(t.calls), t.compacted) for t in events] == [(1, False), (1, True)]
    assert events[0].calls[0].result == "a.py"


def test_a_message_of_the_agent_is_a_turn_of_text(tmp_path: Path) -> None:
    value = row(act(1, "message", source="user", args={"content": "hi"}), act(2, "message", args={"content": "hello"}))
    assert short(tmp_path / "x.jsonl", value) == ["hello"]


USAGE = {"prompt_tokens": 100, "completion_tokens": 5, "prompt_tokens_details": {"cached_tokens": 60}}
LISTED = {"prompt_tokens": 70, "completion_tokens": 4, "cache_read_tokens": 30, "cache_write_tokens": 10}


def running(prompt: int, output: int, cost: float) -> dict[str, Any]:
    total = {"prompt_tokens": prompt, "completion_tokens": output, "cache_read_tokens": 0, "cache_write_tokens": 0}
    return {"accumulated_cost": cost, "accumulated_token_usage": total}


@pytest.mark.parametrize(
    ("events", "metrics", "usages"),
    [
        (
            [act(1, reply="r", response={"usage": {**USAGE, "cache_creation_input_tokens": 20}})],
            {},
            [Usage(100, 5, 60, 20)],
        ),
        (
            [act(1, reply="r"), act(2, reply="s")],
            {"token_usages": [{**LISTED, "response_id": "s"}]},
            [None, Usage(70, 4, 30, 10)],
        ),
        (
            [act(1, reply="r")],
            {"token_usages": [{**LISTED, "response_id": "r"}], "costs": [{"model": "m", "cost": 0.5}]},
            [Usage(70, 4, 30, 10, usd=0.5)],
        ),
        (
            [
                act(1, reply="r", llm_metrics=running(100, 5, 0.25)),
                act(2, reply="s", llm_metrics=running(250, 8, 0.75)),
            ],
            {},
            [Usage(100, 5, 0, 0, usd=0.25), Usage(150, 3, 0, 0, usd=0.5)],
        ),
        ([act(1), act(2)], {"costs": [0.25, 0.5]}, [Usage(usd=0.25), Usage(usd=0.5)]),
        ([act(1), act(2)], {"costs": [0.25, 0.5, 0.5]}, [None, None]),
        ([act(1)], {"costs": [0.0]}, [None]),
    ],
)
def test_usage(tmp_path: Path, events: list[Any], metrics: dict[str, Any], usages: list[Usage | None]) -> None:
    assert [t.usage for t in turns(read_log(tmp_path / "x.jsonl", NAME, row(*events, metrics=metrics)))] == usages


@pytest.mark.parametrize(
    ("value", "state"),
    [
        (row(act(1), error="AgentStuckInLoopError: Agent got stuck in a loop"), "no_progress"),
        (row(act(1), error="RuntimeError: Agent reached maximum iteration. Current iteration: 3"), "turn_cap"),
        (row(act(1), error="RuntimeError: Agent reached maximum budget for conversation"), "cost_cap"),
        (row(act(1), error="LLMContextWindowExceedError: too long"), "context_full"),
        (row(act(1), error="litellm.BadRequestError: nope"), "error"),
        (row(act(1), act(2, "finish")), "done"),
        (row(act(1), saw(None, "", "agent_state_changed", agent_state="stopped")), "aborted"),
        (row(act(1), act(2, "finish"), saw(None, "", "agent_state_changed", agent_state="stopped")), "done"),
        (
            row(act(1), saw(None, "", "agent_state_changed", agent_state="error", reason="stuck in a loop")),
            "no_progress",
        ),
        (row(act(1), saw(None, "", "agent_state_changed", agent_state="running")), None),
    ],
)
def test_ends(tmp_path: Path, value: dict[str, Any], state: str | None) -> None:
    found = [e.state for e in read_log(tmp_path / "x.jsonl", NAME, value) if isinstance(e, End)]
    assert found == ([state] if state else [])


def test_a_download_with_several_user_messages_is_a_session(tmp_path: Path) -> None:
    def asks(n: int) -> dict[str, Any]:
        return act(n, "message", source="user", args={"content": "do"})

    path = tmp_path / "x.json"
    events = read_log(path, NAME, [asks(0), act(1), saw(1), act(2, "finish"), asks(3), act(4)])
    assert [t.prompt for t in turns(events)] == ["0", "0", "3"]
    assert [(e.state, e.prompt) for e in events if isinstance(e, End)] == [("done", "0")]
    assert {t.prompt for t in turns(read_log(path, NAME, [asks(0), act(1)]))} == {None}


def test_runs_are_named_by_instance_then_by_row(tmp_path: Path) -> None:
    path = tmp_path / "x.jsonl"
    events = read_log(path, NAME, row(act(1)), {"history": [act(1)]}, row(act(1)))
    assert [t.run for t in turns(events)] == ["i-1", f"{path}#2", f"{path}#i-1"]


def test_a_thought_is_cosmetic_but_for_think() -> None:
    assert "thought" in COSMETIC_ARGS["run"]
    assert "think" not in COSMETIC_ARGS
    assert "*" not in COSMETIC_ARGS


def test_damage(tmp_path: Path) -> None:
    scan = Scan()
    value = row(act(1), 3, None, [7], {"action": {}}, {"observation": []})
    assert len(turns(read_log(tmp_path / "x.jsonl", NAME, value, {"history": 3}, 7, scan=scan))) == 1
    assert scan.skips.total == 2
