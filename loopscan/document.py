"""An input that is one JSON value over many lines, and no log of lines: how it is told, what can be read of it."""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

from loopscan import decode
from loopscan.lines import LINE_LIMIT
from loopscan.mend import mended
from loopscan.model import JSON


class Damage(NamedTuple):
    """Where a document ends before it should, and how."""

    line: int
    reason: str


def begins(raw: bytes, lines: list[bytes], at_end: Callable[[], bool]) -> bool:
    """Whether an input whose first line is no value is a document. `at_end`: whether `raw` is all of it."""
    if raw.lstrip(b"\xef\xbb\xbf \t\r\n")[:1] not in (b"{", b"["):
        return False
    found = decode.beginning(decode.text_of(raw))
    if found != "open":
        return found == "whole"
    if len(lines) == 1:
        return at_end()
    return not any(_is_whole(line) for line in lines[1:] if line.startswith((b"{", b"[")))


def _is_whole(line: bytes) -> bool:
    try:
        return isinstance(decode.loads(line), (dict, list))
    except decode.BadJSON:
        return False


def values_of(data: bytes) -> tuple[list[JSON], Damage | None]:
    """The values of a document; of a damaged one what is whole."""
    try:
        return [decode.fast(data)], None
    except decode.FAST_ERRORS:
        text = decode.text_of(data)
    values: list[JSON] = []
    try:
        for value in decode.iter_values(text):
            values.append(value)  # noqa: PERF402 - keep what was read before the damage
    except decode.BadJSON as err:
        whole = None if err.place is None or len(text) > LINE_LIMIT else mended(text, *err.place)
        if whole is not None:
            values += decode.iter_values(whole)
        line = 1 if err.place is None else text.count("\n", 0, err.place[1]) + 1
        return values, Damage(line, f"the JSON document is damaged or cut short: {err}")
    return values, None
