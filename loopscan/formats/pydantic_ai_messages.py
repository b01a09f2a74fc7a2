"""Pydantic AI message histories: `all_messages_json()` or `new_messages_json()`, one JSON array per run.

An array alternates `kind` request and response. One turn = one response; results are `tool-return` and `retry-prompt`
parts of the next request, joined by `tool_call_id`. One run = one `run_id` (older versions: the array);
`conversation_id` is its session. A history that was passed on is repeated at the head of the next array: those
turns are copies. Usage: `usage` of a response, cached tokens inside `input_tokens`; `cost` is USD.
https://ai.pydantic.dev/message-history/
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Final

from loopscan.blob import Blob, Head
from loopscan.formats import Scan
from loopscan.formats._chat import add_call, add_text
from loopscan.formats._dialogue import Dialogue
from loopscan.formats._fields import count, dollars, identity, items, mapping, text_or_none, when
from loopscan.formats._stops import end_of
from loopscan.model import JSON, Call, Event, Turn, Usage

TITLE = "Pydantic AI message histories"
WHERE: tuple[str, ...] = ()
LACKS = "failed model calls; how an unfinished run ended"
COSMETIC_ARGS: Mapping[str, frozenset[str]] = {}

_NAME: Final = "pydantic-ai-messages"


def sniff(head: Head) -> bool:
    """Arrays of requests and responses with `part_kind` parts."""
    return any(True for value in head.values for _ in _histories(value))


def _histories(value: JSON) -> Iterator[list[JSON]]:
    """The histories of a value: itself, under `messages`, or several in a list."""
    if isinstance(value, dict):
        value = value.get("messages")
    if not isinstance(value, list):
        return
    if any(_is_message(m) for m in value[:2]):
        yield value
    else:
        yield from (part for part in value if isinstance(part, list) and any(_is_message(m) for m in part[:2]))


def _is_message(value: JSON) -> bool:
    message = mapping(value)
    parts = items(message.get("parts"))
    return message.get("kind") in ("request", "response") and all("part_kind" in mapping(p) for p in parts)


def read(blob: Blob, scan: Scan) -> Iterator[Event]:
    """The turns and ends of message histories."""
    for number, value in blob.values(scan.skips):
        found = list(_histories(value))
        if not found:
            scan.skips.add(blob.name, number, "no message history: a line is an array of requests and responses")
        for i, history in enumerate(found):
            place = f"{blob.name}:{number}" + (f".{i + 1}" if len(found) > 1 else "")
            yield from _History(place, number, scan).read(history)


class _History:
    """One array while it is read: the runs that its messages belong to."""

    def __init__(self, place: str, line: int, scan: Scan) -> None:
        self.place, self.line, self.scan = place, line, scan
        self.runs: dict[str, Dialogue] = {}
        self.copies: set[int] = set()
        self.stop: dict[str, JSON] = {}

    def read(self, history: list[JSON]) -> Iterator[Event]:
        for value in history:
            message = mapping(value)
            run = identity(message.get("run_id")) or self.place
            dialogue = self.runs.setdefault(run, Dialogue(run, self.line))
            if message.get("kind") == "response":
                turn = self._turn(message, dialogue)
                dialogue.add(turn)
                for part in items(message.get("parts")):
                    if mapping(part).get("part_kind") == "builtin-tool-return":
                        _answer(dialogue, mapping(part))
            else:
                for part in items(message.get("parts")):
                    _answer(dialogue, mapping(part))
        for run, dialogue in self.runs.items():
            fresh = [t for t in dialogue.turns if id(t) not in self.copies]
            yield from fresh
            end = end_of(fresh[-1], self.stop.get(run), final=True) if fresh else None
            if end is not None:
                yield end

    def _turn(self, message: dict[str, JSON], dialogue: Dialogue) -> Turn:
        turn = Turn(dialogue.run, line=self.line, written=0)
        turn.time, turn.model = when(message.get("timestamp")), identity(message.get("model_name"))
        turn.session, turn.usage = identity(message.get("conversation_id")), _usage(mapping(message.get("usage")))
        for part in items(message.get("parts")):
            self._part(turn, mapping(part))
        self.stop[dialogue.run] = message.get("finish_reason")
        if self._is_copy(turn, message, len(dialogue.turns)):
            self.copies.add(id(turn))
        return turn

    def _is_copy(self, turn: Turn, message: dict[str, JSON], number: int) -> bool:
        """Whether the response was met in an earlier array; only ids and its time together tell that."""
        run, stamp = identity(message.get("run_id")), identity(message.get("timestamp"))
        if run is not None:
            return self.scan.copy_of(_NAME, run, number, stamp)
        reply = identity(message.get("provider_response_id")) or identity(message.get("vendor_id"))
        ids = tuple(c.id for c in turn.calls if c.id is not None)
        return bool(stamp and (reply or ids)) and self.scan.copy_of(_NAME, stamp, reply, ids)

    def _part(self, turn: Turn, part: dict[str, JSON]) -> None:
        kind = part.get("part_kind")
        if kind in ("tool-call", "builtin-tool-call"):
            args = part.get("args")
            for old in ("args_json", "args_dict"):
                if isinstance(args, dict) and set(args) == {old}:
                    args = args[old]
            name = text_or_none(part.get("tool_name")) or ""
            add_call(turn, Call(name, args, id=identity(part.get("tool_call_id"))))
        elif kind == "text":
            add_text(turn, text_or_none(part.get("content")) or "")
        elif kind == "thinking":
            turn.written = (turn.written or 0) + len(text_or_none(part.get("content")) or "")
        elif kind not in ("builtin-tool-return", "file"):
            self.scan.skips.unknown_type(_NAME, kind)


def _answer(dialogue: Dialogue, part: dict[str, JSON]) -> None:
    """Join a returned result; a retry prompt without a tool name asks for another text and answers no call."""
    kind = part.get("part_kind")
    if kind in ("tool-return", "builtin-tool-return"):
        failed = part.get("outcome") not in (None, "success")
        dialogue.answer(identity(part.get("tool_call_id")), part.get("content"), failed)
    elif kind == "retry-prompt" and part.get("tool_name") is not None:
        dialogue.answer(identity(part.get("tool_call_id")), part.get("content"), True)


def _usage(usage: dict[str, JSON]) -> Usage | None:
    """Tokens of a response; all zero where the model reported none."""
    details = mapping(usage.get("details"))
    total = count(usage.get("input_tokens", usage.get("request_tokens")))
    output = count(usage.get("output_tokens", usage.get("response_tokens")))
    if not total and not output:
        return None
    read = count(usage.get("cache_read_tokens", details.get("cache_read_input_tokens", details.get("cached_tokens"))))
    write = count(usage.get("cache_write_tokens", details.get("cache_creation_input_tokens")))
    long = count(usage.get("cache_write_1h_tokens"))
    return Usage(total, output, read, write, long, dollars(usage.get("cost")))


def clean_result(name: str, result: JSON) -> JSON:
    """Returned content has no wrapper."""
    return result
