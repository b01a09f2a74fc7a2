"""What an item of the OpenAI Responses API holds: a piece of a reply, or the output of a call.

https://platform.openai.com/docs/api-reference/responses
"""

from __future__ import annotations

from typing import Final

from loopscan.decode import word
from loopscan.formats._chat import Result, add_call, add_reply
from loopscan.formats._fields import identity, items, mapping, result_of_blocks, text_or_none
from loopscan.model import JSON, MISSING, Call, Turn

_ARGS: Final = ("arguments", "input", "action", "code", "queries", "operation")
_OUTPUTS: Final = ("output", "outputs", "results", "result", "tools")
_SILENT: Final = frozenset({"item_reference", "mcp_list_tools", "mcp_approval_request", "mcp_approval_response"})


def is_call(kind: str) -> bool:
    """`function_call`, `local_shell_call`, `web_search_call` …"""
    return kind.endswith("_call")


def is_output(kind: str) -> bool:
    """`function_call_output`, `computer_call_output` …"""
    return kind.endswith("_call_output")


def is_known(kind: str) -> bool:
    """Whether an item type that is neither a call nor an output is one that holds nothing for us."""
    return kind in _SILENT


def add_item(turn: Turn, item: dict[str, JSON]) -> None:
    """Put a call, a message or reasoning into the turn of its reply."""
    kind = word(item.get("type", "message"))
    if kind == "message":
        add_reply(turn, item)
    elif kind == "reasoning":
        parts = [*items(item.get("summary")), *items(item.get("content"))]
        turn.written = (turn.written or 0) + sum(len(word(mapping(p).get("text") or "")) for p in parts)
    else:
        name = text_or_none(item.get("name")) or kind.removesuffix("_call")
        args = next((item[k] for k in _ARGS if item.get(k) is not None), None)
        call = Call(name, args, id=identity(item.get("call_id")) or identity(item.get("id")))
        # tools that the provider runs itself carry their output; the others leave it to an item of its own
        output = next((item[k] for k in _OUTPUTS if item.get(k) is not None), MISSING)
        error = item.get("error")
        call.result = error if output is MISSING and error else output
        call.error = bool(error) or item.get("status") == "failed"
        add_call(turn, call)


def output_of(item: dict[str, JSON]) -> Result:
    """The output of a call, from its own item."""
    output = item.get("output")
    exit_code = mapping(mapping(output).get("outcome")).get("exit_code")
    parts = [
        {"type": "text", "text": p["text"]} if isinstance(mapping(p).get("text"), str) else p for p in items(output)
    ]
    failed = item.get("status") == "failed" or (isinstance(exit_code, int) and exit_code != 0)
    call_id = identity(item.get("call_id")) or identity(item.get("id"))
    return call_id, result_of_blocks(parts) if parts else output, failed
