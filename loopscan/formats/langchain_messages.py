"""LangChain messages: `messages_to_dict`, `dumpd` or `model_dump` of a chat history, LangGraph state dumps.

A line is `{"thread_id", "messages": […]}` or the bare array; a message is `{"type", "data": {…}}`, a serialised
constructor (`lc`, `kwargs`) or its flat fields. One turn = one `ai` message; results are `tool` messages, joined by
`tool_call_id`. One run = one line (a thread dumped again repeats its messages by id: copies). Usage:
`usage_metadata`, cached tokens inside `input_tokens`. https://python.langchain.com/api_reference/core/messages.html
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Final

from loopscan.blob import Blob, Head
from loopscan.formats import Scan
from loopscan.formats._chat import add_call, add_reply
from loopscan.formats._dialogue import Dialogue
from loopscan.formats._fields import count, identity, items, mapping, result_of_blocks, text_or_none
from loopscan.formats._stops import end_of
from loopscan.formats._usage import usage_of
from loopscan.model import JSON, Call, Event, Turn, Usage

TITLE = "LangChain messages, one run per line"
WHERE: tuple[str, ...] = ()
LACKS = "times; failed model calls; how an unfinished run ended"
COSMETIC_ARGS: Mapping[str, frozenset[str]] = {}

_NAME: Final = "langchain-messages"
_TYPES: Final = {
    "ai": "ai", "AIMessage": "ai", "AIMessageChunk": "ai",
    "tool": "tool", "ToolMessage": "tool", "ToolMessageChunk": "tool", "function": "tool", "FunctionMessage": "tool",
    "human": "human", "HumanMessage": "human", "HumanMessageChunk": "human",
    "system": "human", "SystemMessage": "human", "developer": "human", "chat": "human", "remove": "human",
}  # fmt: skip
_IDS: Final = ("run_id", "thread_id", "id", "conversation_id", "session_id")
_THREADS: Final = ("thread_id", "conversation_id", "session_id")

Message = tuple[str, dict[str, JSON]]
"""Our type of a message (`ai`, `tool`, `human`) and its fields."""


def sniff(head: Head) -> bool:
    """Messages by type and data, or as serialised constructors."""
    return any(True for value in head.values for _ in _histories(value))


def _histories(value: JSON) -> Iterator[tuple[dict[str, JSON], list[Message]]]:
    if isinstance(value, dict):
        holder = mapping(value.get("values")) or value
        if found := _messages(holder.get("messages")):
            yield value, found
    elif isinstance(value, list):
        if found := _messages(value):
            yield {}, found
        else:
            for part in value:
                if isinstance(part, dict):
                    yield from _histories(part)


def _messages(value: JSON) -> list[Message]:
    """The messages of a list that holds LangChain messages only; else none."""
    found = [m for m in map(_message, items(value)) if m is not None]
    return found if found and len(found) == len(items(value)) else []


def _message(value: JSON) -> Message | None:
    message = mapping(value)
    kind, data = message.get("type"), message.get("data")
    if kind == "constructor" and isinstance(message.get("kwargs"), dict):
        name = items(message.get("id"))[-1:]
        kind, data = name[0] if name else None, message["kwargs"]
    elif not isinstance(data, dict):
        data = message if "content" in message and "role" not in message and "source" not in message else None
    if not isinstance(kind, str) or kind not in _TYPES or not isinstance(data, dict):
        return None
    return _TYPES[kind], data


def read(blob: Blob, scan: Scan) -> Iterator[Event]:
    """The turns and ends of message dumps."""
    for number, value in blob.values(scan.skips):
        found = list(_histories(value))
        if not found:
            scan.skips.add(blob.name, number, "no messages: a line holds the messages of one run")
        for i, (record, messages) in enumerate(found):
            place = f"{blob.name}:{number}" + (f".{i + 1}" if len(found) > 1 else "")
            yield from _run(record, messages, place, number, scan)


def _run(record: dict[str, JSON], messages: list[Message], place: str, line: int, scan: Scan) -> Iterator[Event]:
    config = mapping(mapping(record.get("config")).get("configurable"))
    fields = {**config, **record}
    run = next((i for k in _IDS if (i := identity(fields.get(k)))), place)
    session = next((i for k in _THREADS if (i := identity(fields.get(k)))), None)
    dialogue, copies, reason = Dialogue(run, line), set[int](), None
    for kind, data in messages:
        if kind == "ai":
            turn, reason = _turn(data, run, line)
            turn.session = session
            dialogue.add(turn)
            if (name := identity(data.get("id"))) and scan.copy_of(_NAME, run, name):
                copies.add(id(turn))
        elif kind == "tool":
            call_id, failed = identity(data.get("tool_call_id")), data.get("status") == "error"
            dialogue.answer(call_id, result_of_blocks(data.get("content")), failed)
    fresh = [t for t in dialogue.turns if id(t) not in copies]
    yield from fresh
    end = end_of(fresh[-1], reason, final=False) if fresh else None
    if end is not None:
        yield end


def _turn(data: dict[str, JSON], run: str, line: int) -> tuple[Turn, JSON]:
    """The turn of an `ai` message, and why it stopped."""
    turn = Turn(run, line=line, written=0)
    extra, about = mapping(data.get("additional_kwargs")), mapping(data.get("response_metadata"))
    add_reply(turn, {"content": data.get("content")})
    known = {c.id for c in turn.calls if c.id is not None}
    named = [*items(data.get("tool_calls")), *items(data.get("invalid_tool_calls"))]
    for value in map(mapping, named or items(extra.get("tool_calls"))):
        inner = mapping(value.get("function")) or value
        call_id = identity(value.get("id"))
        if call_id is None or call_id not in known:  # some providers repeat the calls as content blocks
            args = inner.get("args", inner.get("arguments"))
            add_call(turn, Call(text_or_none(inner.get("name")) or "", args, id=call_id))
    turn.model = identity(about.get("model_name")) or identity(about.get("model"))
    turn.usage = _usage(mapping(data.get("usage_metadata"))) or usage_of(about.get("token_usage", about.get("usage")))
    return turn, about.get("finish_reason") or about.get("stop_reason")


def _usage(usage: dict[str, JSON]) -> Usage | None:
    total, output = count(usage.get("input_tokens")), count(usage.get("output_tokens"))
    if total is None and output is None:
        return None
    details = mapping(usage.get("input_token_details"))
    write, long = count(details.get("cache_creation")), count(details.get("ephemeral_1h_input_tokens"))
    short = count(details.get("ephemeral_5m_input_tokens"))
    if not write and (short or long):  # newer Anthropic clients report the two lifetimes apart and the sum as 0
        write = (short or 0) + (long or 0)
    return Usage(total, output, count(details.get("cache_read")), write, long)


def clean_result(name: str, result: JSON) -> JSON:
    """Tool messages hold the bare content."""
    return result
