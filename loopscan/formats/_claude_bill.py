"""The dollars of a Claude stream: one total per result line, shared out over the sends before it."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field

from loopscan.formats._fields import count, dollars, mapping
from loopscan.formats._usage import usage_of
from loopscan.model import JSON, Usage
from loopscan.source import Blob, Skips


def stream_lines(blob: Blob, skips: Skips) -> Iterator[tuple[int, JSON]]:
    """The lines of a stream, or the entries of the one array, with their numbers."""
    for number, value in blob.values(skips):
        yield from enumerate(value, 1) if isinstance(value, list) else [(number, value)]


@dataclass(slots=True)
class Bill:
    """What one result line says of its sends: dollars, their weight in tokens, context windows by model."""

    usd: float | None = None
    weight: float = 0.0
    windows: dict[str, int] = field(default_factory=dict)


def bills_of(blob: Blob) -> list[Bill]:
    """The bills of a file, in order; none for what can be read only once."""
    if blob.path is None:
        return []
    bills = [Bill()]
    sends: dict[str, Usage] = {}
    paid: dict[str, float] = {}
    again, latest = Blob(blob.name, blob.path), ""
    for _, line in stream_lines(again, Skips()):
        if not isinstance(line, dict):
            continue
        message = mapping(line.get("message"))
        if line.get("type") == "assistant" and (usage := usage_of(message.get("usage"))) is not None:
            latest = str(message.get("id"))
            sends.setdefault(latest, usage).merge(usage)
        elif (usage := final_usage(line)) is not None and latest in sends:
            sends[latest].merge(usage)
        elif line.get("type") == "result":
            bill, session = bills[-1], str(line.get("session_id"))
            total = dollars(line.get("total_cost_usd"))
            if total is not None:  # the total of a session goes on from one result to the next
                before = paid.get(session, 0.0)
                bill.usd, paid[session] = total - before if total >= before else total, total
            bill.weight = sum(weight_of(u) for u in sends.values())
            models = mapping(line.get("modelUsage"))
            bill.windows = {k: n for k, v in models.items() if (n := count(mapping(v).get("contextWindow")))}
            sends.clear()
            bills.append(Bill())
    again.close()
    return bills


def weight_of(usage: Usage) -> float:
    """Tokens of a send in units of one uncached input token."""
    read, write, long = usage.cache_read or 0, usage.cache_write or 0, usage.cache_write_1h or 0
    fresh = (usage.input or 0) - read - write
    return fresh + 0.1 * read + 1.25 * (write - long) + 2 * long + 5 * (usage.output or 0)


def final_usage(line: dict[str, JSON]) -> Usage | None:
    """What the end of a message adds to its usage, where the partial messages were printed."""
    event = mapping(line.get("event"))
    return usage_of(event.get("usage")) if event.get("type") == "message_delta" else None
