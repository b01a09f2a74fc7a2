"""What OpenTelemetry's console exporter prints, redirected to a file.

Format: `ReadableSpan.to_json()` of the Python SDK,
https://opentelemetry-python.readthedocs.io/en/latest/sdk/trace.export.html: objects printed over many lines one after
another (or one a line), and between them whatever else the program printed. Attributes, turns, runs and usage are
those of the span formats (`otlp_genai`); ids are written with `0x`.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from loopscan.blob import Blob, Head
from loopscan.decode import BadJSON, iter_values, text_of
from loopscan.formats import Scan
from loopscan.formats._fields import mapping
from loopscan.formats._otel_files import unwrapped
from loopscan.formats._otel_traces import Traces
from loopscan.formats._otlp import raw_span, records
from loopscan.model import JSON, Event

TITLE = "OpenTelemetry console exporter output"
WHERE: tuple[str, ...] = ()
LACKS = "arguments and results where content capture is off"
COSMETIC_ARGS: Mapping[str, frozenset[str]] = {}

_RAW = (b'"trace_id": "0x', b'"span_id": "0x', b'"parent_id":', b'"start_time":')


def sniff(head: Head) -> bool:
    """Spans with a context object, or the same among other printed text."""
    return any(map(_is_printed, head.objects)) or (not head.objects and all(mark in head.raw for mark in _RAW))


def _is_printed(record: dict[str, JSON]) -> bool:
    context = mapping(record.get("context"))
    own = "trace_id" in context and "span_id" in context and isinstance(record.get("attributes"), dict)
    return own and "parent_id" in record and "start_time" in record and "span_kind" not in record


def read(blob: Blob, scan: Scan) -> Iterator[Event]:
    """The turns and ends of the printed spans; other printed lines are counted and passed over."""
    traces = Traces("otel-console", scan)
    for number, value in _values(blob, scan):
        for record, service in records(value):
            raw = raw_span(record, service, number)
            if raw is not None:
                yield from traces.add(raw)
    yield from traces.flush()
    traces.tell_strange(blob.name)


def _values(blob: Blob, scan: Scan) -> Iterator[tuple[int, JSON]]:
    """The JSON values with the line each begins on: whole lines, or from a lone `{` to the next lone `}`."""
    open_lines: list[bytes] = []
    began = 0
    for number, line in blob.lines(scan.skips):
        bare = line.rstrip()
        if bare in (b"{", b"\xef\xbb\xbf{"):
            if open_lines:
                scan.skips.add(blob.name, began, "no JSON: the object is not closed before the next begins")
            open_lines, began = [line], number
        elif open_lines:
            open_lines.append(line)
            if bare == b"}":
                yield from _decoded(b"\n".join(open_lines), began, blob, scan)
                open_lines = []
        elif bare.startswith((b"{", b"[{")):
            yield from _decoded(line, number, blob, scan)
        else:
            scan.skips.unknown_type("otel-console", "printed line")
    if open_lines:
        scan.skips.add(blob.name, began, "no JSON: the object is cut short")
    if blob.damage is not None and not blob.damage.startswith("the JSON document"):
        scan.skips.add(blob.name, None, blob.damage)


def _decoded(text: bytes, number: int, blob: Blob, scan: Scan) -> Iterator[tuple[int, JSON]]:
    try:
        for value in iter_values(text_of(text)):
            yield number, value
    except BadJSON as err:
        scan.skips.add(blob.name, number, str(err))


def clean_result(name: str, result: JSON) -> JSON:
    """The result without its envelope."""
    return unwrapped(result)
