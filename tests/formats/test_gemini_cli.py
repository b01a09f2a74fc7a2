"""Gemini CLI: documents and logs of changes, versions of a message, new histories, what the client says at the end."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from loopscan.formats import Scan, load
from loopscan.model import Usage
from tests.formats.sessions import calls, document, ends, lines, prompts, read, turns

HEADER = {"sessionId": "s1", "projectHash": "ab12", "startTime": "2026-09-01T10:00:00Z", "kind": "main"}
TOKENS = {"input": 100, "output": 7, "cached": 60, "thoughts": 5, "tool": 0, "total": 112}


def message(key: str, kind: str, content: Any, **more: Any) -> dict[str, Any]:
    return {"id": key, "timestamp": "2026-09-01T10:00:01Z", "type": kind, "content": content, **more}


def user(key: str, *parts: Any) -> dict[str, Any]:
    return message(key, "user", [{"text": p} if isinstance(p, str) else p for p in parts])


def model(key: str, text: str, *tools: dict[str, Any], **more: Any) -> dict[str, Any]:
    extra = {"model": "gemini-2.5-pro", "tokens": TOKENS, **more}
    return message(key, "gemini", text, **extra, **({"toolCalls": list(tools)} if tools else {}))


def tool(
    key: str, output: str | None, status: str = "success", name: str = "glob", field: str = "output"
) -> dict[str, Any]:
    result = None if output is None else [back(key, output, name, field)]
    return {"id": key, "name": name, "args": {"p": "*"}, "status": status, "result": result}


def back(key: str, output: str, name: str = "glob", field: str = "output") -> dict[str, Any]:
    return {"functionResponse": {"id": key, "name": name, "response": {field: output}}}


@pytest.mark.parametrize("indent", [None, 1])
def test_a_document(tmp_path: Path, indent: int | None) -> None:
    both = model("b", "Look.", tool("c1", "x"), tool("c2", "y", "error", field="error"))
    value = HEADER | {"messages": [message("a", "user", "go"), both, model("c", "Done."), message("d", "user", "more")]}
    found = read(document(tmp_path / "x.json", value, indent), "gemini-cli")
    first, last = turns(found)
    assert calls(found) == [[("glob", "x"), ("glob", "y")], []]
    assert [c.error for c in first.calls] == [False, True]
    assert first.usage == Usage(100, 12, 60)
    assert (first.run, first.prompt, first.model, last.text) == ("s1", "a", "gemini-2.5-pro", "Done.")


def test_the_last_version_of_a_message_counts(tmp_path: Path) -> None:
    log = [HEADER, user("a", "go"), model("b", "Hm", tokens=None), model("b", "Hm", tool("c1", None, "executing"))]
    log += [{"$set": {"lastUpdated": "x"}}, model("b", "Hm", tool("c1", "found")), model("d", "Done.")]
    found = read(lines(tmp_path / "x.jsonl", *log), "gemini-cli")
    assert calls(found) == [[("glob", "found")], []]
    assert [t.line for t in turns(found)] == [3, 7]
    assert sum(t.usage.output or 0 for t in turns(found) if t.usage) == 24


def test_a_rewound_turn_was_paid(tmp_path: Path) -> None:
    log = [HEADER, user("a", "go"), model("b", "one"), {"$rewindTo": "a"}, user("c", "go!"), model("d", "two")]
    found = read(lines(tmp_path / "x.jsonl", *log), "gemini-cli")
    assert prompts(found) == ["a", "c"]


def test_a_compressed_history_makes_no_turns(tmp_path: Path) -> None:
    start = {"$set": {"messages": [user("s", "<session_context>\nThis is the Gemini CLI.")]}}
    summary = [
        user("x", "<state_snapshot>s</state_snapshot>"),
        message("y", "gemini", [{"text": "Got it."}]),
        user("z", "go"),
    ]
    log = [HEADER, start, user("a", "go"), model("b", "", tool("c1", "x")), {"$set": {"messages": summary}}]
    found = read(lines(tmp_path / "x.jsonl", *log, model("d", "Done.")), "gemini-cli")
    assert prompts(found) == ["a", "a"]
    assert [t.compacted for t in turns(found)] == [False, True]


def test_a_log_of_whole_histories(tmp_path: Path) -> None:
    one, open_call = user("a", "go"), model("b", "", tool("c1", None, "executing"))
    two = [one, model("b", "", tool("c1", "x")), model("d", "Done."), user("e", "more"), model("f", "More.")]
    log = [HEADER, {"$set": {"messages": [one]}}, {"$set": {"messages": [one, open_call]}}, {"$set": {"messages": two}}]
    found = read(lines(tmp_path / "x.jsonl", *log), "gemini-cli")
    assert calls(found) == [[("glob", "x")], [], []]
    assert prompts(found) == ["a", "a", "e"]


def test_calls_and_results_as_parts(tmp_path: Path) -> None:
    parts = [{"text": "thinking", "thought": True}, {"functionCall": {"id": "c1", "name": "glob", "args": {}}}]
    log = [
        HEADER,
        user("a", "go"),
        message("b", "gemini", parts, model="m"),
        user("r", back("c1", "x")),
        model("d", "ok"),
    ]
    found = read(lines(tmp_path / "x.jsonl", *log), "gemini-cli")
    assert calls(found) == [[("glob", "x")], []]
    assert prompts(found) == ["a", "a"]


@pytest.mark.parametrize(
    ("kind", "text", "state"),
    [
        ("info", "Request cancelled.", "aborted"),
        ("info", "A potential loop was detected. This can happen.", "no_progress"),
        ("info", "The session has reached the maximum number of turns: 5. Please", "turn_cap"),
        (
            "error",
            "Sending this message (1200000 tokens) might exceed the remaining context window limit",
            "context_full",
        ),
    ],
)
def test_what_the_client_says_at_the_end(tmp_path: Path, kind: str, text: str, state: str) -> None:
    history = {"$set": {"messages": [user("a", "go"), model("b", "", tool("c1", "x"))]}}
    log = [HEADER, user("a", "go"), model("b", "", tool("c1", "x")), message("i", kind, text), history]
    assert ends(read(lines(tmp_path / "x.jsonl", *log), "gemini-cli")) == [(state, text)]


def test_an_api_error_is_a_failed_turn(tmp_path: Path) -> None:
    error = message("e", "error", "[API Error: 500 internal]")
    found = read(lines(tmp_path / "x.jsonl", HEADER, user("a", "go"), error, error), "gemini-cli")
    (turn,) = turns(found)
    assert (turn.failed, turn.fault) == (True, "[API Error: 500 internal]")
    assert ends(found) == [("error", "[API Error: 500 internal]")]


def test_a_cancelled_call_ends_the_prompt_unless_the_model_goes_on(tmp_path: Path) -> None:
    stop = model("b", "", tool("c1", "[Operation Cancelled]", "cancelled", field="error"))
    found = read(
        lines(tmp_path / "x.jsonl", HEADER, user("a", "go"), stop, user("c", "other"), model("d", "ok")), "gemini-cli"
    )
    assert ends(found) == [("aborted", "tool call status: cancelled")]
    found = read(lines(tmp_path / "y.jsonl", HEADER, user("a", "go"), stop, model("d", "ok")), "gemini-cli")
    assert ends(found) == []


def test_a_migrated_session_counts_once(tmp_path: Path) -> None:
    old = [user("a", "go"), model("b", "one")]
    scan = Scan()
    read(document(tmp_path / "x.json", HEADER | {"messages": old}), "gemini-cli", scan)
    found = read(lines(tmp_path / "x.jsonl", HEADER, *old, user("c", "on"), model("d", "two")), "gemini-cli", scan)
    assert [t.text for t in turns(found)] == ["two"]


def test_a_sub_agent_is_one_run_with_a_parent(tmp_path: Path) -> None:
    log = [
        HEADER | {"sessionId": "k1", "kind": "subagent"},
        user("a", "go"),
        model("b", "x"),
        user("c", "on"),
        model("d", "y"),
    ]
    found = read(lines(tmp_path / "chats" / "s1" / "k1.jsonl", *log), "gemini-cli")
    assert [(t.run, t.parent, t.prompt) for t in turns(found)] == [("k1", "s1", None)] * 2


@pytest.mark.parametrize(("total", "output"), [(112, 12), (107, 7), (None, 12), (0, 12)])
def test_thoughts_stand_beside_the_output_unless_the_total_says_otherwise(
    tmp_path: Path, total: Any, output: int
) -> None:
    answer = model("b", "x", tokens=TOKENS | {"total": total})
    (turn,) = turns(read(lines(tmp_path / "x.jsonl", HEADER, user("a", "go"), answer), "gemini-cli"))
    assert turn.usage == Usage(100, output, 60)


def test_process_ids_are_wrappers() -> None:
    clean = load("gemini-cli").clean_result
    text = "Output: x\nExit Code: 1\nBackground PIDs: {}\nProcess Group PGID: {}"
    assert clean("run_shell_command", text.format(1, 2)) == clean("run_shell_command", text.format(3, 4))
    assert clean("glob", {"a": 1}) == {"a": 1}
