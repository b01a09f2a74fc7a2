"""What changed between two results of one call, in a line or two: a field that changed, else the lines that did."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

from loopscan import volatile
from loopscan.decode import canonical, embedded
from loopscan.model import JSON

_MOST: Final = 3
"""Fields that are named; of more their number is said."""
_DEEPEST: Final = 12
_CONTEXT: Final = 16
"""Equal characters kept before a difference."""
_WORD: Final = 60
"""Characters of a value that are shown."""


def changes(before: JSON, after: JSON, exact: bool = False) -> list[str]:
    """Lines that say what differs, volatile parts apart (not under `exact`); nothing if that is all."""
    one, other = (value if exact else _essence(value) for value in (before, after))
    if isinstance(one, str) and isinstance(other, str):
        return _of_texts(one, other)
    found = _first(_differences(one, other))
    more = len(found) - _MOST
    return found[:_MOST] + ([f"+{more} more fields" if more < _ENOUGH else "and more fields"] if more > 0 else [])


_ENOUGH: Final = 97


def _first(found: Iterator[str]) -> list[str]:
    return [line for line, _ in zip(found, range(_ENOUGH + _MOST), strict=False)]


def _essence(value: JSON) -> JSON:
    inner = embedded(value) if isinstance(value, str) else None
    return volatile.stable(value if inner is None else inner)


def _differences(one: JSON, other: JSON, path: str = "", depth: int = 0) -> Iterator[str]:
    """One line per part in which two values differ, as `path: before → after`."""
    if depth < _DEEPEST and isinstance(one, dict) and isinstance(other, dict):
        for key in [*one, *(k for k in other if k not in one)]:
            inner = f"{path}.{key}" if path else str(key)
            if key not in other:
                yield f"{inner}: {_said(one[key])} → gone"
            elif key not in one:
                yield f"{inner}: new, {_said(other[key])}"
            else:
                yield from _differences(one[key], other[key], inner, depth + 1)
    elif depth < _DEEPEST and isinstance(one, list) and isinstance(other, list):
        if len(one) != len(other):
            yield f"{path or 'list'}: {len(one):,} → {len(other):,} entries"
        for i, (a, b) in enumerate(zip(one, other, strict=False)):
            yield from _differences(a, b, f"{path}[{i}]", depth + 1)
    elif canonical(one) != canonical(other):
        yield f"{path}: {_pair(one, other)}" if path else _pair(one, other)


def _pair(one: JSON, other: JSON) -> str:
    """Both values from shortly before the place at which they part."""
    a, b = text_of(one), text_of(other)
    shift = _common(a, b) - _CONTEXT if max(len(a), len(b)) > _WORD // 2 else 0
    return f"{_said(a, shift)} → {_said(b, shift)}"


def _said(value: JSON, shift: int = 0) -> str:
    text = text_of(value)
    text = "…" + text[shift:] if shift > 1 else text
    return text if len(text) <= _WORD else text[: _WORD - 1] + "…"


def text_of(value: JSON) -> str:
    """A value as text: a string as it is, anything else as canonical JSON."""
    return value if isinstance(value, str) else canonical(value).decode("utf-8", "backslashreplace")


def _of_texts(one: str, other: str) -> list[str]:
    """The first line that is gone and the first that came in its place, and how many more there are."""
    a, b = one.split("\n"), other.split("\n")
    start = _common(a, b)
    a, b = a[start:], b[start:]
    end = _common(a[::-1], b[::-1])
    a, b = a[: len(a) - end], b[: len(b) - end]
    if not a and not b:
        return []
    shift = max(0, _common(a[0], b[0]) - _CONTEXT) if a and b else 0
    return [_line(sign, lines, shift) for sign, lines in (("-", a), ("+", b)) if lines]


def _common(one: str | list[str], other: str | list[str]) -> int:
    """How many leading parts two sequences share."""
    return next((i for i, (a, b) in enumerate(zip(one, other, strict=False)) if a != b), min(len(one), len(other)))


def _line(sign: str, lines: list[str], shift: int) -> str:
    more = f" (+{len(lines) - 1:,} more lines)" if len(lines) > 1 else ""
    text = lines[0]
    if shift > 1:
        text = "…" + text[shift:]
    return f"{sign} {text if len(text) <= 2 * _WORD else text[: 2 * _WORD - 1] + '…'}{more}"
