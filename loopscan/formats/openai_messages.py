"""OpenAI chat messages: dumps with one run per line, or request/response pairs of a proxy or client wrapper.

A run is `{"id", "model", "messages": […]}`, the bare list of messages, or the pairs whose messages start with those of
the pair before. One turn = one assistant message, or one response. Results are messages of role `tool`, joined by
`tool_call_id`. Usage: `usage` of a response (cached tokens inside `prompt_tokens`); a dump has none.
https://platform.openai.com/docs/api-reference/chat
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

TITLE = "OpenAI chat messages, one run or one request per line"
WHERE: tuple[str, ...] = ()
LACKS = "in dumps of runs: usage, times and how the run ended; in pairs: the last turn's results"
COSMETIC_ARGS: Mapping[str, frozenset[str]] = {}
FINAL = True


def sniff(head: Head) -> bool:
    """Lists of role messages, with calls as fields or without any call."""
    found = dialects(head)
    return found.isdisjoint({"anthropic", "responses"}) and ("chat" in found or found == {"plain"})


def read(blob: Blob, scan: Scan) -> Iterator[Event | Whole]:
    """The turns and ends of a chat log."""
    return read_messages(blob, scan, "openai-messages")
