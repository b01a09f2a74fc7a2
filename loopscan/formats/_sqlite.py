"""Databases as logs: opened read-only so that nothing is ever written beside them, rows read one by one."""

from __future__ import annotations

import re
import shutil
import sqlite3
import tempfile
import time
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path
from typing import Final

from loopscan.blob import DATABASE
from loopscan.decode import BadJSON, loads, word
from loopscan.formats._beside import LIMIT
from loopscan.model import JSON
from loopscan.skips import Skips
from loopscan.stop import STOP

MAGIC: Final = DATABASE
PATIENCE: Final = 30.0
"""Seconds that a query may take without a row."""
_STEPS: Final = 1_000_000
_LOCKED: Final = 2.0
"""Seconds to wait for whoever locks a database."""
_TABLE: Final = re.compile(rb"CREATE TABLE (?:IF NOT EXISTS )?[\"'`\[]?(\w+)")


def tables_in(raw: bytes) -> frozenset[str]:
    """The tables whose definitions stand in the first pages of a database; empty for any other bytes."""
    if not raw.startswith(MAGIC):
        return frozenset()
    return frozenset(name.decode() for name in _TABLE.findall(raw))


class Database:
    """An open database. A row or page that cannot be read is a skip, not an error."""

    def __init__(self, connection: sqlite3.Connection, name: str, skips: Skips) -> None:
        self._connection, self.name, self._skips = connection, name, skips
        self._latest = time.monotonic()
        connection.set_progress_handler(self._gives_up, _STEPS)

    def _gives_up(self) -> bool:
        """Whether to end a query: a database that is not what it says can make one that never gives a row."""
        return STOP.asked or time.monotonic() - self._latest > PATIENCE

    def columns(self, table: str) -> frozenset[str]:
        """The columns of a table; empty if there is no such table."""
        return frozenset(str(row[1]) for row in self.rows(f"PRAGMA table_info({table})"))

    def rows(self, query: str, *values: object) -> Iterator[tuple[JSON, ...]]:
        """The rows of a query, as far as they can be read; blobs as text."""
        try:
            self._latest = time.monotonic()
            for row in self._connection.execute(query, values):
                if STOP.asked:
                    return
                yield tuple(_text(value) if isinstance(value, bytes) else value for value in row)
                self._latest = time.monotonic()
        except (sqlite3.Error, UnicodeDecodeError) as err:
            self._skips.add(self.name, None, f"database cannot be read further: {err}; check or repair it")

    def document(self, text: JSON, place: str) -> dict[str, JSON]:
        """The JSON object in a column; empty, and a skip, if there is none."""
        try:
            value = loads(word(text).encode("utf-8", "surrogatepass"))
        except BadJSON as err:
            value, reason = None, str(err)
        else:
            reason = "not an object"
        if isinstance(value, dict):
            return value
        self._skips.add(self.name, None, f"damaged row: {place}: {reason}")
        return {}


@contextmanager
def opened(path: Path | None, name: str, skips: Skips) -> Iterator[Database | None]:
    """The database at a path, or None, and a skip, if it cannot be opened."""
    with ExitStack() as stack:
        connection = None
        try:
            if path is None:
                skips.add(name, None, "database on standard input: name the file instead")
            elif not _is_plain(path):
                skips.add(name, None, "compressed database: unpack it first")
            else:
                connection = _connect(path, stack)
                connection.setlimit(sqlite3.SQLITE_LIMIT_LENGTH, LIMIT)
        except (sqlite3.Error, OSError, UnicodeDecodeError) as err:
            skips.add(name, None, f"database cannot be opened: {err}; close the program that writes it")
        yield None if connection is None else Database(connection, name, skips)


def _connect(path: Path, stack: ExitStack) -> sqlite3.Connection:
    """SQLite itself would put `-shm` and `-wal` files beside a database that no writer has open."""
    wal, shm = Path(f"{path}-wal"), Path(f"{path}-shm")
    unmerged = wal.exists() and wal.stat().st_size > 0
    options = "mode=ro"
    if unmerged and not shm.exists():
        folder = Path(stack.enter_context(tempfile.TemporaryDirectory(prefix="loopscan-")))
        copy = folder / "copy.db"
        shutil.copyfile(path, copy)
        shutil.copyfile(wal, f"{copy}-wal")
        path = copy
    elif not unmerged and not Path(f"{path}-journal").exists():
        options = "mode=ro&immutable=1"
    connection = sqlite3.connect(f"{path.absolute().as_uri()}?{options}", uri=True, timeout=_LOCKED)
    stack.callback(connection.close)
    connection.text_factory = _text
    connection.execute("SELECT name FROM sqlite_master").fetchone()
    return connection


def _is_plain(path: Path) -> bool:
    with path.open("rb") as file:
        return file.read(len(MAGIC)) == MAGIC


def _text(data: bytes) -> str:
    return data.decode("utf-8", "replace")
