"""Damage by chance: bytes edited, values of other types put into records; the same chance does the same damage."""

from __future__ import annotations

import json
import random
import sqlite3
import zipfile
from collections.abc import Iterator
from copy import deepcopy
from pathlib import Path
from typing import Any

from tests.hostile.nasty import TOKENS, VALUES, spelt

Place = tuple[Any, Any]
"""A container and a key of it."""


def damaged(data: bytes, chance: random.Random, other: bytes) -> bytes:
    """The bytes after a few edits: cut, drop, insert, overwrite, flip, repeat, swap, a part of `other` spliced in."""
    for _ in range(chance.choice((1, 1, 2, 4))):
        size = len(data)
        at = chance.randint(0, size)
        span = 1 + int(chance.random() ** 3 * size / 2)
        rest = data[at + span :]
        match chance.choice(("cut", "drop", "insert", "over", "flip", "repeat", "swap", "splice")):
            case "cut":
                data = data[:at]
            case "drop":
                data = data[:at] + rest
            case "insert":
                data = data[:at] + _token(chance) + data[at:]
            case "over":
                data = data[:at] + (new := _token(chance)) + data[at + len(new) :]
            case "flip":
                flipped = bytes(b ^ (1 << chance.randrange(8)) for b in data[at : at + chance.randint(1, 8)])
                data = data[:at] + flipped + data[at + len(flipped) :]
            case "repeat":
                data = data[:at] + data[at : at + span] + data[at:]
            case "swap":
                data = data[:at] + rest[:span] + data[at : at + span] + rest[span:]
            case _:
                begin = chance.randint(0, len(other))
                data = data[:at] + other[begin : begin + span] + (rest if chance.random() < 0.5 else data[at:])
    return data


def _token(chance: random.Random) -> bytes:
    return chance.choice(TOKENS) if chance.random() < 0.6 else chance.randbytes(chance.randint(1, 12))


def documents(data: bytes) -> list[Any] | None:
    """The JSON values of a sample, one per line or one in all; None for anything else."""
    try:
        return [json.loads(line) for line in data.splitlines() if line.strip()]
    except (ValueError, RecursionError):
        try:
            return [json.loads(data)]
        except (ValueError, RecursionError):
            return None


def nodes(value: Any) -> Iterator[Place]:
    """Every place in a value."""
    inside = value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ()
    for key, inner in list(inside):
        yield value, key
        yield from nodes(inner)


def retyped(values: list[Any], chance: random.Random, others: list[Any]) -> None:
    """Replace, remove, rename, move, repeat or wrap some of the values, or take one of `others` in their place."""
    for _ in range(chance.choice((1, 1, 2, 3))):
        places = list(nodes(values))
        if not places:
            return
        holder, key = chance.choice(places)
        match chance.choice(
            ("new", "new", "new", "new", "remove", "rename", "move", "repeat", "embed", "wrap", "other")
        ):
            case "new":
                holder[key] = value(chance)
            case "remove":
                del holder[key]
            case "rename" if isinstance(holder, dict):
                holder[chance.choice((f"{key}s", key.upper(), "", "type", "content", "id"))] = holder.pop(key)
            case "repeat" if isinstance(holder, list):
                holder[key:key] = [deepcopy(holder[key])] * chance.choice((1, 1, 2, 30))
            case "embed":
                holder[key] = dumped(holder[key])
            case "wrap":
                holder[key] = chance.choice(([holder[key]], {"value": holder[key]}, {"0": holder[key]}))
            case "other" if others and (elsewhere := list(nodes(chance.choice(others)))):
                _put(holder, key, chance.choice(elsewhere))
            case _:
                _put(holder, key, chance.choice(places))


def _put(holder: Any, key: Any, place: Place) -> None:
    """Copy what stands at a place, which may be gone by now, over a value."""
    try:
        holder[key] = deepcopy(place[0][place[1]])
    except (KeyError, IndexError):
        holder[key] = None


def value(chance: random.Random, depth: int = 0) -> Any:
    """A value of any type: one that breaks programs, a number, text, or a few of them in a list or an object."""
    match chance.randrange(10 if depth < 3 else 8):
        case 0:
            return chance.choice((1, -1)) * int(chance.random() * 10 ** chance.randint(0, 40))
        case 1:
            return chance.uniform(-1e6, 1e6)
        case 2:
            return "".join(map(chr, chance.choices((*range(0x20, 0x250), 0xD800, 0x1F600), k=chance.randint(0, 12))))
        case 8:
            return [value(chance, depth + 1) for _ in range(chance.randint(0, 3))]
        case 9:
            keys = ("id", "type", "role", "content", "text", "name", "usage", "", "0", "\ud800")
            return {chance.choice(keys): value(chance, depth + 1) for _ in range(chance.randint(0, 3))}
        case _:
            return deepcopy(chance.choice(VALUES))


def written(values: list[Any]) -> bytes:
    """JSON lines of any of these values."""
    return "".join(dumped(v) + "\n" for v in values).encode()


def dumped(value: Any) -> str:
    """JSON text of any of these values, very deep ones too."""
    return spelt(json.dumps(value))


def spoil_database(path: Path, chance: random.Random) -> None:
    """Replace cells of a database by values of other types, or remove or repeat rows."""
    connection = sqlite3.connect(path)
    tables = [r[0] for r in connection.execute("SELECT name FROM sqlite_master WHERE type = 'table'")]
    for _ in range(chance.randint(1, 3)):
        table = chance.choice(tables)
        columns = [r[1] for r in connection.execute(f"PRAGMA table_info({table})")]
        rows = [r[0] for r in connection.execute(f"SELECT rowid FROM {table}")]
        if rows and columns:
            try:
                _spoil(connection, table, chance.choice(columns), chance.choice(rows), chance)
            except (sqlite3.Error, OverflowError):
                continue
    connection.commit()
    connection.close()


def _spoil(connection: sqlite3.Connection, table: str, column: str, row: int, chance: random.Random) -> None:
    held = connection.execute(f'SELECT "{column}" FROM {table} WHERE rowid = ?', (row,)).fetchone()[0]
    docs = documents(held.encode()) if isinstance(held, str) and held[:1] in ("{", "[") else None
    if docs and chance.random() < 0.6:  # JSON in a cell is where most of a session is
        retyped(docs, chance, [])
        new: Any = dumped(docs[0]) if docs else ""
    else:
        new = cell(chance)
    if chance.random() < 0.1:
        connection.execute(f"DELETE FROM {table} WHERE rowid = ?", (row,))
    else:
        connection.execute(f'UPDATE {table} SET "{column}" = ? WHERE rowid = ?', (new, row))


def cell(chance: random.Random) -> Any:
    """A value that a database can hold."""
    value = chance.choice(VALUES)
    if isinstance(value, str):
        if chance.random() < 0.3 or "\ud83d" in value or "\udc00" in value:
            return value.encode("utf-8", "surrogatepass")
        return value
    if value is None or (isinstance(value, (int, float)) and abs(value) < 1 << 62):
        return value
    return dumped(value)


def spoil_archive(path: Path, chance: random.Random) -> None:
    """Replace values in a member of a zip."""
    with zipfile.ZipFile(path) as archive:
        members = {i.filename: archive.read(i) for i in archive.infolist()}
    name = chance.choice(list(members))
    document = [json.loads(members[name])]
    retyped(document, chance, [])
    members[name] = dumped(document[0]).encode() if document else b""
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as archive:
        for member, data in members.items():
            archive.writestr(member, data)
