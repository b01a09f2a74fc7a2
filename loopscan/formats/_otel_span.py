"""One span, reduced to the few small parts that turns are made of; the repeated chat history is let go."""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from typing import Final

from loopscan.decode import embedded, word
from loopscan.formats import _otel_attributes as names
from loopscan.formats._fields import identity, items, mapping
from loopscan.formats._otel_attributes import Attributes, Kind, first, named
from loopscan.formats._otel_messages import MODEL_ROLES, Answer, Said, answers, decoded, messages_of, said, unflattened
from loopscan.formats._otel_usage import usage_of
from loopscan.model import JSON, MISSING, Call, Usage

_ASKED: Final = ("tool", "function_call")
_PREFIX: Final = re.compile("^(execute_tool |running tool: |ai.toolCall )")


@dataclass(slots=True)
class RawSpan:
    """A span as its envelope gives it: ids as written, times in epoch seconds, attributes decoded."""

    trace: str
    id: str
    parent: str | None
    name: str
    start: float | None
    end: float | None
    attributes: Attributes
    events: list[tuple[str, Attributes]] = field(default_factory=list)
    failed: bool = False
    status: str = ""
    service: str | None = None
    line: int = 0


@dataclass(slots=True)
class Span:
    """What is kept of a span.

    `calls`: what a model asked for, or the one call of a tool. `error`: what the span says went wrong, "" if it failed
    without a word. `answers`: results its model was sent. `asked`: the model stopped to call tools. `final`: its
    agent returned an answer. `size`: characters held, roughly.
    """

    trace: str
    id: str
    parent: str | None
    kind: Kind
    start: float
    order: int
    line: int
    ended: float | None
    failed: bool = False
    error: str = ""
    calls: list[Call] = field(default_factory=list)
    answers: list[Answer] = field(default_factory=list)
    text: str | None = None
    written: int | None = None
    asked: bool = False
    final: bool = False
    usage: Usage | None = None
    model: str | None = None
    session: str | None = None
    agent: str | None = None
    service: str | None = None
    size: int = 500


def extract(raw: RawSpan, order: int) -> Span:
    """The parts of a span that count; `order` is its place in the log."""
    attributes = raw.attributes
    if attributes.get(names.PENDING) == "pending_span" and raw.parent is not None:
        # Logfire announces a span by a copy below it: the same span, not ended yet.
        raw.id, raw.parent, raw.end = raw.parent, identity(attributes.get(names.PENDING_PARENT)), None
        raw.parent = None if set(raw.parent or "0") == {"0"} else raw.parent
    kind = names.kind_of(attributes, raw.name)
    span = Span(raw.trace, raw.id, raw.parent, kind, raw.start or 0.0, order, raw.line, raw.end, raw.failed)
    kind_of_error, message = _error(raw)
    span.error = f"{kind_of_error}: {message}" if kind_of_error not in message else message
    span.error = span.error.strip(": ")
    span.session, span.service = named(attributes, names.SESSION), raw.service
    span.agent = named(attributes, names.AGENT)
    if kind == "model":
        _model(span, raw)
    elif kind == "tool":
        span.calls = [_tool(raw, message)]
    elif kind == "agent":
        span.agent = span.agent or raw.name
        span.final = first(attributes, names.FINAL_OUTPUT) is not None
    span.size += len(span.error) + len(span.text or "") + sum(_size(c.args) + _size(c.result) for c in span.calls)
    span.size += sum(_size(a.result) for a in span.answers)
    return span


def _size(value: JSON) -> int:
    return len(value) if isinstance(value, str) else 200


def _error(raw: RawSpan) -> tuple[str, str]:
    """The class and the message of what went wrong: of the last exception, else of the status."""
    if not raw.failed:
        return "", ""
    for name, attributes in reversed(raw.events):
        if name == "exception":
            kind = identity(attributes.get("exception.type")) or ""
            message = identity(attributes.get("exception.message")) or raw.status
            return kind.rpartition(".")[2], _without_traceback(message)
    return identity(raw.attributes.get("error.type")) or "", _without_traceback(raw.status)


def _without_traceback(message: str) -> str:
    return message.partition("Traceback (most recent call last)")[0].strip()[:2000]


def _tool(raw: RawSpan, error: str) -> Call:
    attributes = raw.attributes
    args, result = _content(attributes, names.TOOL_ARGS), _content(attributes, names.TOOL_RESULT)
    for name, event in raw.events:  # Strands: the call and its result as if they were messages
        if name == "gen_ai.tool.message" and args is MISSING:
            args = event.get("content", MISSING)
        elif name == "gen_ai.choice" and result is MISSING:
            result = event.get("message", MISSING)
    if args is MISSING and (asked := said(_event_messages(raw, names.INPUT)).calls):
        args = asked[0].args
    if result is MISSING and (given := answers(_event_messages(raw, names.OUTPUT))):
        result = given[0].result
    if result is MISSING and raw.failed and error:
        result = error
    envelope = _envelope(result)
    failed = raw.failed or attributes.get(names.TOOL_STATUS) == "error" or envelope.get("status") == "error"
    name = named(attributes, names.TOOL_NAME) or _PREFIX.sub("", raw.name)
    call_id = named(attributes, names.CALL_ID) or identity(envelope.get("tool_call_id"))
    return Call(name, None if args is MISSING else args, result, failed, call_id)


def _content(attributes: Attributes, keys: tuple[str, ...]) -> JSON:
    """The first captured content among the names; MISSING if there is none."""
    for key in keys:
        value = attributes.get(key)
        if value is not None and not (key in names.REDACTED and value == "{}"):
            return value
    return MISSING


def _envelope(result: JSON) -> dict[str, JSON]:
    """The tool message that LangChain records as the result: it holds the call's id and whether it failed."""
    if isinstance(result, str):
        result = embedded(result) if "tool_call_id" in result else None
    message = mapping(result)
    return mapping(message.get("data")) or message


def _model(span: Span, raw: RawSpan) -> None:
    attributes = raw.attributes
    _gather(attributes)
    out = _said(raw)
    if out is not None:
        span.calls, span.text, span.written = out.calls, out.text, out.written
    if span.failed:
        span.calls, span.text = [], None
    whole = first(attributes, names.INPUT)
    span.answers = answers(messages_of(whole) if whole is not None else _event_messages(raw, names.INPUT))
    span.usage = usage_of(attributes)
    span.model = named(attributes, names.MODEL)
    finish = first(attributes, names.FINISH)
    reasons = finish if isinstance(finish, list) else [finish]
    span.asked = any(isinstance(r, str) and r.lower().startswith(_ASKED) for r in reasons)


def _gather(attributes: Attributes) -> None:
    """Put messages written as one attribute per leaf together, under the name of the whole."""
    for prefix, whole in names.FLAT.items():
        leaves = [(k[len(prefix) :], v) for k, v in attributes.items() if k.startswith(prefix)]
        if leaves and whole not in attributes:
            listed = unflattened(_latest(leaves) if whole in names.INPUT else leaves)
            attributes[whole] = listed if isinstance(listed, list) else [listed]


def _latest(leaves: list[tuple[str, JSON]]) -> list[tuple[str, JSON]]:
    """The leaves from the last message of the model on: what stands before it was answered long ago."""
    said_at = [_index(k) for k, v in leaves if k.endswith("role") and v in MODEL_ROLES]
    latest = max(said_at, default=0)
    return [(k, v) for k, v in leaves if _index(k) >= latest]


def _index(path: str) -> int:
    head = path.partition(".")[0]
    return int(head) if head.isdecimal() and len(head) < 10 else 0


def _said(raw: RawSpan) -> Said | None:
    """What the model wrote; None if the span does not say."""
    attributes = raw.attributes
    calls, text = first(attributes, names.VERCEL_CALLS), first(attributes, names.VERCEL_TEXT)
    if calls is not None or text is not None:
        return said([{"content": text or "", "tool_calls": decoded(calls)}])
    whole = first(attributes, names.OUTPUT)
    messages = messages_of(whole) if whole is not None else _event_messages(raw, names.OUTPUT)
    if messages:
        return said(messages)
    value = attributes.get(names.OUTPUT_TEXT)
    if value is None:
        return None
    out = said(messages_of(value))
    if not out.calls and not out.text and isinstance(value, str):
        out = said([{"content": value}])
    return out


def _event_messages(raw: RawSpan, keys: tuple[str, ...]) -> list[JSON]:
    """Messages that span events hold (or, in old pydantic-ai, an attribute of events)."""
    output = keys is names.OUTPUT
    found: list[JSON] = []
    old = [
        (word(e.get("event.name")), e)
        for e in items(decoded(raw.attributes.get(names.MESSAGE_EVENTS)))
        if isinstance(e, dict)
    ]
    for name, event in [*old, *raw.events]:
        whole = first(event, keys)
        if whole is not None:
            found += messages_of(whole)
        elif name == "gen_ai.choice":
            if output:
                found += messages_of(event.get("message"))
        elif name.startswith("gen_ai.") and name.endswith(".message") and not output:
            role, content = name[7:-8], decoded(event.get("content"))
            found.append({**event, "role": role, "content": content})
    return found
