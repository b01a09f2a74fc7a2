"""Spans exported from Arize Phoenix: the REST client's `get_spans` and the rows of `get_spans_dataframe`.

Format: https://arize.com/docs/phoenix (spans); attributes are OpenInference,
https://github.com/Arize-ai/openinference/blob/main/spec/semantic_conventions.md. One turn = one span of kind LLM
with the TOOL spans it asked for; one run = the nearest AGENT span, else the trace; usage = `llm.token_count.*` of
LLM spans. Rows come newest first, and dataframe cells may be Python literals instead of JSON.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from itertools import islice
from typing import Final

from loopscan.blob import Blob, Head
from loopscan.formats import Scan
from loopscan.formats._fields import mapping
from loopscan.formats._literal import literal
from loopscan.formats._otel_attributes import FLAT
from loopscan.formats._otel_files import read_spans, unwrapped
from loopscan.formats._otel_span import RawSpan
from loopscan.formats._otlp import raw_span, records
from loopscan.model import JSON, Event

TITLE = "Arize Phoenix span exports"
WHERE: tuple[str, ...] = ()
LACKS = ""
COSMETIC_ARGS: Mapping[str, frozenset[str]] = {}

_LOOK: Final = 50
_CELLS: Final = frozenset(FLAT.values())
_LITERAL: Final = 1 << 20
"""Longer Python literals are left unread: only the results that no TOOL span holds would be lost."""


def sniff(head: Head) -> bool:
    """Records that name their trace in a context, and an OpenInference span kind."""
    for value in head.values:
        for record, _ in islice(records(value), _LOOK):
            fields = mapping(record)
            context = mapping(fields.get("context"))
            if "span_kind" in fields and ("trace_id" in context or "context.trace_id" in fields):
                return True
    return False


def read(blob: Blob, scan: Scan) -> Iterator[Event]:
    """The turns and ends of an export."""
    return read_spans(blob, scan, "phoenix", _span)


def _span(record: JSON, service: str | None, line: int) -> RawSpan | None:
    fields = mapping(record)
    if "context.trace_id" in fields:
        attributes = {k.removeprefix("attributes."): v for k, v in fields.items() if k.startswith("attributes.")}
        cells = {k: _literal(v) if k in _CELLS else v for k, v in attributes.items()}
        context = {"trace_id": fields["context.trace_id"], "span_id": fields.get("context.span_id")}
        fields = {**fields, "context": context, "attributes": cells}
    raw = raw_span(fields, service, line)
    if raw is not None and isinstance(fields.get("span_kind"), str):
        raw.attributes.setdefault("openinference.span.kind", fields["span_kind"])
    return raw


def _literal(cell: JSON) -> JSON:
    """A cell that holds a Python literal in place of JSON."""
    if not isinstance(cell, str) or not cell.startswith("[{'") or len(cell) > _LITERAL:
        return cell
    return literal(cell)


def clean_result(name: str, result: JSON) -> JSON:
    """The result without its envelope."""
    return unwrapped(result)
