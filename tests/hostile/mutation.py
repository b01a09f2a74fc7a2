"""Hypothesis strategies: a sample log with its bytes damaged, or with values of other types in its records."""

from __future__ import annotations

import json
import random
import sqlite3
import zipfile
from collections.abc import Iterator
from copy import deepcopy
from pathlib import Path
from typing import Any

from hypothesis import strategies as st

from tests.hostile.nasty import TOKENS, VALUES, spelt

BYTES = st.one_of(st.sampled_from(TOKENS), st.binary(min_size=1, max_size=12))

JSON = st.recursive(
    st.sampled_from(VALUES) | st.text(max_size=20) | st.integers() | st.floats(),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=8), inner, max_size=3),
    max_leaves=5,
)


@st.composite
def damaged(draw: st.DrawFn, data: bytes) -> bytes:
    """The bytes after a few edits: cut, drop, insert, overwrite, repeat, swap."""
    for _ in range(draw(st.integers(1, 4))):
        size = len(data)
        at, span = draw(st.integers(0, size)), draw(st.integers(1, max(1, size // 4)))
        edit = draw(st.sampled_from(("cut", "drop", "insert", "over", "repeat", "swap")))
        if edit == "cut":
            data = data[:at]
        elif edit == "drop":
            data = data[:at] + data[at + span :]
        elif edit == "repeat":
            data = data[:at] + data[at : at + span] + data[at:]
        elif edit == "swap":
            data = data[:at] + data[at + span : at + 2 * span] + data[at : at + span] + data[at + 2 * span :]
        else:
            new = draw(BYTES)
            data = data[:at] + new + data[at + (len(new) if edit == "over" else 0) :]
    return data


def documents(data: bytes) -> list[Any] | None:
    """The JSON values of a sample, one per line or one in all; None for anything else."""
    try:
        return [json.loads(line) for line in data.splitlines() if line.strip()]
    except ValueError:
        try:
            return [json.loads(data)]
        except ValueError:
            return None


def nodes(value: Any) -> Iterator[tuple[Any, Any]]:
    """Every place in a value: its container and its key."""
    inside = value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ()
    for key, inner in list(inside):
        yield value, key
        yield from nodes(inner)


@st.composite
def retyped(draw: st.DrawFn, data: bytes) -> bytes:
    """A log some of whose values were replaced, removed, renamed or moved."""
    docs = documents(data)
    assert docs is not None
    docs = [docs] if len(docs) > 1 else docs
    for _ in range(draw(st.integers(1, 3))):
        places = list(nodes(docs))
        holder, key = draw(st.sampled_from(range(len(places))).map(places.__getitem__))
        change = draw(st.sampled_from(("replace", "replace", "replace", "remove", "copy", "embed")))
        if change == "replace":
            holder[key] = deepcopy(draw(JSON))
        elif change == "remove":
            del holder[key]
        elif change == "embed":
            holder[key] = dumped(holder[key])
        else:
            other, its = draw(st.sampled_from(range(len(places))).map(places.__getitem__))
            if its in other if isinstance(other, dict) else its < len(other):
                holder[key] = deepcopy(other[its])
        if not docs:
            break
    lines = docs[0] if len(docs) == 1 and isinstance(docs[0], list) else docs
    return "\n".join(map(dumped, lines)).encode() + b"\n"


def dumped(value: Any) -> str:
    """JSON text of any of these values, very deep ones too."""
    return spelt(json.dumps(value))


def spoil_database(path: Path, chance: random.Random) -> None:
    """Replace cells of a database by values of other types."""
    connection = sqlite3.connect(path)
    tables = [r[0] for r in connection.execute("SELECT name FROM sqlite_master WHERE type = 'table'")]
    for _ in range(chance.randint(1, 3)):
        table = chance.choice(tables)
        columns = [r[1] for r in connection.execute(f"PRAGMA table_info({table})")]
        rows = [r[0] for r in connection.execute(f"SELECT rowid FROM {table}")]
        if rows and columns:
            new = cell(chance)
            try:
                connection.execute(
                    f'UPDATE {table} SET "{chance.choice(columns)}" = ? WHERE rowid = ?', (new, chance.choice(rows))
                )
            except (sqlite3.Error, OverflowError):
                continue
    connection.commit()
    connection.close()


def cell(chance: random.Random) -> Any:
    """A value that a database can hold."""
    value = chance.choice(VALUES)
    if isinstance(value, str):
        return (
            value.encode("utf-8", "surrogatepass")
            if chance.random() < 0.3 or "\ud83d" in value or "\udc00" in value
            else value
        )
    if value is None or (isinstance(value, (int, float)) and abs(value) < 1 << 62):
        return value
    return dumped(value)


def spoil_archive(path: Path, chance: random.Random) -> None:
    """Replace values in a member of a zip."""
    with zipfile.ZipFile(path) as archive:
        members = {i.filename: archive.read(i) for i in archive.infolist()}
    name = chance.choice(list(members))
    document = json.loads(members[name])
    holder, key = chance.choice(list(nodes([document])))
    holder[key] = deepcopy(chance.choice(VALUES))
    members[name] = dumped(document).encode()
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as archive:
        for member, data in members.items():
            archive.writestr(member, data)
