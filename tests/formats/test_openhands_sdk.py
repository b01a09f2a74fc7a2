"""OpenHands SDK: replies with several calls, running totals, prompts, statuses, and the folder of a conversation."""

from __future__ import annotations

import json
from itertools import count
from pathlib import Path
from typing import Any

import pytest

from loopscan.blob import Blob
from loopscan.formats import Scan, detect, load
from loopscan.model import End, Event, Usage
from tests.formats.logs import read_log, told, turns

NAME = "openhands-sdk"
ids = (f"{n:08x}-0000-4000-8000-000000000000" for n in count())


def event(kind: str, source: str = "agent", **more: Any) -> dict[str, Any]:
    return {"id": next(ids), "timestamp": "2026-01-01T00:00:00", "source": source, "kind": kind, **more}


def act(call: str, reply: str | None = None, name: str = "terminal", **more: Any) -> dict[str, Any]:
    asked = {"id": call, "name": name, "arguments": json.dumps({"command": "ls", "summary": f"try {call}"})}
    return event(
        "ActionEvent", tool_name=name, tool_call_id=call, tool_call=asked, llm_response_id=reply or call, **more
    )


def saw(call: str, **observation: Any) -> dict[str, Any]:
    return event("ObservationEvent", "environment", tool_call_id=call, observation=observation)


def text(*words: str) -> list[dict[str, Any]]:
    return [{"type": "text", "text": w, "cache_prompt": False} for w in words]


def user() -> dict[str, Any]:
    return event("MessageEvent", "user", llm_message={"role": "user", "content": text("do it")})


def status(value: str) -> dict[str, Any]:
    return event("ConversationStateUpdateEvent", "environment", key="execution_status", value=value)


def stats(prompt: int, output: int, last: int = 0, cost: float = 0.0, **uses: Any) -> dict[str, Any]:
    total = {"prompt_tokens": prompt, "completion_tokens": output, "per_turn_token": last, "context_window": 1000}
    by_use = {"agent": {"model_name": "m", "accumulated_cost": cost, "accumulated_token_usage": total}, **uses}
    return event("ConversationStateUpdateEvent", "environment", key="stats", value={"usage_to_metrics": by_use})


def ends(events: list[Event]) -> list[tuple[str, str | None]]:
    return [(e.state, e.note) for e in events if isinstance(e, End)]


def test_calls_of_one_reply_are_one_turn(tmp_path: Path) -> None:
    path = tmp_path / "x.jsonl"
    events = read_log(
        path, NAME, act("a", "r"), act("b", "r"), saw("b", content=text("2")), saw("a", content="1"), act("c"), saw("z")
    )
    assert [c.result for c in turns(events)[0].calls] == ["1", "2"]
    assert [len(t.calls) for t in turns(events)] == [2, 1]
    assert {t.run for t in turns(events)} == {str(path)}


@pytest.mark.parametrize(
    ("came_back", "result", "error"),
    [
        (saw("a", content=text("x"), exit_code=0), "x", False),
        (saw("a", content=text("x"), exit_code=-1), "x", False),
        (saw("a", content=text("x"), exit_code=2), {"content": "x", "exit_code": 2}, True),
        (saw("a", content=text("x"), is_error=True), "x", True),
        (saw("a", task_list=[1], kind="TaskTracker"), {"task_list": [1]}, False),
        (event("AgentErrorEvent", tool_call_id="a", error="bad args"), "bad args", True),
        (event("UserRejectObservation", "environment", tool_call_id="a", rejection_reason="no"), "rejected: no", True),
    ],
)
def test_what_came_back(tmp_path: Path, came_back: dict[str, Any], result: Any, error: bool) -> None:
    (turn,) = turns(read_log(tmp_path / "x.jsonl", NAME, act("a"), came_back))
    assert (turn.calls[0].result, turn.calls[0].error) == (result, error)


def test_usage_is_the_last_difference_before_the_turn(tmp_path: Path) -> None:
    events = read_log(
        tmp_path / "x.jsonl",
        NAME,
        stats(100, 5, 105, 0.25),
        act("a"),
        stats(300, 9, 204, 0.25),
        stats(350, 10, 51, 0.75, condenser={"accumulated_token_usage": {"prompt_tokens": 9, "completion_tokens": 9}}),
        stats(350, 10, 51, 0.75),
        act("b"),
        act("c"),
    )
    assert [t.usage for t in turns(events)] == [Usage(100, 5, usd=0.25), Usage(50, 1, usd=0.5), None]
    assert {(t.model, t.window) for t in turns(events)} == {("m", 1000)}


def test_first_totals_of_an_excerpt_are_no_usage(tmp_path: Path) -> None:
    (turn,) = turns(read_log(tmp_path / "x.jsonl", NAME, stats(9000, 50, 700), act("a")))
    assert turn.usage is None


def test_each_user_message_is_a_run(tmp_path: Path) -> None:
    first, second = user(), user()
    answer = event("MessageEvent", llm_message={"role": "assistant", "content": text("done")}, llm_response_id="r")
    events = read_log(
        tmp_path / "x.jsonl",
        NAME,
        first,
        act("a"),
        answer,
        status("finished"),
        second,
        act("b", name="finish"),
        act("c"),
    )
    assert [t.prompt for t in turns(events)] == [first["id"], first["id"], second["id"], second["id"]]
    assert [(e.state, e.prompt) for e in events if isinstance(e, End)] == [("done", first["id"])]


@pytest.mark.parametrize(
    ("tail", "end"),
    [
        ([status("running")], []),
        ([status("finished"), status("idle")], [("done", "finished")]),
        ([status("stuck")], [("no_progress", "stuck")]),
        ([status("error")], [("error", "error")]),
        ([event("ConversationErrorEvent", code="MaxIterationsReached", detail="3"), status("error")],
         [("turn_cap", "MaxIterationsReached; 3")]),
        ([status("error"), event("ConversationErrorEvent", code="LLMContextWindowExceedError", detail="x")],
         [("context_full", "LLMContextWindowExceedError; x")]),
        ([event("ConversationErrorEvent", code="MaxBudgetReached", detail="x")], [("cost_cap", "MaxBudgetReached; x")]),
        ([event("PauseEvent", "user"), status("paused")], [("aborted", "PauseEvent")]),
        ([event("InterruptEvent", "user"), act("b")], []),
        ([act("f", name="finish")], [("done", "finish")]),
    ],
)  # fmt: skip
def test_ends(tmp_path: Path, tail: list[Any], end: list[Any]) -> None:
    assert ends(read_log(tmp_path / "x.jsonl", NAME, act("a"), *tail)) == end


def test_an_agent_behind_the_protocol(tmp_path: Path) -> None:
    def call(i: str, state: str, **more: Any) -> dict[str, Any]:
        return event("ACPToolCallEvent", tool_call_id=i, tool_kind="read", raw_input={"p": i}, status=state, **more)

    events = read_log(
        tmp_path / "x.jsonl", NAME, call("a", "pending"), call("b", "pending"), call("a", "in_progress"),
        call("a", "completed", raw_output="A"), call("b", "failed", content=["no"], is_error=True),
        call("c", "completed", raw_output=3),
    )  # fmt: skip
    assert next(iter(told(events).values())) == [
        [("read", {"p": "a"}, "A")],
        [("read", {"p": "b"}, ["no"], "error")],
        [("read", {"p": "c"}, 3)],
    ]


def test_an_event_that_comes_again_is_dropped(tmp_path: Path) -> None:
    again, scan = act("a"), Scan()
    assert len(turns(read_log(tmp_path / "x.jsonl", NAME, again, saw("a", content="x"), again, scan=scan))) == 1
    assert scan.skips.copies == 1
    assert (
        len(turns(read_log(tmp_path / "x.jsonl", NAME, again, again, scan=Scan(exact=True)))) == 1
    )  # one reply, two calls


def test_compaction_and_unknown_kinds(tmp_path: Path) -> None:
    scan = Scan()
    events = read_log(
        tmp_path / "x.jsonl",
        NAME,
        act("a"),
        event("Condensation"),
        act("b"),
        event("NewEvent"),
        event("TokenEvent"),
        3,
        scan=scan,
    )
    assert [t.compacted for t in turns(events)] == [False, True]
    assert dict(scan.skips.unknown) == {"openhands-sdk:NewEvent": 1}
    assert scan.skips.total == 1


def folder(path: Path, *events: dict[str, Any], **state: Any) -> Path:
    (path / "events").mkdir(parents=True)
    (path / "base_state.json").write_text(json.dumps({"id": "c-1", "agent": {}, "workspace": {}, **state}))
    for n, value in enumerate(events):
        (path / "events" / f"event-{n:05d}-{value['id']}.json").write_text(json.dumps(value, indent=1))
    return path


def read_folder(path: Path) -> list[list[Event]]:
    scan, found = Scan(), []
    for file in [path / "base_state.json", *sorted((path / "events").iterdir())]:
        blob = Blob(str(file), file)
        assert detect(blob.head) == NAME
        found.append(list(load(NAME).read(blob, scan)))
        blob.close()
    return found


def test_a_folder_is_read_once_in_order_with_listed_usage(tmp_path: Path) -> None:
    listed = {
        "model": "m",
        "prompt_tokens": 90,
        "completion_tokens": 3,
        "cache_read_tokens": 10,
        "cache_write_tokens": 0,
    }
    metrics = {"token_usages": [{**listed, "response_id": "b"}], "costs": [{"cost": 0.5}], "model_name": "m"}
    path = folder(
        tmp_path / "c", user(), act("a"), saw("a", content="1"), act("b"), saw("b", content="2"),
        execution_status="stuck", stats={"usage_to_metrics": {"agent": metrics}},
    )  # fmt: skip
    state, first, *rest = read_folder(path)
    assert (state, rest) == ([], [[], [], [], []])
    assert [(t.run, t.calls[0].result, t.usage) for t in turns(first)] == [
        ("c-1", "1", None),
        ("c-1", "2", Usage(90, 3, 10, 0, usd=0.5)),
    ]
    assert ends(first) == [("no_progress", "stuck")]


def test_a_damaged_event_file_is_a_skip(tmp_path: Path) -> None:
    path = folder(tmp_path / "c", act("a"), act("b"), act("c"), execution_status="idle")
    sorted((path / "events").iterdir())[1].write_text('{"kind": ')
    first = sorted((path / "events").iterdir())[0]
    scan, blob = Scan(), Blob(str(first), first)
    assert len(turns(list(load(NAME).read(blob, scan)))) == 2
    assert scan.skips.total == 1
    blob.close()
