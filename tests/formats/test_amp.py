"""Amp threads: outcomes of tools, ends of messages, the old ledger, steering."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from loopscan.formats import Scan
from loopscan.model import MISSING, Usage
from tests.formats.sessions import calls, document, ends, prompts, read, turns

USAGE = {"model": "m", "maxInputTokens": 9000, "inputTokens": 3, "outputTokens": 7}
CACHE = {"cacheCreationInputTokens": 20, "cacheReadInputTokens": 100}


def thread(*messages: dict[str, Any], **more: Any) -> dict[str, Any]:
    listed = [{"messageId": n, **m} for n, m in enumerate(messages)]
    return {"v": 1, "id": "T-1", "messages": listed, **more}


def user(*content: Any) -> dict[str, Any]:
    return {"role": "user", "content": [{"type": "text", "text": c} if isinstance(c, str) else c for c in content]}


def model(*content: Any, stop: str = "tool_use", at: int = 1, **more: Any) -> dict[str, Any]:
    blocks = [{"type": "text", "text": c} if isinstance(c, str) else c for c in content]
    usage = USAGE | CACHE | {"timestamp": f"2026-09-01T10:00:{at:02d}Z"}
    return {
        "role": "assistant",
        "content": blocks,
        "state": {"type": "complete", "stopReason": stop},
        "usage": usage,
    } | more


def call(key: str, name: str = "Read") -> dict[str, Any]:
    return {"type": "tool_use", "complete": True, "id": key, "name": name, "input": {"path": "x"}}


def back(key: str, **run: Any) -> dict[str, Any]:
    return {"type": "tool_result", "toolUseID": key, "run": run}


@pytest.mark.parametrize("indent", [None, 1])
def test_turns_results_and_usage(tmp_path: Path, indent: int | None) -> None:
    results = user(back("b", status="done", result={"content": "B"}), back("a", status="error", error={"message": "A"}))
    talk = thread(user("go"), model("\n\n", call("a"), call("b")), results, model("Done.", stop="end_turn", at=2))
    found = read(document(tmp_path / "x.json", talk, indent), "amp")
    first, last = turns(found)
    assert calls(found) == [[("Read", "A"), ("Read", {"content": "B"})], []]
    assert [c.error for c in first.calls] == [True, False]
    assert (first.usage, first.window, first.model) == (Usage(123, 7, 100, 20), 9000, "m")
    assert (first.run, first.prompt, last.text) == ("T-1", "0", "Done.")
    assert ends(found) == [("done", "stopReason end_turn")]


@pytest.mark.parametrize(
    ("run", "result", "error"),
    [
        ({"status": "cancelled"}, MISSING, False),
        ({"status": "in-progress", "progress": {"output": "…"}}, MISSING, False),
        ({"status": "rejected-by-user", "reason": "no"}, "no", True),
        ({"status": "error", "error": "bad"}, "bad", True),
        ({"status": "done", "result": None}, None, False),
    ],
)
def test_outcomes_of_a_tool(tmp_path: Path, run: dict[str, Any], result: Any, error: bool) -> None:
    talk = thread(user("go"), model(call("a")), user(back("a", **run)))
    (turn,) = turns(read(document(tmp_path / "x.json", talk), "amp"))
    (made,) = turn.calls
    assert made.result is result if result is MISSING else made.result == result
    assert made.error is error


@pytest.mark.parametrize(
    ("answer", "failed", "end"),
    [
        (model(state={"type": "cancelled"}), True, ("aborted", "state cancelled")),
        (model("half", state={"type": "cancelled"}), False, ("aborted", "state cancelled")),
        (model(state={"type": "error", "error": {"message": "529"}}), True, ("error", "state error: 529")),
        (model("long", stop="max_tokens"), False, ("cut", "stopReason max_tokens")),
    ],
)
def test_how_a_message_ends(tmp_path: Path, answer: dict[str, Any], failed: bool, end: tuple[str, str]) -> None:
    found = read(document(tmp_path / "x.json", thread(user("go"), answer)), "amp")
    assert [t.failed for t in turns(found)] == [failed]
    assert ends(found) == [end]


def test_text_beside_a_result_steers(tmp_path: Path) -> None:
    results = user(back("a", status="done", result="A"), "but only src")
    talk = thread(user("go"), model(call("a")), results, model("x", at=2), user("next"), model("y", at=3))
    assert prompts(read(document(tmp_path / "x.json", talk), "amp")) == ["0", "0", "4"]


def test_an_older_thread_keeps_usage_in_a_ledger(tmp_path: Path) -> None:
    event = {"toMessageId": 1, "model": "m2", "tokens": {"input": 50, "output": 6}, "timestamp": "2025-12-01T10:00:00Z"}
    answer = model("ok")
    del answer["usage"]
    (turn,) = turns(
        read(document(tmp_path / "x.json", thread(user("go"), answer, usageLedger={"events": [event]})), "amp")
    )
    assert (turn.usage, turn.model) == (Usage(50, 6), "m2")


def test_sub_threads_summaries_and_copies(tmp_path: Path) -> None:
    info = {"role": "info", "content": [{"type": "summary", "summary": {}}]}
    path = document(tmp_path / "x.json", thread(user("go"), info, model("ok"), mainThreadID="T-0"))
    scan = Scan()
    (turn,) = turns(read(path, "amp", scan))
    assert (turn.parent, turn.prompt, turn.compacted) == ("T-0", None, True)
    assert turns(read(path, "amp", scan)) == []
