"""The user's own field names (`--map`): ours -> the dotted path where a record holds it."""

from __future__ import annotations

from collections.abc import Mapping

from loopscan.blob import Head
from loopscan.model import JSON, MISSING


def mapped(record: dict[str, JSON], field_map: Mapping[str, str]) -> dict[str, JSON]:
    """The record with the values of the user's fields under our names."""
    line = dict(record)
    for ours, path in field_map.items():
        value = _found(record, path)
        if value is not MISSING:
            line[ours] = value
    return line


def claims(head: Head, field_map: Mapping[str, str]) -> bool:
    """Whether JSON Lines that are of no format hold a field of the user's."""
    return not head.document and any(_found(o, p) is not MISSING for o in head.objects[:5] for p in field_map.values())


def _found(record: dict[str, JSON], path: str) -> JSON:
    value: JSON = record
    for part in path.split("."):
        value = value.get(part, MISSING) if isinstance(value, dict) else MISSING
    return value
