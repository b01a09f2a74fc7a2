"""The file of a store: its tables, version by version, how one is opened for writing, and what its errors mean."""

from __future__ import annotations

import sqlite3
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import Final

from loopscan.errors import LoopscanError, UsageError

APPLICATION: Final = 0x6C6F6F70
"""The `application_id` of a store."""
MIGRATIONS: Final[tuple[tuple[str, ...], ...]] = (
    (
        """CREATE TABLE runs (
            format TEXT NOT NULL, run TEXT NOT NULL, started REAL, ended REAL, seconds REAL, state TEXT NOT NULL,
            verdict TEXT, turns INTEGER NOT NULL, calls INTEGER NOT NULL, tokens INTEGER NOT NULL, usd INTEGER,
            unpriced_sends INTEGER NOT NULL, wasted_turns INTEGER NOT NULL, wasted_usd INTEGER,
            waiting_turns INTEGER NOT NULL, waiting_usd INTEGER, first_exit TEXT, model TEXT, agent TEXT NOT NULL,
            parent TEXT, source TEXT NOT NULL, labels TEXT NOT NULL, first_stored REAL NOT NULL, stored REAL NOT NULL,
            PRIMARY KEY (format, run)) WITHOUT ROWID""",
        "CREATE INDEX runs_by_time ON runs (coalesce(ended, first_stored))",
        """CREATE TABLE repeats (
            format TEXT NOT NULL, run TEXT NOT NULL, tool TEXT NOT NULL, verdict TEXT NOT NULL,
            wasted_turns INTEGER NOT NULL, wasted_usd INTEGER, waiting_turns INTEGER NOT NULL, waiting_usd INTEGER,
            PRIMARY KEY (format, run, tool)) WITHOUT ROWID""",
        """CREATE TABLE records (
            format TEXT NOT NULL, run TEXT NOT NULL, record TEXT NOT NULL, PRIMARY KEY (format, run))""",
    ),
)
"""The statements that lead from one version of the schema to the next; a version once released never changes."""

_STANDING: Final = """SELECT (SELECT application_id FROM pragma_application_id),
    (SELECT user_version FROM pragma_user_version), (SELECT count(*) FROM sqlite_master)"""
"""In one statement: another process may make the tables between two."""

_WHY: Final = {
    "SQLITE_NOTADB": "is no loopscan store; name another file",
    "SQLITE_CORRUPT": "is damaged",
    "SQLITE_CANTOPEN": "cannot be opened: is its folder there, and may it be read and written?",
    "SQLITE_READONLY": "cannot be written: the file or its folder is read-only",
    "SQLITE_FULL": "cannot be written: the disk is full",
    "SQLITE_BUSY": "is held by another process: try again",
    "SQLITE_LOCKED": "is held by another process: try again",
}


def prepare(db: sqlite3.Connection, path: str, wait: float, migrations: Sequence[Sequence[str]]) -> None:
    """Make the tables of a new file, bring those of an older version up to date."""
    version(db, path, len(migrations), UsageError)
    _journal(db, wait)
    db.execute("PRAGMA synchronous = NORMAL")
    if version(db, path, len(migrations), UsageError) == len(migrations):
        return
    db.execute("BEGIN IMMEDIATE")
    for step in migrations[version(db, path, len(migrations), UsageError) :]:
        for statement in step:
            db.execute(statement)
    db.execute(f"PRAGMA application_id = {APPLICATION}")
    db.execute(f"PRAGMA user_version = {len(migrations)}")
    db.execute("COMMIT")


def _journal(db: sqlite3.Connection, wait: float) -> None:
    """Write-ahead logging. SQLite does not wait for another process that turns it on at the same moment; we do."""
    until = time.monotonic() + wait
    while True:
        try:
            db.execute("PRAGMA journal_mode = WAL")
        except sqlite3.OperationalError as err:
            if not _named(err).startswith(("SQLITE_BUSY", "SQLITE_LOCKED")) or time.monotonic() >= until:
                raise
            time.sleep(0.02)
        else:
            return


def version(db: sqlite3.Connection, path: str, known: int, error: type[LoopscanError]) -> int:
    """The version of the schema, 0 for an empty file. Raises for what is no store, and for one too new to be read."""
    application, found, tables = db.execute(_STANDING).fetchone()
    if application != APPLICATION and (application or found or tables):
        raise error(f"--store {path}: is no loopscan store but another SQLite database; name another file")
    if found > known:
        raise error(f"--store {path}: made by a newer loopscan (schema {found}, this one knows {known}): upgrade")
    return int(found)


def _named(err: sqlite3.Error) -> str:
    return getattr(err, "sqlite_errorname", "")


@contextmanager
def told(path: str, error: type[LoopscanError]) -> Iterator[None]:
    """Errors of SQLite in one clear line."""
    try:
        yield
    except sqlite3.Error as err:
        name = "_".join(_named(err).split("_")[:2])
        raise error(f"--store {path}: {_WHY.get(name, f'cannot be used: {err}')}") from None
