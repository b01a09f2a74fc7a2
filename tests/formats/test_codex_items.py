"""Calls and results of Codex rollouts: every kind of call, scripts and what was done in them, output wrappers.

Logs with scripts are built here from the described records; no whole real one may be shipped.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from loopscan.blob import Blob
from loopscan.formats import Scan, load
from loopscan.model import MISSING, Turn
from tests.formats.rollouts import (
    Record,
    calls,
    count,
    done,
    ends,
    event,
    gives,
    item,
    meta,
    read,
    says,
    tokens,
    turns,
    user,
    write,
)

CODEX = load("codex")


def script(seconds: float, call: str, program: str = "text(1)") -> Record:
    return item(seconds, "custom_tool_call", name="exec", call_id=call, input=program)


def ran(seconds: float, command: str, output: str, code: int | str = 0, **more: Any) -> Record:
    fields = {"command": ["/bin/sh", "-lc", command], "cwd": "/srv", "aggregated_output": output, "exit_code": code}
    return done(seconds, type="CommandExecution", id=f"exec-{seconds}", **fields, **more)


def script_gives(seconds: float, call: str, *texts: str) -> Record:
    output = [{"type": "input_text", "text": t} for t in texts]
    return item(seconds, "custom_tool_call_output", call_id=call, output=output)


def test_calls_of_every_kind(tmp_path: Path) -> None:
    action = {"type": "search", "query": "tide tables"}
    log = [
        meta(), user(1),
        calls(2, "a", name="fetch", namespace="mcp__docs"), calls(2, "b", namespace="functions"),
        item(2, "custom_tool_call", name="apply_patch", call_id="c", input="*** Begin Patch"),
        item(2, "tool_search_call", call_id="d", arguments={"query": "x"}),
        event(2, "web_search_end", call_id="ws1", results=[{"title": "T"}]),
        item(2, "web_search_call", id="ws1", action=action), item(2, "web_search_call", id="ws2", action=action),
        gives(3, "a", {"content": "no", "success": False}), gives(3, "b", [{"type": "input_text", "text": "t"}]),
        item(3, "custom_tool_call_output", call_id="c", output="Exit code: 1\nWall time: 0 seconds\nOutput:\nbad"),
        item(3, "tool_search_output", call_id="d", tools=[{"name": "x"}]),
    ]  # fmt: skip
    (turn,) = turns(read(tmp_path / "r.jsonl", log))
    assert [(c.name, c.result, c.error) for c in turn.calls] == [
        ("mcp__docs.fetch", "no", True), ("shell_command", "t", False),
        ("apply_patch", "Exit code: 1\nWall time: 0 seconds\nOutput:\nbad", True),
        ("tool_search", [{"name": "x"}], False),
        ("web_search", [{"title": "T"}], False), ("web_search", MISSING, False),
    ]  # fmt: skip
    assert turn.calls[4].args == action


def test_an_aborted_call_has_no_result(tmp_path: Path) -> None:
    log = [meta(), user(1), calls(2, "a"), gives(3, "a", "aborted by user after 1.2s"), calls(4, "b")]
    log += [event(5, "turn_aborted", reason="interrupted")]
    events = read(tmp_path / "r.jsonl", log)
    assert [c.result for t in turns(events) for c in t.calls] == [MISSING, MISSING]
    assert ends(events) == [("aborted", "interrupted")]


def test_a_script_counts_as_the_calls_made_in_it(tmp_path: Path) -> None:
    log = [
        meta(), user(1), says(2, "Both"), script(3, "s1"), ran(4, "ls", "a"), ran(5, "make", "boom", "2"),
        done(5, type="FileChange", id="f", changes={"/a": {"type": "add"}}, status="completed", stdout="ok"),
        done(5, type="McpToolCall", id="m", server="db", tool="q", arguments={"n": 1}, result={"content": "r"}),
        done(5, type="Extension", id="e", kind="web.run", query="q", results=[]),
        script_gives(6, "s1", "Script completed\nWall time 2.1 seconds\nOutput:\n", "a"),
        count(6, tokens(9), tokens(9)),
        item(8, "reasoning", summary=[]), script(9, "s2"), script_gives(9, "s2", "Script completed", "42"),
    ]  # fmt: skip
    first, second = turns(read(tmp_path / "r.jsonl", log))
    assert [(c.name, c.args, c.result, c.error) for c in first.calls] == [
        ("exec_command", {"cmd": "ls", "workdir": "/srv"}, {"output": "a", "exit_code": 0}, False),
        ("exec_command", {"cmd": "make", "workdir": "/srv"}, {"output": "boom", "exit_code": 2}, True),
        ("apply_patch", {"/a": {"type": "add"}}, {"status": "completed", "stdout": "ok"}, False),
        ("mcp__db__q", {"n": 1}, "r", False),
        ("web.run", {"query": "q"}, [], False),
    ]
    assert [(c.name, c.result) for c in second.calls] == [("exec", "Script completed\n42")]


def test_a_script_that_breaks_is_kept_beside_its_calls(tmp_path: Path) -> None:
    log = [
        meta(),
        user(1),
        script(2, "s"),
        ran(3, "ls", "a"),
        script_gives(4, "s", "Script failed\nOutput:\nTypeError"),
    ]
    (turn,) = turns(read(tmp_path / "r.jsonl", log))
    assert [(c.name, c.error) for c in turn.calls] == [("exec_command", False), ("exec", True)]


def test_done_items_beside_their_own_call_only_say_how_it_ended(tmp_path: Path) -> None:
    log = [
        meta(), user(1), calls(2, "a"), done(3, type="CommandExecution", id="a", command=["ls"], exit_code=1),
        gives(3, "a", "no exit code in it"), calls(4, "b"), gives(4, "b", "x"),
        event(4, "mcp_tool_call_end", call_id="b", result={"Ok": {"isError": True}}),
        done(5, type="CommandExecution", id="zz", command=["late"], exit_code=0), ran(5, "w", "", source="user_shell"),
    ]  # fmt: skip
    events = read(tmp_path / "r.jsonl", log)
    assert [(c.id, c.error) for t in turns(events) for c in t.calls] == [("a", True), ("b", True)]


@pytest.mark.parametrize(
    ("first", "second"),
    [
        ('{"output":"a\\n","metadata":{"exit_code":0,"duration_seconds":0.1}}',
         '{"output":"a\\n","metadata":{"exit_code":0,"duration_seconds":2.4}}'),
        ("Chunk ID: 1a\nWall time: 0.1 seconds\nProcess exited with code 0\nOriginal token count: 9\nOutput:\na",
         "Chunk ID: ff\nWall time: 7.5 seconds\nProcess exited with code 0\nOriginal token count: 12\nOutput:\na"),
        (
            "Script completed\nWall time 0.2 seconds\nOutput:\n\na",
            "Script completed\nWall time 0.9 seconds\nOutput:\n\na",
        ),
        (
            "Script running with cell ID 3\nWall time 10.0 seconds\nOutput:\n",
            "Script running with cell ID 4\nWall time 10.1 seconds\nOutput:\n",
        ),
    ],
)  # fmt: skip
def test_wrappers_differ_where_results_do_not(first: str, second: str) -> None:
    assert CODEX.clean_result("shell", first) == CODEX.clean_result("shell", second)


@pytest.mark.parametrize(
    ("first", "second"),
    [
        ("Process exited with code 0\nOutput:\na", "Process exited with code 1\nOutput:\na"),
        ("Exit code: 0\nOutput:\nWall time: 1 seconds", "Exit code: 0\nOutput:\nWall time: 2 seconds"),
        ('{"output":"a","metadata":{"exit_code":0}}', '{"output":"a","metadata":{"exit_code":1}}'),
    ],
)
def test_exit_codes_and_outputs_stay(first: str, second: str) -> None:
    assert CODEX.clean_result("shell", first) != CODEX.clean_result("shell", second)


@pytest.mark.parametrize("late", [[ran(90, "ls", "a")], [script_gives(90, "s", "Script failed\nOutput:\nTypeError")]])
def test_a_script_that_says_nothing_for_many_turns_is_as_it_was_handed_on(tmp_path: Path, late: list[Record]) -> None:
    between = [r for n in range(20) for r in (calls(2 * n + 5, f"c{n}"), gives(2 * n + 6, f"c{n}", str(n)))]
    log = [meta(), user(1), script(2, "s"), count(3, tokens(9), tokens(9)), *between, *late]
    with Blob(str(write(tmp_path / "r.jsonl", log))) as blob:
        handed_on = [(e, list(e.calls)) for e in CODEX.read(blob, Scan()) if isinstance(e, Turn)]
    assert len(handed_on) == 21
    assert [t.calls for t, _ in handed_on] == [c for _, c in handed_on]
