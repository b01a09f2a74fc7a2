"""Files that lie beside a log and belong to it.

A log may name one of them, by an id or a plain file name; it never names a folder or a path, so reading stays where
the user pointed. A pipe or a device in place of a file is left alone.
"""

from __future__ import annotations

import os
import stat
from pathlib import Path
from typing import Final

from loopscan.decode import BadJSON, loads
from loopscan.model import JSON

LIMIT: Final = 1 << 28
"""Bytes of a file that is read as one value."""

UNREADABLE: Final = (OSError, BadJSON)
"""What `value_of` raises."""


def named(folder: Path, name: str) -> Path | None:
    """The entry of `folder` of this name, None if there is none or the name is not a plain one."""
    if name in ("", ".", "..") or any(c in name for c in "/\\:\0"):
        return None
    try:
        path = folder / name
        return path if path.exists() else None
    except OSError:  # too long a name
        return None


def value_of(path: Path) -> JSON:
    """The JSON value in a file. Raises OSError, BadJSON."""
    status = os.stat(path)
    if not stat.S_ISREG(status.st_mode):
        raise OSError("not a regular file")
    if status.st_size > LIMIT:
        raise BadJSON(f"{status.st_size:,} bytes are too many for one JSON value")
    return loads(path.read_bytes())
