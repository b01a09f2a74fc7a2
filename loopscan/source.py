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

_NO_LOGS: Final = {"history.jsonl", "session_index.jsonl", "journal.jsonl"}
_NO_SUFFIXES: Final = ("-wal", "-shm", ".lock", ".meta.json", ".settings.json")


@dataclass(slots=True, frozen=True)
class Input:
    """One file to read: its path (`-` = standard input) and whether the user named it (or a folder holds it)."""

    path: str
    named: bool


def expand(paths: list[str]) -> list[Input]:
    """The files behind files, globs, directories and `-`, each once, folders in sorted order.

    A path that does not exist stays in the list: opening it says so.
    """
    found: dict[str, Input] = {}
    for path in paths:
        exists = path == "-" or os.path.lexists(path)
        for match in [path] if exists else sorted(glob.glob(path, recursive=True)) or [path]:
            if os.path.isdir(match):
                for file in _walk(match):
                    found.setdefault(file, Input(file, named=False))
            else:
                found[match] = Input(match, named=match == path)
    return list(found.values())


def _walk(top: str) -> Iterator[str]:
    seen: set[tuple[int, int]] = set()
    for folder, folders, files in os.walk(top, followlinks=True):
        status = os.stat(folder)
        if (status.st_dev, status.st_ino) in seen:
            folders.clear()
            continue
        seen.add((status.st_dev, status.st_ino))
        folders.sort()
        for name in sorted(files):
            path = os.path.join(folder, name)
            if name not in _NO_LOGS and not name.endswith(_NO_SUFFIXES) and os.path.isfile(path):
                yield path


def open_input(item: Input) -> Blob:
    """Open an input. Raises InputError when it cannot be read."""
    if item.path == "-":
        return Blob("<stdin>", None, sys.stdin.buffer)
    return Blob(item.path, Path(item.path))
