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
    None, True, False, 0, -1, 1, 3.5, -0.0, 1e308, 5e-324, 1 << 31, 1 << 53, 1 << 63, 1 << 64, -(1 << 70), 10**400,
    float("nan"), float("inf"), float("-inf"),
    "", " ", "0", "-1", "nan", "inf", "1e999", "9" * 5000, "null", "true", "[]", "{}", '{"a":', "[" * 5000, "(" * 5000,
    "\x00", "\x00NaN", "\ud83d", "\udc00\ud800", "\x1b[31m\x1b]8;;http://x\x07y", "\u202e\u200b\ufeff", "😀" * 50, "é" * 300,
    "../../../../etc/passwd", "/etc/passwd", "/dev/zero", "a" * 300, "x" * 100_000, "con\nnew\r\nline",
    "2026-13-45T99:99:99Z", "0001-01-01T00:00:00+23:59", "9999-12-31T23:59:59-23:59", "2026-11-30T12:00:00.123456789Z",
    "tool_use", "tool_result", "assistant", "user", "system", "function", "error", "[{'a': 1}]", "[{'a': \"\\d\"}]",
    [], {}, [None], [[]], [{}], {"": None}, {"a": {}}, [1, "a", None, {}, []], [[1, 2], [3, 4]], {"type": "text", "text": None},
    {"type": "text", "text": ["x"]}, [{"type": "tool_use"}], [{"type": "tool_use", "id": [], "name": {}, "input": None}],
    [{"role": "assistant", "content": {"a": [1]}, "tool_calls": {"a": 1}}], {"id": {"a": 1}}, {"function": []},
    ["x"] * 200, *DEEP, {"x" * 3000: 1}, {"\ud83d": "\ud83d"},
)  # fmt: skip
"""What may stand where a reader expects something else."""

TOKENS: Final[tuple[bytes, ...]] = (
    b"\x00", b"\xff", b"\xfe\xff", b"\xff\xfe", b"\xef\xbb\xbf", b"\x1b[31m", b"\x85", b"\xc2\x85", b"\xe2\x80\xa8", b"\x0b", b"\x0c",
    b"\r\n", b"\r", b"\n", b"\n\n", b"\xed\xa0\x80", b"\\ud800", b"\\u0000", b"\\", b'"', b"{", b"}", b"[", b"]", b",", b":", b"[" * 2000,
    b'{"a":' * 2000, b"NaN", b"-Infinity", b"1e999", b"9" * 5000, b"-", b"0", b"null", b"true", b"{}", b"[]", b'""', b" " * 100,
    b"SQLite format 3\x00", b"PK\x03\x04", b"\x1f\x8b\x08", b"\x28\xb5\x2f\xfd",
)  # fmt: skip
"""Bytes that may stand anywhere."""
