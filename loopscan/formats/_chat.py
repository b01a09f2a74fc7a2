"""What a chat message holds: the calls and words of a reply, the results that other messages bring.

Serves OpenAI chat messages (`tool_calls`, `function_call`, role `tool`) and Anthropic messages (content blocks
`tool_use`, `tool_result`) alike, and the variants that harnesses make of them.
https://platform.openai.com/docs/api-reference/chat, https://docs.anthropic.com/en/api/messages
"""

from __future__ import annotations

from typing import Final

from loopscan.decode import canonical, word
from loopscan.formats._fields import identity, items, mapping, result_of_blocks, text_or_none
from loopscan.model import JSON, MISSING, Call, Turn

REPLY_ROLES: Final = ("assistant", "model", "ai", "gpt", "bot", "agent")
RESULT_ROLES: Final = ("tool", "function")
"""Tuples, as a damaged role may be a value that no set can look up."""
USES: Final = ("tool_use", "server_tool_use", "mcp_tool_use")
THOUGHTS: Final = ("thinking", "reasoning")
"""Types of blocks."""
_THOUGHTS: Final = ("reasoning_content", "reasoning", "thinking")

Result = tuple[str | None, JSON, bool]
"""A tool result: id of its call (None = not said), the result, whether it is an error."""


def add_reply(turn: Turn, message: dict[str, JSON]) -> None:
    """Put the calls and the words of an assistant message into its turn."""
    content = message.get("content")
    if type(content) is str:
        add_text(turn, content)
    elif isinstance(content, list):
        add_text(turn, "\n".join([words for block in content if (words := _block(turn, block))]))
    elif content is None and isinstance(message.get("refusal"), str):
        add_text(turn, message["refusal"])
    calls = message.get("tool_calls")
    if calls:
        for value in items(calls):
            add_call(turn, chat_call(value))
    if is_plain(message):
        return
    if isinstance(message.get("function_call"), dict):
        add_call(turn, chat_call(message["function_call"]))
    for name in _THOUGHTS:
        if isinstance(thought := message.get(name), str):
            turn.written = (turn.written or 0) + len(thought)
            break


def is_plain(message: dict[str, JSON]) -> bool:
    """Whether a message holds its role, content and calls only, so that nothing else need be looked for."""
    return len(message) == 1 + ("content" in message) + ("tool_calls" in message)


def add_text(turn: Turn, text: str) -> None:
    """Add words of the model to a turn."""
    if text:
        turn.text = f"{turn.text}\n{text}" if turn.text else text
        turn.written = (turn.written or 0) + len(text)


def add_call(turn: Turn, call: Call) -> None:
    """Add a call to a turn."""
    turn.calls.append(call)
    args = call.args
    turn.written = (turn.written or 0) + len(call.name) + len(args if type(args) is str else canonical(args))


def chat_call(value: JSON) -> Call:
    """A call as OpenAI writes it (`function: {name, arguments}`), or flat (`function: name` or `name`)."""
    call = mapping(value)
    inner = call.get("function")
    if type(inner) is dict and type(name := inner.get("name")) is str and "arguments" in inner:
        return Call(name, inner["arguments"], id=identity(call.get("id")))
    inner = inner or call.get("custom")
    body = inner if isinstance(inner, dict) else call
    name = inner if isinstance(inner, str) else body.get("name")
    args = next((body[k] for k in ("arguments", "args", "input", "parameters") if k in body), None)
    return Call(text_or_none(name) or "", args, id=identity(call.get("id")))


def _block(turn: Turn, value: JSON) -> str:
    """Put the call of a block into the turn; returns the words of a text block."""
    if isinstance(value, str):
        return value
    block = mapping(value)
    kind = block.get("type")
    if kind in USES:
        name = text_or_none(block.get("name")) or ""
        add_call(turn, Call(name, block.get("input"), id=identity(block.get("id"))))
    elif kind in THOUGHTS:
        thought = block.get("thinking") or block.get("reasoning") or block.get("text")
        turn.written = (turn.written or 0) + (len(thought) if isinstance(thought, str) else 0)
    elif "tool_use_id" in block:  # the result of a server tool stands in the reply itself
        call_id = identity(block["tool_use_id"])
        call = next((c for c in turn.calls if c.id == call_id), None)
        if call is not None:
            call.result, call.error = result_of_blocks(block.get("content")), _is_error(block)
    else:
        return next((word(block[k]) for k in ("text", "refusal", "content") if isinstance(block.get(k), str)), "")
    return ""


def _is_error(block: dict[str, JSON]) -> bool:
    content = block.get("content")
    kind = content.get("type") if isinstance(content, dict) else None
    return block.get("is_error") is True or (isinstance(kind, str) and kind.endswith("_error"))


def results(message: dict[str, JSON]) -> list[Result]:
    """The tool results that a message which is no reply brings."""
    content = message.get("content")
    if message.get("role") in RESULT_ROLES:
        if type(content) is str and len(message) == 3 and "tool_call_id" in message:
            return [(identity(message.get("tool_call_id")), content, False)]
        error = message.get("error")
        failed = bool(error) or message.get("is_error") is True or message.get("status") == "error"
        result = result_of_blocks(content) if "content" in message else MISSING
        if error and (result is MISSING or not result):
            result = error
        return [(identity(message.get("tool_call_id")), result, failed)]
    if not isinstance(content, list):
        return []
    return [
        (identity(b.get("tool_use_id")), result_of_blocks(b.get("content")), b.get("is_error") is True)
        for b in content
        if isinstance(b, dict) and "tool_use_id" in b
    ]
