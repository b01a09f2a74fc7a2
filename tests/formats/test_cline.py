"""Cline, Roo and Kilo tasks (history and panel), sessions of the Cline CLI."""

from __future__ import annotations

import io
import json
from pathlib import Path
from typing import Any

import pytest

from loopscan.blob import Blob
from loopscan.formats import Scan, detect, load
from loopscan.model import MISSING, End, Event, Turn, Usage

T0 = 1_790_000_000_000
DETAILS = "<environment_details>\n# Current Time\n1/2/2026, 3:48:00 AM\n</environment_details>"


def events(path: Path, scan: Scan | None = None) -> list[Event]:
    blob = Blob(str(path), path)
    try:
        assert detect(blob.head) == "cline"
        return list(load("cline").read(blob, scan or Scan()))
    finally:
        blob.close()


def turns(found: list[Event]) -> list[Turn]:
    return [e for e in found if isinstance(e, Turn)]


def ends(found: list[Event]) -> list[tuple[str, str | None]]:
    return [(e.state, e.note) for e in found if isinstance(e, End)]


def task(tmp_path: Path, *messages: dict[str, Any], **files: Any) -> Path:
    folder = tmp_path / "tasks" / "1790000000001"
    folder.mkdir(parents=True, exist_ok=True)
    for name, value in files.items():
        (folder / f"{name}.json").write_text(json.dumps(value))
    path = folder / "api_conversation_history.json"
    path.write_text(json.dumps(messages))
    return path


def user(*texts: Any) -> dict[str, Any]:
    return {"role": "user", "content": [{"type": "text", "text": t} if isinstance(t, str) else t for t in texts]}


def said(*blocks: Any, **extra: Any) -> dict[str, Any]:
    content = [{"type": "text", "text": b} if isinstance(b, str) else b for b in blocks]
    return {"role": "assistant", "content": content, **extra}


def use(name: str, call: str = "t1", **args: Any) -> dict[str, Any]:
    return {"type": "tool_use", "id": call, "name": name, "input": args}


def row(kind: str, text: str = "", at: int = 0, ask: bool = False, **extra: Any) -> dict[str, Any]:
    which = "ask" if ask else "say"
    return {"ts": T0 + at, "type": which, which: kind, "text": text, **extra}


def request(at: int = 0, index: int | None = None, **info: Any) -> dict[str, Any]:
    place = {} if index is None else {"conversationHistoryIndex": index}
    return row("api_req_started", json.dumps({"request": "...", **info}), at, **place)


TASK = user("<task>\nfix it\n</task>", DETAILS)
PAID = {"tokensIn": 10, "tokensOut": 20, "cacheWrites": 30, "cacheReads": 900, "cost": 0.01}


def test_xml_calls_and_text_results(tmp_path: Path) -> None:
    words = "<thinking>hm</thinking>I look.\n<read_file>\n<path>a.py</path>\n</read_file>"
    mcp = '<use_mcp_tool>\n<server_name>db</server_name>\n<arguments>\n{"q": 1}\n</arguments>\n</use_mcp_tool>'
    found = turns(
        events(
            task(
                tmp_path,
                TASK,
                said(words),
                user("[read_file for 'a.py'] Result:", "x = 1", DETAILS),
                said(mcp),
                user("[use_mcp_tool for 'db'] Result:\nThe tool execution failed: no table", DETAILS),
                said("<execute_command>\n<command>ls</command>\n</execute_command>"),
            )
        )
    )
    calls = [c for t in found for c in t.calls]
    assert [(c.name, c.args, c.error) for c in calls] == [
        ("read_file", {"path": "a.py"}, False),
        ("use_mcp_tool", {"server_name": "db", "arguments": {"q": 1}}, True),
        ("execute_command", {"command": "ls"}, False),
    ]
    assert [c.result for c in calls[:2]] == ["x = 1", "The tool execution failed: no table"]
    assert calls[2].result is MISSING
    assert found[0].text == "I look."
    assert {t.run for t in found} == {"1790000000001"}


def test_tool_use_blocks_joined_by_id_or_by_the_text_of_the_result(tmp_path: Path) -> None:
    results = [
        {"type": "tool_result", "tool_use_id": "t2", "content": [{"type": "text", "text": "B"}]},
        {"type": "tool_result", "tool_use_id": "t1", "content": "A", "is_error": True},
    ]
    found = turns(
        events(
            task(
                tmp_path,
                TASK,
                said("both", use("read_file", "t1", path="a"), use("list_files", "t2", path="b")),
                user(*results, DETAILS),
                said(use("read_file", "t3", path="a"), use("list_files", "t4", path="b")),
                user("[list_files for 'b'] Result:\nB", "[read_file for 'a'] Result:\nA" + DETAILS),
            )
        )
    )
    assert [[(c.name, c.result, c.error) for c in t.calls] for t in found] == [
        [("read_file", "A", True), ("list_files", "B", False)],
        [("read_file", "A", False), ("list_files", "B", False)],
    ]


def test_figures_of_the_panel_go_to_the_message_they_brought(tmp_path: Path) -> None:
    panel = [
        row("text", "fix it"),
        request(1, -1, **PAID),
        request(2, 1, cancelReason="streaming_failed", streamingFailedMessage="529 overloaded"),
        request(3, 1, **PAID),
        row("completion_result", "done", 4),
        row("completion_result", ask=True, at=5),
    ]
    info = {"modelId": "claude-x", "providerId": "anthropic"}
    metrics = {"tokens": {"prompt": 1, "completion": 1, "cached": 1}}
    found = events(
        task(
            tmp_path,
            TASK,
            said(use("read_file", path="a"), modelInfo=info, metrics=metrics),
            user("[read_file for 'a'] Result:\nA"),
            said(use("attempt_completion", "t2", result="done"), modelInfo=info),
            ui_messages=panel,
        )
    )
    assert [(t.usage, t.failed, t.fault, t.time) for t in turns(found)] == [
        (Usage(940, 20, 900, 30, usd=0.01), False, MISSING, 1790000000.001),
        (None, True, "529 overloaded", 1790000000.002),
        (Usage(940, 20, 900, 30, usd=0.01), False, MISSING, 1790000000.003),
    ]
    assert ends(found) == [("done", "completion_result")]


def test_the_panel_yields_nothing_beside_its_history(tmp_path: Path) -> None:
    path = task(tmp_path, TASK, said("hi"), ui_messages=[request(1, -1, **PAID)])
    assert events(path.with_name("ui_messages.json")) == []


def test_panel_without_indexes_is_matched_in_order_or_not_at_all(tmp_path: Path) -> None:
    messages = [TASK, said("a"), user("[ERROR] You did not use a tool"), said("b")]
    both = [request(1, **PAID), request(2, cancelReason="user_cancelled"), request(3, **PAID)]
    assert [t.usage is not None for t in turns(events(task(tmp_path, *messages, ui_messages=both)))] == [True, True]
    one = turns(events(task(tmp_path, *messages, ui_messages=both[:1])))
    assert [t.usage for t in one] == [None, None]
    assert {t.prompt for t in one} == {"message 1"}


@pytest.mark.parametrize(
    ("info", "usage"),
    [
        (PAID, Usage(940, 20, 900, 30, usd=0.01)),
        ({**PAID, "tokensIn": 940, "apiProtocol": "anthropic"}, Usage(940, 20, 900, 30, usd=0.01)),
        ({**PAID, "apiProtocol": "anthropic"}, Usage(940, 20, 900, 30, usd=0.01)),
        ({"tokensIn": 0, "tokensOut": 0, "cost": 0}, None),
    ],
)
def test_cached_tokens_inside_or_apart(tmp_path: Path, info: dict[str, Any], usage: Usage | None) -> None:
    found = turns(events(task(tmp_path, TASK, said("a"), ui_messages=[request(1, **info)])))
    assert [t.usage for t in found] == [usage]


def test_metrics_on_the_message_where_there_is_no_panel(tmp_path: Path) -> None:
    metrics = {"tokens": {"prompt": 10, "completion": 595, "cached": 9573}, "cost": 0.04}
    found = turns(events(task(tmp_path, TASK, said("a", metrics=metrics))))
    assert found[0].usage == Usage(9583, 595, 9573, usd=0.04)


def test_prompts(tmp_path: Path) -> None:
    found = turns(
        events(
            task(
                tmp_path,
                TASK,
                said(use("execute_command", command="rm")),
                user(
                    "[execute_command for 'rm'] Result:\nThe user denied this operation.\n<feedback>\nno\n</feedback>"
                ),
                said("I wonder."),
                user("[ERROR] You did not use a tool in your previous response!"),
                said(use("attempt_completion", "t2", result="ok")),
                user("[attempt_completion] Result:\n<feedback>\nnow the readme\n</feedback>", DETAILS),
                said(use("read_file", "t3", path="README")),
                user("[TASK RESUMPTION] This task was interrupted 5 minutes ago.", DETAILS),
                said("ok"),
            )
        )
    )
    assert [t.prompt for t in found] == ["message 1"] * 3 + ["message 7", "message 9"]
    assert found[0].calls[0].error


def test_a_summary_is_no_turn(tmp_path: Path) -> None:
    summary = said("long story", isSummary=True)
    found = turns(events(task(tmp_path, TASK, said("a"), summary, user("go on"), said("b"))))
    assert [(t.text, t.compacted) for t in found] == [("a", False), ("b", True)]


def test_model_and_parent_from_the_files_beside(tmp_path: Path) -> None:
    path = task(
        tmp_path,
        TASK,
        said("a"),
        task_metadata={"model_usage": [{"ts": T0, "model_id": "m1", "model_provider_id": "p"}]},
        history_item={"id": "x", "parentTaskId": "1789"},
    )
    assert [(t.model, t.parent) for t in turns(events(path))] == [("m1", "1789")]


@pytest.mark.parametrize(
    ("rows", "state"),
    [
        ([row("mistake_limit_reached", ask=True)], "error"),
        ([row("auto_approval_max_req_reached", ask=True)], "turn_cap"),
        ([row("resume_task", ask=True)], "cut"),
        ([request(2, 1, cancelReason="user_cancelled"), row("resume_task", ask=True)], "aborted"),
        ([row("api_req_failed", "prompt is too long: 210000 tokens", ask=True)], "context_full"),
    ],
)
def test_how_a_task_ended(tmp_path: Path, rows: list[dict[str, Any]], state: str) -> None:
    path = task(tmp_path, TASK, said(use("read_file", path="a")), ui_messages=[request(1, -1, **PAID), *rows])
    assert [s for s, _ in ends(events(path))] == [state]


def test_an_interrupted_answer(tmp_path: Path) -> None:
    assert ends(events(task(tmp_path, TASK, said("I was\n\n[Response interrupted by user]")))) == [
        ("aborted", "[Response interrupted by user]")
    ]


def test_the_panel_alone(tmp_path: Path) -> None:
    path = tmp_path / "1790000000007" / "ui_messages.json"
    path.parent.mkdir()
    rows = [
        row("text", "fix it"),
        request(1, **PAID),
        row("text", "I loo", 2, partial=True),
        row("text", "I look.", 2),
        row("tool", json.dumps({"tool": "readFile", "path": "a"}), 3),
        request(4, **PAID),
        row("command", "make", 5, ask=True),
        row("command_output", "line 1\n", 6),
        row("command_output", "line 2", 7),
        request(8, streamingFailedMessage="529"),
        request(9, **PAID),
        row("completion_result", "done", 10),
        row("user_feedback", "more", 11),
        request(12, **PAID),
        row("resume_task", ask=True, at=13),
    ]
    path.write_text(json.dumps(rows))
    found = events(path)
    told = [(t.prompt, t.text, [(c.name, c.args) for c in t.calls], t.failed) for t in turns(found)]
    assert told == [
        (1, "I look.", [("readFile", {"path": "a"})], False),
        (1, "", [("execute_command", {"command": "make"})], False),
        (1, "", [], True),
        (1, "", [("attempt_completion", {"result": "done"})], False),
        (13, "", [], False),
    ]
    assert turns(found)[1].calls[0].result == "line 1\nline 2"
    assert turns(found)[0].calls[0].result is MISSING
    assert ends(found) == [("cut", "resume_task")]


def cli(tmp_path: Path, *messages: dict[str, Any], **extra: Any) -> Path:
    document = {"version": 1, "sessionId": "s1", "origin": {"mode": "user", "source": "cli"}, **extra}
    document["messages"] = [{"id": f"m{i}", "ts": T0 + i, **m} for i, m in enumerate(messages)]
    path = tmp_path / f"{document['sessionId']}.messages.json"
    path.write_text(json.dumps(document, indent=2))
    return path


def test_session_of_the_cli(tmp_path: Path) -> None:
    metrics = {"inputTokens": 1000, "outputTokens": 30, "cacheReadTokens": 800, "cacheWriteTokens": 50, "cost": 0.02}
    (tmp_path / "s1.json").write_text(json.dumps({"session_id": "s1", "status": "completed"}))
    path = cli(
        tmp_path,
        user("go"),
        said(use("read_files", files=["a"]), modelInfo={"id": "m1", "provider": "p"}, metrics=metrics),
        user({"type": "tool_result", "tool_use_id": "t1", "name": "read_files", "content": "A"}),
        {**user("summary"), "metadata": {"kind": "compaction_summary"}},
        said("done"),
    )
    found = events(path)
    assert [(t.run, t.prompt, t.model, t.compacted) for t in turns(found)] == [
        ("s1", "message 1", "m1", False),
        ("s1", "message 1", None, True),
    ]
    assert turns(found)[0].usage == Usage(1000, 30, 800, 50, usd=0.02)
    assert turns(found)[0].calls[0].result == "A"
    assert ends(found) == [("done", "completed")]


def test_a_sub_agent_of_the_cli(tmp_path: Path) -> None:
    path = cli(tmp_path, user("look"), said("found"), sessionId="s2", origin={"parentThreadId": "s1"})
    assert [(t.run, t.parent, t.prompt) for t in turns(events(path))] == [("s2", "s1", None)]


def test_plain_message_lists_are_left_to_others() -> None:
    for messages in ([user("hi"), said("hello")], [{"role": "user", "content": "hi"}]):
        assert not load("cline").sniff(_head(messages))


def _head(value: Any) -> Any:
    return Blob("<stdin>", None, io.BytesIO(json.dumps(value).encode())).head


def test_a_damaged_panel_is_a_skip(tmp_path: Path) -> None:
    path = task(tmp_path, TASK, said("a"))
    path.with_name("ui_messages.json").write_bytes(b"[{")
    scan = Scan()
    assert len(turns(events(path, scan))) == 1
    assert scan.skips.total == 1


def test_clean_result_drops_the_time_of_day() -> None:
    assert load("cline").clean_result("read_file", "x\n" + DETAILS) == "x"


def test_files_beside_the_messages_are_passed_over_when_the_format_is_forced(tmp_path: Path) -> None:
    scan = Scan()
    for name, value in (("task_metadata.json", {"files_in_context": []}), ("s1.json", {"session_id": "s1"})):
        path = tmp_path / name
        path.write_text(json.dumps(value))
        blob = Blob(str(path), path)
        assert list(load("cline").read(blob, scan)) == []
        blob.close()
    assert scan.skips.total == 0
