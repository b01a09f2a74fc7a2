"""OpenCode 2.x: rows of `session_message`. https://github.com/anomalyco/opencode (`schema/src/session-message.ts`).

An assistant row is one model call. An `idle` row ends what a prompt started, with its outcome; prompts sent
before it only steer. Sessions taken over from 1.x have no idle rows.
"""

from __future__ import annotations

from typing import Final

from loopscan.formats import _opencode as oc
from loopscan.formats._fields import identity, items, mapping, when
from loopscan.model import JSON, Event

_QUIET: Final = frozenset("synthetic system skill shell agent-switched model-switched location-switched".split())
_OUTCOMES: Final = {"succeeded": "done", "failed": "error", "interrupted": "aborted"}


def message(chat: oc.Chat, row: dict[str, JSON]) -> list[Event]:
    """The turn or the end that a row holds."""
    chat.ordinal += 1
    kind = identity(row.get("type"))
    if kind == "assistant":
        return [] if chat.is_copy(row) else _assistant(chat, row)
    if kind == "user":
        chat.asked(row)
    elif kind == "compaction":
        chat.compacted = chat.compacted or row.get("status") in (None, "completed")
    elif kind == "idle":
        return _idle(chat, row)
    elif kind not in _QUIET:
        chat.scan.skips.unknown_type(oc.FORMAT, kind)
    return []


def _assistant(chat: oc.Chat, row: dict[str, JSON]) -> list[Event]:
    turn = chat.turn(row)
    turn.usage = oc.usage(row.get("tokens"), row.get("cost"))
    for value in items(row.get("content")):
        block = mapping(value)
        kind = block.get("type")
        if kind == "tool":
            oc.called(turn, oc.call(block.get("name"), block.get("id"), mapping(block.get("state"))))
        elif kind == "text":
            oc.wrote(turn, block.get("text"))
        elif kind == "reasoning":
            oc.thought(turn, block.get("text"))
        else:
            chat.scan.skips.unknown_type(oc.FORMAT, f"content {kind}")
    error = mapping(row.get("error"))
    if not error:
        return chat.add([turn], error, identity(row.get("finish")))
    kind, words = identity(error.get("type")) or "error", identity(error.get("message")) or ""
    aborted = "abort" in kind.lower() or "interrupt" in kind.lower()
    kept = oc.failure(turn, words or kind, aborted)
    events = chat.add([turn] if kept else [], error, None)
    chat.fault = f"{kind}: {words}" if words else kind
    state = "aborted" if aborted else "context_full" if "context" in kind.lower() else "error"
    return events + chat.end(state, chat.fault, when(mapping(row.get("time")).get("completed")))


def _idle(chat: oc.Chat, row: dict[str, JSON]) -> list[Event]:
    outcome, fault = identity(row.get("outcome")), chat.fault
    chat.fault = None
    state = _OUTCOMES.get(outcome or "")
    if state is None or (state == "error" and fault):
        chat.going = False  # the failed turn has said it in its own words
        return []
    return chat.end(state, outcome, when(mapping(row.get("time")).get("created")))
