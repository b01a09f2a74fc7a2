"""Amp threads, `~/.local/share/amp/threads/T-<uuid>.json`: one document, rewritten in place.

One turn = one assistant message; results stand in the next user message and join by `toolUseID`; `state` says how a
message ended. One run = one user prompt of a thread (`thread#k`). Usage = `usage` of the message (three disjoint
input classes), in older threads `usageLedger.events`; the recorded cost is in credits, not dollars. The format is
not documented by its maker; field meanings follow the records themselves and
https://github.com/ryoppippi/ccusage/blob/main/rust/crates/ccusage/src/adapter/amp/parser.rs
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Final

from loopscan.blob import Blob, Head
from loopscan.decode import word
from loopscan.formats import Scan
from loopscan.formats._blocks import fill, results, says
from loopscan.formats._endings import fault_text, state_of
from loopscan.formats._fields import count, identity, items, mapping, text_or_none, when
from loopscan.formats._session import Session
from loopscan.model import JSON, MISSING, Event, Turn, Usage

TITLE = "Amp threads"
WHERE: tuple[str, ...] = ("$AMP_DATA_DIR/threads", "~/.local/share/amp/threads")
LACKS = "recorded dollars (only credits)"
COSMETIC_ARGS: Mapping[str, frozenset[str]] = {"Task": frozenset({"description"})}

_STOPS: Final = {"end_turn": "done", "stop_sequence": "done", "max_tokens": "cut", "refusal": "error"}


def sniff(head: Head) -> bool:
    """A document with a thread id and messages."""
    return any(_is_thread(v) for v in head.objects)


def _is_thread(value: dict[str, JSON]) -> bool:
    return isinstance(value.get("messages"), list) and word(value.get("id")).startswith("T-")


def read(blob: Blob, scan: Scan) -> Iterator[Event]:
    """The turns and ends of a thread."""
    for number, thread in blob.values(scan.skips):
        if isinstance(thread, dict) and _is_thread(thread):
            yield from _Thread(thread, blob.name, scan).events()
        else:
            scan.skips.add(blob.name, number, "not a thread: an object with `id` and `messages`")


class _Thread:
    """One thread while it is read. `ledger`: message id -> usage event, in older threads."""

    def __init__(self, thread: dict[str, JSON], name: str, scan: Scan) -> None:
        self.name, self.scan = name, scan
        self.messages = items(thread.get("messages"))
        self.session = Session(word(thread.get("id")), identity(thread.get("mainThreadID")))
        if self.session.parent is not None:
            self.session.prompt = None
        events = map(mapping, items(mapping(thread.get("usageLedger")).get("events")))
        self.ledger = {identity(e.get("toMessageId")): e for e in events}

    def events(self) -> Iterator[Event]:
        for number, message in enumerate(self.messages, 1):
            if not isinstance(message, dict):
                self.scan.skips.add(self.name, number, "not an object: a message is a JSON object")
                continue
            role, content = message.get("role"), message.get("content")
            if role == "assistant":
                yield from self._assistant(message, number)
            elif role == "user":
                yield from self._user(message, content, number)
            elif role == "info":
                blocks = map(mapping, items(content))
                self.session.compacted |= any(b.get("type") == "summary" for b in blocks)
            else:
                self.scan.skips.unknown_type("amp", f"role {role}")
        yield from self.session.flush()

    def _user(self, message: dict[str, JSON], content: JSON, number: int) -> list[Event]:
        blocks = list(results(content))
        for block in blocks:
            result, error = _outcome(mapping(block.get("run")))
            self.session.result(identity(block.get("toolUseID")), result, error)
        # text beside a result steers the run, it starts none
        if not blocks and says(content, ()):
            return self.session.ask(identity(message.get("messageId")) or number)
        return []

    def _assistant(self, message: dict[str, JSON], number: int) -> list[Event]:
        state, usage = mapping(message.get("state")), mapping(message.get("usage"))
        event = mapping(self.ledger.get(identity(message.get("messageId"))))
        turn = Turn(self.session.run, line=number, usage=_usage(usage) or _ledger_usage(event))
        turn.time = when(usage.get("timestamp")) or when(event.get("timestamp"))
        turn.model = text_or_none(usage.get("model")) or text_or_none(event.get("model"))
        turn.window = count(usage.get("maxInputTokens")) or None
        fill(turn, message.get("content"))
        calls = [c.id for c in turn.calls]
        if turn.time is not None and self.scan.copy_of("amp", turn.time, number, *calls):
            return []
        kind, stop = state.get("type"), state.get("stopReason")
        fault = fault_text(state.get("error")) if kind == "error" else None
        if not turn.calls and (kind == "error" or (kind == "cancelled" and turn.text is None)):
            turn.failed, turn.fault = True, MISSING if fault is None else fault
        ready = self.session.answer(turn)
        if kind == "error":
            self.session.ends(state_of(fault or ""), f"state error: {fault}", number, turn.time)
        elif kind == "cancelled":
            self.session.ends("aborted", "state cancelled", number, turn.time)
        elif isinstance(stop, str) and stop in _STOPS and not turn.calls:
            self.session.ends(_STOPS[stop], f"stopReason {stop}", number, turn.time)
        return ready


def _outcome(run: dict[str, JSON]) -> tuple[JSON, bool]:
    """The result of a tool run and whether it is an error; MISSING while it runs or if it was cancelled."""
    status = run.get("status")
    if status == "error":
        error = run.get("error")
        return (error.get("message", error) if isinstance(error, dict) else error), True
    if status == "rejected-by-user":
        return run.get("reason") or status, True
    if status == "done" or "result" in run:
        return run.get("result"), False
    return MISSING, False


def _usage(usage: dict[str, JSON]) -> Usage | None:
    """Uncached input, cache reads and cache writes are disjoint."""
    names = ("inputTokens", "cacheReadInputTokens", "cacheCreationInputTokens", "outputTokens")
    fresh, read_, write, output = (count(usage.get(n)) for n in names)
    if fresh is None and output is None:
        return None
    return Usage((fresh or 0) + (read_ or 0) + (write or 0), output, read_, write)


def _ledger_usage(event: dict[str, JSON]) -> Usage | None:
    tokens = mapping(event.get("tokens"))
    asked, wrote = count(tokens.get("input")), count(tokens.get("output"))
    return None if asked is None and wrote is None else Usage(asked, wrote)


def clean_result(name: str, result: JSON) -> JSON:
    """Amp keeps results apart from their progress, so nothing wraps them."""
    return result
