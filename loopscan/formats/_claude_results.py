"""What Claude Code records of a tool result, and what of it the client added."""

from __future__ import annotations

from typing import Final

from loopscan.decode import FAST_ERRORS, fast, loads
from loopscan.formats._fields import result_of_blocks
from loopscan.model import JSON

_REMINDER: Final = ("<system-reminder>", "</system-reminder>")


def result_of(raw: bytes) -> JSON:
    """A tool result from its JSON."""
    try:
        content = fast(raw)
    except FAST_ERRORS:
        content = loads(raw)
    return content if type(content) is str else result_of_blocks(content)


def clean_result(name: str, result: JSON) -> JSON:
    """Without the reminders that the client injects, and without the fresh path of a result too large to show."""
    if not isinstance(result, str):
        return result
    start, end = _REMINDER
    while (i := result.find(start)) >= 0:
        j = result.find(end, i)
        result = (result[:i] + (result[j + len(end) :] if j >= 0 else "")).rstrip()
    if result.startswith("<persisted-output>"):
        head, _, preview = result.partition("\n")
        result = head + preview.partition("Preview")[2] if "Preview" in preview else result
    return result
