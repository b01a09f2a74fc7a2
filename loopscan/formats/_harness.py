"""What logs of evaluation harnesses share: names of runs, calls of chat replies, totals in words."""

from __future__ import annotations

from collections.abc import Iterable
from itertools import chain
from itertools import count as numbers
from typing import Final

from loopscan.decode import canonical, word
from loopscan.formats import Scan
from loopscan.formats import _usage as provider
from loopscan.formats._endings import state_of
from loopscan.formats._fields import count, dollars, identity, items, mapping
from loopscan.model import JSON, MISSING, Call, Turn, Usage
from loopscan.skips import Skips

_NOTE: Final = 300


class Names:
    """Run ids of one file, each given once in a scan.

    The ids of a harness (instance, task, trial) name the task, not the run: the same task done by another model is
    another run. So an id that was met before gets its file in front; a run without an id is named by the file.
    """

    def __init__(self, file: str, scan: Scan, format_name: str) -> None:
        self.file = file
        self._taken: set[int] = scan.memory.setdefault(f"{format_name} runs", set())
        self._last: dict[int, int] = scan.memory.setdefault(f"{format_name} numbers", {})

    def run(self, inner: str | None, row: int | None = None) -> str:
        """The id of a run which the harness calls `inner`, else of row number `row` of the file, else of the file."""
        base = self.file if inner is None and row is None else f"{self.file}#{row if inner is None else inner}"
        first = self._last.get(hash(base), 1) + 1
        names = chain([inner or base, base], (f"{base}#{number}" for number in numbers(first)))
        name = next(n for n in names if hash(n) not in self._taken)
        if name not in (inner, base):
            self._last[hash(base)] = int(name.rpartition("#")[2])
        self._taken.add(hash(name))
        return name


def calls_of(message: dict[str, JSON]) -> list[Call]:
    """The `tool_calls` of a chat message: `function` is an object, a name, or absent (flat)."""
    calls: list[Call] = []
    for item in map(mapping, items(message.get("tool_calls"))):
        inner = mapping(item.get("function")) or item
        name = inner.get("name") or item.get("function")
        calls.append(Call(word(name), inner.get("arguments"), id=identity(item.get("id"))))
    return calls


def answer(turn: Turn | None, call_id: str | None, result: JSON, error: bool = False) -> bool:
    """Give a result to the turn's open call of this id, without an id to its first open call.

    Ids may repeat inside a run, so a result is looked for in the turn it follows only.
    """
    for call in turn.calls if turn is not None else ():
        if call.result is MISSING and (call_id is None or call.id == call_id):
            call.result, call.error = result, error
            return True
    return False


def usage_of(usage: JSON, cost: JSON = None) -> Usage | None:
    """Usage of a reply and its cost in USD.

    No dollars for some tokens means that nobody knew the price, not that the send was free.
    """
    found = provider.usage_of(usage) or Usage()
    found.usd = dollars(cost) or found.usd or None
    return None if found == Usage() else found


def spoken(calls: Iterable[Call], *texts: JSON) -> int:
    """Characters of a reply: its texts, the names and arguments of its calls."""
    wrote = sum(len(t) for t in texts if isinstance(t, str))
    for call in calls:
        wrote += len(call.name) + len(call.args if isinstance(call.args, str) else canonical(call.args))
    return wrote


def stop_state(words: str) -> str:
    """The state for an exception that ended a run: its class name, its message, or both."""
    return "context_full" if "contextwindow" in words.lower() else state_of(words)


def no_turns(skips: Skips, place: str, kind: str, told: str) -> None:
    """A log that holds no turns to judge: counted by `kind` (format and reason), and what it does hold is told."""
    format_name, _, reason = kind.partition(":")
    skips.unknown_type(format_name, reason)
    skips.tell(kind, f"{place}: no turns to read, {reason}: {told}")


def totals(calls: JSON = None, given: JSON = None, output: JSON = None, usd: JSON = None) -> str | None:
    """What a log says of a whole run only, in words; None if it says nothing (or zero)."""
    parts = []
    if count(calls):
        parts.append(f"{count(calls)} model calls")
    if count(given) or count(output):
        parts.append(f"{count(given) or 0} input and {count(output) or 0} output tokens")
    if dollars(usd):
        parts.append(f"${dollars(usd):.6g}")
    return "totals in the log: " + ", ".join(parts) if parts else None


def note(*parts: JSON) -> str | None:
    """The log's own words on an end, and what goes with them, in one line."""
    text = "; ".join(" ".join(p.split()).rstrip(".") for p in parts if isinstance(p, str) and p.strip())
    return text[:_NOTE] or None
