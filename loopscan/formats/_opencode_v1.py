"""OpenCode 1.x: a message and its parts. https://github.com/anomalyco/opencode (`session/message-v2.ts`).

A message may hold several steps, `step-start` .. `step-finish`: each is one model call with its own usage. What
the user ran by hand (`!command`, a sub-task) looks like an assistant message without steps and tokens.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

from loopscan.formats import _opencode as oc
from loopscan.formats._fields import identity, mapping, when
from loopscan.model import JSON, Event, Turn

_KNOWN: Final = frozenset({"file", "snapshot", "patch", "agent", "subtask", "retry"})
_WORDS: Final = frozenset({"text", "file", "agent", "subtask"})
_BROKEN: Final = {"length": "cut", "content-filter": "error", "error": "error"}


@dataclass(slots=True)
class _Step:
    turn: Turn
    started: bool = False
    finished: bool = False

    @property
    def empty(self) -> bool:
        """An attempt that was retried before the model answered."""
        return not (self.finished or self.turn.calls or self.turn.text or self.turn.written)


def message(chat: oc.Chat, info: dict[str, JSON], parts: list[dict[str, JSON]]) -> list[Event]:
    """The turns and ends that a message holds."""
    chat.ordinal += 1
    role = info.get("role")
    if role == "user":
        _user(chat, info, parts)
    elif role != "assistant":
        chat.scan.skips.unknown_type(oc.FORMAT, role)
    elif not chat.is_copy(info):
        if info.get("summary") is True or info.get("mode") == "compaction":
            chat.compacted = True
        elif not _by_hand(info, parts):
            return _assistant(chat, info, parts)
    return []


def _user(chat: oc.Chat, info: dict[str, JSON], parts: list[dict[str, JSON]]) -> None:
    request = next((p for p in parts if p.get("type") == "compaction"), None)
    if request is not None:
        chat.replay = request.get("overflow") is True
        return
    words = [p for p in parts if identity(p.get("type")) in _WORDS]
    if not words or not all(p.get("synthetic") is True for p in words):
        chat.asked(info)


def _by_hand(info: dict[str, JSON], parts: list[dict[str, JSON]]) -> bool:
    """Whether a person made the call, not the model."""
    tokens = info.get("tokens")
    return (
        isinstance(tokens, dict)
        and bool(parts)
        and all(p.get("type") == "tool" for p in parts)
        and oc.usage(tokens, info.get("cost")) is None
    )


def _assistant(chat: oc.Chat, info: dict[str, JSON], parts: list[dict[str, JSON]]) -> list[Event]:
    steps = [_Step(chat.turn(info))]
    finish = identity(info.get("finish"))
    after = False
    for part in parts:
        kind = part.get("type")
        if kind == "step-start":
            if steps[-1].started or steps[-1].finished:
                steps.append(_Step(chat.turn(info)))
            steps[-1].started = True
        elif kind == "step-finish":
            steps[-1].finished = True
            steps[-1].turn.usage = oc.usage(part.get("tokens"), part.get("cost"))
            finish = finish or identity(part.get("reason"))
        elif kind == "compaction":
            after = True
        else:
            _content(chat, steps[-1].turn, part)
    kept = [s for s in steps if not s.empty] or steps[-1:]
    if len(kept) == 1 and kept[0].turn.usage is None:
        kept[0].turn.usage = oc.usage(info.get("tokens"), info.get("cost"))
    events = _finished(chat, info, [s.turn for s in kept], finish)
    chat.compacted = chat.compacted or after
    return events


def _content(chat: oc.Chat, turn: Turn, part: dict[str, JSON]) -> None:
    kind = identity(part.get("type"))
    if kind == "tool":
        oc.called(turn, oc.call(part.get("tool"), part.get("callID"), mapping(part.get("state"))))
    elif kind == "text":
        if part.get("synthetic") is not True and part.get("ignored") is not True:
            oc.wrote(turn, part.get("text"))
    elif kind == "reasoning":
        oc.thought(turn, part.get("text"))
    elif kind not in _KNOWN:
        chat.scan.skips.unknown_type(oc.FORMAT, kind)


def _finished(chat: oc.Chat, info: dict[str, JSON], turns: list[Turn], finish: str | None) -> list[Event]:
    error = mapping(info.get("error"))
    name = identity(error.get("name")) or "error"
    words = identity(mapping(error.get("data")).get("message")) or name
    aborted = name == "MessageAbortedError"
    if error and not oc.failure(turns[-1], words, aborted):
        turns = turns[:-1]
    events = chat.add(turns, error, finish)
    time = when(mapping(info.get("time")).get("completed"))
    if error:
        state = "aborted" if aborted else "context_full" if name == "ContextOverflowError" else "error"
        events += chat.end(state, name if words == name else f"{name}: {words}", time)
    elif turns and not turns[-1].calls and finish == "stop":
        events += chat.end("done", finish, time)
    elif finish in _BROKEN:
        events += chat.end(_BROKEN[finish], finish, time)
    return events
