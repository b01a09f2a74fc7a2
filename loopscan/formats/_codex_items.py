"""Calls and results as Codex rollouts write them: response items, items done inside a script, their output texts."""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Any, Final

from loopscan.decode import canonical, embedded, word
from loopscan.formats._fields import count, identity, items, mapping, result_of_blocks
from loopscan.model import JSON, MISSING, Call

CALLS: Final = frozenset(
    "function_call custom_tool_call local_shell_call tool_search_call web_search_call image_generation_call".split()
)
OUTPUTS: Final = frozenset(
    "function_call_output custom_tool_call_output local_shell_call_output tool_search_output".split()
)
_HEADER: Final = re.compile(
    r"(?:(?:Chunk ID: .*|Wall time:? .* seconds|Original token count: \d+"
    r"|Process (?:exited with code -?\d+|running with session ID \S+)|Exit code: -?\d+"
    r"|Script (?:completed|failed|running with cell ID \S+)|Total output lines: \d+|Command: .*)\n+)+(?:Output:\n*)?"
)
_EXIT: Final = re.compile(r"^(?:Process exited with code|Exit code:) (-?\d{1,10})$", re.MULTILINE)
_WRAPPED_EXIT: Final = re.compile(r'"metadata": ?\{[^{}]*"exit_code": ?(-?\d{1,10})[^{}]*\}\s*\}\s*$')
_VOLATILE: Final = re.compile(r"^(?:Chunk ID: .*|Wall time:? .* seconds|Original token count: \d+)\n+", re.MULTILINE)
_HANDLE: Final = re.compile(r"^((?:Process|Script) running with (?:session|cell) ID) \S+$", re.MULTILINE)
_FAILED: Final = (
    "failed in sandbox", "execution error", "exec error", "unsupported call", "failed to parse", "Script failed",
)  # fmt: skip
_ABORTED: Final = "aborted by user"
_SHELL: Final = ("-lc", "-c", "-cl")


def call_of(item: dict[str, JSON]) -> Call | None:
    """The call that a response item asks for, None for an item that is no call."""
    kind, call_id = item.get("type"), identity(item.get("call_id")) or identity(item.get("id"))
    if kind == "function_call":
        return Call(_qualified(item), item.get("arguments"), id=call_id)
    if kind == "custom_tool_call":
        return Call(_qualified(item), item.get("input"), id=call_id)
    if kind == "local_shell_call":
        return Call("local_shell", item.get("action"), id=call_id)
    if kind == "tool_search_call":
        return Call("tool_search", item.get("arguments"), id=call_id)
    if kind == "web_search_call":
        return Call("web_search", item.get("action"), id=call_id)
    if kind == "image_generation_call":
        return Call("image_generation", item.get("revised_prompt"), item.get("result", MISSING), id=call_id)
    return None


def _qualified(item: dict[str, JSON]) -> str:
    name, namespace = identity(item.get("name")) or "tool", identity(item.get("namespace"))
    return name if namespace in (None, "functions") else f"{namespace}.{name}"


def output_of(item: dict[str, JSON]) -> tuple[JSON, bool]:
    """The result that an output item holds, and whether the call failed; MISSING for a call that was aborted."""
    if item.get("type") == "tool_search_output":
        return item.get("tools"), False
    output = item.get("output", MISSING)
    error = False
    if isinstance(output, dict):
        error = output.get("success") is False
        output = output["content"] if "content" in output else output.get("text", output)
    result = result_of_blocks(output)
    if isinstance(result, str):
        if result == "aborted" or result.startswith(_ABORTED):
            return MISSING, True
        error = error or failed(result)
    return result, error


def failed(text: str) -> bool:
    """Whether an output text says that its command failed: an exit code in its wrapper, or a failure instead of it."""
    if text.startswith("{"):
        code = _WRAPPED_EXIT.search(text[-200:])
        return code is not None and int(code.group(1)) != 0
    if text.startswith(_FAILED):
        return True
    header = _HEADER.match(text)
    code = _EXIT.search(header.group()) if header else None
    return code is not None and int(code.group(1)) != 0


def cleaned(result: JSON) -> JSON:
    """A result without the durations, chunk ids and token counts of its wrapper; the exit code stays."""
    if not isinstance(result, str):
        return result
    if result.startswith("{"):
        wrapped = embedded(result)
        if isinstance(wrapped, dict) and set(wrapped) == {"output", "metadata"}:
            return {"output": wrapped["output"], "exit_code": mapping(wrapped["metadata"]).get("exit_code")}
        return result
    header = _HEADER.match(result)
    if header is None:
        return result
    return _HANDLE.sub(r"\1", _VOLATILE.sub("", header.group())) + result[header.end() :]


def mirrored(event: dict[str, JSON]) -> tuple[str | None, bool, JSON]:
    """What an end event (`exec_command_end` and its like) or a done item says of a call: id, failed, result."""
    call_id = next((i for k in ("call_id", "callId", "id") if (i := identity(event.get(k)))), None)
    result = mapping(event.get("result"))
    code = event.get("exit_code")
    bad = (
        event.get("success") is False
        or event.get("status") in ("failed", "declined", "error")
        or "Err" in result
        or result.get("isError") is True
        or mapping(result.get("Ok")).get("isError") is True
        or (code is not None and word(code) not in ("0", "None"))
    )
    return call_id, bad, event.get("results", MISSING)


def inner_call(item: dict[str, JSON]) -> Call | None:
    """The call behind a done item of a script (`item_completed`), with its result; None for any other item."""
    made = _INNER.get(word(item.get("type")))
    if made is None or item.get("source") == "user_shell":
        return None
    name, args, result = made(item)
    return Call(name, args, result, mirrored(item)[1], identity(item.get("id")))


def _command(item: dict[str, JSON]) -> tuple[str, JSON, JSON]:
    argv = items(item.get("command"))
    cmd: JSON = argv[2] if len(argv) == 3 and argv[1] in _SHELL else item.get("command")
    output = next((item[k] for k in ("aggregated_output", "stdout") if item.get(k) is not None), MISSING)
    code = item.get("exit_code")
    if output is not MISSING and code is not None:
        output = {"output": output, "exit_code": count(code) if count(code) is not None else code}
    return "exec_command", {"cmd": cmd, "workdir": item.get("cwd")}, output


def _change(item: dict[str, JSON]) -> tuple[str, JSON, JSON]:
    said = {k: item[k] for k in ("status", "stdout", "stderr") if item.get(k) is not None}
    return "apply_patch", item.get("changes"), said if said and item.get("changes") else MISSING


def _mcp(item: dict[str, JSON]) -> tuple[str, JSON, JSON]:
    answer = item.get("result") if item.get("result") is not None else item.get("error")
    content = mapping(answer).get("content", answer)
    result = MISSING if answer is None else result_of_blocks(content)
    return f"mcp__{item.get('server')}__{item.get('tool')}", item.get("arguments"), result


def _dynamic(item: dict[str, JSON]) -> tuple[str, JSON, JSON]:
    answer = next((item[k] for k in ("content_items", "error") if item.get(k) is not None), MISSING)
    return _qualified({**item, "name": item.get("tool")}), item.get("arguments"), answer


def _extension(item: dict[str, JSON]) -> tuple[str, JSON, JSON]:
    args = {k: item[k] for k in ("query", "action") if k in item}
    return identity(item.get("kind")) or "web_search", args, item.get("results", MISSING)


_INNER: Final[dict[str, Callable[[dict[str, Any]], tuple[str, JSON, JSON]]]] = {
    "CommandExecution": _command,
    "FileChange": _change,
    "McpToolCall": _mcp,
    "DynamicToolCall": _dynamic,
    "Extension": _extension,
    "WebSearch": _extension,
}


def characters(call: Call) -> int:
    """How many characters the model wrote for a call."""
    return len(call.name) + len(call.args if isinstance(call.args, str) else canonical(call.args))
