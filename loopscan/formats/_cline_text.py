"""What Cline, Roo and Kilo put into text: calls as XML, results as `[tool for 'x'] Result:`, the user's words."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Final

from loopscan.decode import embedded
from loopscan.formats._fields import items, mapping
from loopscan.model import JSON, Call

_TOOLS: Final = (
    "read_file write_to_file replace_in_file apply_diff insert_content search_and_replace execute_command search_files "
    "list_files list_code_definition_names codebase_search browser_action use_mcp_tool access_mcp_resource "
    "ask_followup_question attempt_completion plan_mode_respond act_mode_respond new_task switch_mode update_todo_list "
    "fetch_instructions web_fetch web_search load_mcp_documentation use_skill new_rule condense summarize_task "
    "generate_image run_slash_command"
)
_CALL: Final = re.compile(rf"<({'|'.join(_TOOLS.split())})>(.*?)(?:</\1>|\Z)", re.DOTALL)
_PARAMETER: Final = re.compile(r"<(\w+)>\n?(.*?)\n?</\1>", re.DOTALL)
_THOUGHT: Final = re.compile(r"<thinking>.*?</thinking>", re.DOTALL)
_RESULT: Final = re.compile(r"\s*\[(\w+)\b.*?\] Result:[ \n]*", re.DOTALL)
_DETAILS: Final = re.compile(r"\s*<environment_details>.*?(?:</environment_details>|\Z)", re.DOTALL)
_NOISE: Final = ("<environment_details>", "# task_progress", "# TODO", "# Todo", "[ERROR]", "[WARNING]")
_WORDS: Final = ("<task>", "<user_message>", "<feedback>", "[TASK RESUMPTION]", "New instructions", "<answer>")
_FAILED: Final = ("The tool execution failed", "The user denied this operation", '{"status":"error"', "<error>")


def calls_in(text: str) -> tuple[list[Call], str]:
    """The calls written as XML in a model's text, and the words around them."""
    calls = []
    for match in _CALL.finditer(text):
        args: dict[str, JSON] = {k: _value(v) for k, v in _PARAMETER.findall(match[2])}
        calls.append(Call(match[1], args))
    return calls, _THOUGHT.sub("", _CALL.sub("", text)).strip()


def _value(text: str) -> JSON:
    inner = embedded(text)
    return text if inner is None else inner


def texts_of(content: JSON) -> list[str]:
    """The texts of a message, one per block."""
    if isinstance(content, str):
        return [content]
    found = (b if isinstance(b, str) else mapping(b).get("text") for b in items(content))
    return [t for t in found if isinstance(t, str)]


def results_in(texts: list[str]) -> Iterator[tuple[str, str]]:
    """Tool names and results; a result stands after its head line or in the block after it."""
    name: str | None = None
    for text in texts:
        head = _RESULT.match(text)
        if head is not None:
            if name is not None:
                yield name, ""
            name = head[1]
            text = without_details(text[head.end() :])
            if not text.strip():
                continue
        if name is not None and (head is not None or not text.lstrip().startswith(_NOISE)):
            yield name, without_details(text)
            name = None
    if name is not None:
        yield name, ""


def without_details(text: str) -> str:
    """A text without the editor's state, which holds the time of day."""
    return _DETAILS.sub("", text)


def failed(result: JSON) -> bool:
    """Whether a result says that the tool failed or that the user refused it."""
    return isinstance(result, str) and result.lstrip().startswith(_FAILED)


def words_of_user(texts: list[str]) -> str | None:
    """The user's words in a message, None if everything in it is the editor's."""
    for text in texts:
        bare = text.lstrip()
        if not bare or bare.startswith(_NOISE):
            continue
        if _RESULT.match(bare) is None or any(mark in bare for mark in _WORDS):
            return bare
    return None
