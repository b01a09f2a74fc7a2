"""A run of plain OpenAI chat messages in one line: decoded as such, and made turns of at once.

What is unusual in any way is left to `loopscan.formats._rows`, which reads messages of every make and must come to the
same turns.
"""

from __future__ import annotations

from typing import Any, Final

import msgspec
from msgspec import UNSET, UnsetType

from loopscan.decode import canonical
from loopscan.formats._chat import REPLY_ROLES, RESULT_ROLES
from loopscan.formats._talk import TEXT_CALLS
from loopscan.model import JSON, Call, Turn


class _Function(msgspec.Struct, gc=False, forbid_unknown_fields=True):
    name: str
    arguments: Any


class _Asked(msgspec.Struct, gc=False, forbid_unknown_fields=True):
    function: _Function
    id: str
    type: Any = None
    index: Any = None


class Message(msgspec.Struct, gc=False, forbid_unknown_fields=True):
    """A message with no field but these."""

    role: str
    content: str | UnsetType | None = UNSET
    tool_calls: list[_Asked] | None = None
    tool_call_id: str | None = None
    refusal: None = None
    function_call: None = None
    audio: None = None
    annotations: Any = None
    name: Any = None


class Line(msgspec.Struct, gc=False, forbid_unknown_fields=True):
    """A row: its messages, and what it may say of the whole run."""

    messages: list[Message]
    id: Any = UNSET
    run_id: Any = UNSET
    session_id: Any = UNSET
    model: Any = UNSET
    created: Any = UNSET
    created_at: Any = UNSET
    timestamp: Any = UNSET
    metadata: Any = UNSET
    usage: Any = UNSET
    tools: Any = UNSET
    stop_reason: Any = UNSET
    finish_reason: Any = UNSET

    def record(self) -> dict[str, JSON]:
        """What is given beside the messages."""
        return {name: value for name in _OWN if (value := getattr(self, name)) is not UNSET}


_OWN: Final = tuple(name for name in Line.__struct_fields__ if name != "messages")

decode: Final = msgspec.json.Decoder(Line | list[Message]).decode
"""Decodes a row, or the bare list of its messages, that holds no field but the usual ones; raises on any other."""


def turns_of(messages: list[Message], run: str, line: int, model: str | None, time: float | None) -> list[Turn] | None:
    """The turns of a run of that model and time; None where it takes more to tell them.

    That is so of calls in the text, of results and calls without an id, and of ids that stand twice in one turn.
    Longer than other functions, as it runs for every message.
    """
    turns: list[Turn] = []
    waiting: dict[str, Call] = {}
    is_chat = False
    for message in messages:
        role = message.role
        if role == "assistant" or role in REPLY_ROLES:
            text, asked = message.content or "", message.tool_calls
            calls: list[Call] = []
            written = len(text)
            if asked:
                is_chat = True
                for one in asked:
                    function = one.function
                    name, args = function.name, function.arguments
                    call = Call(name, args, id=one.id)
                    calls.append(call)
                    waiting[one.id] = call
                    written += len(name) + len(args if type(args) is str else canonical(args))
                if "" in waiting or (len(calls) > 1 and len({c.id for c in calls}) < len(calls)):
                    return None
            turns.append(Turn(run, calls, text, model=model, time=time, line=line, written=written))
        elif role in RESULT_ROLES:
            is_chat = True
            if not message.tool_call_id:
                return None
            answered = waiting.pop(message.tool_call_id, None)
            if answered is not None and message.content is not UNSET:
                answered.result = message.content
    if not is_chat and any(tag in turn.text for turn in turns if turn.text for tag in TEXT_CALLS):
        return None
    return turns
