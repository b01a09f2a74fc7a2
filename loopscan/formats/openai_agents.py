"""Trace lines of the OpenAI Agents SDK: what a TracingProcessor writes with `trace.export()` and `span.export()`.

One line is a `trace` (its id, workflow name and group) or a `trace.span` written when the span ends, so a root
comes after all below it; runs interleave. `{"data": [...]}`, the body of the backend exporter, is read too. One
turn = one `response` span (no model, no messages) or `generation` span (both); its tools are the `function` spans
of the same turn span, a handoff counts as the call that asks for it. One run = one root `task` span, named by its
trace; an agent run inside a tool is a run of its own. Usage stands on the model spans; the sums on turn and task
spans are ignored. https://openai.github.io/openai-agents-python/tracing/
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Final

from loopscan.decode import word
from loopscan.formats._endings import fault_text
from loopscan.formats._fields import identity, items, mapping, when
from loopscan.formats._trace import AGENT, JUDGE, MODEL, OTHER, TASK, TOOL, Span, sent
from loopscan.formats._traces import Traces
from loopscan.formats._usage import usage_of
from loopscan.model import JSON, MISSING, Call, Event, Turn

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from loopscan.blob import Blob, Head
    from loopscan.formats import Scan

TITLE = "OpenAI Agents SDK trace lines"
WHERE: tuple[str, ...] = ()
LACKS = "recorded dollars; in Responses mode the model's name and text"
COSMETIC_ARGS: Mapping[str, frozenset[str]] = {}

_KINDS: Final = {
    "agent": AGENT,
    "guardrail": JUDGE,
    "function": TOOL,
    "handoff": TOOL,
    "response": MODEL,
    "generation": MODEL,
}
_STRUCTURE: Final = frozenset({"custom", "mcp_tools", "turn", "transcription", "speech", "speech_group"})


def sniff(head: Head) -> bool:
    """Objects that name themselves as traces or spans of the SDK, or a batch of such."""
    return any(_is_ours(o) for v in head.objects for o in ([v, *items(v.get("data"))[:3]]) if isinstance(o, dict))


def _is_ours(line: dict[str, JSON]) -> bool:
    kind = line.get("object")
    return (kind == "trace.span" and "span_data" in line) or (kind == "trace" and "workflow_name" in line)


def read(blob: Blob, scan: Scan) -> Iterator[Event]:
    """The turns and ends of the traces."""
    traces = Traces("openai-agents", scan)
    for number, value in blob.values(scan.skips):
        batch = value.get("data") if isinstance(value, dict) and "object" not in value else None
        for line in batch if isinstance(batch, list) else items(value) or [value]:
            if not isinstance(line, dict):
                scan.skips.add(blob.name, number, "not an object: a trace line is a JSON object")
            elif line.get("object") == "trace":
                yield from _trace(line, traces)
            elif line.get("object") == "trace.span":
                yield from _span_line(line, number, traces, blob, scan)
            else:
                scan.skips.unknown_type("openai-agents", line.get("object"))
    yield from traces.flush()


def _trace(line: dict[str, JSON], traces: Traces) -> Iterator[Event]:
    """What is known of a trace; one written at its end closes it."""
    trace_id = identity(line.get("id"))
    if trace_id is None:
        return
    trace = traces.trace(trace_id)
    trace.session = identity(line.get("group_id")) or trace.session
    if isinstance(name := line.get("workflow_name"), str):
        trace.labels["workflow"] = name
    if trace.spans:
        yield from traces.release(trace_id)


def _span_line(line: dict[str, JSON], number: int, traces: Traces, blob: Blob, scan: Scan) -> Iterator[Event]:
    trace_id, span_id = identity(line.get("trace_id")), identity(line.get("id"))
    if trace_id is None or span_id is None:
        scan.skips.add(blob.name, number, "span without id: a span needs id and trace_id")
        return
    span, kind = _span(line, span_id, number), word(mapping(line.get("span_data")).get("type"))
    if kind not in _KINDS and kind not in _STRUCTURE:
        scan.skips.unknown_type("openai-agents", kind)
    yield from traces.add(trace_id, span)
    if span.kind == TASK and span.end is not None:
        yield from traces.release_under(trace_id, span)


def _span(line: dict[str, JSON], span_id: str, number: int) -> Span:
    data, error = mapping(line.get("span_data")), line.get("error")
    kind = _KINDS.get(word(data.get("type")), OTHER)
    custom = mapping(data.get("data")).get("sdk_span_type") or data.get("type")
    if custom == "task" and line.get("parent_id") is None:
        kind = TASK
    start, end = when(line.get("started_at")), when(line.get("ended_at"))
    span = Span(span_id, identity(line.get("parent_id")), kind, number, start, end, _fault(error))
    if kind == TOOL:
        span.call = _handoff(data) if data.get("type") == "handoff" else _function(data, error)
    elif kind == MODEL:
        span.turn = _turn(data, span)
        span.history = data.get("input")
    return span


def _fault(error: JSON) -> str | None:
    """`Max turns exceeded`, or `Error in agent run: ` and the error inside."""
    words, inner = fault_text(error), fault_text(mapping(mapping(error).get("data")).get("error"))
    return f"{words}: {inner}" if words and inner else words


def _function(data: dict[str, JSON], error: JSON) -> Call:
    """A tool call. Every failure has the same output; what went wrong stands only in the span's error."""
    output: JSON = data.get("output")
    reason = fault_text(mapping(mapping(error).get("data")).get("error")) or fault_text(error)
    if reason is not None:
        output = reason if output is None else f"{output}\n{reason}"
    elif output is None and data.get("input") is None:
        output = MISSING
    return Call(word(data.get("name")), data.get("input"), output, reason is not None)


def _handoff(data: dict[str, JSON]) -> Call:
    """A handoff as the call the SDK makes of it."""
    target = word(data.get("to_agent"))
    name = "transfer_to_" + re.sub(r"[^a-zA-Z0-9_]", "_", target).lower()
    return Call(name, {}, {"assistant": target})


def _turn(data: dict[str, JSON], span: Span) -> Turn:
    turn = sent(span, data.get("output"))
    turn.model = identity(data.get("model"))
    turn.usage = usage_of(data.get("usage"))
    return turn


def clean_result(name: str, result: JSON) -> JSON:
    """Results have no wrapper."""
    return result
