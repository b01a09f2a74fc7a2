"""Hashes by which a message of a request is known again in the history of a later request.

Clients resend the history nearly as it was: they move cache marks, drop nulls and thinking, and wrap a text in a
block to mark it. None of that changes a mark.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Final

from loopscan.decode import canonical, word
from loopscan.model import JSON

_FLEETING: Final = frozenset({"cache_control", "status", "annotations", "logprobs"})
_HIDDEN: Final = ("thinking", "redacted_thinking", "reasoning")


def prefixes(messages: Iterable[JSON]) -> list[int]:
    """Hashes of the first 0, 1, 2 … messages."""
    chain = [0]
    for message in messages:
        chain.append(hash((chain[-1], mark(message))))
    return chain


def mark(message: JSON) -> int:
    """The mark of one message or item."""
    if not isinstance(message, dict) or "role" not in message:
        return _mark_block(message)
    content, calls = message.get("content"), message.get("tool_calls") or message.get("function_call")
    return hash(
        (
            word(message["role"]),
            hash(content) if type(content) is str else _mark_content(content),
            word(message.get("tool_call_id")),
            canonical(calls) if calls else None,
        )
    )


def _mark_content(content: JSON) -> int:
    if isinstance(content, str):
        return hash(content)
    if not isinstance(content, list):
        return hash(canonical(content)) if content else 0
    parts = [p for p in content if not (isinstance(p, dict) and p.get("type") in _HIDDEN)]
    if len(parts) == 1 and isinstance(parts[0], dict) and isinstance(text := parts[0].get("text"), str):
        return hash(text)
    return hash(tuple([_mark_block(p) for p in parts]))


def _mark_block(block: JSON) -> int:
    if not isinstance(block, dict):
        return hash(canonical(block))
    if isinstance(text := block.get("text"), str):
        return hash((word(block.get("type")), text))
    rest = {k: v for k, v in block.items() if k not in _FLEETING and v is not None and k not in ("content", "output")}
    content = block.get("content", block.get("output"))
    return hash((canonical(rest), _mark_content(content)))
