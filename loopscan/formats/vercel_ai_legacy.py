"""Spans of the Vercel AI SDK up to version 6 (and `LegacyOpenTelemetry` of version 7), as OTLP JSON.

Format: https://ai-sdk.dev/docs/ai-sdk-core/telemetry (attributes `ai.*`) in the envelope that `otlp_genai`
describes. One turn = one `ai.*.doGenerate` or `.doStream` span with the `ai.toolCall` spans that it asked for. One
run = one trace; a generateText below a tool is a run of its own. Usage = `ai.usage.*` of those spans; the root
repeats the sums. A step cap leaves no mark: such a run reads as cut.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from loopscan.blob import Blob, Head
from loopscan.formats import Scan
from loopscan.formats._otel_files import dialect, read_spans, unwrapped
from loopscan.model import JSON, Event

TITLE = "Vercel AI SDK spans, old attributes (OTLP JSON)"
WHERE: tuple[str, ...] = ()
LACKS = "whether a step cap ended the run"
COSMETIC_ARGS: Mapping[str, frozenset[str]] = {}


def sniff(head: Head) -> bool:
    """OTLP spans with an operation id of the Vercel AI SDK."""
    return dialect(head) == "vercel-ai-legacy"


def read(blob: Blob, scan: Scan) -> Iterator[Event]:
    """The turns and ends of a file of spans."""
    return read_spans(blob, scan, "vercel-ai-legacy")


def clean_result(name: str, result: JSON) -> JSON:
    """The result without its envelope."""
    return unwrapped(result)
