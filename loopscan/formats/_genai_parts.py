"""Content as a list of Google GenAI parts, and its token counts: what Gemini CLI and Qwen Code both record.

Part shapes: https://ai.google.dev/api/caching#Part; token counts:
https://ai.google.dev/api/generate-content#UsageMetadata
"""

from __future__ import annotations

import re
from typing import Final

from loopscan.decode import canonical, word
from loopscan.formats._fields import count, identity, items, mapping
from loopscan.model import JSON, MISSING, Call, Usage

_PROCESS: Final = re.compile(r"\n?(?:Process Group PGID|Background PIDs): [^\n]*")


def parts(content: JSON) -> list[dict[str, JSON]]:
    """The parts of a content that may be one string, one part or a list of both."""
    listed = content if isinstance(content, list) else [content]
    return [{"text": p} if isinstance(p, str) else p for p in listed if isinstance(p, (str, dict))]


def text_of(content: JSON, thoughts: bool = False) -> str:
    """The visible text of a content, or with `thoughts` its thinking."""
    texts = [p.get("text") for p in parts(content) if (p.get("thought") is True) is thoughts]
    return "\n".join(t for t in texts if isinstance(t, str) and t.strip())


def calls_of(content: JSON) -> list[Call]:
    """The function calls among the parts."""
    found = [mapping(p["functionCall"]) for p in parts(content) if "functionCall" in p]
    return [Call(word(c.get("name")), c.get("args"), id=identity(c.get("id"))) for c in found]


def results_of(content: JSON) -> list[tuple[str | None, JSON, bool]]:
    """Call id, result and whether it is an error, for each function response among the parts."""
    found = [mapping(p["functionResponse"]) for p in parts(content) if "functionResponse" in p]
    return [(identity(r.get("id")), result_of(r.get("response")), "error" in mapping(r.get("response"))) for r in found]


def result_of(response: JSON) -> JSON:
    """A response without the object round its only value."""
    if isinstance(response, dict) and len(response) == 1:
        key = next(iter(response))
        return response[key] if key in ("output", "error") else response
    return response


def result_of_call(content: JSON) -> JSON:
    """The result that a call record carries as parts: without the call's id, MISSING if there is none."""
    found = [r for _, r, _ in results_of(content)]
    found += [p for p in parts(content) if "functionResponse" not in p]
    if not found:
        return MISSING
    return found[0] if len(found) == 1 else found


def written(text: str, thoughts: str, calls: list[Call]) -> int:
    """Characters the model wrote."""
    return len(text) + len(thoughts) + sum(len(c.name) + len(canonical(c.args)) for c in calls)


def says(content: JSON, injected: tuple[str, ...]) -> bool:
    """Whether a user message holds more than tool results and texts that the client injects."""
    for part in parts(content):
        text = part.get("text")
        if isinstance(text, str):
            if text.strip() and not text.lstrip().startswith(injected):
                return True
        elif "inlineData" in part or "fileData" in part:
            return True
    return False


def usage_of(prompt: JSON, output: JSON, thoughts: JSON, cached: JSON, tool: JSON, total: JSON) -> Usage | None:
    """Usage of a send: the prompt count includes what is cached.

    Gemini counts thoughts beside the output; clients of other models report them inside it. The total tells.
    """
    asked, wrote = count(prompt), count(output)
    if asked is None and wrote is None:
        return None
    asked, wrote, thought, extra = asked or 0, wrote or 0, count(thoughts) or 0, count(tool) or 0
    whole = count(total)
    inside = bool(whole) and whole is not None and asked + extra + wrote + thought > whole
    return Usage(asked + extra, wrote if inside else wrote + thought, count(cached))


def without_process_ids(result: JSON) -> JSON:
    """A shell result without the process ids that differ at every run."""
    return _PROCESS.sub("", result) if isinstance(result, str) and "PGID: " in result else result


def call_list(value: JSON) -> list[dict[str, JSON]]:
    """The objects of a list of calls."""
    return [c for c in items(value) if isinstance(c, dict)]
