"""What events of a Copilot CLI session say by themselves."""

from __future__ import annotations

import re
from typing import Final

from loopscan.formats._fields import count, mapping
from loopscan.model import JSON, MISSING, Usage

_NOISE: Final = (
    "auto_mode_switch.", "canvas.", "capabilities.", "command", "elicitation.", "exit_plan_mode.", "extension",
    "external_tool.", "factory.", "hook.", "mcp", "model.", "pending_messages.", "permission.", "sampling.",
    "session.", "session_limits", "skill.", "subagent.", "system.", "tools", "user_input.",
)  # fmt: skip
_QUIET: Final = frozenset(
    "assistant.turn_start assistant.turn_end assistant.intent assistant.idle assistant.reasoning "
    "assistant.reasoning_delta assistant.message_start assistant.message_delta assistant.streaming_delta "
    "assistant.tool_call_delta assistant.server_tool_progress assistant.fusion_phase_started "
    "assistant.fusion_phase_completed assistant.fusion_phase_failed tool.user_requested tool.execution_start "
    "tool.execution_progress tool.execution_partial_result".split()
)
_EXIT: Final = re.compile(r"with exit code (-?\d{1,10})>\s*$")


def is_noise(kind: str) -> bool:
    """Whether events of this type are known to say nothing of turns."""
    return kind in _QUIET or kind.startswith(_NOISE)


def outcome_of(data: dict[str, JSON]) -> tuple[JSON, bool]:
    """What a tool returned, MISSING where that was not recorded; whether it failed."""
    result = data.get("result")
    names = ("content", "text_result_for_llm", "textResultForLlm")
    value = next((result[n] for n in names if n in result), MISSING) if isinstance(result, dict) else result
    error = data.get("error")
    if value in (MISSING, None) and error is not None:
        value = mapping(error).get("message", error)
    if value is None:
        value = MISSING
    code = _EXIT.search(value[-120:]) if isinstance(value, str) else None
    bad = data.get("success") is False or error is not None or (code is not None and int(code.group(1)) != 0)
    return value, bad


def usage_of(record: dict[str, JSON]) -> Usage:
    """The tokens of a send."""
    return Usage(
        count(record.get("inputTokens")),
        count(record.get("outputTokens")),
        count(record.get("cacheReadTokens")),
        count(record.get("cacheWriteTokens")),
    )
