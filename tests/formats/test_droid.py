"""Droid sessions: totals from the side file, injected texts, called sessions."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from loopscan.blob import Blob
from loopscan.formats import Scan, detect
from loopscan.model import Usage
from tests.formats.sessions import calls, document, lines, prompts, read, turns

START = {"type": "session_start", "id": "s1", "version": 2, "cwd": "/w"}
TOTAL = {"inputTokens": 100, "outputTokens": 31, "cacheCreationTokens": 0, "cacheReadTokens": 400, "thinkingTokens": 9}


def message(n: int, role: str, *content: Any) -> dict[str, Any]:
    blocks = [{"type": "text", "text": c} if isinstance(c, str) else c for c in content]
    stamp = f"2026-09-01T10:00:{n:02d}Z"
    return {"type": "message", "id": f"m{n}", "timestamp": stamp, "message": {"role": role, "content": blocks}}


def call(key: str) -> dict[str, Any]:
    return {"type": "tool_use", "id": key, "name": "Read", "input": {"file_path": "x"}}


def back(key: str, text: str, error: bool = False) -> dict[str, Any]:
    return {"type": "tool_result", "tool_use_id": key, "content": text, "is_error": error}


LOG = [
    START,
    message(1, "user", "<system-reminder>x</system-reminder>", "go"),
    message(2, "assistant", call("a"), call("b")),
    {"type": "todo_state", "id": "t", "todos": {}, "messageIndex": 1},
    message(3, "user", back("b", "B"), back("a", "A", error=True)),
    message(4, "assistant", call("c")),
    message(5, "user", "<system-reminder>y</system-reminder>", back("c", "C")),
    message(6, "assistant", "Done."),
]


def test_turns_and_results(tmp_path: Path) -> None:
    found = read(lines(tmp_path / "x.jsonl", *LOG), "droid")
    assert calls(found) == [[("Read", "A"), ("Read", "B")], [("Read", "C")], []]
    first, *_, last = turns(found)
    assert [c.error for c in first.calls] == [True, False]
    assert (first.run, first.usage, first.text, last.text) == ("s1", None, "", "Done.")
    assert prompts(found) == ["m1"] * 3


def test_the_side_file_is_shared_out_and_no_log_itself(tmp_path: Path) -> None:
    side = document(tmp_path / "x.settings.json", {"model": "m", "tokenUsage": TOTAL})
    found = turns(read(lines(tmp_path / "x.jsonl", *LOG), "droid"))
    assert [t.usage for t in found] == [Usage(166, 10, 133, 0), Usage(166, 10, 133, 0), Usage(168, 11, 134, 0)]
    assert [t.model for t in found] == ["m"] * 3
    blob = Blob(str(side), side)
    assert detect(blob.head) is None
    blob.close()


def test_a_damaged_side_file_says_nothing(tmp_path: Path) -> None:
    (tmp_path / "x.settings.json").write_text('{"tokenUsage": {"inp')
    assert [t.usage for t in turns(read(lines(tmp_path / "x.jsonl", *LOG), "droid"))] == [None] * 3


def test_called_sessions_compaction_and_unknown_records(tmp_path: Path) -> None:
    log = [START | {"callingSessionId": "s0"}, message(1, "user", "go"), {"type": "compaction_state"}, {"type": "new"}]
    scan = Scan()
    (turn,) = turns(read(lines(tmp_path / "x.jsonl", *log, message(2, "assistant", "ok")), "droid", scan))
    assert (turn.parent, turn.prompt, turn.compacted) == ("s0", None, True)
    assert scan.skips.unknown == {"droid:new": 1}


def test_a_session_without_its_start_is_told_by_its_messages(tmp_path: Path) -> None:
    path = lines(tmp_path / "5a77c0de-2b9e-4f31-9d48-e1f60b83a2c5.jsonl", *LOG[1:])
    assert turns(read(path, "droid"))[0].run == "5a77c0de-2b9e-4f31-9d48-e1f60b83a2c5"
