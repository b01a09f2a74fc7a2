"""From the words of a failed agent or root span to the state its run ended in."""

from __future__ import annotations

import re
from typing import Final

_STATES: Final = {
    "no_progress": ("not making progress", "loop detected"),
    "context_full": (
        "context.?(length|window)",
        "maximum context",
        "(prompt|input) is too long",
        "too many (input )?tokens(?!, please wait)",
    ),
    "token_cap": ("(input|output|total)_tokens_limit", "token (limit|budget) (reached|exceeded)", "token cap"),
    "cost_cap": ("BudgetExceeded", "budget (has been )?exceeded", "cost (limit|cap)", "max_budget"),
    "time_cap": ("max_execution_time", "time (limit|cap) (reached|exceeded)", "exceeded the time limit"),
    "turn_cap": (
        "UsageLimitExceeded",
        "LlmCallsLimitExceeded",
        "recursion.?limit|GraphRecursionError",
        r"max(imum)?[ _]?(number[ _]of[ _])?(turns?|iter(ation)?s?|steps|rounds|(llm|tool)[ _]calls)",
        "(turn|step|iteration|request|call)s?[ _](cap|limit) (reached|exceeded)",
        "(request|tool_calls)_limit",
    ),
    "aborted": ("CancelledError", "KeyboardInterrupt", "(cancell?ed|interrupted|aborted) by (the )?user", "AbortError"),
}
"""State -> patterns of the errors that frameworks raise for it; tried in this order."""
_PATTERNS: Final = [(state, re.compile("|".join(words), re.IGNORECASE)) for state, words in _STATES.items()]


def state_of(error: str) -> str:
    """The state that an error stands for: a known cap or stop by its name, anything else `error`."""
    return next((state for state, pattern in _PATTERNS if pattern.search(error)), "error")
