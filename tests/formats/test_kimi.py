"""Kimi wire logs: steps, retried and unanswered steps, usage told twice, prompts told twice, agents in folders."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from loopscan.formats import Scan, load
from loopscan.model import MISSING, Usage
from tests.formats.sessions import calls, ends, lines, prompts, read, turns

HEADER = {"type": "metadata", "protocol_version": "1.4", "created_at": 1_790_000_000_000}
USAGE = {"inputOther": 10, "output": 5, "inputCacheRead": 100, "inputCacheCreation": 20}
SPENT = Usage(130, 5, 100, 20)


def prompt(kind: str = "user", **origin: Any) -> list[dict[str, Any]]:
    source = {"kind": kind, **origin}
    message = {"role": "user", "content": [{"type": "text", "text": "go"}], "origin": source}
    return [
        {"type": "turn.prompt", "input": [{"type": "text", "text": "go"}], "origin": source, "time": 1_790_000_001_000},
        {"type": "context.append_message", "message": message, "time": 1_790_000_001_001},
    ]


def loop(kind: str, **event: Any) -> dict[str, Any]:
    return {"type": "context.append_loop_event", "event": {"type": kind, **event}, "time": 1_790_000_002_000}


def begin(key: str) -> list[dict[str, Any]]:
    return [loop("step.begin", uuid=key, turnId="0", step=1), {"type": "llm.request", "kind": "loop", "model": "k2"}]


def step(key: str, *tools: tuple[str, Any], text: str | None = None, finish: str | None = None) -> list[dict[str, Any]]:
    log = begin(key)
    log += [] if text is None else [loop("content.part", stepUuid=key, part={"type": "text", "text": text})]
    log += [loop("tool.call", toolCallId=f"{key}{n}", name=name, args={"n": n}) for n, (name, _) in enumerate(tools)]
    log += [loop("tool.result", toolCallId=f"{key}{n}", result=r) for n, (_, r) in enumerate(tools) if r is not ...]
    reason = finish or ("tool_use" if tools else "end_turn")
    record = {"type": "usage.record", "usageScope": "turn", "usage": USAGE}
    return [*log, loop("step.end", uuid=key, usage=USAGE, finishReason=reason), record]


def test_steps_results_and_usage(tmp_path: Path) -> None:
    tools = [("Bash", {"output": "A", "isError": True}), ("Read", {"output": [{"type": "text", "text": "B"}]})]
    log = [HEADER, *prompt(), *step("a", *tools), *step("b", text="Done.")]
    found = read(lines(tmp_path / "x.jsonl", *log), "kimi")
    first, last = turns(found)
    assert calls(found) == [[("Bash", "A"), ("Read", "B")], []]
    assert ([c.error for c in first.calls], first.text, last.text) == ([True, False], "", "Done.")
    assert [t.usage for t in (first, last)] == [SPENT, SPENT]
    assert (first.run, first.prompt, first.model, first.line) == (str(tmp_path / "x.jsonl"), 2, "k2", 4)
    assert ends(found) == [("done", "finishReason end_turn")]


def test_usage_without_a_step_end_and_of_a_compaction(tmp_path: Path) -> None:
    record = {"type": "usage.record", "usageScope": "turn", "usage": USAGE}
    log = [HEADER, *prompt(), *begin("a"), loop("content.part", part={"type": "text", "text": "x"}), record]
    log += [record | {"usageScope": "session"}, {"type": "context.apply_compaction"}, *step("b", text="y")]
    first, last = turns(read(lines(tmp_path / "x.jsonl", *log), "kimi"))
    assert (first.usage, last.usage) == (SPENT, SPENT)
    assert (first.compacted, last.compacted) == (False, True)


def test_a_step_without_a_reply_is_a_failed_send_and_the_last_one_is_open(tmp_path: Path) -> None:
    found = read(lines(tmp_path / "x.jsonl", HEADER, *prompt(), *begin("a"), *prompt(), *begin("b")), "kimi")
    first, last = turns(found)
    assert (first.failed, first.fault, first.usage) == (True, MISSING, None)
    assert (last.failed, last.text) == (False, None)


def test_a_retried_step_is_no_turn(tmp_path: Path) -> None:
    log = [HEADER, *prompt(), *begin("a"), {"type": "turn.step.retrying", "step": 1}, *step("b", text="ok")]
    assert [t.text for t in turns(read(lines(tmp_path / "x.jsonl", *log), "kimi"))] == ["ok"]


def test_which_prompts_start_a_run(tmp_path: Path) -> None:
    log = [HEADER, *prompt(), *step("a", text="1"), *prompt("system_trigger"), *step("b", text="2")]
    log += [*prompt("skill_activation", trigger="user-slash"), *step("c", text="3")]
    assert prompts(read(lines(tmp_path / "x.jsonl", *log), "kimi")) == [2, 2, 16]


def test_a_log_without_turn_prompts(tmp_path: Path) -> None:
    log = [HEADER, prompt()[1], *step("a", text="1"), prompt()[1], *step("b", text="2")]
    assert prompts(read(lines(tmp_path / "x.jsonl", *log), "kimi")) == [2, 8]


@pytest.mark.parametrize(
    ("closing", "end"),
    [
        ([{"type": "turn.cancel"}], ("aborted", "turn.cancel")),
        ([{"type": "turn.ended", "reason": "completed"}], ("done", "turn.ended completed")),
        ([{"type": "turn.ended", "reason": "failed", "error": {"message": "429"}}], ("error", "turn.ended 429")),
        (
            [{"type": "turn.step.interrupted", "reason": "max_steps"}, {"type": "turn.ended", "reason": "failed"}],
            ("turn_cap", "turn.step.interrupted max_steps"),
        ),
        ([{"type": "turn.cancel", "target": "queued"}], None),
    ],
)
def test_how_a_prompt_ends(tmp_path: Path, closing: list[Any], end: tuple[str, str] | None) -> None:
    log = [HEADER, *prompt(), *step("a", ("Bash", ...)), *closing]
    found = read(lines(tmp_path / "x.jsonl", *log), "kimi")
    assert ends(found) == ([] if end is None else [end])
    assert calls(found) == [[("Bash", ...)]]


def test_an_error_of_the_send_itself(tmp_path: Path) -> None:
    log = [HEADER, *prompt(), *begin("a"), {"type": "turn.step.interrupted", "reason": "error", "message": "503"}]
    found = read(lines(tmp_path / "x.jsonl", *log), "kimi")
    assert [(t.failed, t.fault) for t in turns(found)] == [(True, "503")]


def test_agents_are_runs_named_by_their_folders(tmp_path: Path) -> None:
    scan = Scan()
    main = lines(tmp_path / "session_1" / "agents" / "main" / "wire.jsonl", HEADER, *prompt(), *step("a", text="x"))
    log = [HEADER, *prompt("system_trigger"), *step("b", text="y"), *step("a", text="x")]
    agent = lines(tmp_path / "session_1" / "agents" / "agent-0" / "wire.jsonl", *log)
    found = turns(read(main, "kimi", scan)) + turns(read(agent, "kimi", scan))
    view = [(t.run, t.parent, t.prompt, t.text) for t in found]
    assert view == [("session_1", None, 2, "x"), ("session_1/agent-0", "session_1", None, "y")]


def test_new_ids_are_wrappers() -> None:
    clean = load("kimi").clean_result
    assert clean("Agent", "agent_id: agent-0\nx") == clean("Agent", "agent_id: agent-1\nx")
    assert clean("Bash", "saved to /a/tool-results/Bash-1.txt") == clean("Bash", "saved to /a/tool-results/Bash-2.txt")
    assert clean("Bash", None) is None
