"""Which dialect the messages of an input are written in: what the message formats are told apart by."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

from loopscan.blob import Head
from loopscan.formats._chat import REPLY_ROLES
from loopscan.formats._exchange import split
from loopscan.formats._fields import items, mapping, text_of_blocks
from loopscan.formats._rows import rows
from loopscan.formats._talk import of_messages
from loopscan.model import JSON

MESSAGES: Final = ("messages",)
ITEMS: Final = ("input", "items")
_ROLES: Final = ("system", "developer", "user", "assistant", "tool", "function")
OTHERS: Final = frozenset(
    "trajectory_format eval samples simulations termination_reason simulation_index traj history transcripts "
    "run_type observations spans span_attributes root_span_id events resourceSpans litellm_call_id".split()
)
"""Fields of records that hold messages but belong to another format."""
_OTHER_WORDS: Final = (
    "COMPLETE_TASK_AND_SUBMIT_FINAL_OUTPUT",
    "MINI_SWE_AGENT_FINAL_OUTPUT",
    "<environment_details>",
    "<task>\n",
)
"""Words in the prompts of harnesses (mini-swe-agent, Cline) whose bare message lists have readers of their own."""


def dialects(head: Head) -> set[str]:
    """The dialects met in the first values: `anthropic`, `responses`, `chat`, `text` (calls in text), `plain`."""
    return {d for value in head.values for d in _of_value(value)}


def _of_value(value: JSON) -> Iterator[str]:
    if isinstance(value, dict):
        if not OTHERS.isdisjoint(value):
            return
        parts = split(value)
        if parts is not None:
            yield _of_exchange(*parts)
            return
    for record, messages in rows(value, (*MESSAGES, *ITEMS)):
        if OTHERS.isdisjoint(record) and all(_is_ours(m) for m in messages[:8]):
            yield of_messages(messages)


def _is_ours(message: JSON) -> bool:
    if not isinstance(message, dict):
        return False
    role, kind = message.get("role"), message.get("type")
    if role is None:
        return isinstance(kind, str)
    if is_foreign(message):
        return False
    return role in _ROLES and ("content" in message or "tool_calls" in message or "function_call" in message)


def is_foreign(message: dict[str, JSON]) -> bool:
    """Whether a message belongs to a format with a reader of its own (Amp, Cline, mini-swe-agent)."""
    content, stamp = message.get("content"), message.get("ts")
    if "messageId" in message or "modelInfo" in message:
        return True
    if isinstance(content, list) and isinstance(stamp, int) and stamp > 10**12:
        return True
    text = text_of_blocks(content)
    return any(words in text for words in _OTHER_WORDS)


def _of_exchange(request: dict[str, JSON], response: JSON) -> str:
    body = mapping(response)
    if "choices" in body:
        return "chat"
    if isinstance(response, list) or isinstance(body.get("output"), list):
        return "responses"
    if body.get("type") == "message":
        return "anthropic"
    asked = items(request.get("messages", request.get("input")))
    return of_messages([*asked, *([body] if body.get("role") in REPLY_ROLES else [])])
