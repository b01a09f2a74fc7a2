"""OpenAI Responses items: dumps with one run per line, or request/response pairs of a proxy or client wrapper.

A run is `{"id", "input": [items]}`, the bare list of items, or the pairs that follow one another by their history or by
`previous_response_id`. One turn = the consecutive items of one reply (reasoning, messages, calls), or one response.
Outputs are items of their own, joined by `call_id`; tools that the provider runs carry theirs, if any. Usage: `usage`
of a response (cached tokens inside `input_tokens`); a dump has none.
https://platform.openai.com/docs/api-reference/responses
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

TITLE = "OpenAI Responses items, one run or one request per line"
WHERE: tuple[str, ...] = ()
LACKS = "in dumps of runs: usage, times, model and how the run ended; in pairs: the last turn's results"
COSMETIC_ARGS: Mapping[str, frozenset[str]] = {}
FINAL = True


def sniff(head: Head) -> bool:
    """Typed items, or responses with a list of output items."""
    found = dialects(head)
    return "responses" in found and "anthropic" not in found


def read(blob: Blob, scan: Scan) -> Iterator[Event | Whole]:
    """The turns and ends of an item log."""
    return read_messages(blob, scan, "openai-responses")
