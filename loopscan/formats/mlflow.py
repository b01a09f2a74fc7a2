"""MLflow traces: `Trace.to_json()` per line, and the rows of `mlflow.search_traces()`.

Format: https://mlflow.org/docs/latest/genai/tracing/ (schema 3; ids and fields of schema 2 are read too). One
line = one trace = one run (the nearest AGENT span of it, if there are several); every attribute value is JSON in
JSON. One turn = one span of type CHAT_MODEL or LLM with the TOOL spans it asked for. Usage =
`mlflow.chat.tokenUsage` of those spans.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from itertools import islice

from loopscan.blob import Blob, Head
from loopscan.decode import BadJSON, loads
from loopscan.formats import Scan
from loopscan.formats._fields import dollars, identity, items, mapping
from loopscan.formats._otel_attributes import SESSION, Attributes
from loopscan.formats._otel_files import unwrapped
from loopscan.formats._otel_messages import decoded
from loopscan.formats._otel_span import Span, extract
from loopscan.formats._otel_traces import released
from loopscan.formats._otlp import raw_span
from loopscan.model import JSON, Event

TITLE = "MLflow traces"
WHERE: tuple[str, ...] = ()
LACKS = "recorded dollars (in most versions)"
COSMETIC_ARGS: Mapping[str, frozenset[str]] = {}

_LOOK = 100


def sniff(head: Head) -> bool:
    """Traces with an info and a data part, or rows with MLflow's spans."""
    return any(map(_is_trace, islice(_traces(head.values), _LOOK)))


def _traces(value: JSON) -> Iterator[dict[str, JSON]]:
    for trace in value if isinstance(value, list) else [value]:
        if isinstance(trace, list):
            yield from _traces(trace)
        elif isinstance(trace, dict):
            yield trace


def _is_trace(trace: dict[str, JSON]) -> bool:
    info, spans = _parts(trace)
    if identity(info.get("trace_id")) is None and identity(info.get("request_id")) is None:
        return False
    return any("mlflow.spanType" in mapping(mapping(s).get("attributes")) for s in spans)


def _parts(trace: dict[str, JSON]) -> tuple[dict[str, JSON], list[JSON]]:
    """The info and the spans of a trace, from either shape."""
    whole = mapping(decoded(trace.get("trace"))) or trace
    info = mapping(whole.get("info")) or trace
    spans = items(mapping(decoded(whole.get("data"))).get("spans"))
    return info, spans or items(decoded(trace.get("spans")))


def read(blob: Blob, scan: Scan) -> Iterator[Event]:
    """The turns and ends of a file of traces."""
    for number, value in blob.values(scan.skips):
        if not isinstance(value, (dict, list)):
            scan.skips.add(blob.name, number, "no trace: a line is one object with info and data")
        for trace in _traces(value):
            info, records = _parts(trace)
            name = identity(info.get("trace_id")) or identity(info.get("request_id"))
            spans = [s for i, r in enumerate(records) if (s := _span(r, i, name, info, number)) is not None]
            if name is None or not spans:
                scan.skips.add(blob.name, number, "no trace: it has no id or no spans")
                continue
            yield from released("mlflow", name, spans, scan)


def _span(record: JSON, order: int, trace: str | None, info: dict[str, JSON], line: int) -> Span | None:
    fields = mapping(record)
    attributes = {k: _plain(v) for k, v in mapping(decoded(fields.get("attributes"))).items()}
    usage = mapping(attributes.get("mlflow.chat.tokenUsage"))
    attributes |= {f"gen_ai.usage.{name}": tokens for name, tokens in usage.items()}
    usd = dollars(mapping(attributes.get("mlflow.llm.cost")).get("total_cost"))
    if usd is not None:
        attributes["operation.cost"] = usd
    raw = raw_span({**fields, "attributes": attributes}, None, line)
    if raw is None:
        return None
    raw.trace = trace or raw.trace
    if raw.parent is None:
        raw.attributes |= _of_trace(info)
        raw.failed = raw.failed or info.get("state", info.get("status")) == "ERROR"
    return extract(raw, order)


def _of_trace(info: dict[str, JSON]) -> Attributes:
    """What only the info part says, for the root span."""
    metadata = mapping(decoded(info.get("trace_metadata", info.get("request_metadata"))))
    session = identity(metadata.get("mlflow.trace.session"))
    return {SESSION[0]: session} if session else {}


def _plain(value: JSON) -> JSON:
    """An attribute value, which MLflow writes as JSON text."""
    if not isinstance(value, str):
        return value
    try:
        return loads(value.encode("utf-8", "surrogatepass"))
    except (BadJSON, UnicodeError):
        return value


def clean_result(name: str, result: JSON) -> JSON:
    """The result without its envelope."""
    return unwrapped(result)
