"""Reading the fields of untrusted records: every function takes any JSON value and never raises."""

from __future__ import annotations

from datetime import UTC, datetime

from loopscan.decode import canonical
from loopscan.model import JSON

_MAX_TIME = 32503680000.0  # year 3000
_moment = datetime.fromisoformat


def text_or_none(value: JSON) -> str | None:
    """A string as it is, a number as its JSON text, anything else None."""
    if isinstance(value, str):
        return value
    if isinstance(value, (int, float)) and not isinstance(value, bool):
        return canonical(value).decode()
    return None


def identity(value: JSON) -> str | None:
    """An id of any JSON type as text; None for null and the empty string."""
    if value is None or value == "":
        return None
    return value if isinstance(value, str) else canonical(value).decode(errors="replace")


def mapping(value: JSON) -> dict[str, JSON]:
    """An object, or an empty one in place of anything else."""
    return value if isinstance(value, dict) else {}


def items(value: JSON) -> list[JSON]:
    """An array, or an empty one in place of anything else."""
    return value if isinstance(value, list) else []


def count(value: JSON) -> int | None:
    """A token count: a non-negative number (3, 3.0 or "3"), else None."""
    if isinstance(value, bool) or value is None:
        return None
    if isinstance(value, str):
        try:
            value = int(value)
        except ValueError:
            return None
    if isinstance(value, float):
        value = int(value) if value.is_integer() else None
    return value if isinstance(value, int) and 0 <= value < 1 << 53 else None


def dollars(value: JSON) -> float | None:
    """An amount of USD: a finite non-negative number, else None."""
    if isinstance(value, str):
        try:
            value = float(value)
        except ValueError:
            return None
    if isinstance(value, (int, float)) and not isinstance(value, bool) and 0 <= value < 1e12:
        return float(value)
    return None


def when(value: JSON) -> float | None:
    """A point in time as epoch seconds: ISO 8601 (UTC where no zone is given), epoch s, ms, us or ns."""
    if type(value) is str:
        try:
            moment = _moment(value)
        except ValueError:
            try:
                return when(float(value))
            except ValueError:
                return None
        if moment.tzinfo is None:
            moment = moment.replace(tzinfo=UTC)
        try:
            return moment.timestamp()
        except (OverflowError, ValueError):
            return None
    if isinstance(value, (int, float)) and not isinstance(value, bool) and 0 < value < _MAX_TIME * 1e9:
        for scale in (1.0, 1e3, 1e6, 1e9):
            if value / scale < _MAX_TIME:
                return value / scale
    return None


def text_of_blocks(content: JSON) -> str:
    """The text of a message's content: a string, or the text of its `text` blocks joined by newlines."""
    if isinstance(content, str):
        return content
    parts = [b if isinstance(b, str) else mapping(b).get("text") for b in items(content)]
    return "\n".join(p for p in parts if isinstance(p, str))


def result_of_blocks(content: JSON) -> JSON:
    """A tool result's content: the text where it is text blocks only, else the value itself."""
    blocks = items(content)
    if blocks and all(isinstance(mapping(b).get("text"), str) and set(b) <= {"type", "text"} for b in blocks):
        return "\n".join(b["text"] for b in blocks)
    return content
