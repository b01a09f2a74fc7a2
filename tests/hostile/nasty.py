"""Values and bytes that break programs, by what they break."""

from __future__ import annotations

import json
from typing import Any, Final

DEEP: Final = {
    f"«{kind} {depth}»": (kind, depth) for kind in ("list", "object") for depth in (150, 400, 600, 700, 800, 900)
}
"""Names that stand for values nested so deeply, up to what can be read at all; `spelt` writes them."""


def spelt(text: str) -> str:
    """JSON text with the names of deep values replaced by those values."""
    for name, (kind, depth) in DEEP.items():
        quoted = json.dumps(name)
        if quoted in text:
            opened, closed = ("[", "]") if kind == "list" else ('{"content":', "}")
            text = text.replace(quoted, opened * depth + "1" + closed * depth)
    return text


VALUES: Final[tuple[Any, ...]] = (
    *(None, True, False, 0, -1, 1, 3.5, -0.0, 1e308, 5e-324, 1 << 31, 1 << 53, 1 << 63, 1 << 64, -(1 << 70), 10**400),
    *(float("nan"), float("inf"), float("-inf")),
    *(
        "",
        " ",
        "0",
        "-1",
        "nan",
        "inf",
        "1e999",
        "9" * 5000,
        "null",
        "true",
        "[]",
        "{}",
        '{"a":',
        "[" * 5000,
        "(" * 5000,
    ),
    *("\x00", "\x00NaN", "\ud83d", "\udc00\ud800", "\x1b[31m\x1b]8;;http://x\x07y", "\u202e\u200b\ufeff", "😀" * 50),
    *("../../../../etc/passwd", "/etc/passwd", "/dev/zero", "a" * 300, "é" * 300, "x" * 100_000, "con\nnew\r\nline"),
    *(
        "2026-13-45T99:99:99Z",
        "0001-01-01T00:00:00+23:59",
        "9999-12-31T23:59:59-23:59",
        "2026-11-30T12:00:00.123456789Z",
    ),
    *("tool_use", "tool_result", "assistant", "user", "system", "function", "error", "[{'a': 1}]", "[{'a': \"\\d\"}]"),
    *([], {}, [None], [[]], [{}], {"": None}, {"a": {}}, [1, "a", None, {}, []], [[1, 2], [3, 4]], ["x"] * 200),
    *({"type": "text", "text": None}, {"type": "text", "text": ["x"]}, {"id": {"a": 1}}, {"function": []}),
    *([{"type": "tool_use"}], [{"type": "tool_use", "id": [], "name": {}, "input": None}]),
    [{"role": "assistant", "content": {"a": [1]}, "tool_calls": {"a": 1}}],
    *({"x" * 3000: 1}, {"\ud83d": "\ud83d"}, *DEEP),
)
"""What may stand where a reader expects something else."""

TOKENS: Final[tuple[bytes, ...]] = (
    *(b"\x00", b"\xff", b"\xfe\xff", b"\xff\xfe", b"\xef\xbb\xbf", b"\x1b[31m", b"\x85", b"\xc2\x85", b"\xe2\x80\xa8"),
    *(
        b"\r\n",
        b"\r",
        b"\n",
        b"\n\n",
        b"\x0b",
        b"\x0c",
        b"\xed\xa0\x80",
        b"\\ud800",
        b"\\u0000",
        b"\\",
        b'"',
        b" " * 100,
    ),
    *(b"{", b"}", b"[", b"]", b",", b":", b"[" * 2000, b'{"a":' * 2000, b"{}", b"[]", b'""', b"null", b"true"),
    *(b"NaN", b"-Infinity", b"1e999", b"9" * 5000, b"-", b"0"),
    *(b"SQLite format 3\x00", b"PK\x03\x04", b"\x1f\x8b\x08", b"\x28\xb5\x2f\xfd"),
)
"""Bytes that may stand anywhere."""

TEXTS: Final[dict[str, str]] = {
    "ESC": "\x1b[2J\x1b[1;31mred\x1b[0m",
    "C1 controls": "\x9b31mred\x9d0;title\x9c",
    "OSC 8 link": "\x1b]8;;http://evil.example\x1b\\click\x1b]8;;\x1b\\",
    "title": "\x1b]0;owned\x07",
    "bell, backspace, delete": "a\x07b\x08c\x7fd",
    "new lines": "one\ntwo\r\nthree\rfour\x0bfive\x0csix\x85seven\u2028eight\u2029nine",
    "tab": "a\tb",
    "NUL": "a\x00b",
    "bidi": "\u202egnp.exe\u202c \u2066x\u2069 \u061c\u200e\u200f",
    "zero width": "pay\u200bpal\u200c\u200d\u2060\ufeff\u00ad",
    "tags": "x\U000e0041\U000e007f\U000e0101",
    "fillers": "\u115f\u1160\u3164\uffa0\u2800\u034f\u17b4\u180e",
    "combining flood": "Z" + "\u0336\u0489\u20dd" * 30,
    "combining flood of another script": "ก" + "\u0e31\u0e47" * 40,
    "surrogates": "\ud83d \udc00",
    "noncharacters": "\ufdd0 \ufffe \uffff \U0010ffff",
    "Rich markup": "[bold red]x[/] [link=http://evil.example]y[/link] :smile:",
    "HTML": "<img src=x onerror=alert(1)><script>alert(1)</script>&amp;'\"",
    "Markdown": "| a | b |\n|---|---|\n`code` ``two`` *x* _y_ [z](http://evil.example) ![i](x) <br> # h @me #1",
    "backticks": "```" * 5 + "`|`\\|`\\\\|",
    "XML": "]]><!-- &lt; ' \"",
    "formula =": '=HYPERLINK("http://evil.example","x")',
    "formula +": "+1+cmd|' /C calc'!A0",
    "formula -": "-2+3",
    "formula @": "@SUM(1+1)*cmd|' /C calc'!A0",
    "wide formula": "＝1+1",
    "tab formula": "\t=1+1",
    "line formula": "\n=1+1",
    "quotes": '"a","b""c',
    "label of a metric": 'a"} 1\nevil_metric{x="\\',
    "a printf": "%s%n%d {0} {} ${x} $(id) `id`",
    "emoji": "👩‍👩‍👧‍👦 🏳️‍🌈 é ẞ ﷽",
}
"""Text that attacks what shows it."""
