"""What only the result line of a Claude stream says: dollars and output tokens, shared out over the sends before it.

The `usage` of an assistant line is that of the message's start: its input is whole, its output is not. Where the
input of all sends adds up to the result's, so must the output: the result's count is shared out by what each send
wrote. Dollars are shared out by the usual ratio of token prices. Sums are as recorded, shares are not.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import PurePath

from loopscan.blob import Blob
from loopscan.decode import canonical, word
from loopscan.formats._fields import count, dollars, identity, items, mapping
from loopscan.formats._usage import usage_of
from loopscan.model import JSON, Turn, Usage
from loopscan.skips import Skips


def stream_lines(blob: Blob, skips: Skips) -> Iterator[tuple[int, JSON]]:
    """The lines of a stream, or the entries of the one array, with their numbers."""
    for number, value in blob.values(skips):
        yield from enumerate(value, 1) if isinstance(value, list) else [(number, value)]


@dataclass(slots=True)
class Bill:
    """One result line. `output`: tokens to share out over `written` characters, None if the sends say it all."""

    usd: float | None = None
    weight: float = 0.0
    windows: dict[str, int] = field(default_factory=dict)
    output: int | None = None
    written: int = 0
    shared: int = 0
    passed: int = 0

    def apply(self, turn: Turn) -> None:
        """Give a turn its share; turns come in the order of the stream."""
        turn.window = self.windows.get(turn.model or "")
        if turn.usage is None:
            return
        if self.usd and self.weight:
            turn.usage.usd = self.usd * weight_of(turn.usage) / self.weight
        if self.output is not None and turn.parent is None and self.written:
            self.passed += turn.written or 0
            share = max(0, round(self.output * self.passed / self.written) - self.shared)
            self.shared += share
            turn.usage.output = share


@dataclass(slots=True)
class _Sends:
    """The sends before a result: usage by message, and which of them are a sub-agent's."""

    usage: dict[str, Usage] = field(default_factory=dict)
    agents: set[str] = field(default_factory=set)
    written: int = 0
    latest: str = ""

    def add(self, line: dict[str, JSON]) -> None:
        """Take an assistant line."""
        message = mapping(line.get("message"))
        usage = usage_of(message.get("usage"))
        if usage is None or message.get("model") == "<synthetic>":
            return
        self.latest = word(message.get("id"))
        self.usage.setdefault(self.latest, usage).merge(usage)
        if line.get("parent_tool_use_id"):
            self.agents.add(self.latest)
        else:
            self.written += sum(written_in(mapping(b)) for b in items(message.get("content")))

    def missing_output(self, total: Usage | None) -> int | None:
        """The output of the main run where the lines told only a part of it."""
        main = [u for name, u in self.usage.items() if name not in self.agents]
        whole = total is not None and sum(u.input or 0 for u in main) == total.input
        told = sum(u.output or 0 for u in main)
        return total.output if total and whole and (total.output or 0) > told else None


def bills_of(blob: Blob) -> dict[str, list[Bill]]:
    """The bills of a file by session, in order; none for what can be read only once."""
    bills: dict[str, list[Bill]] = {}
    open_: dict[str, _Sends] = {}
    paid: dict[str, float] = {}
    session = PurePath(blob.name).stem
    if blob.path is None:
        return bills
    again = Blob(blob.name, blob.path)
    for _, line in stream_lines(again, Skips()):
        if not isinstance(line, dict):
            continue
        kind, named = line.get("type"), identity(line.get("session_id"))
        session = named or session if kind == "system" else session
        sends = open_.setdefault(named or session, _Sends())
        if kind == "assistant":
            sends.add(line)
        elif kind == "result":
            bills.setdefault(named or session, []).append(_bill(line, sends, paid))
            del open_[named or session]
        elif (usage := final_usage(line)) is not None and sends.latest in sends.usage:
            sends.usage[sends.latest].merge(usage)
    again.close()
    return bills


def _bill(line: dict[str, JSON], sends: _Sends, paid: dict[str, float]) -> Bill:
    total, session = dollars(line.get("total_cost_usd")), word(line.get("session_id"))
    usd = None
    if total is not None:  # the total of a session goes on from one result to the next
        before = paid.get(session, 0.0)
        usd, paid[session] = total - before if total >= before else total, total
    models = mapping(line.get("modelUsage"))
    windows = {k: n for k, v in models.items() if (n := count(mapping(v).get("contextWindow")))}
    weight = sum(weight_of(u) for u in sends.usage.values())
    return Bill(usd, weight, windows, sends.missing_output(usage_of(line.get("usage"))), sends.written)


def weight_of(usage: Usage) -> float:
    """Tokens of a send in units of one uncached input token."""
    read, write, long = usage.cache_read or 0, usage.cache_write or 0, usage.cache_write_1h or 0
    fresh = max(0, (usage.input or 0) - read - write)
    return fresh + 0.1 * read + 1.25 * (write - long) + 2 * long + 5 * (usage.output or 0)


def written_in(block: dict[str, JSON]) -> int:
    """Characters of a content block that the model wrote."""
    kind = block.get("type")
    if kind in ("tool_use", "server_tool_use"):
        return len(word(block.get("name"))) + len(canonical(block.get("input")))
    words = block.get(kind) if kind in ("text", "thinking") else None
    return len(words) if isinstance(words, str) else 0


def final_usage(line: dict[str, JSON]) -> Usage | None:
    """What the end of a message adds to its usage, where the partial messages were printed."""
    event = mapping(line.get("event"))
    return usage_of(event.get("usage")) if event.get("type") == "message_delta" else None
