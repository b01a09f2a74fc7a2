"""The store: run records in one SQLite file, each run once, whatever overlaps between the audits that saw it.

Any number of processes may save at the same time: writers wait for each other, readers for nobody (WAL).
"""

from __future__ import annotations

import os
import sqlite3
from collections.abc import Iterable, Iterator, Sequence
from contextlib import ExitStack
from dataclasses import astuple, dataclass, fields
from typing import Final
from urllib.parse import quote

from loopscan.auto import AUTO_RUNS, rank95
from loopscan.errors import InputError, LoopscanError, UsageError
from loopscan.schema import MIGRATIONS, prepare, told, version
from loopscan.settings import Typical
from loopscan.stored import LAST, Repeated, Stored

WAIT: Final = 60.0
"""Seconds to wait for another process that writes."""


def _replace(table: str, *columns: str) -> str:
    return f"INSERT OR REPLACE INTO {table} ({', '.join(columns)}) VALUES ({', '.join('?' * len(columns))})"


_COLUMNS: Final = tuple(f.name for f in fields(Stored) if f.name not in ("record", "repeats"))
_OF_TOOL: Final = tuple(f.name for f in fields(Repeated))
_RUN: Final = _replace("runs", *_COLUMNS, "first_stored", "stored")
_REPEAT: Final = _replace("repeats", "format", "run", *_OF_TOOL)
_RECORD: Final = _replace("records", "format", "run", "record")
_HEALTHY: Final = "state = 'done' AND (verdict IS NULL OR verdict NOT IN ('stuck', 'suspect'))"


@dataclass(slots=True)
class Saved:
    """What became of the runs of an audit: new in the store, replaced there, older than what is there."""

    new: int = 0
    replaced: int = 0
    kept: int = 0


class Store:
    """An open store. Errors of the file are UsageError, InputError where it was only to be read."""

    def __init__(self, path: str, connection: sqlite3.Connection, error: type[LoopscanError]) -> None:
        self.path = path
        self._db = connection
        self._error = error

    def save(self, runs: Iterable[Stored], now: float) -> Saved:
        """Keep the runs of an audit, all or none; a run that is there already is replaced where it grew."""
        saved = Saved()
        with told(self.path, self._error), self._db:
            self._db.execute("BEGIN IMMEDIATE")
            for run in runs:
                self._keep(run, now, saved)
        return saved

    def _keep(self, run: Stored, now: float, saved: Saved) -> None:
        key = (run.format, run.run)
        query = "SELECT ended, turns, source, first_stored FROM runs WHERE format = ? AND run = ?"
        old = self._db.execute(query, key).fetchone()
        if old is not None and not supersedes((run.ended, run.turns, run.source), old[:3]):
            saved.kept += 1
            return
        saved.new += old is None
        saved.replaced += old is not None
        values = [getattr(run, name) for name in _COLUMNS]
        self._db.execute(_RUN, (*values, old[3] if old else now, now))
        self._db.execute("DELETE FROM repeats WHERE format = ? AND run = ?", key)
        self._db.executemany(_REPEAT, [(*key, *astuple(r)) for r in run.repeats])
        self._db.execute(_RECORD, (*key, run.record))

    def typical(self) -> Typical:
        """What the healthy runs of the store come to; a figure that too few of them have stays None."""
        with told(self.path, self._error):
            turns, tokens, usd, seconds = (self._p95(c) for c in ("turns", "tokens", "usd", "seconds"))
        return Typical(_whole(turns), _whole(tokens), _whole(usd), seconds, "store" if turns is not None else "")

    def _p95(self, column: str) -> float | None:
        known = f"FROM runs WHERE {_HEALTHY} AND {column} IS NOT NULL"
        (count,) = self._db.execute(f"SELECT count(*) {known}").fetchone()
        if count < AUTO_RUNS:
            return None
        query = f"SELECT {column} {known} ORDER BY {column} LIMIT 1 OFFSET ?"
        found: float = self._db.execute(query, (rank95(count),)).fetchone()[0]
        return found

    def stuck(self) -> set[tuple[str, str]]:
        """Format and run of every stuck run of the store."""
        with told(self.path, self._error):
            return set(self._db.execute("SELECT format, run FROM runs WHERE verdict = 'stuck'"))

    def newest(self, until: float) -> float | None:
        """The time of the newest run up to `until`, of the newest of all where there is none; None in an empty store.

        The time of a run is its end, or where it has no times the moment it was first stored.
        """
        query = "SELECT max(coalesce(ended, first_stored)) FROM runs WHERE coalesce(ended, first_stored) <= ?"
        with told(self.path, self._error):
            found = (self._db.execute(query, (limit,)).fetchone()[0] for limit in (until, LAST))
            return next((float(f) for f in found if f is not None), None)

    def oldest(self, since: float) -> float:
        """The time of the oldest run from `since` on; `since` where there is none."""
        query = "SELECT min(coalesce(ended, first_stored)) FROM runs WHERE coalesce(ended, first_stored) >= ?"
        with told(self.path, self._error):
            found: float | None = self._db.execute(query, (since,)).fetchone()[0]
        return since if found is None else found

    def outside(self, since: float, until: float) -> int:
        """How many runs lie before `since`, or from `until` on."""
        query = (
            "SELECT count(*) FROM runs WHERE coalesce(ended, first_stored) < ? OR coalesce(ended, first_stored) >= ?"
        )
        with told(self.path, self._error):
            return int(self._db.execute(query, (since, until)).fetchone()[0])

    def select(self, columns: Sequence[str], since: float, until: float, tools: bool = False) -> Iterator[sqlite3.Row]:
        """Rows of the runs from `since` up to `until`: the time, whether it is the run's own, then `columns`.

        `tools`: a row for each tool that a run repeated; its columns stand before the run's where both have one.
        """
        names = ", ".join(f"t.{c}" if tools and c in _OF_TOOL else f"r.{c}" for c in columns)
        joined = "runs r JOIN repeats t ON t.format = r.format AND t.run = r.run" if tools else "runs r"
        query = f"""SELECT coalesce(r.ended, r.first_stored), r.ended IS NOT NULL, {names} FROM {joined}
            WHERE coalesce(r.ended, r.first_stored) >= ? AND coalesce(r.ended, r.first_stored) < ?"""
        with told(self.path, self._error):
            yield from self._db.execute(query, (since, until))

    def close(self) -> None:
        """Release the file."""
        self._db.close()

    def __enter__(self) -> Store:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()


_Version = tuple[float | None, int, str]
"""When a run ended, how many turns it had, the file it was read from."""


def supersedes(new: _Version, old: _Version) -> bool:
    """Whether what an audit saw of a run replaces what the store holds of it.

    A run that went on does. An audit that began in the middle of a run, as it did not read the file before, does
    not: it ends at the same moment with fewer turns. The same file read again, under other settings, does.
    """
    if new[0] is None or old[0] is None:
        return new[1] >= old[1]
    return new[0] > old[0] or (new[0] == old[0] and (new[1] >= old[1] or new[2] == old[2]))


def open_store(
    path: str, wait: float = WAIT, migrations: Sequence[Sequence[str]] = MIGRATIONS, reading: bool = False
) -> Store:
    """Open a store, made or brought up to date where needed; `reading`: it must be there, nothing is written.

    Raises UsageError, when `reading` InputError: no store, made by a newer loopscan, held by another process, no
    right to write.
    """
    error: type[LoopscanError] = InputError if reading else UsageError
    if reading and not os.path.isfile(path):
        raise InputError(f"--store {path}: no such file; loopscan audit PATH --store {path} makes it")
    where = _address(path) if reading else os.path.abspath(path)
    with told(path, error), ExitStack() as on_failure:
        connection = sqlite3.connect(where, wait, isolation_level=None, uri=reading)
        on_failure.callback(connection.close)
        if reading and version(connection, path, len(migrations), error) < len(migrations):
            connection.close()
            return open_store(path, wait, migrations)
        if not reading:
            prepare(connection, path, wait, migrations)
        on_failure.pop_all()
    return Store(path, connection, error)


def _address(path: str) -> str:
    """The file for reading. One in a folder that is read-only is taken as it is: nobody can be writing it."""
    path = os.path.abspath(path)
    if os.access(path, os.W_OK) and os.access(os.path.dirname(path), os.W_OK):
        mode = "mode=rw"  # who only reads would leave the files of the write-ahead log behind
    else:
        mode = "mode=ro" if os.path.exists(f"{path}-wal") else "immutable=1"
    return f"file:{quote(path)}?{mode}"


def _whole(figure: float | None) -> int | None:
    return None if figure is None else int(figure)
