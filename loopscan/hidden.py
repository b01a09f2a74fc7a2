"""Characters that nobody sees or that act on what shows them: controls, escape, bidi, zero width, tags, surrogates."""

from __future__ import annotations

import json
import re
import unicodedata
from collections.abc import Callable
from typing import Final

_UNSEEN: Final = (
    "\x7f-\x9f\u00ad\u034f\u061c\u115f\u1160\u17b4\u17b5\u180b-\u180f\u200b-\u200f\u2028-\u202e\u2060-\u206f\u2800\u3164"
    "\ud800-\udfff\ufdd0-\ufdef\ufeff\uffa0\ufff0-\ufffb\ufffe\uffff\U00013430-\U00013438\U0001bca0-\U0001bca3"
    "\U0001d173-\U0001d17a\U000e0000-\U000e0fff"
) + "".join(f"{chr(plane + 0xFFFE)}{chr(plane + 0xFFFF)}" for plane in range(0x10000, 0x110000, 0x10000))
"""Unicode's controls (but C0), formats, separators of lines, default ignorables and noncharacters."""
_HIDDEN: Final = re.compile(f"[\x00-\x1f{_UNSEEN}]")
_IN_JSON: Final = re.compile(f"[{_UNSEEN}]")
_PILE: Final = 3
"""More combining marks than this on one letter climb over the lines above."""
_MAY_BE_MARKS: Final = re.compile(f"[\u0300-\U0010ffff]{{{_PILE + 1},}}")


def visible(text: str) -> str:
    """One line of text in which every hidden character is shown as a sign or an escape, and no letter has a pile."""
    if text.isascii() and text.isprintable():
        return text
    text = _HIDDEN.sub(_shown, text)
    return text if text.isascii() else _levelled(text, lambda mark: "")


def escaped(text: str) -> str:
    """JSON text that means the same, with every hidden character written as an escape."""
    if text.isascii() and "\x7f" not in text:
        return text
    return _levelled(_IN_JSON.sub(lambda m: _spelt(m[0]), text), _spelt)


def _spelt(char: str) -> str:
    return json.dumps(char)[1:-1]


def _shown(match: re.Match[str]) -> str:
    code = ord(match[0])
    if code < 0x20:
        return {0x0A: "⏎", 0x09: "⇥"}.get(code, chr(0x2400 + code))
    if code == 0x7F:
        return "␡"
    return f"\\x{code:02x}" if code < 0x100 else f"\\u{code:04x}" if code < 0x10000 else f"\\U{code:08x}"


def _levelled(text: str, beyond: Callable[[str], str]) -> str:
    """Text with something in place of the marks beyond the third on one letter."""
    return _MAY_BE_MARKS.sub(lambda some: _lowered(some[0], beyond), text)


def _lowered(some: str, beyond: Callable[[str], str]) -> str:
    kept, pile = [], 0
    for char in some:
        pile = pile + 1 if unicodedata.category(char) in ("Mn", "Me") else 0
        kept.append(char if pile <= _PILE else beyond(char))
    return "".join(kept)
