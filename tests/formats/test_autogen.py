"""AutoGen: task results, streamed messages, saved states; the event log is declined."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from loopscan.blob import Blob
from loopscan.formats import Scan, detect, load
from loopscan.model import MISSING, Usage
from tests.formats.traced import calls, ends, events, turns

USED = {"prompt_tokens": 10, "completion_tokens": 2}


def message(kind: str, content: Any, usage: Any = None, /, source: str = "bot", **more: Any) -> dict[str, Any]:
    return {"type": kind, "source": source, "content": content, "models_usage": usage, **more}


def asks(*names: str, usage: Any = USED) -> dict[str, Any]:
    return message("ToolCallRequestEvent", [{"id": f"c-{n}", "name": n, "arguments": '{"q": 1}'} for n in names], usage)


def gives(**results: str) -> dict[str, Any]:
    content = [{"call_id": f"c-{n}", "name": n, "content": r, "is_error": r == "bad"} for n, r in results.items()]
    return message("ToolCallExecutionEvent", content)


USER = message("TextMessage", "do it", source="user")


def test_a_task_result(tmp_path: Path) -> None:
    timed = {**asks("a", "b"), "created_at": "2026-03-01T10:00:00Z"}
    found = events(
        "autogen",
        tmp_path / "a.jsonl",
        {
            "run_id": "r1",
            "messages": [
                USER,
                timed,
                gives(b="two", a="bad"),
                message("ThoughtEvent", "hm"),
                asks("a"),
                message("ToolCallSummaryMessage", "sum"),
                message("TextMessage", "bye", USED),
            ],
            "stop_reason": "Text 'bye' mentioned",
        },
    )
    assert calls("autogen", found) == [[("a", "bad"), ("b", "two")], [("a", ...)], []]
    first, second, last = turns(found)
    assert (first.run, first.time, first.usage, first.labels) == ("r1", 1772359200.0, Usage(10, 2), {"agent": "bot"})
    assert [c.error for c in first.calls] == [True, False]
    assert second.written == len("hm") + len("a") + len('{"q": 1}')
    assert last.text == "bye"
    assert ends(found) == [("r1", "done", "Text 'bye' mentioned")]


@pytest.mark.parametrize(
    ("reason", "state"),
    [
        ("Maximum number of messages 5 reached, current message count: 5", "turn_cap"),
        ("Maximum number of turns 3 reached.", "turn_cap"),
        ("Max rounds reached.", "turn_cap"),
        ("Token usage limit reached, total token count: 9, prompt token count: 8.", "token_cap"),
        ("Timeout of 5 seconds reached", "time_cap"),
        ("External termination requested", "aborted"),
        ("Handoff to user from bot detected.", "done"),
        ("'bot' answered", "done"),
    ],
)
def test_stop_conditions(tmp_path: Path, reason: str, state: str) -> None:
    found = events("autogen", tmp_path / "a.jsonl", {"id": "r", "messages": [USER, asks("a")], "stop_reason": reason})
    assert ends(found) == [("r", state, reason)]


def test_runs_without_an_id_are_named_by_their_place(tmp_path: Path) -> None:
    path = tmp_path / "a.jsonl"
    found = events("autogen", path, {"messages": [USER, asks("a")], "stop_reason": None}, [USER, asks("b")])
    assert [(t.run, t.calls[0].result) for t in turns(found)] == [(str(path), MISSING), (f"{path}:2", MISSING)]
    assert ends(found) == []


def test_streamed_messages_and_the_result_that_repeats_them(tmp_path: Path) -> None:
    stream = [USER, asks("a"), gives(a="x"), message("TextMessage", "bye", USED)]
    found = events("autogen", tmp_path / "a.jsonl", *stream, {"messages": stream, "stop_reason": "Max rounds reached."})
    assert calls("autogen", found) == [[("a", "x")], []]
    assert [e[1] for e in ends(found)] == ["turn_cap"]


def test_the_same_messages_in_another_file_are_copies(tmp_path: Path) -> None:
    scan = Scan()
    dump = {"run_id": "r", "messages": [{**USER, "id": "m1"}, {**asks("a"), "id": "m2"}, {**gives(a="x"), "id": "m3"}]}
    assert len(turns(events("autogen", tmp_path / "a.jsonl", dump, scan=scan))) == 1
    assert turns(events("autogen", tmp_path / "b.jsonl", dump, scan=scan)) == []
    assert scan.skips.copies == 3


def test_words_without_usage_are_turns_only_where_nothing_was_counted(tmp_path: Path) -> None:
    plain = [USER, message("TextMessage", "one"), message("TextMessage", "two", source="critic")]
    assert [t.text for t in turns(events("autogen", tmp_path / "a.jsonl", {"messages": plain}))] == ["one", "two"]
    mixed = [
        *plain,
        message("StructuredMessage[Plan]", {"b": 1, "a": 2}, USED),
        message("MultiModalMessage", ["see", {}], USED),
    ]
    assert [t.text for t in turns(events("autogen", tmp_path / "b.jsonl", {"messages": mixed}))] == [
        '{"a":2,"b":1}',
        "see",
    ]
    free = [USER, asks("a", usage={"prompt_tokens": 0, "completion_tokens": 0})]
    assert turns(events("autogen", tmp_path / "c.jsonl", {"messages": free}))[0].usage is None


@pytest.mark.parametrize(("ids", "runs"), [(("a", "b"), 1), (("x", "y"), 2), (("a", "y"), 1), ((None, None), 2)])
def test_a_result_behind_streamed_messages_repeats_them_only_if_it_holds_them(
    tmp_path: Path, ids: tuple[str | None, ...], runs: int
) -> None:
    def named(entry: dict[str, Any], name: str | None) -> dict[str, Any]:
        return {**entry, "id": name} if name else entry

    asked, answered = USER, message("TextMessage", "bye", USED)
    result = {"run_id": "r", "messages": [named(asked, ids[0]), named(answered, ids[1])], "stop_reason": "x"}
    found = turns(events("autogen", tmp_path / "a.jsonl", named(asked, "a"), named(answered, "b"), result))
    assert len({t.run for t in found}) == len(found) == runs


def test_a_result_without_ids_repeats_what_was_streamed_without_ids(tmp_path: Path) -> None:
    streamed = [USER, message("TextMessage", "bye", USED)]
    found = turns(events("autogen", tmp_path / "a.jsonl", *streamed, {"messages": streamed, "stop_reason": "x"}))
    assert [t.text for t in found] == ["bye"]


def test_states_of_teams(tmp_path: Path) -> None:
    def said(content: Any) -> dict[str, Any]:
        return {"type": "AssistantMessage", "source": "bot", "content": content, "thought": "hm"}

    ask = [{"id": "c", "name": "look", "arguments": "{}"}]
    result = {
        "type": "FunctionExecutionResultMessage",
        "content": [{"call_id": "c", "content": "x", "is_error": False}],
    }
    user = {"type": "UserMessage", "source": "user", "content": "go"}
    agent = {
        "type": "AssistantAgentState",
        "llm_context": {"messages": [user, said(ask), result, said("ok"), user, said("no")]},
    }
    team = {
        "type": "TeamState",
        "agent_states": {"bot/1f2e": {"type": "ChatAgentContainerState", "agent_state": agent}},
    }
    path = tmp_path / "state.json"
    found = events("autogen", path, team, indent=1)
    assert calls("autogen", found) == [[("look", "x")], [], []]
    assert [(t.run, t.prompt, t.usage) for t in turns(found)] == [(f"{path}/bot", n, None) for n in (1, 1, 2)]
    assert len(turns(events("autogen", tmp_path / "agent.json", agent))) == 3


def test_the_event_log_is_declined_in_one_line(tmp_path: Path) -> None:
    path = tmp_path / "log.jsonl"
    said: list[str] = []
    path.write_text(
        '{"type": "ToolCall", "tool_name": "a", "arguments": {}, "result": "x", "agent_id": null}\nplain words\n' * 9
    )
    blob = Blob(str(path), path)
    scan = Scan()
    scan.skips.report = said.append
    assert detect(blob.head) == "autogen"
    assert list(load("autogen").read(blob, scan)) == []
    blob.close()
    assert scan.skips.total == 1
    assert "names no run" in said[0]


def test_unknown_messages_and_damage(tmp_path: Path) -> None:
    scan = Scan()
    dump = {"messages": [USER, message("DreamEvent", "x"), "junk", None, asks("a")]}
    assert len(turns(events("autogen", tmp_path / "a.jsonl", dump, {"other": 1}, 4, scan=scan))) == 1
    assert scan.skips.unknown["autogen:DreamEvent"] == 1
    assert scan.skips.total == 2
