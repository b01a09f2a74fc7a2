"""Braintrust logs and experiments, one span per row: the logs API, BTQL exports, the SDK's own rows.

A row is a span of `span_attributes.type` llm (a turn), tool (a call), task, function, score, eval. One run = one
`root_span_id`; the session is the session, thread or conversation id of the metadata. Rows that come in parts
are joined by id. Usage = `metrics` of the llm rows (`prompt_tokens` holds the cached ones; reasoning is in
`completion_tokens`). Dollars are worked out by the server and not in the rows. Errors are stack traces: the last
line is the error. What a scorer asks its own model is no turn of the run it judges.
https://www.braintrust.dev/docs/guides/traces
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from loopscan.decode import word
from loopscan.formats._endings import fault_text
from loopscan.formats._fields import count, identity, items, mapping, when
from loopscan.formats._span_rows import Parts
from loopscan.formats._trace import JUDGE, MODEL, OTHER, TOOL, Span, sent
from loopscan.formats._traces import Traces
from loopscan.model import JSON, MISSING, Call, Event, Turn, Usage

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from loopscan.blob import Blob, Head
    from loopscan.formats import Scan

TITLE = "Braintrust span rows"
WHERE: tuple[str, ...] = ()
LACKS = "recorded dollars; cache writes for some clients"
COSMETIC_ARGS: Mapping[str, frozenset[str]] = {}

_KINDS: Final = {"llm": MODEL, "tool": TOOL, "score": JUDGE}
_STRUCTURE: Final = frozenset({"task", "function", "eval", "None"})
_SESSION: Final = ("session_id", "thread_id", "conversation_id")


def sniff(head: Head) -> bool:
    """A row with a root span and span attributes."""
    return any(isinstance(r, dict) and _is_row(r) for v in head.values for r in _rows(v))


def _is_row(row: dict[str, JSON]) -> bool:
    return "root_span_id" in row and "span_id" in row and ("span_attributes" in row or "span_parents" in row)


def _rows(value: JSON) -> list[JSON]:
    if isinstance(value, dict) and "span_id" not in value:
        return items(value.get("events")) or items(value.get("rows")) or items(value.get("data")) or [value]
    return items(value) or [value]


def read(blob: Blob, scan: Scan) -> Iterator[Event]:
    """The turns and ends of the traces."""
    traces, parts = Traces("braintrust", scan), Parts()
    for number, value in blob.values(scan.skips):
        for row in _rows(value):
            if not isinstance(row, dict) or (span_id := identity(row.get("span_id"))) is None:
                scan.skips.add(blob.name, number, "no span: a row needs span_id and root_span_id")
                continue
            row_id = identity(row.get("id")) or span_id
            whole = parts.whole(row_id, row, mapping(row.get("metrics")).get("end") is not None)
            kind = word(mapping(whole.get("span_attributes")).get("type"))
            if kind not in _KINDS and kind not in _STRUCTURE:
                scan.skips.unknown_type("braintrust", kind)
            yield from _add(whole, span_id, number, traces)
    yield from traces.flush()


def _add(row: dict[str, JSON], span_id: str, number: int, traces: Traces) -> Iterator[Event]:
    trace_id, meta = identity(row.get("root_span_id")) or span_id, mapping(row.get("metadata"))
    trace = traces.trace(trace_id)
    trace.session = trace.session or next((s for k in _SESSION if (s := identity(meta.get(k)))), None)
    span = _span(row, span_id, number)
    name = mapping(row.get("span_attributes")).get("name")
    if span.parent is None and isinstance(name, str):
        trace.labels["agent"] = name
    yield from traces.add(trace_id, span)


def _span(row: dict[str, JSON], span_id: str, number: int) -> Span:
    attributes, metrics = mapping(row.get("span_attributes")), mapping(row.get("metrics"))
    parents = items(row.get("span_parents"))
    kind = _KINDS.get(word(attributes.get("type")), OTHER)
    start = when(metrics.get("start")) or when(row.get("created"))
    span = Span(span_id, identity(parents[0]) if parents else None, kind, number, start, when(metrics.get("end")))
    span.fault = fault_text(row.get("error"))
    if kind == MODEL:
        span.turn = _turn(row, span, metrics)
        span.history = row.get("input")
    elif kind == TOOL or attributes.get("type") == "function":
        span.call = _call(row, span, word(attributes.get("name")))
    return span


def _turn(row: dict[str, JSON], span: Span, metrics: dict[str, JSON]) -> Turn:
    turn = sent(span, row.get("output"))
    turn.model = identity(mapping(row.get("metadata")).get("model"))
    usage = Usage(
        count(metrics.get("prompt_tokens")),
        count(metrics.get("completion_tokens")),
        count(metrics.get("prompt_cached_tokens")),
        count(metrics.get("prompt_cache_creation_tokens")),
    )
    turn.usage = None if usage == Usage() else usage
    return turn


def _call(row: dict[str, JSON], span: Span, name: str) -> Call:
    result = row.get("output")
    if result is None and span.fault is not None:
        result = span.fault
    elif result is None and row.get("input") is None:
        result = MISSING
    return Call(name, row.get("input"), result, span.fault is not None)


def clean_result(name: str, result: JSON) -> JSON:
    """Results have no wrapper."""
    return result
