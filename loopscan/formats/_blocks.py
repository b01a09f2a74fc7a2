"""Message content as a list of typed blocks (Anthropic's shape and pi's): text, thinking, tool calls, results."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

from loopscan.decode import canonical, word
from loopscan.formats._fields import identity, items, mapping
from loopscan.model import JSON, Call, Turn

_CALLS: Final = ("tool_use", "toolCall", "server_tool_use")


def fill(turn: Turn, content: JSON) -> None:
    """Add the text, calls and length of what the model wrote; without text and calls the text is unknown."""
    texts: list[str] = []
    written = 0
    for block in [{"type": "text", "text": content}] if isinstance(content, str) else map(mapping, items(content)):
        kind = block.get("type")
        if kind in _CALLS:
            call = Call(
                word(block.get("name")), block.get("input", block.get("arguments")), id=identity(block.get("id"))
            )
            turn.calls.append(call)
            written += len(call.name) + len(canonical(call.args))
        elif kind == "text" and isinstance(text := block.get("text"), str) and text.strip():
            texts.append(text)
            written += len(text)
        elif kind == "thinking" and isinstance(thought := block.get("thinking"), str):
            written += len(thought)
    turn.text = "\n".join(texts) or ("" if turn.calls else None)
    turn.written = written


def results(content: JSON) -> Iterator[dict[str, JSON]]:
    """The tool_result blocks of a message."""
    return (b for b in map(mapping, items(content)) if b.get("type") == "tool_result")


def says(content: JSON, injected: tuple[str, ...]) -> bool:
    """Whether a user message holds words of the user: a text that begins with none of the injected marks."""
    if isinstance(content, str):
        content = [content]
    for block in items(content):
        text = block if isinstance(block, str) else mapping(block).get("text")
        if isinstance(text, str) and text.strip() and not text.lstrip().startswith(injected):
            return True
        if mapping(block).get("type") in ("image", "document"):
            return True
    return False
