"""LiteLLM standard logging payloads, one line per model call (custom loggers, file, S3 and GCS callbacks).

One turn = one call, its results stand in the `messages` of the run's next call. One run = one `session_id` or one
`trace_id` that the caller set; LiteLLM makes up a fresh trace id per call where the caller sets none, then a call
continues the run whose messages its own start with. Usage: `prompt_tokens` (cached tokens inside, for every
provider), `completion_tokens`, details under `response.usage`; dollars: `response_cost`. An answer from LiteLLM's own
cache is no paid send. https://docs.litellm.ai/docs/proxy/logging_spec
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Final

from loopscan.blob import Blob, Head
from loopscan.decode import word
from loopscan.formats import Scan
from loopscan.formats._exchange import fill, history
from loopscan.formats._fields import count, dollars, identity, items, mapping, when
from loopscan.formats._records import unchanged as clean_result
from loopscan.formats._stitch import Send, Stitcher, looks_fresh
from loopscan.formats._stops import end_of
from loopscan.formats._usage import usage_of
from loopscan.model import JSON, MISSING, Event, Turn, Usage

__all__ = ["COSMETIC_ARGS", "LACKS", "TITLE", "WHERE", "clean_result", "read", "sniff"]

TITLE = "LiteLLM standard logging payloads"
WHERE: tuple[str, ...] = ()
LACKS = "the last turn's results; how the run ended, but for failures"
COSMETIC_ARGS: Mapping[str, frozenset[str]] = {}

REDACTED: Final = "redacted-by-litellm"
_NO_CHAT: Final = (
    "embedding", "rerank", "moderation", "transcription", "speech", "image", "video", "file", "batch", "fine_tun",
    "ocr", "search", "vector_store", "list_", "retrieve", "delete", "cancel", "health",
)  # fmt: skip


def sniff(head: Head) -> bool:
    """Payloads by their own fields, bare or as a logger receives them."""
    return any(_is_payload(_payload(o)) for o in head.objects)


def _payload(record: dict[str, JSON]) -> dict[str, JSON]:
    inner = record.get("standard_logging_object")
    return inner if isinstance(inner, dict) else record


def _is_payload(payload: dict[str, JSON]) -> bool:
    return {"litellm_call_id", "call_type"} <= payload.keys() and ("response_cost" in payload or "trace_id" in payload)


def read(blob: Blob, scan: Scan) -> Iterator[Event]:
    """The turns and ends of a payload log."""
    stitcher: Stitcher = scan.memory.setdefault("litellm", Stitcher())
    sends = 0
    for number, record in blob.values(scan.skips):
        payload = _payload(record) if isinstance(record, dict) else {}
        if not _is_payload(payload):
            scan.skips.add(blob.name, number, "no payload: each line must be a standard logging object")
        elif not any(kind in word(payload["call_type"]) for kind in _NO_CHAT):
            call = (identity(payload["litellm_call_id"]), identity(payload.get("id")), payload.get("startTime"))
            if not scan.copy_of("litellm", *call[:2], word(call[2])):
                sends += 1
                yield from stitcher.take(_send(payload, number, blob.name), f"{blob.name}:{number}")
    if sends > 1:  # a store with a file per call goes on in the next file
        yield from stitcher.flush()


def finish(scan: Scan) -> Iterator[Event]:
    """The newest turns of runs whose files held one call each."""
    stitcher: Stitcher = scan.memory.setdefault("litellm", Stitcher())
    yield from stitcher.flush()


def _send(payload: dict[str, JSON], line: int, source: str) -> Send:
    turn = Turn(
        "",
        line=line,
        source=source,
        written=0,
        model=identity(payload.get("model")),
        time=when(payload.get("startTime")),
    )
    turn.usage, turn.labels = _usage(payload), _labels(payload)
    session = identity(payload.get("session_id"))
    turn.session = session
    end = None
    if payload.get("status") == "failure":
        turn.failed, turn.text = True, None
        details = mapping(payload.get("error_information"))
        turn.fault = payload.get("error_str") or details.get("error_message") or details.get("error_class") or MISSING
    else:
        end = end_of(turn, fill(turn, payload.get("response")), final=False)
        if turn.text == REDACTED or not isinstance(payload.get("response"), (dict, list)):
            turn.text, turn.written = None, None
    trace = identity(payload.get("trace_id"))
    run = session or (trace if trace is not None and not looks_fresh(trace) else None)
    messages = history({"messages": payload.get("messages")})
    if any(mapping(m).get("content") == REDACTED for m in messages):
        messages = []
    return Send(messages, turn, end, run, trace, line=line)


def _usage(payload: dict[str, JSON]) -> Usage | None:
    """The details stand in the response or the metadata, the totals also on the payload."""
    if payload.get("cache_hit") is True:
        return Usage(0, 0, usd=0.0)
    response = mapping(payload.get("response"))
    usage = usage_of(response.get("usage")) or usage_of(mapping(payload.get("metadata")).get("usage_object"))
    total, output = count(payload.get("prompt_tokens")), count(payload.get("completion_tokens"))
    if usage is None and (total or output):
        usage = Usage(total, output)
    usd = dollars(payload.get("response_cost"))
    if usage is not None:
        usage.input = total if total else usage.input
        usage.usd = usd
    elif usd:
        usage = Usage(usd=usd)
    return usage


def _labels(payload: dict[str, JSON]) -> dict[str, str] | None:
    metadata = mapping(payload.get("metadata"))
    tags = ",".join(t for t in items(payload.get("request_tags")) if isinstance(t, str))
    labels = {
        "tags": tags,
        "end_user": identity(payload.get("end_user")),
        "team": identity(metadata.get("user_api_key_team_alias")),
        "key": identity(metadata.get("user_api_key_alias")),
        "user": identity(metadata.get("user_api_key_user_id")),
    }
    return {k: v for k, v in labels.items() if v} or None
