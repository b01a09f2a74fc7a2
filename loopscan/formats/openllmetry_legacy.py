"""OpenLLMetry spans of before its move to the GenAI conventions, as OTLP JSON.

Format: https://github.com/traceloop/openllmetry (attributes `llm.request.type`, `gen_ai.prompt.<n>.*`,
`gen_ai.completion.<n>.*`) in the envelope that `otlp_genai` describes. One turn = one span with `llm.request.type` chat
or completion; results stand only in the prompt of the next span, so that of the last turn is never
recorded. One run = one trace. Usage = `gen_ai.usage.*` of these spans.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from loopscan.blob import Blob, Head
from loopscan.formats import Scan
from loopscan.formats._otel_files import dialect, read_spans, unwrapped
from loopscan.model import JSON, Event

TITLE = "OpenLLMetry spans, old attributes (OTLP JSON)"
WHERE: tuple[str, ...] = ()
LACKS = "the results of the last turn"
COSMETIC_ARGS: Mapping[str, frozenset[str]] = {}


def sniff(head: Head) -> bool:
    """OTLP spans with OpenLLMetry's request type and no operation name."""
    return dialect(head) == "openllmetry-legacy"


def read(blob: Blob, scan: Scan) -> Iterator[Event]:
    """The turns and ends of a file of spans."""
    return read_spans(blob, scan, "openllmetry-legacy")


def clean_result(name: str, result: JSON) -> JSON:
    """The result without its envelope."""
    return unwrapped(result)
