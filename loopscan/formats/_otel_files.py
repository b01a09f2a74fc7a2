"""Reading and telling apart files of spans, and what their tool results are wrapped in."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from itertools import islice

from loopscan.blob import Blob, Head
from loopscan.decode import BadJSON, embedded, loads, word
from loopscan.formats import Scan
from loopscan.formats._fields import mapping, result_of_blocks
from loopscan.formats._otel_span import RawSpan
from loopscan.formats._otel_traces import Traces
from loopscan.formats._otlp import raw_span, records
from loopscan.model import JSON, Event

_LOOK = 400
"""How many spans of a file's beginning are looked at."""


def read_spans(
    blob: Blob, scan: Scan, format_name: str, span_of: Callable[[JSON, str | None, int], RawSpan | None] = raw_span
) -> Iterator[Event]:
    """The turns and ends of a file of spans."""
    traces = Traces(format_name, scan)
    for number, value in blob.values(scan.skips):
        for record, service in records(value):
            raw = span_of(record, service, number)
            if raw is not None:
                yield from traces.add(raw)
            else:
                _no_span(record, blob, number, scan, format_name)
    yield from traces.flush()
    traces.tell_strange(blob.name)


def _no_span(record: JSON, blob: Blob, number: int, scan: Scan, format_name: str) -> None:
    fields = mapping(record)
    signal = next((k for k in fields if k in ("resourceLogs", "resourceMetrics", "scopeLogs", "scopeMetrics")), None)
    if signal is None and fields.get("type") not in (None, "span"):
        signal = word(fields["type"])[:40]
    if signal is not None:
        scan.skips.unknown_type(format_name, signal)
    else:
        scan.skips.add(blob.name, number, "no span: a span has a trace id and a span id")


def spans_of_head(head: Head) -> Iterator[RawSpan]:
    """The first spans of a file of OTLP or SDK spans; other values give none."""
    for value in head.values:
        for record, service in islice(records(value), _LOOK):
            fields = mapping(record)
            otlp = "startTimeUnixNano" in fields or "start_time_unix_nano" in fields
            held = isinstance(fields.get("startTime"), list) and isinstance(fields.get("attributes"), dict)
            raw = raw_span(record, service, 0) if otlp or held else None
            if raw is not None:
                yield raw


def dialect(head: Head) -> str | None:
    """The name of the format of a file of spans: that of the first span with a mark of its own; None for no spans."""
    found = None
    for raw in islice(spans_of_head(head), _LOOK):
        attributes = raw.attributes
        if "openinference.span.kind" in attributes:
            return "openinference"
        if "ai.operationId" in attributes:
            return "vercel-ai-legacy"
        if "llm.request.type" in attributes and "gen_ai.operation.name" not in attributes:
            return "openllmetry-legacy"
        found = "otlp-genai"
    return found


def unwrapped(result: JSON) -> JSON:
    """A tool result without its envelope: the text that a client encoded as JSON, the tool message that LangChain
    records (it repeats the call's own id, which would hide every loop), text blocks, MCP content.
    """
    if isinstance(result, str) and result.startswith('"'):
        try:
            text = loads(result.encode("utf-8", "surrogatepass"))
        except (BadJSON, UnicodeError):
            return result
        return text if isinstance(text, str) else result
    body = embedded(result) if isinstance(result, str) else result
    if isinstance(body, list):
        inner = result_of_blocks(body)
        return inner if inner is not body else result
    message = mapping(body)
    for name in ("data", "kwargs"):
        if isinstance(message.get(name), dict) and message.get("type") in ("tool", "constructor"):
            message = message[name]
    if "content" in message and ("tool_call_id" in message or set(message) <= _MCP):
        return result_of_blocks(message["content"])
    return result


_MCP = {"content", "isError", "is_error", "structuredContent", "_meta"}
