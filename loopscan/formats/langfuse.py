"""Langfuse observations: trace downloads, blob exports (JSON Lines), API pages, exported arrays.

A trace download is `{"trace": {...}, "observations": [...]}` in camelCase, an API trace has its observations inside,
a blob export one snake_case row per line, a page its rows under `data`. Rows are not sorted; input, output and
metadata are JSON text, sometimes twice, or objects. One turn = one GENERATION, but for those that only wrap another;
calls = TOOL observations, and SPANs of the name of a tool that the model asked for; a tool that was not traced is
read from the input of a later send. One run = one trace (what runs inside a tool call: its own). Usage and dollars
stand on the GENERATION. https://langfuse.com/docs/observability/data-model
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from loopscan.decode import word
from loopscan.formats._endings import fault_text
from loopscan.formats._fields import identity, items, mapping, result_of_blocks, when
from loopscan.formats._langfuse_usage import usage_of
from loopscan.formats._reply import call_of, decoded
from loopscan.formats._trace import AGENT, JUDGE, MODEL, OTHER, TOOL, Span, sent
from loopscan.formats._traces import Traces
from loopscan.model import JSON, MISSING, Call, Event, Turn

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from loopscan.blob import Blob, Head
    from loopscan.formats import Scan

TITLE = "Langfuse observations"
WHERE: tuple[str, ...] = ()
LACKS = "how the run ended, but for errors"
COSMETIC_ARGS: Mapping[str, frozenset[str]] = {}

_KINDS: Final = {"GENERATION": MODEL, "TOOL": TOOL, "AGENT": AGENT, "EVALUATOR": JUDGE, "GUARDRAIL": JUDGE}
_STRUCTURE: Final = frozenset({"SPAN", "EVENT", "CHAIN", "RETRIEVER", "EMBEDDING"})
_DEEP: Final = 4
_SYNTHETIC: Final = "(merged"
"""Google ADK adds a span `execute_tool (merged)` that repeats parallel calls."""

_TOOL_NAMES: Final = ("gen_ai.tool.name", "tool.name", "ai.toolCall.name")
_CALL_IDS: Final = ("gen_ai.tool.call.id", "ai.toolCall.id")
_PREFIXES: Final = ("running tool: ", "execute_tool ", "tool: ")
_HELD_TEXT: Final = 20_000
"""Longer outputs of SPANs are states of a graph, no results of a tool."""


def sniff(head: Head) -> bool:
    """An observation with its trace, type and parent."""
    return any(_is_observation(row) for value in head.values for _, row in _rows(value))


def _is_observation(row: dict[str, JSON]) -> bool:
    kind = row.get("type")
    if not isinstance(kind, str) or (kind not in _KINDS and kind not in _STRUCTURE):
        return False
    return ("traceId" in row and "startTime" in row) or ("trace_id" in row and "start_time" in row)


def _rows(value: JSON, depth: int = 0) -> Iterator[tuple[dict[str, JSON], dict[str, JSON]]]:
    """The observations in a value (a row, a trace, a page or array of either), each with what its trace says."""
    if isinstance(value, list):
        for item in value if depth < _DEEP else ():
            yield from _rows(item, depth + 1)
    elif isinstance(value, dict):
        about = mapping(value.get("trace")) or value
        inside = [o for o in items(value.get("observations", about.get("observations"))) if isinstance(o, dict)]
        if inside:
            yield from ((about, row) for row in inside)
        elif isinstance(value.get("data"), list):
            yield from _rows(value["data"], depth + 1)
        else:
            yield {}, value


def read(blob: Blob, scan: Scan) -> Iterator[Event]:
    """The turns and ends of the traces."""
    traces = Traces("langfuse", scan, states_success=False)
    for number, value in blob.values(scan.skips):
        if not isinstance(value, (dict, list)):
            scan.skips.add(blob.name, number, "not an object: an observation is a JSON object")
        whole: str | None = None
        for about, row in _rows(value):
            whole = identity(about.get("id"))
            yield from _add(about, row, number, traces, blob, scan)
        if whole is not None:  # a trace with all its observations
            yield from traces.release(whole)
    yield from traces.flush()


def _add(
    about: dict[str, JSON], row: dict[str, JSON], number: int, traces: Traces, blob: Blob, scan: Scan
) -> Iterator[Event]:
    row_id, kind = identity(row.get("id")), word(row.get("type"))
    trace_id = identity(row.get("traceId", row.get("trace_id"))) or identity(about.get("id"))
    if row_id is None or trace_id is None:
        scan.skips.add(blob.name, number, "no observation: id and traceId are needed; export observations, not traces")
        return
    if kind not in _KINDS and kind not in _STRUCTURE:
        scan.skips.unknown_type("langfuse", kind)
    trace = traces.trace(trace_id)
    session = identity(row.get("sessionId", row.get("session_id"))) or identity(about.get("sessionId"))
    trace.session = trace.session or session
    name = about.get("name", row.get("trace_name"))
    if isinstance(name, str) and name:
        trace.labels["agent"] = name
    yield from traces.add(trace_id, _span(row, row_id, kind, number))


def _span(row: dict[str, JSON], row_id: str, kind: str, number: int) -> Span:
    parent = identity(row.get("parentObservationId", row.get("parent_observation_id")))
    start = when(row.get("startTime", row.get("start_time")))
    span = Span(row_id, parent, _KINDS.get(kind, OTHER), number, start, when(row.get("endTime", row.get("end_time"))))
    if row.get("level") == "ERROR":
        span.fault = fault_text(row.get("statusMessage", row.get("status_message"))) or "ERROR"
    if span.kind == MODEL:
        span.turn = _turn(row, span)
        span.history = row.get("input")
    elif span.kind == TOOL or kind in ("SPAN", "CHAIN"):
        _as_tool(row, span)
    return span


def _turn(row: dict[str, JSON], span: Span) -> Turn:
    turn = sent(span, row.get("output"))
    turn.model = identity(row.get("model")) or identity(row.get("provided_model_name"))
    turn.usage = usage_of(row)
    names = items(row.get("toolCallNames", row.get("tool_call_names")))
    listed = items(row.get("toolCalls", row.get("tool_calls")))
    if turn.text is None:
        asked = (call_of({**mapping(decoded(c)), "name": n}, listed=True) for c, n in zip(listed, names, strict=False))
        turn.calls += [c for c in asked if c is not None]
    return turn


def _as_tool(row: dict[str, JSON], span: Span) -> None:
    """Read a row as a tool call; a SPAN is one if it says so, else it may be one (see `Span.kind`)."""
    meta = mapping(decoded(row.get("metadata")))
    attributes = mapping(decoded(meta.get("attributes")))
    output, args = row.get("output"), decoded(row.get("input"))
    message = _tool_message(output)
    named = next((n for k in _TOOL_NAMES if isinstance(n := attributes.get(k), str)), None)
    name = named or _plain_name(word(row.get("name")))
    if span.kind == OTHER:
        if named is not None or message or attributes.get("openinference.span.kind") == "TOOL":
            span.kind = TOOL
        elif not isinstance(output, str) or len(output) > _HELD_TEXT:
            return
    if _SYNTHETIC in name:
        span.kind = OTHER
        return
    if isinstance(args, dict) and set(args) == {"input"}:
        args = args["input"]
    call_id = next((i for k in _CALL_IDS if (i := identity(attributes.get(k)))), None)
    failed = span.fault is not None or message.get("status") == "error"
    if output is None:
        output = span.fault or (MISSING if args is None else None)
    span.call = Call(name, args, output, failed, call_id or identity(message.get("tool_call_id")))


def _plain_name(name: str) -> str:
    for prefix in _PREFIXES:
        name = name.removeprefix(prefix)
    return name.removesuffix(".run")


def _tool_message(result: JSON) -> dict[str, JSON]:
    """The LangChain tool message a result is wrapped in, if it is."""
    value = mapping(decoded(result))
    inner = mapping(value.get("kwargs")) or mapping(value.get("data")) or value
    return inner if "tool_call_id" in inner and "content" in inner else {}


def clean_result(name: str, result: JSON) -> JSON:
    """What the tool returned, without JSON encoding and the message or text block it is wrapped in."""
    message = _tool_message(result)
    if message:
        return message["content"]
    value = decoded(result)
    if isinstance(value, dict) and set(value) == {"content"}:
        return result_of_blocks(value["content"])
    return value
