"""The session format that pi and OpenClaw share: a header line, then one entry (mostly one message) per line.

Field meanings: https://github.com/badlogic/pi-mono/blob/main/packages/coding-agent/docs/session.md
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Final

from loopscan.blob import Head
from loopscan.decode import word
from loopscan.formats import Scan
from loopscan.formats._blocks import fill, says
from loopscan.formats._endings import state_of
from loopscan.formats._fields import count, dollars, identity, items, mapping, result_of_blocks, text_or_none, when
from loopscan.formats._session import Session, run_of_file
from loopscan.model import JSON, MISSING, Event, Turn, Usage

_ENTRIES: Final = frozenset(
    [
        "session",
        "thinking_level_change",
        "branch_summary",
        "custom_message",
        "label",
        "session_info",
        "leaf",
        "usage",
        "context_edit",
        "context_transform",
        "ephemeral",
        "tools_change",
        "active_tools_change",
    ]
)
_ROLES: Final = frozenset(["bashExecution", "custom", "hookMessage", "branchSummary", "compactionSummary", "system"])
_STOPS: Final = {"stop": "done", "aborted": "aborted", "length": "cut"}
_COPIES: Final = ("delivery-mirror", "gateway-injected")
"""Models of records that the gateway writes itself: copies of what it delivered, no sends."""


def is_session(head: Head) -> bool:
    """A session header, or messages with the roles and blocks that only this format has."""
    return not head.document and any(_is_header(v) or _is_message(v) for v in head.objects)


def is_openclaw(head: Head) -> bool:
    """Whether a session bears a mark that only OpenClaw leaves."""
    for value in head.objects:
        message, custom = mapping(value.get("message")), value.get("customType")
        cwd, version = value.get("cwd"), value.get("version")
        if value.get("type") == "session":
            if isinstance(version, int) and version > 3:
                return True
            if isinstance(cwd, str) and any(f in cwd for f in ("/.openclaw", "/.clawdbot", "/.moltbot", "/clawd")):
                return True
        if isinstance(custom, str) and (custom.startswith("openclaw") or custom == "model-snapshot"):
            return True
        if value.get("type") == "reset" or message.get("provider") == "openclaw":
            return True
    return False


def _is_header(value: dict[str, JSON]) -> bool:
    return value.get("type") == "session" and "id" in value and "cwd" in value and "timestamp" in value


def _is_message(value: dict[str, JSON]) -> bool:
    message = mapping(value.get("message"))
    if value.get("type") != "message":
        return False
    return message.get("role") == "toolResult" or any(
        mapping(b).get("type") == "toolCall" for b in items(message.get("content"))
    )


def read_session(
    values: Iterable[tuple[int, JSON]],
    scan: Scan,
    file: str,
    format_name: str,
    run: str | None = None,
    parent: str | None = None,
) -> Iterator[Event]:
    """The turns and ends of one session from its numbered entries; `run` is its id where no header says it."""
    log = _Log(scan, run or run_of_file(file), format_name, parent)
    for number, entry in values:
        if isinstance(entry, dict):
            yield from log.entry(entry, number)
        else:
            scan.skips.add(file, number, "not an object: a session entry is a JSON object")
    yield from log.session.flush()


class _Log:
    """One session while it is read."""

    def __init__(self, scan: Scan, run: str, format_name: str, parent: str | None) -> None:
        self.scan, self.format = scan, format_name
        self.session = Session(run, parent, prompts=parent is None)
        self.model: str | None = None
        self.forked_at: float | None = None

    def entry(self, entry: dict[str, JSON], number: int) -> list[Event]:
        kind = entry.get("type")
        if kind == "message":
            return self._message(entry, mapping(entry.get("message")), number)
        if kind == "session":
            return self._header(entry)
        if kind == "model_change":
            self.model = text_or_none(entry.get("modelId"))
        elif kind in ("compaction", "reset"):
            self.session.compacted = True
        elif kind == "custom":
            self._custom(entry, number)
        elif word(kind) not in _ENTRIES:
            self.scan.skips.unknown_type(self.format, kind)
        return []

    def _header(self, entry: dict[str, JSON]) -> list[Event]:
        """A session begins (several may follow one another in one input)."""
        ready = list(self.session.flush())
        run, parent = identity(entry.get("id")) or self.session.run, self.session.parent
        self.session, self.model = Session(run, parent, prompts=parent is None), text_or_none(entry.get("modelId"))
        forked = entry.get("branchedFrom") or entry.get("parentSession")
        self.forked_at = when(entry.get("timestamp")) if forked else None
        return ready

    def _custom(self, entry: dict[str, JSON], number: int) -> None:
        if entry.get("customType") == "openclaw:prompt-error":
            fault = word(mapping(entry.get("data")).get("error"))
            state = "aborted" if "abort" in fault.lower() else state_of(fault)
            self.session.ends(state, fault, number, when(entry.get("timestamp")))

    def _message(self, entry: dict[str, JSON], message: dict[str, JSON], number: int) -> list[Event]:
        role = message.get("role")
        if role == "assistant":
            return self._assistant(entry, message, number)
        if role == "toolResult":
            result, call_id = result_of_blocks(message.get("content")), identity(message.get("toolCallId"))
            self.session.result(call_id, result, message.get("isError") is True)
        elif role == "user":
            # a message between answered calls and the next turn steers the run, it starts none
            if says(message.get("content"), ()) and not self.session.between_turns:
                return self.session.ask(identity(entry.get("id")) or number)
        elif word(role) not in _ROLES:
            self.scan.skips.unknown_type(self.format, f"role {role}")
        return []

    def _is_copy(self, entry: dict[str, JSON], message: dict[str, JSON]) -> bool:
        """A fork repeats what its source held before it, and an archived file repeats a whole session."""
        if message.get("provider") == "openclaw" and message.get("model") in _COPIES:
            return True
        sent = when(message.get("timestamp")) or when(entry.get("timestamp"))
        if self.forked_at is not None and sent is not None and sent < self.forked_at and not self.scan.exact:
            self.scan.skips.copies += 1
            return True
        calls = [identity(mapping(b).get("id")) for b in items(message.get("content"))]
        marks = (identity(entry.get("id")), identity(message.get("responseId")), *calls)
        return sent is not None and any(marks) and self.scan.copy_of(self.format, sent, *marks)

    def _assistant(self, entry: dict[str, JSON], message: dict[str, JSON], number: int) -> list[Event]:
        if self._is_copy(entry, message):
            return []
        turn = Turn(self.session.run, line=number, usage=_usage(mapping(message.get("usage"))))
        turn.model = text_or_none(message.get("model")) or self.model
        turn.time = when(entry.get("timestamp")) or when(message.get("timestamp"))
        fill(turn, message.get("content"))
        stop, fault = message.get("stopReason"), message.get("errorMessage")
        if not turn.calls and (stop == "error" or (stop == "aborted" and turn.text is None)):
            turn.failed, turn.fault = True, MISSING if stop == "aborted" else fault
        ready = self.session.answer(turn)
        state = state_of(word(fault)) if stop == "error" else _STOPS.get(stop) if isinstance(stop, str) else None
        if state is not None:
            note = f"stopReason {stop}: {fault}" if fault else f"stopReason {stop}"
            self.session.ends(state, note, number, turn.time)
        return ready


def _usage(usage: dict[str, JSON]) -> Usage | None:
    """Uncached input, cache reads and cache writes are disjoint; a total cost of 0 means an unknown price."""
    fresh, read, write, output = (count(usage.get(k)) for k in ("input", "cacheRead", "cacheWrite", "output"))
    if fresh is None and output is None:
        return None
    total = (fresh or 0) + (read or 0) + (write or 0)
    usd = dollars(mapping(usage.get("cost")).get("total"))
    known = usd if usd or not (total or output) else None
    return Usage(total, output, read, write, count(usage.get("cacheWrite1h")), known)
