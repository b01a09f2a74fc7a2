"""Chats of any make: whose fields are named otherwise, and whose calls may stand in the text.

A reply's calls are its structured ones, else those in its text. Results of calls in text have no id: the next
message that is no reply is the result, of all of them where it does not tell them apart.
"""

from __future__ import annotations

from typing import Final

from loopscan.decode import embedded
from loopscan.formats._chat import REPLY_ROLES, RESULT_ROLES, add_call, add_reply, add_text, chat_call, results
from loopscan.formats._dialogue import Dialogue
from loopscan.formats._fields import identity, items, mapping, text_of_blocks, text_or_none
from loopscan.formats._text_calls import calls_in, command_in, responses_in
from loopscan.model import JSON, Call, Turn

TEXT_CALLS: Final = ("<function=", "<tool_call>")
_ANTHROPIC: Final = frozenset(
    {"tool_use", "tool_result", "server_tool_use", "mcp_tool_use", "thinking", "redacted_thinking"}
)
_ITEM_TEXTS: Final = frozenset({"input_text", "output_text", "input_image", "input_file"})
TYPED: Final = _ANTHROPIC | _ITEM_TEXTS
"""Types of blocks by which a dialect is known."""
_ROLE: Final = ("role", "from")
_TEXT: Final = ("content", "text", "value")
_CALL_ROLE: Final = "function_call"


def of_messages(messages: list[JSON]) -> str:
    """The dialect of one run's messages: `anthropic`, `responses`, `chat`, `text` (calls in text) or `plain`."""
    found = "plain"
    for value in messages:
        message = mapping(value)
        if isinstance(kind := message.get("type"), str) and kind != "message":
            return "responses"
        if message.get("tool_calls") or message.get("function_call") or message.get("role") in RESULT_ROLES:
            return "chat"
        content = message.get("content")
        if isinstance(content, list):
            kinds = {k for b in content if isinstance(k := mapping(b).get("type"), str)}
            if kinds & _ANTHROPIC:
                return "anthropic"
            if kinds & _ITEM_TEXTS:
                return "responses"
        if found == "plain" and message.get("role") in REPLY_ROLES and has_text_calls(content):
            found = "text"
    return found


def has_text_calls(content: JSON) -> bool:
    """Whether a reply's content holds calls in tag notation."""
    text = content if isinstance(content, str) else text_of_blocks(content)
    return any(tag in text for tag in TEXT_CALLS)


def role_of(message: dict[str, JSON]) -> str | None:
    """The role of a message, under either name."""
    return next((r.lower() for k in _ROLE if isinstance(r := message.get(k), str)), None)


def text_of(message: dict[str, JSON]) -> str:
    """The text of a message, under any of its names."""
    for name in _TEXT:
        if message.get(name) is not None:
            return text_of_blocks(message[name])
    return ""


class Talk:
    """The turns of one such run. `fenced`: the last fenced block of a reply is the command it runs."""

    def __init__(self, run: str, line: int, fenced: bool = False) -> None:
        self.dialogue = Dialogue(run, line)
        self._fenced = fenced
        self._loose: list[Call] = []
        """The newest turn's calls that have no id and wait for the next message."""

    @property
    def turns(self) -> list[Turn]:
        """The turns so far."""
        return self.dialogue.turns

    def feed(self, message: dict[str, JSON]) -> bool:
        """Take the next message; whether it opened a turn."""
        if isinstance(message.get("class_"), str):
            return self._typed(message, message["class_"])
        role = role_of(message)
        if role == _CALL_ROLE or role in REPLY_ROLES:
            self._reply(message, role)
            return True
        found = results(message)
        if role in RESULT_ROLES and "content" not in message:
            found = [(identity(message.get("tool_call_id")), text_of(message), False)]
        if self._loose:
            self._observe(text_of(message))
        else:
            for call_id, result, error in found:
                self.dialogue.answer(call_id, result, error)
        return False

    def _reply(self, message: dict[str, JSON], role: str) -> None:
        turn = Turn(self.dialogue.run, line=self.dialogue.line, written=0, model=identity(message.get("model")))
        text = text_of(message)
        self._loose = []
        if role == _CALL_ROLE:
            value = embedded(text)
            for call in value if isinstance(value, list) else [value if value is not None else {"name": text}]:
                add_call(turn, chat_call(call))
            self._loose = list(turn.calls)
        elif "content" in message or "tool_calls" in message:
            add_reply(turn, message)
        else:
            add_text(turn, text)
        if not turn.calls:
            found = list(calls_in(text))
            command = command_in(text) if self._fenced and not found else None
            self._loose = found if command is None else [command]
            turn.calls += self._loose
        self.dialogue.add(turn)

    def _observe(self, text: str) -> None:
        """Take the text after a reply as the result of its calls."""
        told = responses_in(text)
        for i, call in enumerate(self._loose):
            call.result = told[i] if len(told) == len(self._loose) else text
        self._loose = []

    def _typed(self, item: dict[str, JSON], kind: str) -> bool:
        """An item of the Agent Data Protocol: an action is a turn, an observation its result."""
        if not kind.endswith("_action"):
            self._observe(text_of(item) or text_or_none(item.get("html")) or "")
            return False
        turn = Turn(self.dialogue.run, line=self.dialogue.line, written=0)
        if kind == "message_action":
            add_text(turn, text_of(item))
        else:
            add_text(turn, text_or_none(item.get("description")) or "")
            name = item.get("function") if kind == "api_action" else item.get("language")
            args = item.get("kwargs") if kind == "api_action" else item.get("content")
            add_call(turn, Call(text_or_none(name) or kind, args))
        self._loose = list(turn.calls)
        self.dialogue.add(turn)
        return True

    def feed_all(self, messages: list[JSON]) -> list[Turn]:
        """Feed messages; returns all turns so far."""
        for message in items(messages):
            if isinstance(message, dict):
                self.feed(message)
        return self.turns
