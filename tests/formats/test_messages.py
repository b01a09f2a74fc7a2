"""Other chat dumps: calls in the text, foreign field names, one message per line."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from tests.formats.logs import read_log, told

NAME = "messages"


def chat(*texts: str, role: str = "assistant") -> list[dict[str, Any]]:
    return [{"role": role if i % 2 else "user", "content": t} for i, t in enumerate(texts)]


LS = "I look.\n\n<function=bash>\n<parameter=command>ls -a</parameter>\n</function>"
EDIT = "<function=edit><parameter=t>\nx\n</parameter></function>"
HERMES = '<tool_call>\n{"name": "f", "arguments": {"a": 1}}\n</tool_call>'

CALL = {"id": "1", "function": {"name": "f", "arguments": "{}"}}

CASES: dict[str, tuple[dict[str, Any], list[Any]]] = {
    "functions in tags": (
        {"messages": chat("q", LS, "OBSERVATION:\na.py", EDIT, "ok", "end")},
        [[("bash", {"command": "ls -a"}, "OBSERVATION:\na.py")], [("edit", {"t": "x"}, "ok")], "end"],
    ),
    "a tag cut off by the stop word": (
        {"messages": chat("q", "<function=bash><parameter=command>ls", "a.py")},
        [[("bash", {"command": "ls"}, "a.py")]],
    ),
    "the last call submits": (
        {"messages": chat("q", "<function=submit>\n</function>")},
        [[("submit", {}, "MISSING")], "done"],
    ),
    "tool calls in tags, answers told apart": (
        {
            "messages": chat(
                "q",
                HERMES + HERMES.replace("1", "2"),
                "<tool_response>x</tool_response>\n<tool_response>\ny\n</tool_response>",
                HERMES,
                "z",
                "<tool_call>no json</tool_call>",
            )
        },
        [[("f", {"a": 1}, "x"), ("f", {"a": 2}, "y")], [("f", {"a": 1}, "z")], [("", "no json", "MISSING")]],
    ),
    "the command in the last fence": (
        {
            "trajectory": [
                {"role": "system", "text": None, "system_prompt": "s"},
                {"role": "user", "text": "q"},
                {"role": "ai", "text": "See\n```\nnot this\n```\nthen\n```\nopen a.py\n```"},
                {"role": "user", "text": "[a.py]"},
                {"role": "ai", "text": "```bash\nedit 1:2\nx\nend_of_edit\n```"},
                {"role": "user", "text": "ok"},
                {"role": "ai", "text": "no command"},
            ],
            "exit_status": "submitted (exit_context)",
        },
        [
            [("open", "open a.py", "[a.py]")],
            [("edit", "edit 1:2\nx\nend_of_edit", "ok")],
            "no command",
            "context_full",
        ],
    ),
    "a trajectory of chat messages": (
        {
            "trajectory": [
                {"role": "user", "content": "q"},
                {"role": "assistant", "content": "```\nno call\n```", "tool_calls": [CALL]},
                {"role": "tool", "tool_call_id": "1", "content": "r"},
            ],
            "exit_status": "AgentStuckInLoopError: stuck",
        },
        [[("f", "{}", "r")], "no_progress"],
    ),
    "from and value": (
        {
            "conversations": [
                {"from": "human", "value": "q"},
                {"from": "function_call", "value": '{"name": "f", "arguments": {"a": 1}}'},
                {"from": "observation", "value": "r"},
                {"from": "function_call", "value": '[{"name": "f", "arguments": {}}, {"name": "g", "arguments": {}}]'},
                {"from": "observation", "value": "both"},
                {"from": "gpt", "value": "end"},
            ]
        },
        [[("f", {"a": 1}, "r")], [("f", {}, "both"), ("g", {}, "both")], "end"],
    ),
    "typed actions and observations": (
        {
            "content": [
                {"class_": "text_observation", "content": "q", "source": "user"},
                {"class_": "code_action", "language": "bash", "content": "ls", "description": "I look"},
                {"class_": "text_observation", "content": "a.py", "source": "environment"},
                {"class_": "api_action", "function": "goto", "kwargs": {"url": "u"}},
                {"class_": "web_observation", "html": "<p>"},
                {"class_": "message_action", "content": "end"},
            ]
        },
        [[("bash", "ls", "a.py")], [("goto", {"url": "u"}, "<p>")], "end"],
    ),
}  # fmt: skip


@pytest.mark.parametrize("case", CASES)
def test_rows(case: str, tmp_path: Path) -> None:
    row, want = CASES[case]
    assert told(read_log(tmp_path / "x.jsonl", NAME, {"id": "r", **row})) == {"r": want}


def test_attempts_at_one_task_are_runs_of_their_own(tmp_path: Path) -> None:
    row = {"instance_id": "i", "messages": chat("q", LS, "a")}
    path = tmp_path / "x.json"
    got = told(read_log(path, NAME, [row, row, {**row, "traj_id": "t"}]))
    assert list(got) == ["i", "i@1.2", "t"]


@pytest.mark.parametrize(
    ("status", "state"),
    [
        ("submitted", "done"),
        ("submitted (exit_cost)", "cost_cap"),
        ("exit_total_execution_time", "time_cap"),
        ("exit_api", "error"),
        ("early_exit", "cut"),
        ("reached maximum iteration", "turn_cap"),
        ("a word we do not know", None),
    ],
)
def test_exit_status(status: str, state: str | None, tmp_path: Path) -> None:
    row = {"id": "r", "trajectory": [{"role": "ai", "text": "x"}], "exit_status": status}
    assert told(read_log(tmp_path / "x.jsonl", NAME, row)) == {"r": ["x", *([state] if state else [])]}


def test_transcripts(tmp_path: Path) -> None:
    run = {
        "id": "r",
        "transcripts": [{"id": "t1", "messages": chat("q", "a")}, {"id": "t2", "messages": chat("q", "b")}],
    }
    assert told(read_log(tmp_path / "x.jsonl", NAME, run)) == {"t1": ["a"], "t2": ["b"]}


def test_one_message_per_line(tmp_path: Path) -> None:
    lines = [
        {"session_id": "a", "role": "user", "content": "q"},
        {"session_id": "a", "role": "assistant", "content": None, "tool_calls": [CALL]},
        {"session_id": "b", "role": "assistant", "content": "hi"},
        {"session_id": "a", "role": "tool", "tool_call_id": "1", "content": "r"},
        {"session_id": "a", "role": "assistant", "content": None, "tool_calls": [CALL]},
        {"session_id": "a", "role": "tool", "tool_call_id": "1", "content": "r2"},
        {"session_id": "a", "role": "assistant", "content": "end"},
    ]
    got = told(read_log(tmp_path / "x.jsonl", NAME, *lines))
    assert got == {"a": [[("f", "{}", "r")], [("f", "{}", "r2")], "end"], "b": ["hi"]}
