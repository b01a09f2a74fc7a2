"""The envelopes spans come in: OTLP JSON of SDK and Collector file exporters, and spans dumped as the SDK holds them.

OTLP: one batch of resources a line, https://opentelemetry.io/docs/specs/otel/protocol/file-exporter/; attributes
are lists of typed values. Seen beside it: bare ResourceSpans, bare spans, field names in snake case, and the
`ReadableSpan` of the JavaScript SDK (Copilot CLI and VS Code write it): attributes are an object, times are [s, ns].
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

from loopscan.decode import word
from loopscan.formats._fields import identity, items, mapping, when
from loopscan.formats._otel_attributes import Attributes, wanted
from loopscan.formats._otel_span import RawSpan
from loopscan.model import JSON

_DEPTH: Final = 64
_LATEST: Final = 1 << 64
_FAILED: Final = frozenset({2, "STATUS_CODE_ERROR", "ERROR", "Error", "StatusCode.ERROR"})


def either(record: dict[str, JSON], *keys: str) -> JSON:
    """The value under the first of the names that is there."""
    return next((record[k] for k in keys if record.get(k) is not None), None)


def records(value: JSON, depth: int = 3) -> Iterator[tuple[JSON, str | None]]:
    """The span records in a decoded value, each with the service that wrote it; what is none comes out too."""
    if isinstance(value, list) and depth:
        for item in value:
            yield from records(item, depth - 1)
        return
    record = mapping(value)
    batches = either(record, "resourceSpans", "resource_spans", "batches")
    if isinstance(batches, list):
        for batch in batches:
            yield from _resource(mapping(batch))
    elif isinstance(either(record, "scopeSpans", "scope_spans", "instrumentationLibrarySpans"), list):
        yield from _resource(record)
    elif isinstance(record.get("data"), list) and depth:
        yield from records(record["data"], depth - 1)
    else:
        yield value, _service(record)


def _resource(batch: dict[str, JSON]) -> Iterator[tuple[JSON, str | None]]:
    service = _service(batch)
    for scope in items(either(batch, "scopeSpans", "scope_spans", "instrumentationLibrarySpans")):
        for span in items(mapping(scope).get("spans")):
            yield span, service


def _service(record: dict[str, JSON]) -> str | None:
    attributes = mapping(record.get("resource")).get("attributes")
    if isinstance(attributes, dict):
        return identity(attributes.get("service.name"))
    found = (mapping(a) for a in items(attributes))
    return next((identity(_value(a.get("value"))) for a in found if a.get("key") == "service.name"), None)


def raw_span(record: JSON, service: str | None, line: int) -> RawSpan | None:
    """A span record as a span; None if it holds no trace and span id."""
    span = mapping(record)
    context = mapping(either(span, "context", "_spanContext", "spanContext"))
    trace = identity(either(span, "traceId", "trace_id") or either(context, "traceId", "trace_id"))
    own = identity(either(span, "spanId", "span_id") or either(context, "spanId", "span_id"))
    if trace is None or own is None:
        return None
    above = mapping(span.get("parentSpanContext"))
    parent = identity(either(span, "parentSpanId", "parent_span_id", "parent_id") or above.get("spanId"))
    status = span.get("status")
    code = either(mapping(status), "code", "status_code", "statusCode") if isinstance(status, dict) else status
    return RawSpan(
        trace,
        own,
        parent,
        identity(span.get("name")) or "",
        _time(either(span, "startTimeUnixNano", "start_time_unix_nano", "startTime", "start_time")),
        _time(either(span, "endTimeUnixNano", "end_time_unix_nano", "endTime", "end_time")),
        attributes_of(span.get("attributes")),
        _events(span.get("events")),
        _hashable(either(span, "status_code", "statusCode") or code) in _FAILED,
        identity(either(mapping(status), "message", "description") or either(span, "status_message")) or "",
        service,
        line,
    )


def _hashable(code: JSON) -> JSON:
    return code if isinstance(code, (str, int)) else None


def _time(value: JSON) -> float | None:
    """Nanoseconds as a number or text, ISO text, or the [seconds, nanoseconds] of the JavaScript SDK."""
    if isinstance(value, list):
        parts = [v for v in value[:2] if isinstance(v, (int, float)) and 0 <= v < _LATEST]
        return when(parts[0] + parts[1] / 1e9) if len(parts) == 2 else None
    if isinstance(value, str) and value.isdecimal() and len(value) < 25:
        value = int(value)
    return when(value) if not isinstance(value, int) or value < _LATEST else None


def attributes_of(value: JSON) -> Attributes:
    """The attributes that matter, from OTLP's list of typed values or from a plain object."""
    if isinstance(value, dict):
        return {k: v for k, v in value.items() if v is not None and wanted(k)}
    found: Attributes = {}
    for attribute in items(value):
        key = attribute.get("key") if isinstance(attribute, dict) else None
        if isinstance(key, str) and wanted(key):
            plain = _value(attribute.get("value"))
            if plain is not None:
                found[key] = plain
    return found


def _value(typed: JSON, depth: int = _DEPTH) -> JSON:
    """OTLP's AnyValue as a plain value; an integer may stand there as text."""
    if not isinstance(typed, dict) or not depth:
        return None
    for kind, value in typed.items():
        match kind:
            case "intValue" | "int_value":
                return (
                    int(value)
                    if isinstance(value, str) and value.removeprefix("-").isdecimal() and len(value) < 25
                    else value
                )
            case "arrayValue" | "array_value":
                return [_value(v, depth - 1) for v in items(mapping(value).get("values"))]
            case "kvlistValue" | "kvlist_value":
                pairs = [mapping(p) for p in items(mapping(value).get("values"))]
                return {word(p.get("key")): _value(p.get("value"), depth - 1) for p in pairs}
            case _:
                return value
    return None


def _events(value: JSON) -> list[tuple[str, Attributes]]:
    """Span events with the attributes that hold content or an error."""
    found: list[tuple[str, Attributes]] = []
    for event in items(value):
        if isinstance(event, dict):
            attributes = event.get("attributes")
            if isinstance(attributes, list):
                pairs = [mapping(a) for a in attributes]
                attributes = {p["key"]: _value(p.get("value")) for p in pairs if isinstance(p.get("key"), str)}
            found.append((word(event.get("name")), {k: v for k, v in mapping(attributes).items() if v is not None}))
    return found
