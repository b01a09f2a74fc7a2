"""From a command-line argument to inputs: files, globs, directories, stdin."""

from __future__ import annotations

import glob
import os
import sys
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from loopscan.blob import Blob
from loopscan.errors import InputError

_NO_LOGS: Final = {"history.jsonl", "session_index.jsonl", "journal.jsonl"}
_SYSTEM: Final = ("/proc", "/sys", "/dev")
_NO_SUFFIXES: Final = ("-wal", "-shm", ".lock", ".meta.json", ".settings.json")


@dataclass(slots=True, frozen=True)
class Input:
    """One file to read: its path (`-` = standard input) and whether the user named it (or a folder holds it).

    `problem`: why it cannot be read, where that is known already.
    """

    path: str
    named: bool
    problem: str | None = None

    def is_same(self, device: int, inode: int) -> bool:
        """Whether this is a certain file, under whatever name."""
        try:
            status = os.stat(self.path)
        except OSError:
            return False
        return (status.st_dev, status.st_ino) == (device, inode)


def expand(paths: list[str]) -> list[Input]:
    """The files behind files, globs, directories and `-`, each once, folders in sorted order.

    A path that does not exist stays in the list: opening it says so.
    """
    found: dict[str, Input] = {}
    for path in paths:
        exists = path == "-" or os.path.lexists(path)
        for match in [path] if exists else sorted(glob.glob(path, recursive=True)) or [path]:
            if os.path.isdir(match):
                for item in _walk(match):
                    found.setdefault(item.path, item)
            else:
                found[match] = Input(match, named=match == path)
    return list(found.values())


def _walk(top: str) -> Iterator[Input]:
    """The files below a folder, each folder once however it is linked, and what cannot be read of it."""
    seen: set[tuple[int, int]] = set()
    errors: list[OSError] = []
    own = os.path.realpath(top)
    for folder, folders, files in os.walk(top, onerror=errors.append, followlinks=True):
        if _met(folder, seen, errors):
            folders.clear()
            continue
        out = {name: why for name in folders if (why := _leads_out(os.path.join(folder, name), own))}
        yield from (Input(os.path.join(folder, name), named=False, problem=why) for name, why in sorted(out.items()))
        folders[:] = sorted(name for name in folders if name not in out)
        for name in sorted(files):
            if name not in _NO_LOGS and not name.endswith(_NO_SUFFIXES):
                path = os.path.join(folder, name)
                yield Input(path, named=False, problem=None if os.path.isfile(path) else _no_file(path))
    for err in errors:
        yield Input(str(err.filename or top), named=False, problem=f"cannot be read: {err.strerror or err}")


def _leads_out(path: str, own: str) -> str | None:
    """Why a folder is not followed: a link to what holds the folder `own` that was named, or to the system's own."""
    if not os.path.islink(path):
        return None
    real = os.path.realpath(path)
    if own.startswith(os.path.join(real, "")):
        return "a link to a folder above, not followed"
    system = next((s for s in _SYSTEM if os.path.join(real, "").startswith(os.path.join(s, ""))), None)
    return None if system is None or own.startswith(system) else f"a link to {system}, not followed"


def _met(folder: str, seen: set[tuple[int, int]], errors: list[OSError]) -> bool:
    """Whether a folder was walked before, or cannot be."""
    try:
        status = os.stat(folder)
    except OSError as err:
        errors.append(err)
        return True
    if (status.st_dev, status.st_ino) in seen:
        return True
    seen.add((status.st_dev, status.st_ino))
    return False


def _no_file(path: str) -> str:
    return "a pipe, a socket or a device, not a file" if os.path.exists(path) else "a link that leads nowhere"


def open_input(item: Input) -> Blob:
    """Open an input. Raises InputError when it cannot be read."""
    if item.problem is not None:
        raise InputError(f"{item.path}: {item.problem}")
    if item.path == "-":
        if sys.stdin is None:
            raise InputError("-: standard input is closed")
        return Blob("<stdin>", None, sys.stdin.buffer)
    return Blob(item.path, Path(item.path))
