"""A run of plain messages, OpenAI's or Anthropic's, in one line: decoded as such, and made turns of at once.

What is unusual in any way is left to `loopscan.formats._rows`, which reads messages of every make and must come to the
same turns.
"""

from __future__ import annotations

from typing import Any, Final

import msgspec
from msgspec import UNSET, UnsetType

from loopscan.decode import canonical
from loopscan.formats._chat import REPLY_ROLES, RESULT_ROLES, THOUGHTS, USES
from loopscan.formats._talk import TEXT_CALLS, TYPED
from loopscan.model import JSON, Call, Turn


class _Function(msgspec.Struct, gc=False, forbid_unknown_fields=True):
    name: str
    arguments: Any


class _Asked(msgspec.Struct, gc=False, forbid_unknown_fields=True):
    function: _Function
    id: str
    type: Any = None
    index: Any = None


class _Part(msgspec.Struct, gc=False, forbid_unknown_fields=True):
    text: str
    type: Any = None


class _Block(msgspec.Struct, gc=False, forbid_unknown_fields=True):
    type: str | None = None
    text: str | None = None
    id: str | None = None
    name: str | None = None
    input: Any = None
    tool_use_id: str | UnsetType | None = UNSET
    content: str | list[_Part] | None = None
    is_error: Any = None
    thinking: Any = None
    signature: Any = None
    cache_control: Any = None
    citations: Any = None
    source: Any = None


class Message(msgspec.Struct, gc=False, forbid_unknown_fields=True):
    """A message with no field but these."""

    role: str
    content: str | list[_Block] | UnsetType | None = UNSET
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
    system: Any = UNSET
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
OWN: Final = frozenset(_OWN)

decode: Final = msgspec.json.Decoder(Line | list[Message]).decode
"""Decodes a row, or the bare list of its messages, that holds no field but the usual ones; raises on any other."""


def turns_of(messages: list[Message], run: str, line: int, model: str | None, time: float | None) -> list[Turn] | None:
    """The turns of a run of that model and time; None where it takes more to tell them.

    That is so of calls in the text, of results and calls without an id, of ids that stand twice in one turn, and of
    results in a reply. Longer than other functions, as it runs for every message.
    """
    turns: list[Turn] = []
    waiting: dict[str, Call] = {}
    typed = False
    for message in messages:
        role, content = message.role, message.content
        if role == "assistant" or role in REPLY_ROLES:
            asked = message.tool_calls
            calls: list[Call] = []
            if type(content) is list:
                text, written = _blocks(content, calls)
                typed = typed or bool(TYPED.intersection([b.type for b in content]))
            else:
                text, written = content or "", 0  # type: ignore[assignment]
            written += len(text)
            if asked:
                typed = True
                for one in asked:
                    function = one.function
                    calls.append(call := Call(function.name, function.arguments, id=one.id))
            for call in calls:
                args = call.args
                waiting[call.id or ""] = call
                written += len(call.name) + len(args if type(args) is str else canonical(args))
            if written < 0 or "" in waiting or (len(calls) > 1 and len({c.id for c in calls}) < len(calls)):
                return None
            turns.append(Turn(run, calls, text, model=model, time=time, line=line, written=written))
        elif role in RESULT_ROLES:
            typed = True
            if not message.tool_call_id or type(content) is list:
                return None
            answered = waiting.pop(message.tool_call_id, None)
            if answered is not None and content is not UNSET:
                answered.result = content
        elif type(content) is list:
            typed = typed or bool(TYPED.intersection([b.type for b in content]))
            for block in content:
                if block.tool_use_id is not UNSET and not _answer(block, waiting):
                    return None
    if not typed and any(tag in turn.text for turn in turns if turn.text for tag in TEXT_CALLS):
        return None
    return turns


def played_of(messages: list[Message]) -> tuple[list[Call], list[str], list[int]] | None:
    """Calls, texts and written characters of the turns of a run in its simplest shape; None for any other.

    That is calls in fields, one a turn, each answered by the next message; words at its end, if at all; and before it
    nothing but what asks for it. `turns_of` makes the same of it.
    """
    count = len(messages)
    start = next((i for i, m in enumerate(messages) if m.role == "assistant"), count)
    if any(m.role in SPEAKING or type(m.content) is list for m in messages[:start]):
        return None
    calls, texts, written = list[Call](), list[str](), list[int]()
    body = iter(messages[start : count - (count - start) % 2])
    for reply, answer in zip(body, body, strict=True):
        asked, said, result = reply.tool_calls, reply.content, answer.content
        if (
            asked is None
            or len(asked) != 1
            or reply.role != "assistant"
            or answer.role != "tool"
            or type(result) is not str
            or type(said) is list
        ):
            return None
        one, text = asked[0], said if type(said) is str else ""
        function, call_id = one.function, one.id
        name, args = function.name, function.arguments
        if type(args) is not str or not call_id or call_id != answer.tool_call_id:
            return None
        calls.append(Call(name, args, result, False, call_id))
        texts.append(text)
        written.append(len(name) + len(args) + len(text))
    if not calls:
        return None
    if (count - start) % 2:
        last, said = messages[-1], messages[-1].content
        if last.role != "assistant" or last.tool_calls or type(said) is list:
            return None
        texts.append(said if type(said) is str else "")
        written.append(len(texts[-1]))
    return calls, texts, written


def played_again(data: bytes) -> tuple[list[Call], list[str], list[int]]:
    """The same of a line that is known to hold such a run."""
    line = decode(data)
    played = played_of(line if isinstance(line, list) else line.messages)
    assert played is not None
    return played


def pieces_of(turns: list[Turn]) -> tuple[list[Call], list[str], list[int]] | None:
    """The same of turns that were made; None where one of them has another number of calls."""
    acting = turns if turns and turns[-1].calls else turns[:-1]
    calls = [turn.calls[0] for turn in acting if len(turn.calls) == 1]
    if not calls or len(calls) < len(acting):
        return None
    return calls, [turn.text or "" for turn in turns], [turn.written or 0 for turn in turns]


SPEAKING: Final = frozenset((*REPLY_ROLES, *RESULT_ROLES))
_UNTOLD: Final = -1 << 60
"""More than is ever written: the blocks of a reply take more to tell."""


def _blocks(content: list[_Block], calls: list[Call]) -> tuple[str, int]:
    """The words of a reply's blocks, and the characters of its thoughts; its calls go to `calls`."""
    words, written = list[str](), 0
    for block in content:
        kind = block.type
        if kind in USES:
            calls.append(Call(block.name or "", block.input, id=block.id))
        elif kind in THOUGHTS:
            thought = block.thinking or block.text
            written += len(thought) if isinstance(thought, str) else 0
        elif block.tool_use_id is not UNSET:
            return "", _UNTOLD
        elif said := block.text if block.text is not None else block.content if type(block.content) is str else "":
            words.append(said)
    return "\n".join(words), written


def _answer(block: _Block, waiting: dict[str, Call]) -> bool:
    """Join the result that a block is to its call; False where it does not say whose it is."""
    if not block.tool_use_id:
        return False
    call = waiting.pop(block.tool_use_id, None)
    if call is not None:
        content = block.content
        call.result = "\n".join([p.text for p in content]) if type(content) is list and content else content
        call.error = block.is_error is True
    return True
