"""What a model answered and which results it was shown, from the shapes in which tracing tools store both.

One walk serves the messages of OpenAI (chat, Responses), Anthropic, Gemini, LangChain, the Vercel AI SDK and the
OpenTelemetry GenAI convention: tracing backends keep whatever the instrumented client returned.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Final

from loopscan.decode import BadJSON, canonical, embedded, loads, word
from loopscan.formats._fields import identity, items, mapping, result_of_blocks
from loopscan.model import JSON, Call

if TYPE_CHECKING:
    from collections.abc import Iterator

_DEEP: Final = 14
_CALL_TYPES: Final = frozenset(
    ["tool_use", "tool_call", "tool-call", "function_call", "functionCall", "custom_tool_call", "mcp_call"]
)
_NOT_THE_MODEL: Final = frozenset(
    [
        "user",
        "human",
        "system",
        "developer",
        "tool",
        "function_call_output",
        "tool_result",
        "tool_call_response",
        "tool-result",
    ]
)
_THINKING: Final = frozenset(["thinking", "reasoning", "redacted_thinking"])
_INSIDE: Final = (
    "generations",
    "choices",
    "candidates",
    "output",
    "message",
    "kwargs",
    "data",
    "content",
    "parts",
)
_CALL_LISTS: Final = ("tool_calls", "toolCalls")


@dataclass(slots=True)
class Reply:
    """A model's answer. `text` is None where no content was recorded; `written` counts its characters."""

    text: str | None = None
    calls: list[Call] = field(default_factory=list)
    written: int = 0

    def say(self, text: str) -> None:
        """Add words of the model."""
        self.written += len(text)
        self.text = f"{self.text}\n{text}" if self.text and text else (self.text or text)

    def ask(self, call: Call) -> None:
        """Add a call the model asked for; the same id twice is one call (some clients store it twice)."""
        self.text = self.text or ""
        if call.id is not None and any(c.id == call.id for c in self.calls):
            return
        self.calls.append(call)
        args = call.args if isinstance(call.args, str) else canonical(call.args)
        self.written += len(call.name) + len(args)


def decoded(value: JSON) -> JSON:
    """A value that may have been stored as JSON text, even twice; other text stays as it is."""
    for _ in range(2):
        if not isinstance(value, str):
            break
        if value.startswith('"'):
            try:
                value = loads(value.encode("utf-8", "surrogatepass"))
            except BadJSON:
                break
        else:
            inner = embedded(value)
            return value if inner is None else inner
    return value


def reply_of(value: JSON) -> Reply:
    """The answer in the recorded output of a model call; a structure of no known shape counts as text."""
    found = Reply()
    value = decoded(value)
    if value is None or value in ({}, []):
        return found
    _walk(value, found, 0)
    if found.text is None:
        found.say(canonical(value).decode(errors="replace"))
    return found


def _walk(value: JSON, found: Reply, depth: int) -> None:
    if isinstance(value, str):
        found.say(value)
    elif isinstance(value, list) and depth < _DEEP:
        for item in value:
            _walk(item, found, depth + 1)
    elif isinstance(value, dict) and depth < _DEEP:
        _walk_object(value, found, depth)


def _walk_object(value: dict[str, JSON], found: Reply, depth: int) -> None:
    kind = value.get("type")
    if _one_of(value.get("role"), _NOT_THE_MODEL) or _one_of(kind, _NOT_THE_MODEL):
        return
    if _one_of(kind, _THINKING):
        found.written += len(word(value.get("thinking") or value.get("text") or value.get("content") or ""))
        return
    if (call := call_of(value)) is not None:
        found.ask(call)
        return
    if "message" in value and value.get("index") not in (None, 0):
        return  # a second choice, which no agent acts on
    if isinstance(value.get("text"), str) and "message" not in value:
        found.say(value["text"])
    for key in _INSIDE:
        inner = value.get(key)
        if inner is not None:
            _walk(inner, found, depth + 1)
        elif key == "content" and key in value:
            found.text = found.text or ""
    _walk_calls(value, found)


def _walk_calls(value: dict[str, JSON], found: Reply) -> None:
    asked = [c for key in _CALL_LISTS for c in items(decoded(value.get(key)))]
    for item in asked or items(mapping(value.get("additional_kwargs")).get("tool_calls")):
        call = call_of(item, listed=True)
        if call is not None:
            found.ask(call)


def call_of(value: JSON, listed: bool = False) -> Call | None:
    """The call that an object is, else None. `listed`: it stands in a list of calls, so a name is enough."""
    value = decoded(value)
    if not isinstance(value, dict):
        return None
    function = value.get("function")
    if isinstance(function, dict) and "parameters" not in function and function.get("name"):
        return Call(word(function["name"]), function.get("arguments"), id=identity(value.get("id")))
    for key in ("functionCall", "function_call"):
        inner = value.get(key)
        if isinstance(inner, dict) and inner.get("name"):
            return _named_call(inner)
    if listed or _one_of(value.get("type"), _CALL_TYPES) or ("toolName" in value and "toolCallId" in value):
        return _named_call(value)
    return None


def _named_call(value: dict[str, JSON]) -> Call | None:
    name = value.get("name") or value.get("toolName")
    if not isinstance(name, str):
        return None
    args = next((value[k] for k in ("arguments", "args", "input") if k in value), None)
    ids = (identity(value.get(k)) for k in ("call_id", "toolCallId", "tool_call_id", "id"))
    return Call(name, args, id=next((i for i in ids if i), None))


def results_in(messages: JSON) -> Iterator[tuple[str, JSON, bool]]:
    """Call id, result and error flag of every tool result in the recorded input of a model call."""
    yield from _results(decoded(messages), 0)


def _results(value: JSON, depth: int) -> Iterator[tuple[str, JSON, bool]]:
    if depth > _DEEP:
        return
    if isinstance(value, list):
        for item in value:
            yield from _results(item, depth + 1)
    elif isinstance(value, dict):
        call_id = next((i for k in _RESULT_IDS if (i := identity(value.get(k)))), None)
        if call_id is None and value.get("type") == "tool_call_response":
            call_id = identity(value.get("id"))
        content = next((value[k] for k in ("output", "response", "result", "content") if k in value), None)
        if call_id is not None and content is not None and not _one_of(value.get("type"), _CALL_TYPES):
            yield (
                call_id,
                result_of_blocks(content),
                value.get("is_error") is True or value.get("status") == "error",
            )
            return
        for key in ("messages", "contents", "input", "content", "parts", "kwargs", "data"):
            yield from _results(value.get(key), depth + 1)


_RESULT_IDS: Final = ("tool_call_id", "tool_use_id", "call_id", "toolCallId")


def _one_of(value: JSON, names: frozenset[str]) -> bool:
    return isinstance(value, str) and value in names
