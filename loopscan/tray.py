"""What processes hand over that is too much for a pipe: it goes into a file without a name that they have in common."""

from __future__ import annotations

import os
import tempfile
from contextlib import suppress
from typing import Any, Final, NamedTuple

_LEAST: Final = 1 << 17
"""Bytes that are worth it: a pipe takes 64 KB at once, and whoever writes the rest waits for its reader."""


class Laid(NamedTuple):
    """Where something lies, and how much of it."""

    place: int
    size: int


class Tray:
    """A file to lay results on, for processes that are forked from this one. Raises OSError where none can be made.

    `context`: that of the processes (`multiprocessing`).
    """

    def __init__(self, context: Any) -> None:
        self._file = tempfile.TemporaryFile(prefix="loopscan-", buffering=0)  # noqa: SIM115 - lives as long as self
        self._end = context.Value("q", 0)

    def lay(self, data: bytes) -> bytes | Laid:
        """Lay it down; as it is where it is little, or there is no room for it."""
        if len(data) < _LEAST:
            return data
        with self._end.get_lock():
            place = self._end.value
            self._end.value += len(data)
        left, at = memoryview(data), place
        with suppress(OSError):
            while left:
                written = os.pwrite(self._file.fileno(), left, at)
                left, at = left[written:], at + written
        return data if left else Laid(place, len(data))

    def take(self, laid: bytes | Laid) -> bytes:
        """Take up what was laid down. Raises OSError."""
        if not isinstance(laid, Laid):
            return laid
        parts, place, left = list[bytes](), laid.place, laid.size
        while left:
            part = os.pread(self._file.fileno(), left, place)
            if not part:
                raise OSError("less of it than was laid down")
            parts.append(part)
            place, left = place + len(part), left - len(part)
        return parts[0] if len(parts) == 1 else b"".join(parts)

    def close(self) -> None:
        """Release the file."""
        self._file.close()
