"""What changes in a result although nothing happened: named fields of JSON results, typed tokens of text.

Small and named on purpose. Progress counters, ticket numbers and omitted-character counts are no part of it: a
result in which they change is progress. Only results are normalised, never arguments.
"""

from __future__ import annotations

import re
from functools import lru_cache
from typing import Final

from loopscan.compiled import compiled
from loopscan.decode import canonical, embedded
from loopscan.model import JSON

FIELDS: Final = frozenset(
    (
        "timestamp ts at created_at createdat updated_at updatedat started_at startedat ended_at endedat finished_at "
        "finishedat completed_at completedat sent_at sentat received_at receivedat delivered_at deliveredat queued_at "
        "queuedat expires_at expiresat expires_in expiresin server_time servertime "
        "duration durationms duration_ms duration_seconds elapsed elapsed_ms elapsed_seconds elapsedms latency "
        "latency_ms latencyms took took_ms execution_time execution_time_ms wall_time runtime_ms uptime uptime_seconds "
        "request_id requestid req_id x-request-id trace_id traceid span_id spanid correlation_id correlationid "
        "message_id messageid msg_id tool_call_id toolcallid call_id callid tool_use_id toolu_id invocation_id "
        "invocationid session_id sessionid run_id runid delivery_id deliveryid event_id eventid statement_id "
        "statementid query_id queryid execution_id executionid pid process_id processid ppid nonce etag"
    ).split()
)
"""Names (lower case) of JSON fields that say when, how fast or under which delivery a result came."""

_UUID: Final = re.compile(r"[0-9a-fA-F]{8}-[0-9a-fA-F]{4}-[0-9a-fA-F]{4}-[0-9a-fA-F]{4}-[0-9a-fA-F]{12}")
_TIME: Final = re.compile(
    r"\d{4}-\d{2}-\d{2}[T ]\d{2}:\d{2}(?::\d{2}(?:[.,]\d+)?)?(?:Z|[+-]\d{2}:?\d{2})?"
    r"|(?<![\d:])\d{2}:\d{2}:\d{2}(?:[.,]\d+)?(?![\d:])"
)
_ADDRESS: Final = re.compile(r"\b0x[0-9a-fA-F]{4,16}\b")
_TEMP: Final = re.compile(
    r"(?:/private)?/(?:tmp|var/tmp|var/folders/[^/\s\"']+/[^/\s\"']+/T)/[^\s\"'<>:,;)\]]+|\btmp[a-z0-9_]{8}\b"
)
_NAMED: Final = re.compile(
    r"\b(?:(?:request|trace|span|correlation|message|delivery|event|session|statement|query|execution|invocation)"
    r"[_-]?[iI][dD]|pid|ref)[\"']?\s?[=:]\s?[\"']?[\w-]+"
)
_HAS_UUID: Final = re.compile(r"-[0-9a-fA-F]{4}-").search
_HAS_TIME: Final = re.compile(r":\d\d").search
_NAMES: Final = {
    "id": ("id=", "id:", 'id"', "id'", "id =", "id :"),
    "Id": ("Id=", "Id:"),
    "ID": ("ID=", "ID:"),
    "ref": ("ref=", "ref:"),
}
"""Cheap signs that a text may hold such a token; the patterns themselves are slow."""

_DEEPEST: Final = 100
"""Levels of a result that are looked at; no result is nested so deeply but by mischief."""


def _has_name(text: str) -> bool:
    for word, signs in _NAMES.items():
        if word in text:
            for sign in signs:
                if sign in text:
                    return True
    return False


def stable_text(text: str) -> str:
    """Text with every volatile token (its type says that it is fresh each time) replaced by the name of its type."""
    made = compiled()
    if made is not None and made.is_steady(text):
        return text
    if "-" in text and _HAS_UUID(text):
        text = _UUID.sub("<uuid>", text)
    if ":" in text and _HAS_TIME(text):
        text = _TIME.sub("<time>", text)
    if "0x" in text:
        text = _ADDRESS.sub("<address>", text)
    if "tmp" in text or "/var/folders/" in text:
        text = _TEMP.sub("<temp>", text)
    if ("=" in text or ":" in text) and _has_name(text):
        text = _NAMED.sub("<named>", text)
    return text


def steady(text: str) -> bool:
    """Whether a result is no JSON and so free of volatile parts that only a result that is equal as it is equals it."""
    return "<" not in text and text.lstrip()[:1] not in ("{", "[") and stable_text(text) == text


def stable(value: JSON, depth: int = 0) -> JSON:
    """A result without its volatile parts; text that holds a JSON object or array is read as one."""
    if depth > _DEEPEST:
        return value
    if isinstance(value, str):
        inner = embedded(value)
        return stable_text(value) if inner is None else [stable(inner, depth + 1)]
    if isinstance(value, dict):
        return {k: stable(v, depth + 1) for k, v in value.items() if k.lower() not in FIELDS}
    if isinstance(value, list):
        return [stable(v, depth + 1) for v in value]
    return value


def literal(value: JSON) -> int:
    """Hash of a value exactly as recorded; a string and a number of the same spelling differ."""
    return hash(value) if type(value) is str else hash(("json", canonical(value)))


@lru_cache(maxsize=128)
def _stable_short(text: str) -> int:
    return literal(stable(text))


def stable_hash(value: JSON) -> int:
    """Hash of `stable(value)`."""
    if type(value) is str and len(value) < 4096:
        return _stable_short(value)
    return literal(stable(value))
