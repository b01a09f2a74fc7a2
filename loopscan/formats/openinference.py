"""OpenInference spans as OTLP JSON (the instrumentations of Arize Phoenix).

Format: https://github.com/Arize-ai/openinference/blob/main/spec/semantic_conventions.md in the envelope that
`otlp_genai` describes. One turn = one span of kind LLM with the TOOL spans that it asked for; CrewAI records
no LLM spans: there each TOOL span is a turn. One run = the nearest AGENT span, else the trace. Usage =
`llm.token_count.*` of LLM spans; long runs lose it: a span holds 128 attributes by default and the oldest go first.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from loopscan.blob import Blob, Head
from loopscan.formats import Scan
from loopscan.formats._otel_files import dialect, read_spans, unwrapped
from loopscan.model import JSON, Event

TITLE = "OpenInference spans (OTLP JSON)"
WHERE: tuple[str, ...] = ()
LACKS = "usage of long runs (span attribute limit); with CrewAI all usage"
COSMETIC_ARGS: Mapping[str, frozenset[str]] = {}


def sniff(head: Head) -> bool:
    """OTLP spans with a span kind of OpenInference."""
    return dialect(head) == "openinference"


def read(blob: Blob, scan: Scan) -> Iterator[Event]:
    """The turns and ends of a file of spans."""
    return read_spans(blob, scan, "openinference")


def clean_result(name: str, result: JSON) -> JSON:
    """The result without its envelope."""
    return unwrapped(result)
