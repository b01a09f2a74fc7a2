"""The second look at lines that are no JSON value each: several values on one, one over many, NUL bytes, damage."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

from loopscan import decode
from loopscan.lines import LINE_LIMIT
from loopscan.model import JSON
from loopscan.skips import Skips

_OPENERS: Final = (b"{", b"[", b"[{")

Line = tuple[int, bytes]


def rescued(name: str, first: Line, lines: Iterator[Line], skips: Skips) -> Iterator[tuple[int, JSON]]:
    """The values of a line of input `name`, and of those after it where one value goes on there; else skips."""
    line: Line | None = first
    while line is not None:
        number, text = line[0], line[1].rstrip(b"\r\n")  # a text that is cut ends there, not at a control character
        line = None
        if text.strip() in _OPENERS:
            whole, line = _spread(text, lines)
            if whole is None:
                skips.add(name, number, "no JSON: the value is not closed")
                continue
            text = whole
        yield from _decoded(name, number, text, skips)


def _decoded(name: str, number: int, line: bytes, skips: Skips) -> Iterator[tuple[int, JSON]]:
    if line.startswith(b"\0") and (rest := line.lstrip(b"\0")).lstrip()[:1] in (b"", b"{", b"["):
        skips.add(name, number, "NUL bytes: what was to stand here was never written")
        line = rest
    try:
        for value in decode.iter_values(decode.text_of(line)):
            yield number, value
    except decode.BadJSON as err:
        skips.add(name, number, str(err))


def _spread(opener: bytes, lines: Iterator[Line]) -> tuple[bytes | None, Line | None]:
    """The text of a value that begins with a lone bracket: indented lines up to the bracket that closes it.

    None where there is no such bracket, and the line that can be no part of the value.
    """
    parts, size = [opener], len(opener)
    for number, line in lines:
        if size > LINE_LIMIT or line[:1] not in b" \t}]":
            return None, (number, line)
        parts.append(line)
        size += len(line)
        if line[:1] in b"}]":
            return b"\n".join(parts), None
    return None, None
