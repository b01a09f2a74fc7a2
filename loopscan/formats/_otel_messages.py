"""Messages in span attributes, whatever their shape: what a model wrote, and the results it was sent last.

Shapes: `parts` (OpenTelemetry GenAI), `content` with or without `tool_calls` (OpenAI), content blocks (Anthropic,
Bedrock, Vercel), Responses items, Gemini parts, LangChain generations, and dotted leaf attributes (OpenInference,
OpenLLMetry). All are read by the same few functions, because producers mix them.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from typing import Final

from loopscan.decode import canonical, embedded
from loopscan.formats._fields import identity, items, mapping
from loopscan.model import JSON, MISSING, Call

_CALL_IDS: Final = ("call_id", "tool_call_id", "toolCallId", "toolUseId", "tool_use_id", "id")
_DEPTH: Final = 24
"""Levels of names that mean something; below, a value stays as it is."""
_NAMES: Final = ("name", "toolName")
_ARGS: Final = ("arguments", "args", "input")
_RESULTS: Final = ("response", "result", "output", "content")
_CALLS: Final = frozenset({"tool_call", "tool_use", "tool-call", "function_call", "functionCall", "toolUse"})
_ANSWERS: Final = frozenset(
    {
        "tool_call_response",
        "tool_result",
        "tool-result",
        "toolResult",
        "function_call_output",
        "functionResponse",
        "function_response",
    }
)
_THOUGHTS: Final = frozenset({"reasoning", "thinking", "redacted_thinking"})
MODEL_ROLES: Final = ("assistant", "model", "ai")


@dataclass(slots=True)
class Said:
    """What a model wrote. `text` None: not captured. `written`: characters of words, thoughts and arguments."""

    calls: list[Call] = field(default_factory=list)
    text: str | None = ""
    written: int = 0


@dataclass(slots=True)
class Answer:
    """A tool result as a later model call was sent it; `id` is that of its call, where recorded."""

    id: str | None
    result: JSON
    error: bool = False


def decoded(value: JSON) -> JSON:
    """The object or array that an attribute holds as JSON text; any other value as it is."""
    inner = embedded(value) if isinstance(value, str) else None
    return value if inner is None else inner


def unflattened(leaves: Iterable[tuple[str, JSON]]) -> JSON:
    """Leaves such as `0.message.role` as lists and objects; an index is a number between dots."""
    tree: dict[str, JSON] = {}
    for path, value in leaves:
        node = tree
        *way, last = path.split(".")
        for part in way[:_DEPTH]:
            inner = node.get(part)
            if not isinstance(inner, dict):
                inner = node[part] = {}
            node = inner
        node[last] = value
    return _listed(tree)


def _listed(node: JSON, depth: int = 0) -> JSON:
    if not isinstance(node, dict) or depth > _DEPTH:
        return node
    if node and all(k.isdecimal() for k in node):
        return [_listed(node[k], depth + 1) for k in sorted(node, key=lambda k: (len(k), k))]
    return {k: _listed(v, depth + 1) for k, v in node.items()}


def messages_of(value: JSON) -> list[JSON]:
    """The messages in an attribute or a whole response body, as they are."""
    value = decoded(value)
    if isinstance(value, str):
        return [{"content": value}]
    if isinstance(value, list):
        ends = [mapping(b) for b in (*value[:1], *value[-1:])]
        blocks = any("text" in b or _kind(b) in _CALLS or _kind(b) in _ANSWERS for b in ends)
        return [{"content": value}] if blocks and not any("role" in b for b in ends) else value
    body = mapping(value)
    for name in ("choices", "messages", "output", "candidates"):
        if isinstance(body.get(name), list):
            return items(body[name])
    for generation in items(body.get("generations")):
        return generation if isinstance(generation, list) else [generation]
    return [body] if body else []


def _peeled(value: JSON) -> dict[str, JSON]:
    """A message without the object it is the only business of."""
    message = _nested(mapping(value))
    for name in ("message", "data", "kwargs"):
        inner = message.get(name)
        if isinstance(inner, dict):
            message = inner
    content = message.get("content")
    return content if isinstance(content, dict) and "parts" in content else message


def _nested(node: dict[str, JSON]) -> dict[str, JSON]:
    """An object with dotted names as nested objects (the cells of a Phoenix dataframe)."""
    return mapping(unflattened(node.items())) if any("." in k for k in node) else node


def _kind(block: dict[str, JSON]) -> str:
    kind = block.get("type")
    if isinstance(kind, str) and kind not in ("function", "constructor"):
        return kind
    return next((k for k in block if k in _CALLS or k in _ANSWERS), "")


def _blocks(message: dict[str, JSON]) -> Iterator[dict[str, JSON]]:
    """The blocks of a message; a plain text is one, and so is a Responses item itself."""
    if _kind(message) in _CALLS or _kind(message) in _ANSWERS:
        yield message
        return
    for name in ("parts", "content", "contents"):
        content = message.get(name)
        if isinstance(content, str):
            yield {"type": "text", "text": content}
        for block in items(content):
            if isinstance(block, str):
                yield {"type": "text", "text": block}
            elif isinstance(block, dict):
                block = _nested(block)
                yield mapping(block.get("message_content")) or block


def _first(block: dict[str, JSON], names: tuple[str, ...]) -> JSON:
    return next((block[n] for n in names if block.get(n) is not None), MISSING)


def _inner(block: dict[str, JSON]) -> dict[str, JSON]:
    """The object that holds a block's fields: the block, or the one under its kind (Bedrock, Gemini)."""
    inner = block.get(_kind(block))
    return inner if isinstance(inner, dict) else block


def _call(block: dict[str, JSON]) -> Call:
    block = _nested(block)
    block = mapping(block.get("tool_call")) or block
    function = mapping(block.get("function")) or block
    args = _first(function, _ARGS)
    call_id = _first(block, _CALL_IDS)
    name = _first(function, _NAMES)
    return Call(
        name if isinstance(name, str) else "?",
        None if args is MISSING else args,
        id=None if call_id is MISSING else identity(call_id),
    )


def said(messages: list[JSON]) -> Said:
    """What the given messages of a model hold."""
    out, texts, silent = Said(), [], not messages
    for message in map(_peeled, messages):
        for block in _blocks(message):
            kind = _kind(block)
            words = block.get("text", block.get("content", block.get("reasoning", block.get("thinking"))))
            if kind in _CALLS:
                out.calls.append(_call(_inner(block)))
            elif kind in _THOUGHTS or block.get("thought") is True:
                out.written += len(words) if isinstance(words, str) else 0
            elif isinstance(words, str):
                texts.append(words)
            elif kind == "text":
                silent = True
        for call in items(decoded(message.get("tool_calls"))):
            if isinstance(call, dict):
                out.calls.append(_call(call))
    out.text = None if silent and not texts else "\n".join(t for t in texts if t)
    out.written += len(out.text or "") + sum(len(c.name) + _length(c.args) for c in out.calls)
    return out


def _length(args: JSON) -> int:
    return len(args) if isinstance(args, str) else len(canonical(args))


def answers(messages: list[JSON]) -> list[Answer]:
    """The tool results after the last message of the model: they answer the call before this one."""
    found: list[Answer] = []
    for message in map(_peeled, reversed(messages)):
        if message.get("role", message.get("type")) in MODEL_ROLES or _kind(message) in _CALLS:
            break
        found += reversed([*_answers(message)])
    return found[::-1]


def _answers(message: dict[str, JSON]) -> Iterator[Answer]:
    blocks = [_inner(b) for b in _blocks(message) if _kind(b) in _ANSWERS]
    if not blocks and (message.get("role") in ("tool", "function") or message.get("type") == "tool"):
        blocks = [message]
    for block in blocks:
        result, call_id = _first(block, _RESULTS), _first(block, _CALL_IDS)
        if result is not MISSING:
            failed = block.get("is_error") is True or block.get("status") == "error"
            yield Answer(None if call_id is MISSING else identity(call_id), result, failed)
