"""LangSmith runs, one span per line: `Client.list_runs` dumps, the CLI's export, SDK ingest bodies.

`run_type` `llm` is a turn, `tool` a call; chains repeat what stands below them and only the root's error is read.
A run arrives whole or as a start (POST) and its completion (PATCH) under one id; bodies that hold both in `post` and
`patch`, pages (`runs`) and arrays are read too. One run = one `trace_id`; the session is the thread id of the
metadata. Usage = the message's `usage_metadata`, else what the server adds to the run; dollars = `total_cost`.
Results come inside a tool message that carries the call's id: they are unwrapped before they are compared.
https://docs.langchain.com/langsmith/run-data-format
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from loopscan.decode import word
from loopscan.formats._endings import fault_text
from loopscan.formats._fields import count, dollars, identity, items, mapping, when
from loopscan.formats._reply import decoded
from loopscan.formats._span_rows import Parts
from loopscan.formats._trace import MODEL, OTHER, TOOL, Span, sent
from loopscan.formats._traces import Traces
from loopscan.formats._usage import usage_of
from loopscan.model import JSON, MISSING, Call, Event, Turn, Usage

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from loopscan.blob import Blob, Head
    from loopscan.formats import Scan

TITLE = "LangSmith runs"
WHERE: tuple[str, ...] = ()
LACKS = "recorded dollars where the server has not priced the run"
COSMETIC_ARGS: Mapping[str, frozenset[str]] = {}

_KINDS: Final = {"llm": MODEL, "tool": TOOL}
_STRUCTURE: Final = frozenset({"chain", "retriever", "embedding", "prompt", "parser"})
_THREAD: Final = ("thread_id", "session_id", "conversation_id")


def sniff(head: Head) -> bool:
    """A row with a run type and the place of the run in its trace."""
    return any(_is_run(row) for value in head.values for row in _rows(value))


def _is_run(row: JSON) -> bool:
    kind = row.get("run_type") if isinstance(row, dict) else None
    if not isinstance(kind, str) or (kind not in _KINDS and kind not in _STRUCTURE):
        return False
    return "trace_id" in row or "dotted_order" in row


def _rows(value: JSON) -> list[JSON]:
    if isinstance(value, dict) and "run_type" not in value:
        bodies = [row for key in ("post", "patch", "runs") for row in items(value.get(key))]
        return bodies or [value]
    return items(value) or [value]


def read(blob: Blob, scan: Scan) -> Iterator[Event]:
    """The turns and ends of the traces."""
    traces, parts = Traces("langsmith", scan), Parts()
    for number, value in blob.values(scan.skips):
        for row in _rows(value):
            run_id = identity(row.get("id") or row.get("run_id")) if isinstance(row, dict) else None
            if not isinstance(row, dict) or run_id is None:
                scan.skips.add(blob.name, number, "no run: a row needs id (or run_id) and run_type")
                continue
            row = parts.whole(run_id, row, row.get("end_time") is not None)
            kind = row.get("run_type")
            if kind is None:
                continue  # a completion whose start is not there yet
            if word(kind) not in _KINDS and word(kind) not in _STRUCTURE:
                scan.skips.unknown_type("langsmith", kind)
            yield from _add(row, run_id, number, traces)
    yield from traces.flush()


def _add(row: dict[str, JSON], run_id: str, number: int, traces: Traces) -> Iterator[Event]:
    first = word(row.get("dotted_order") or "").partition(".")[0]  # <start>Z<id> of the root
    trace_id = identity(row.get("trace_id")) or first.rpartition("Z")[2] or run_id
    trace = traces.trace(trace_id)
    meta = mapping(mapping(row.get("extra")).get("metadata"))
    trace.session = trace.session or next((s for k in _THREAD if (s := identity(meta.get(k)))), None)
    span = _span(row, run_id, number, meta)
    if span.parent is None and isinstance(name := row.get("name"), str):
        trace.labels["agent"] = name
    yield from traces.add(trace_id, span)


def _span(row: dict[str, JSON], run_id: str, number: int, meta: dict[str, JSON]) -> Span:
    parent, kind = identity(row.get("parent_run_id")), _KINDS.get(word(row.get("run_type")), OTHER)
    start, end = when(row.get("start_time")), when(row.get("end_time"))
    span = Span(run_id, parent, kind, number, start, end, fault_text(row.get("error")))
    if kind == MODEL:
        span.turn = _turn(row, span, meta)
        span.history = row.get("inputs")
    elif kind == TOOL:
        span.call = _call(row, span)
    return span


def _turn(row: dict[str, JSON], span: Span, meta: dict[str, JSON]) -> Turn:
    outputs = mapping(row.get("outputs"))
    turn = sent(span, outputs)
    params = mapping(mapping(row.get("extra")).get("invocation_params"))
    turn.model = identity(meta.get("ls_model_name") or params.get("model") or params.get("model_name"))
    turn.usage = _usage(row, outputs, meta)
    return turn


def _usage(row: dict[str, JSON], outputs: dict[str, JSON], meta: dict[str, JSON]) -> Usage | None:
    """Tokens of a send: LangChain's counts, the client's own, or the server's on the run itself."""
    counted = (_message(outputs).get("usage_metadata"), outputs.get("usage_metadata"), meta.get("usage_metadata"))
    usage = next((u for c in counted if (u := _tokens(mapping(c))) is not None), None)
    usage = usage or usage_of(outputs.get("usage"))
    usage = usage or usage_of(mapping(outputs.get("llm_output")).get("token_usage")) or _tokens(row)
    if (usd := dollars(row.get("total_cost"))) is not None:
        usage = usage or Usage()
        usage.usd = usd
    return usage


def _message(outputs: dict[str, JSON]) -> dict[str, JSON]:
    """The model's message, without the wrappers of LangChain's serialisation."""
    batch = items(outputs.get("generations"))
    first = batch[0] if batch else outputs
    message = mapping(mapping(items(first)[0] if items(first) else first).get("message"))
    return mapping(message.get("kwargs")) or mapping(message.get("data")) or message


def _tokens(counts: dict[str, JSON]) -> Usage | None:
    """LangChain's counts or those of the server; every kind of input is inside the input."""
    details = mapping(counts.get("input_token_details")) or mapping(counts.get("prompt_token_details"))
    hour, minutes = count(details.get("ephemeral_1h_input_tokens")), count(details.get("ephemeral_5m_input_tokens"))
    writes = [c for c in (count(details.get("cache_creation")), hour, minutes) if c is not None]
    usage = Usage(
        count(counts.get("input_tokens", counts.get("prompt_tokens"))),
        count(counts.get("output_tokens", counts.get("completion_tokens"))),
        count(details.get("cache_read")),
        sum(writes) if writes else None,
        hour,
    )
    return None if usage.input is None and usage.output is None else usage


def _call(row: dict[str, JSON], span: Span) -> Call:
    outputs, inputs = row.get("outputs"), row.get("inputs")
    result: JSON = MISSING
    if isinstance(outputs, dict) and outputs:
        result = outputs["output"] if set(outputs) == {"output"} else outputs
    elif outputs is not None and outputs != {}:
        result = outputs
    message = _tool_message(result)
    failed = span.fault is not None or message.get("status") == "error"
    if result is MISSING and span.fault is not None:
        result = span.fault
    if isinstance(inputs, dict) and set(inputs) == {"input"}:
        inputs = inputs["input"]
    call_id = identity(mapping(row.get("extra")).get("tool_call_id")) or identity(message.get("tool_call_id"))
    return Call(word(row.get("name")), inputs, result, failed, call_id)


def _tool_message(result: JSON) -> dict[str, JSON]:
    """The tool message a result is wrapped in, if it is: plain, or under `kwargs` or `data`."""
    value = mapping(decoded(result))
    inner = mapping(value.get("kwargs")) or mapping(value.get("data")) or value
    return inner if "tool_call_id" in inner and "content" in inner else {}


def clean_result(name: str, result: JSON) -> JSON:
    """The content of the tool message that a result is wrapped in."""
    message = _tool_message(result)
    return message["content"] if message else result
