"""Python literals, as `str()` writes lists and objects into a table, read as JSON; nothing is evaluated."""

from __future__ import annotations

import json
import re
from typing import Final

from loopscan.decode import BadJSON, loads
from loopscan.model import JSON

_TOKEN: Final = re.compile(
    r"""'((?:[^'\\]|\\.)*)'|"((?:[^"\\]|\\.)*)"|\b(None|True|False)\b|[()]|,\s*(?=[\])}])""", re.DOTALL
)
_ESCAPE: Final = re.compile(r"\\(?:x([0-9a-fA-F]{2})|u([0-9a-fA-F]{4})|U([0-9a-fA-F]{8})|(.))", re.DOTALL)
_SHORT: Final = {"n": "\n", "r": "\r", "t": "\t", "a": "\a", "b": "\b", "f": "\f", "v": "\v", "0": "\0", "\n": ""}
_WORDS: Final = {"None": "null", "True": "true", "False": "false", "(": "[", ")": "]"}


def literal(text: str) -> JSON:
    """The value that a Python literal of lists, tuples, dicts, strings and numbers stands for; None if it is none."""
    try:
        return loads(_TOKEN.sub(_as_json, text).encode("utf-8", "surrogatepass"))
    except BadJSON:
        return None


def _as_json(match: re.Match[str]) -> str:
    if match[1] is not None or match[2] is not None:
        return json.dumps(_ESCAPE.sub(_unescaped, match[1] if match[1] is not None else match[2]))
    return _WORDS.get(match[0], "")


def _unescaped(match: re.Match[str]) -> str:
    digits = match[1] or match[2] or match[3]
    if digits:
        return chr(min(int(digits, 16), 0x10FFFF))
    return _SHORT.get(match[4], match[4] if match[4] in "\\'\"" else match[0])
