"""Files that need not be read for a span of time, told by their name and the time they were last written.

Only formats that keep each run in one file allow it: a log that is rotated by day may hold the beginning of a run
that ended in the next file.
"""

from __future__ import annotations

import os
import re
from datetime import UTC, datetime
from typing import Final

from loopscan.span import Span

SESSION_FILES: Final = frozenset("claude-code codex copilot-cli cursor droid gemini-cli kimi openclaw pi qwen".split())
"""Formats whose runs never go on in another file; the file is appended to, or written anew, with each turn."""

_PATHS: Final = (
    ("codex", re.compile(r"rollout-(?P<day>\d{4}-\d\d-\d\d)T[^/\\]*\.jsonl(\.gz|\.zst)?$")),
    (
        "claude-code",
        re.compile(r"[/\\]projects[/\\].*[/\\]([0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}|agent-[\w-]+)\.jsonl$"),
    ),
)
"""Names that only one agent gives: `sessions/2026/11/23/rollout-2026-11-23T09-00-00-….jsonl` begins on that day."""

_SKEW: Final = 3600.0
"""The clock of the machine that wrote a file may be off."""
_DAY: Final = 86400.0
"""A day in a name is a local one."""


def cannot_hold(path: str, format_name: str | None, span: Span) -> bool:
    """Whether a file holds no run that ended in the span. `format_name`: None while the file was not opened."""
    if span.open:
        return False
    day = None
    for name, pattern in _PATHS:
        if match := pattern.search(path):
            format_name, day = format_name or name, match.groupdict().get("day")
    if format_name not in SESSION_FILES:
        return False
    try:
        written = os.stat(path).st_mtime
        begun = None if day is None else datetime.fromisoformat(day).replace(tzinfo=UTC).timestamp()
    except (OSError, ValueError):
        return False
    too_old = span.since is not None and written < span.since - _SKEW
    return too_old or (span.until is not None and begun is not None and begun - _DAY >= span.until)
