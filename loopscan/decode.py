"""JSON bytes to values, in tiers: msgspec (fast, keeps integers beyond 64 bits), then the standard library.

The second tier reads what real logs hold although the grammar of RFC 8259 or UTF-8 forbids it: lone
surrogates, NaN and Infinity, numbers beyond the range of a double, a byte order mark, invalid UTF-8, several
values on one line.
"""

from __future__ import annotations

import json
import math
import re
from collections.abc import Iterator
from typing import Final

import msgspec
import orjson

from loopscan.model import JSON

fast = msgspec.json.Decoder().decode
FAST_ERRORS = (msgspec.MsgspecError, RecursionError, UnicodeError)
"""What `fast` raises on bytes that are left to the second tier."""

_CONSTANT = "\x00{}"
"""NaN, Infinity and overflowing numbers become this tagged text: no number of the canonical form is theirs."""


def _number(text: str) -> JSON:
    value = float(text)
    return value if math.isfinite(value) else _CONSTANT.format(text)


def _integer(text: str) -> JSON:
    try:
        return int(text)
    except ValueError:  # thousands of digits
        return _CONSTANT.format(text)


_slow = json.JSONDecoder(parse_constant=_CONSTANT.format, parse_float=_number, parse_int=_integer)
_WHITE = re.compile(r"[ \t\r\n]*")


class BadJSON(ValueError):
    """Bytes that hold no JSON value; the message says where. `place`: where the value begins and where it breaks."""

    place: tuple[int, int] | None = None


def loads(data: bytes) -> JSON:
    """Decode exactly one JSON value. Raises BadJSON."""
    try:
        return fast(data)
    except FAST_ERRORS:
        values = list(iter_values(text_of(data)))
    if len(values) != 1:
        raise BadJSON("no JSON value" if not values else f"{len(values)} JSON values where one was expected")
    return values[0]


def loads_all(data: bytes) -> list[JSON]:
    """Decode the one or more JSON values of a line. Raises BadJSON when a part of it is none."""
    try:
        return [fast(data)]
    except FAST_ERRORS:
        return list(iter_values(text_of(data)))


def text_of(data: bytes) -> str:
    """Bytes as text: BOM dropped, invalid UTF-8 replaced."""
    return data.decode("utf-8-sig", errors="replace")


def iter_values(text: str) -> Iterator[JSON]:
    """The JSON values that stand one after another in `text`. Raises BadJSON at the first that is none."""
    pos = 0
    while True:
        match = _WHITE.match(text, pos)
        start = pos if match is None else match.end()
        if start >= len(text):
            return
        try:
            value, pos = _slow.raw_decode(text, start)
        except RecursionError:
            raise BadJSON("nested too deeply") from None
        except json.JSONDecodeError as err:
            fault = BadJSON(f"no JSON: {err.msg[0].lower() + err.msg[1:]}")
            fault.place = start, err.pos
            raise fault from None
        yield value


_CUT_TOKEN = 6
"""A literal or an escape cut short leaves at most this many characters behind the place of the error."""


def beginning(text: str) -> str:
    """What `text` holds: `whole` for JSON values and nothing else, `open` where it could be the beginning of that."""
    pos, end = 0, len(text.rstrip())
    while pos < end:
        match = _WHITE.match(text, pos)
        try:
            _, pos = _slow.raw_decode(text, pos if match is None else match.end())
        except json.JSONDecodeError as err:
            return "open" if err.msg.startswith("Unterminated string") or err.pos >= end - _CUT_TOKEN else ""
        except (ValueError, RecursionError):
            return ""
    return "whole"


def canonical(value: JSON) -> bytes:
    """Canonical JSON: keys sorted, fixed separators; 1, 1.0, true and "1" stay four different texts."""
    try:
        return orjson.dumps(value, option=orjson.OPT_SORT_KEYS)
    except (orjson.JSONEncodeError, RecursionError):
        pass  # integers beyond 64 bits, lone surrogates, nesting that orjson refuses
    try:
        return json.dumps(value, sort_keys=True, separators=(",", ":")).encode()
    except RecursionError:
        return _deep(value)


def word(value: JSON) -> str:
    """Any value as text: a string as it is, `None`, `True` or a number as Python writes them, the rest as JSON."""
    return canonical(value).decode(errors="replace") if isinstance(value, (dict, list)) else str(value)


def _deep(value: JSON) -> bytes:
    """Canonical text of a value that is nested too deeply for a recursive encoder."""
    parts: list[str] = []
    todo: list[tuple[bool, JSON]] = [(True, value)]
    while todo:
        is_value, item = todo.pop()
        if not is_value:
            parts.append(item)
        elif isinstance(item, dict) and item:
            pieces = [(k, v) for k, v in sorted(item.items())]
            todo.append((False, "}"))
            for i, (key, inner) in reversed(list(enumerate(pieces))):
                todo += [(True, inner), (False, f"{',' if i else '{'}{json.dumps(key)}:")]
        elif isinstance(item, list) and item:
            todo.append((False, "]"))
            for i, inner in reversed(list(enumerate(item))):
                todo += [(True, inner), (False, "," if i else "[")]
        else:
            parts.append(json.dumps(item))
    return "".join(parts).encode()


_OPENERS: Final = frozenset("{[")


def embedded(text: str) -> JSON:
    """The object or array that `text` holds as JSON, else None (a bare number or string stays text)."""
    if text[:1] not in _OPENERS and text.lstrip()[:1] not in _OPENERS:
        return None
    try:
        value = fast(text)
    except FAST_ERRORS:
        try:
            value = loads(text.encode("utf-8", "surrogatepass"))
        except (BadJSON, UnicodeError):
            return None
    return value if isinstance(value, (dict, list)) else None
