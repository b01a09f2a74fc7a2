"""What each send of a Codex rollout used, from records that count up, restart and repeat.

`input_tokens` holds the cached and the cache-written tokens, `output_tokens` the reasoning tokens. A `token_count`
event carries the total of the thread and what its last response used; it is written again without a new response
(47 % of the events in some files), so only a change of the total is a send.
"""

from __future__ import annotations

from collections import deque
from dataclasses import dataclass, field
from typing import Final

from loopscan.formats._fields import count, mapping
from loopscan.model import JSON, Usage

_REMEMBERED: Final = 64
"""Totals kept to tell a counter that restarted from an old event that was written again."""


def usage_of(value: JSON) -> Usage | None:
    """The token counts of a usage object, None where it holds none."""
    record = mapping(value)
    usage = Usage(
        count(record.get("input_tokens")),
        count(record.get("output_tokens")),
        count(record.get("cached_input_tokens")),
        count(record.get("cache_write_input_tokens")),
    )
    return None if usage.input is None and usage.output is None else usage


@dataclass(slots=True)
class Meter:
    """The counters of one rollout; `spent` turns each event into the usage of a send, or None."""

    total: Usage | None = None
    last: Usage | None = None
    known: deque[int] = field(default_factory=lambda: deque(maxlen=_REMEMBERED))

    def spent(self, info: dict[str, JSON]) -> Usage | None:
        """What was used since the event before; None for a repeated event and for one without a count."""
        total, last = usage_of(info.get("total_token_usage")), usage_of(info.get("last_token_usage"))
        repeated, self.last = last == self.last, last
        if total is None:
            return None if repeated else _paid(last)
        before = self.total
        if before is None:
            self._settle(total)
            return _paid(total if last is None else last)
        if _size(total) >= _size(before):
            self._settle(total)
            return _paid(_minus(total, before))
        if _mark(total) in self.known:
            return None
        self._settle(total)  # a resumed process counts from zero again
        return _paid(total if last is None else last)

    def inherit(self, info: dict[str, JSON]) -> None:
        """Take over a counter that another thread paid for: nothing was spent here."""
        total = usage_of(info.get("total_token_usage"))
        if total is not None:
            self._settle(total)

    def _settle(self, total: Usage) -> None:
        self.total = total
        self.known.append(_mark(total))


def _mark(usage: Usage) -> int:
    return hash((usage.input, usage.output, usage.cache_read, usage.cache_write))


def _size(usage: Usage) -> int:
    return (usage.input or 0) + (usage.output or 0)


def _paid(usage: Usage | None) -> Usage | None:
    return usage if usage is not None and _size(usage) else None


def _less(now: int | None, before: int | None) -> int | None:
    return None if now is None else max(0, now - (before or 0))


def _minus(now: Usage, before: Usage) -> Usage:
    return Usage(
        _less(now.input, before.input),
        _less(now.output, before.output),
        _less(now.cache_read, before.cache_read),
        _less(now.cache_write, before.cache_write),
    )
