"""tau2-bench: whose tool calls count, the greeting, voice ticks, the folder form, and every reason to end."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from loopscan.blob import Blob
from loopscan.formats import Scan, detect, load
from loopscan.model import End, Event, Usage
from tests.formats.logs import read_log, told, turns

NAME = "tau2-bench"


def call(call_id: str, name: str = "f", who: str | None = "assistant") -> dict[str, Any]:
    return {"id": call_id, "name": name, "arguments": {"k": 1}} | ({"requestor": who} if who else {})


def agent(*calls: dict[str, Any], text: str | None = None, **more: Any) -> dict[str, Any]:
    return {"role": "assistant", "content": text, "tool_calls": list(calls) or None, **more}


def tool(call_id: str | None, content: str, who: str = "assistant", error: bool = False) -> dict[str, Any]:
    return {"role": "tool", "id": call_id, "content": content, "requestor": who, "error": error}


def user(*calls: dict[str, Any]) -> dict[str, Any]:
    return {"role": "user", "content": "hi", "tool_calls": list(calls) or None}


def simulation(*messages: Any, reason: str = "user_stop", own: str | None = "sim-1", **more: Any) -> dict[str, Any]:
    found = {"task_id": "t", "trial": 2, "termination_reason": reason, "messages": list(messages), **more}
    return found | ({"id": own} if own else {})


def results(*simulations: Any) -> dict[str, Any]:
    info = {"agent_info": {"llm": "gpt-x"}, "user_info": {}, "environment_info": {}}
    return {"timestamp": "2026-01-01", "info": info, "tasks": [], "simulations": list(simulations)}


def test_only_the_agents_calls_count(tmp_path: Path) -> None:
    messages = [
        agent(text="Hi! How can I help you today?", cost=0.0, usage=None),
        user(call("u1", who="user")),
        tool("u1", "done", "user"),
        agent(call("a1"), call("u2", who="user")),
        tool("u2", "not his", "user"),
        tool("a1", "Error: x", error=True),
        agent(text="bye"),
    ]
    events = read_log(tmp_path / "x.json", NAME, results(simulation(*messages)))
    assert told(events) == {"sim-1": [[("f", {"k": 1}, "Error: x", "error")], "bye", "done"]}
    assert {(t.model, *(t.labels or {}).items()) for t in turns(events)} == {("gpt-x", ("task", "t"))}


def test_results_without_ids_and_in_one_message(tmp_path: Path) -> None:
    batch = {"role": "tool", "tool_messages": [tool(None, "1"), tool(None, "2")]}
    messages = [user(), agent(call("a", who=None), call("b", who=None)), batch]
    events = read_log(tmp_path / "x.json", NAME, simulation(*messages))
    assert told(events)["sim-1"][0] == [("f", {"k": 1}, "1"), ("f", {"k": 1}, "2")]


def test_usage_and_dollars(tmp_path: Path) -> None:
    used = {"usage": {"prompt_tokens": 90, "completion_tokens": 4}, "raw_data": {"model": "gpt-y"}}
    messages = [agent(text="a", cost=0.5, **used), agent(text="b", cost=0.0, **used), agent(text="c", cost=0.25)]
    found = turns(read_log(tmp_path / "x.json", NAME, simulation(*messages)))
    assert [t.usage for t in found] == [Usage(90, 4, usd=0.5), Usage(90, 4), Usage(usd=0.25)]
    assert found[0].model == "gpt-y"


@pytest.mark.parametrize(
    ("reason", "state"),
    [
        ("user_stop", "done"),
        ("agent_stop", "done"),
        ("max_steps", "turn_cap"),
        ("timeout", "time_cap"),
        ("too_many_errors", "no_progress"),
        ("context_window_exceeded", "context_full"),
        ("agent_error", "error"),
        ("infrastructure_error", "error"),
        ("unexpected_error", "error"),
    ],
)
def test_reasons(tmp_path: Path, reason: str, state: str) -> None:
    events = read_log(
        tmp_path / "x.json", NAME, simulation(user(), agent(text="a"), reason=reason, end_time="2026-01-01T00:00:09")
    )
    assert [(e.state, e.note, e.final) for e in events if isinstance(e, End)] == [(state, reason, True)]


def test_voice_ticks_with_tool_calls_are_turns(tmp_path: Path) -> None:
    ticks = [
        {"tick_id": 1, "agent_chunk": {}},
        {"tick_id": 2, "agent_tool_calls": [call("a")], "timestamp": "2026-01-01T00:00:00"},
        {"tick_id": 3, "agent_tool_results": [tool("a", "1")]},
        {"tick_id": 4, "agent_tool_calls": [call("b")]},
    ]
    value = {"id": "v", "termination_reason": "user_stop", "ticks": ticks}
    found = told(read_log(tmp_path / "x.json", NAME, value))
    assert found == {"v": [[("f", {"k": 1}, "1")], [("f", {"k": 1}, "MISSING")], "done"]}


def test_voice_without_tool_calls_is_no_run_and_said(tmp_path: Path) -> None:
    lines: list[str] = []
    scan = Scan()
    scan.skips.report = lines.append
    events = read_log(
        tmp_path / "x.json", NAME, {"id": "v", "termination_reason": "user_stop", "ticks": [{}]}, scan=scan
    )
    assert [(type(e), e.final) for e in events if isinstance(e, End)] == [(End, False)]
    assert dict(scan.skips.unknown) == {"tau2-bench:voice ticks without tool calls": 1}
    assert len(lines) == 1


def test_the_folder_form(tmp_path: Path) -> None:
    (tmp_path / "simulations").mkdir()
    head = results() | {"simulation_index": ["sim-1"]}
    (tmp_path / "results.json").write_text(json.dumps(head))
    path = tmp_path / "simulations" / "sim-1.json"
    path.write_text(json.dumps(simulation(user(), agent(text="a"))))
    scan = Scan()
    found: list[Event] = []
    for file in (tmp_path / "results.json", path):
        blob = Blob(str(file), file)
        assert detect(blob.head) == NAME
        found += load(NAME).read(blob, scan)
        blob.close()
    assert [t.model for t in turns(found)] == ["gpt-x"]


def test_settings_only_hold_no_run(tmp_path: Path) -> None:
    value = results()
    del value["simulations"]
    assert read_log(tmp_path / "x.json", NAME, value) == []


def test_a_simulation_met_twice_is_read_once(tmp_path: Path) -> None:
    scan = Scan()
    one = simulation(user(), agent(text="a"))
    assert len(turns(read_log(tmp_path / "x.json", NAME, one, results(one), scan=scan))) == 1
    assert scan.skips.copies == 1


def test_a_simulation_without_an_id_is_named_by_its_task(tmp_path: Path) -> None:
    assert list(told(read_log(tmp_path / "x.json", NAME, simulation(agent(text="a"), agent(text="b"), own=None)))) == [
        "t/2"
    ]
