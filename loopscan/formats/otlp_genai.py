"""OpenTelemetry spans of GenAI programs as OTLP JSON: SDK and Collector file exporters, Copilot's own file.

Copilot CLI and VS Code write `~/.copilot/otel/*.jsonl` when asked to. Formats:
https://opentelemetry.io/docs/specs/otel/protocol/file-exporter/ and
https://github.com/open-telemetry/semantic-conventions-genai; dialects of attributes: `_otel_attributes`. One turn =
one model span (operation chat, generate_content, text_completion) with the tool spans that it asked for. One run
= the nearest agent span, else the trace. Usage = that of model spans only: agent spans repeat the sums of theirs.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from loopscan.blob import Blob, Head
from loopscan.formats import Scan
from loopscan.formats._otel_files import dialect, read_spans, unwrapped
from loopscan.model import JSON, Event

TITLE = "OpenTelemetry GenAI spans (OTLP JSON)"
WHERE: tuple[str, ...] = ("~/.copilot/otel",)
LACKS = "arguments and results where content capture is off (the default of several producers)"
COSMETIC_ARGS: Mapping[str, frozenset[str]] = dict.fromkeys(
    ("bash", "powershell", "shell", "local_shell"), frozenset({"description"})
)
"""Copilot's shells: the model explains each command anew."""


def sniff(head: Head) -> bool:
    """OTLP batches, or spans as an SDK holds them, of no dialect that has a name of its own."""
    return dialect(head) == "otlp-genai"


def read(blob: Blob, scan: Scan) -> Iterator[Event]:
    """The turns and ends of a file of spans."""
    return read_spans(blob, scan, "otlp-genai")


def clean_result(name: str, result: JSON) -> JSON:
    """The result without its envelope."""
    return unwrapped(result)
