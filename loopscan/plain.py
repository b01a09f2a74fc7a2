"""Python values as the JSON that a log would hold, for turns that are recorded while the agent runs."""

from __future__ import annotations

from collections.abc import Set as AbstractSet
from typing import Any, Final

from loopscan.model import JSON, MISSING

_DEEPEST: Final = 200
"""Levels that are looked at; a value deeper than that holds itself."""


def plain(value: Any) -> JSON:
    """The value as JSON: tuples and sets as lists, keys as text, what is no JSON by its `repr`.

    MISSING, which equals nothing, where an object does not show what it holds.
    """
    try:
        return _plain(value, 0)
    except _Unseen:
        return MISSING


class _Unseen(Exception):
    """Somewhere inside is an object that shows no content."""


def _plain(value: Any, depth: int) -> JSON:
    if value is None or value is MISSING or isinstance(value, (str, int, float)):
        return value
    if depth > _DEEPEST:
        raise _Unseen
    if isinstance(value, dict):
        return {k if isinstance(k, str) else repr(k): _plain(v, depth + 1) for k, v in value.items()}
    if isinstance(value, (list, tuple)):
        return [_plain(v, depth + 1) for v in value]
    if isinstance(value, AbstractSet):
        return sorted(repr(v) for v in value)
    if getattr(type(value), "__repr__") is object.__repr__:  # noqa: B009 - mypy takes it for a bound method
        raise _Unseen
    return repr(value)
