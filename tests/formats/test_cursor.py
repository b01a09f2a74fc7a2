"""Cursor transcripts: nothing but texts and calls, and since 2026 how a prompt ended."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from loopscan.formats import Scan
from tests.formats.sessions import calls, ends, lines, prompts, read, turns

KEY = "c4a91e7d-6b02-4d8f-bb35-70f2e6d5a913"


def line(role: str, *content: Any) -> dict[str, Any]:
    blocks = [{"type": "text", "text": c} if isinstance(c, str) else c for c in content]
    return {"role": role, "message": {"content": blocks}}


def call(name: str, **args: Any) -> dict[str, Any]:
    return {"type": "tool_use", "name": name, "input": args}


def test_calls_have_no_results(tmp_path: Path) -> None:
    log = [
        line("user", "<user_query>\ngo\n</user_query>"),
        line("assistant", "Hm\n\n[REDACTED]", call("Grep"), call("Read")),
    ]
    log += [line("assistant", "[REDACTED]"), line("user", "more"), line("assistant", "Done.\n\n[REDACTED]")]
    found = read(lines(tmp_path / KEY / f"{KEY}.jsonl", *log), "cursor")
    assert calls(found) == [[("Grep", ...), ("Read", ...)], [], []]
    assert [t.text for t in turns(found)] == ["Hm", None, "Done."]
    assert prompts(found) == [1, 1, 4]
    assert {t.run for t in turns(found)} == {KEY}


def test_exact_keeps_texts_as_they_are(tmp_path: Path) -> None:
    path = lines(tmp_path / "x.jsonl", line("user", "go"), line("assistant", "Done.\n\n[REDACTED]"))
    assert [t.text for t in turns(read(path, "cursor", Scan(exact=True)))] == ["Done.\n\n[REDACTED]"]


@pytest.mark.parametrize(
    ("record", "end"),
    [
        ({"status": "success"}, ("done", "turn_ended success")),
        ({"status": "aborted", "error": "User aborted."}, ("aborted", "turn_ended aborted: User aborted.")),
        ({"status": "error", "error": "boom"}, ("error", "turn_ended error: boom")),
    ],
)
def test_how_a_prompt_ended(tmp_path: Path, record: dict[str, str], end: tuple[str, str]) -> None:
    path = lines(tmp_path / "x.jsonl", line("user", "go"), line("assistant", "ok"), {"type": "turn_ended", **record})
    assert ends(read(path, "cursor")) == [end]


def test_injected_texts_and_unknown_records(tmp_path: Path) -> None:
    log = [
        line("user", "go"),
        line("assistant", "a"),
        line("user", "<system_reminder>x"),
        {"type": "new"},
        line("assistant", "b"),
    ]
    scan = Scan()
    assert prompts(read(lines(tmp_path / "x.jsonl", *log), "cursor", scan)) == [1, 1]
    assert scan.skips.unknown == {"cursor:new": 1}


def test_a_sub_agent_is_one_run_with_a_parent(tmp_path: Path) -> None:
    path = tmp_path / "p1" / "subagents" / f"{KEY}.jsonl"
    found = read(
        lines(path, line("user", "go"), line("assistant", "a"), line("user", "on"), line("assistant", "b")), "cursor"
    )
    assert [(t.run, t.parent, t.prompt) for t in turns(found)] == [(KEY, "p1", None)] * 2
