"""Aider's opt-in analytics log, `aider --analytics-log x.jsonl`: what was sent and paid, no content.

One line = one event, `{event, properties, user_id, time}`. One turn = `message_send`. One run = one process,
`launched` to `exit` or the next `launched`; it is named after the line that opens it, for the log names no run.
Usage = `prompt_tokens`, `completion_tokens`, `cost` of the event. Event list:
https://github.com/Aider-AI/aider/blob/main/aider/website/docs/more/analytics.md
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Final

from loopscan.blob import Blob, Head
from loopscan.formats import Scan
from loopscan.formats._fields import count, dollars, identity, mapping, when
from loopscan.model import JSON, End, Event, Turn, Usage

TITLE = "Aider analytics log (cost only)"
WHERE: tuple[str, ...] = ()
LACKS = "calls, results and text: loops cannot be seen"
COSMETIC_ARGS: Mapping[str, frozenset[str]] = {}

_EVENT: Final = frozenset({"event", "properties", "user_id", "time"})
_STOPPED: Final = ("Control-C", "KeyboardInterrupt")
_ERRORS: Final = ("exception", "error", "unknown", "invalid", "missing", "no such")


def sniff(head: Head) -> bool:
    """Lines of exactly the four fields of an event."""
    return not head.document and any(o.keys() >= _EVENT and isinstance(o["event"], str) for o in head.objects)


def read(blob: Blob, scan: Scan) -> Iterator[Event]:
    """The turns and ends of an analytics log."""
    # two logs would both have a launch at the same line: only the first keeps the short names
    names: list[str] = scan.memory.setdefault("aider-analytics", [])
    if blob.name not in names:
        names.append(blob.name)
    prefix = "" if names[0] == blob.name else f"{blob.name}:"
    run: str | None = None
    for number, line in blob.values(scan.skips):
        if not isinstance(line, dict):
            scan.skips.add(blob.name, number, "not an object: an event is a JSON object")
            continue
        kind, properties = line.get("event"), mapping(line.get("properties"))
        if kind == "launched" or run is None:
            run = f"{prefix}launch-line-{number}"
        if kind == "message_send":
            yield _turn(run, line, properties, number)
        elif kind == "exit":
            reason = identity(properties.get("reason"))
            yield End(run, _state(reason or ""), reason, number, time=when(line.get("time")))
            run = None


def _turn(run: str, line: dict[str, JSON], properties: dict[str, JSON], number: int) -> Turn:
    turn = Turn(run, text=None, line=number, time=when(line.get("time")))
    turn.model = identity(properties.get("main_model"))
    sent, written = count(properties.get("prompt_tokens")), count(properties.get("completion_tokens"))
    usage = Usage(sent, written, usd=dollars(properties.get("cost")) or None)
    turn.usage = None if usage == Usage() else usage
    return turn


def _state(reason: str) -> str:
    if any(word in reason for word in _STOPPED):
        return "aborted"
    return "error" if any(word in reason.lower() for word in _ERRORS) else "done"


def clean_result(name: str, result: JSON) -> JSON:
    """There are no results."""
    return result
