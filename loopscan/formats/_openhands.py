"""What both generations of OpenHands logs share: what its stops are called, and what came back from an action."""

from __future__ import annotations

from typing import Final

from loopscan.formats._fields import count
from loopscan.formats._harness import stop_state as general
from loopscan.model import JSON, Usage

_STOPS: Final = (
    ("stuckinloop", "no_progress"),
    ("stuck in a loop", "no_progress"),
    ("maximum iteration", "turn_cap"),
    ("maxiterations", "turn_cap"),
    ("maximum budget", "cost_cap"),
    ("maxbudget", "cost_cap"),
    ("budget", "cost_cap"),
    ("timeout", "time_cap"),
    ("timed out", "time_cap"),
)


def stop_state(words: str) -> str:
    """The state for the text of an error that ended a run."""
    lowered = words.lower()
    return next((state for sign, state in _STOPS if sign in lowered), None) or general(words)


def outcome(content: JSON, code: JSON) -> JSON:
    """The result of an action: what it printed, with its exit code where that says more than success."""
    return {"content": content, "exit_code": code} if failed(code) else content


def failed(code: JSON) -> bool:
    """Whether an exit code tells of failure; -1 means that there is none (yet)."""
    return isinstance(code, int) and not isinstance(code, bool) and code not in (0, -1)


def usage_fields(record: dict[str, JSON]) -> Usage | None:
    """A usage record of OpenHands, one send or a running total: input includes cache reads and writes."""
    names = ("prompt_tokens", "completion_tokens", "cache_read_tokens", "cache_write_tokens")
    total, output, read, write = (count(record.get(name)) for name in names)
    return None if total is None and output is None else Usage(total, output, read, write)


def difference(total: Usage, before: Usage) -> Usage | None:
    """What a running total grew by; None if it did not grow (or fell: another count began)."""
    grown = Usage()
    for name in ("input", "output", "cache_read", "cache_write"):
        new, old = getattr(total, name), getattr(before, name)
        if new is not None:
            setattr(grown, name, new - (old or 0))
    values = [v for v in (grown.input, grown.output, grown.cache_read, grown.cache_write) if v is not None]
    return grown if values and min(values) >= 0 and max(values) > 0 else None
