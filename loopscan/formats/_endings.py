"""How a run ended, told from the words of frameworks and providers: an exception, a stop reason, a status."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Final

from loopscan.decode import canonical

if TYPE_CHECKING:
    from loopscan.model import JSON

NOTE: Final = 200
"""How many characters of the log's own words a note keeps."""

_TRACEBACK: Final = "Traceback (most recent call last)"
_WORDS: Final = {
    "no_progress": r"not making progress|loop detected",
    "context_full": (
        r"context[_ .]?(?:length|window)|maximum context|(?:prompt|input) is too long|too many (?:input )?tokens|"
        r"input token count"
    ),
    "token_cap": (
        r"(?:input|output|total)_tokens_limit|token (?:usage )?(?:limit|budget) (?:reached|exceeded)|token cap"
    ),
    "cost_cap": r"budget[ _]?(?:has been )?exceeded|(?:cost|budget) (?:limit|cap)|max_budget",
    "time_cap": (
        r"timeout of [\d.]+ seconds reached|time (?:limit|cap) (?:reached|exceeded)|exceeded the time limit|"
        r"max(?:imum)?[ _]execution[ _]time"
    ),
    "turn_cap": (
        r"GraphRecursionError|recursion[ _]limit|UsageLimitExceeded|LlmCallsLimitExceeded|max[ _]?turns|"
        r"MaxIterations?|(?:request|tool_calls)_limit|turn[ _](?:cap|limit)|"
        r"max(?:imum)?[_ ](?:number of )?"
        r"(?:turns|messages|rounds|steps|iterations|iter|llm calls|tool calls)\b|"
        r"(?:step|iteration)s?[ _](?:cap|limit) (?:reached|exceeded)"
    ),
    "aborted": (
        r"KeyboardInterrupt|CancelledError|external termination|AbortError|"
        r"(?:cancell?ed|interrupted|aborted) by (?:the )?user"
    ),
}
"""First match wins: an overflowing prompt is named before the cap words that its message may hold too."""

_PATTERNS: Final = tuple((state, re.compile(words, re.IGNORECASE)) for state, words in _WORDS.items())


def state_of(words: str) -> str:
    """Our state for the words of an error: a cap or stop by its name, anything else `error`."""
    return next((state for state, pattern in _PATTERNS if pattern.search(words)), "error")


def fault_text(error: JSON) -> str | None:
    """The words of a recorded error without its stack trace; None if there is no error."""
    if error is None or error == "" or error is False:
        return None
    if isinstance(error, dict) and isinstance(error.get("message"), str):
        error = error["message"]
    text = error if isinstance(error, str) else canonical(error).decode(errors="replace")
    before, cut, trace = text.partition(_TRACEBACK)
    if not cut:
        return text
    if before.strip():
        return before.strip()
    return next((line.strip() for line in reversed(trace.splitlines()) if line.strip()), text)
