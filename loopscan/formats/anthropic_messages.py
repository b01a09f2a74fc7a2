"""Anthropic messages: dumps with one run per line, or request/response pairs of a proxy or client wrapper.

A run is `{"id", "model", "system", "messages": […], "stop_reason"}`, the bare list of messages, or the pairs whose
messages start with those of the pair before. One turn = one assistant message, or one response. Results are
`tool_result` blocks of the next user message, joined by `tool_use_id`; results of server tools stand in the reply.
Usage: `usage` of a response; its three input classes are disjoint and are summed. A dump has none.
https://docs.anthropic.com/en/api/messages
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from loopscan.blob import Blob, Head
from loopscan.formats import Scan
from loopscan.formats._dialect import dialects
from loopscan.formats._records import line_independent as line_independent
from loopscan.formats._records import read_messages
from loopscan.formats._records import unchanged as clean_result
from loopscan.model import Event
from loopscan.whole import Whole

__all__ = ["COSMETIC_ARGS", "FINAL", "LACKS", "TITLE", "WHERE", "clean_result", "line_independent", "read", "sniff"]

TITLE = "Anthropic messages, one run or one request per line"
WHERE: tuple[str, ...] = ()
LACKS = "in dumps of runs: usage and times; in pairs: the last turn's results"
COSMETIC_ARGS: Mapping[str, frozenset[str]] = {}
FINAL = True


def sniff(head: Head) -> bool:
    """Content blocks of tool use, or responses of type `message`."""
    return "anthropic" in dialects(head)


def read(blob: Blob, scan: Scan) -> Iterator[Event | Whole]:
    """The turns and ends of a message log."""
    return read_messages(blob, scan, "anthropic-messages")
