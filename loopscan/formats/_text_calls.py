"""Calls that a model wrote into its text, for chats without a field for them.

Three notations: `<function=name><parameter=key>value</parameter></function>` (SWE-smith, older OpenHands),
`<tool_call>{"name", "arguments"}</tool_call>` (Hermes, Qwen), and the last fenced block as a shell command
(SWE-agent data sets).
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Final

from loopscan.decode import embedded
from loopscan.formats._fields import mapping, text_or_none
from loopscan.model import JSON, Call

_FUNCTION: Final = "<function="
_TOOL_CALL: Final = ("<tool_call>", "</tool_call>")
_TOOL_RESPONSE: Final = ("<tool_response>", "</tool_response>")
_FENCE: Final = "```"
_OPENING: Final = re.compile(r"^```[\w+-]*[ \t]*$", re.MULTILINE)


def calls_in(text: str) -> Iterator[Call]:
    """The calls of a reply in tag notation, in order."""
    function, tool, at = text.find(_FUNCTION), text.find(_TOOL_CALL[0]), 0
    while function >= 0 or tool >= 0:
        if tool < 0 or 0 <= function < tool:
            call, at = _function(text, function + len(_FUNCTION))
        else:
            call, at = _tool_call(text, tool + len(_TOOL_CALL[0]))
        yield call
        function = text.find(_FUNCTION, at) if 0 <= function < at else function
        tool = text.find(_TOOL_CALL[0], at) if 0 <= tool < at else tool


def _function(text: str, at: int) -> tuple[Call, int]:
    """`name><parameter=key>value</parameter>…</function>`; the end tag may be missing (a stop word cut it off)."""
    name, _, _ = text[at : at + 200].partition(">")
    at += len(name) + 1
    end = text.find("</function>", at)
    body = text[at : end if end >= 0 else len(text)]
    args: dict[str, JSON] = {}
    for part in body.split("<parameter=")[1:]:
        key, _, value = part.partition(">")
        value = value.rpartition("</parameter>")[0] or value
        args[key] = value.removeprefix("\n").removesuffix("\n")
    return Call(name.strip(), args), end + len("</function>") if end >= 0 else len(text)


def _tool_call(text: str, at: int) -> tuple[Call, int]:
    """`{"name", "arguments"}</tool_call>`; what is no such object stands as the whole text of the call."""
    end = text.find(_TOOL_CALL[1], at)
    end = end if end >= 0 else len(text)
    body = text[at:end].strip()
    if body.startswith(_FUNCTION):
        return _function(text, text.index(_FUNCTION, at) + len(_FUNCTION))[0], end
    call = mapping(embedded(body))
    name = text_or_none(call.get("name"))
    return (Call("", body) if name is None else Call(name, call.get("arguments", call.get("parameters")))), end


def responses_in(text: str) -> list[str]:
    """The `<tool_response>` bodies of a message; none if it has no such tag."""
    parts = text.split(_TOOL_RESPONSE[0])[1:]
    return [p.partition(_TOOL_RESPONSE[1])[0].strip() for p in parts]


def command_in(text: str) -> Call | None:
    """The command in the last fenced block: its first word is the tool, the whole block the arguments."""
    openings = list(_OPENING.finditer(text))
    if not openings or text.count(_FENCE) < 2:
        return None
    blocks = text.split(_FENCE)
    body = (blocks[-2] if len(blocks) % 2 else blocks[-1]).partition("\n")[2].strip("\n")
    words = body.split(None, 1)
    return Call(words[0], body) if words else None
