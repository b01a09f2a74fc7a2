"""Sessions of Claude Code taken several turns at once: the same records as turn by turn."""

from __future__ import annotations

from pathlib import Path
from random import Random
from typing import Any

import pytest

from loopscan import Settings
from tests.conftest import native
from tests.test_stretch import SLOW, records, stamp


def session(chance: Random, turns: int) -> list[dict[str, Any]]:
    """A Claude Code session: calls that fail, output that cannot be true, pauses, cached prompts, a line in between."""
    lines: list[dict[str, Any]] = []
    now = 0
    for turn in range(turns):
        now += chance.choice((5, 40, 400, 2000))
        common = {"sessionId": "s", "uuid": f"u{turn}", "timestamp": stamp(now)}
        path = f"/src/./{chance.randrange(9)}.py"
        name, args = chance.choice(
            (
                ("Read", {"file_path": path, "offset": chance.randrange(99), "limit": 20}),
                ("Edit", {"file_path": path, "old_string": f"a{turn}", "new_string": "b" * chance.randrange(900)}),
                ("Bash", {"command": f"pytest -k t{chance.randrange(40)}", "description": f"turn {turn}"}),
            )
        )
        usage: dict[str, Any] = {
            "input_tokens": 4,
            "output_tokens": chance.choice((2, 80)),
            "cache_read_input_tokens": 5000,
        }
        usage |= chance.choice(({}, {"cache_creation_input_tokens": 600}, {"cache_read_input_tokens": 0}))
        call = {"type": "tool_use", "id": f"c{turn}", "name": name, "input": args}
        message = {"id": f"m{turn}", "model": "claude-sonnet-4-5", "content": [call], "usage": usage}
        lines.append({"type": "assistant", "message": message, **common})
        if chance.random() < 0.2:
            hook = {"type": "hook_progress", "message": "running"}
            lines.append({"type": "progress", "data": hook, **common})
        content = chance.choice(
            (f"{turn} lines\n" * 90 + str(now), f"\u2192 {turn}\n\u2190 {now}", "no such file", "", [])
        )
        result = {
            "type": "tool_result",
            "tool_use_id": f"c{turn}",
            "content": content,
            "is_error": chance.random() < 0.2,
        }
        lines.append({"type": "user", "message": {"role": "user", "content": [result]}, **common})
    return lines


@pytest.mark.parametrize("seed", range(6))
def test_claude_code_sessions(seed: int, tmp_path: Path) -> None:
    path = native(tmp_path / "s.jsonl", *session(Random(seed), 300))
    quick = records(path, Settings())
    assert quick == records(path, SLOW)
    assert quick[0]["turns"] == 300
