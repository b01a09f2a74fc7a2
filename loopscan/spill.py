"""Packed bytes that a scan has to keep but seldom looks at: in memory up to a limit, then in a file without a name."""

from __future__ import annotations

import os
import sys
from typing import TYPE_CHECKING, Final, cast

from loopscan.fully import write_at

if TYPE_CHECKING:
    from loopscan.part import Part

ROOM: Final = 12 << 20
"""Bytes that are kept in memory."""


class Spill:
    """Keeps bytes. What `keep` returns is what `load` wants: the bytes themselves, or their place in the file.

    The file is gone with the last reference to the spill, or with the process. Once it takes no more, all that follows
    is kept in memory.
    """

    __slots__ = ("_end", "_file", "_room")

    def __init__(self, room: int = ROOM) -> None:
        self._room, self._end = room, 0
        self._file = -1

    def keep(self, data: bytes) -> bytes | int:
        """Keep bytes."""
        place = self.take(data)
        return data if place < 0 else place

    def keep_all(self, parts: list[Part]) -> None:
        """Keep the numbers of parts, which hold them."""
        left: list[Part] = []
        for part in parts:
            if self._room >= part.size:
                self._room -= part.size
            else:
                left.append(part)
        place = self.take(b"".join([cast(bytes, part.kept) for part in left])) if left else -1
        for part in left if place >= 0 else ():
            part.kept = place
            place += part.size

    def take(self, data: bytes | memoryview) -> int:
        """The place of bytes in the file; -1 where they are to be kept in memory, by who keeps them."""
        if self._room >= len(data):
            self._room -= len(data)
            return -1
        try:
            return self._write(data)
        except OSError:
            self._room = sys.maxsize
            return -1

    def _write(self, data: bytes | memoryview) -> int:
        if self._file < 0:
            import tempfile  # seldom needed, slow to load

            with tempfile.TemporaryFile(prefix="loopscan-", buffering=0) as file:
                self._file = os.dup(file.fileno())
        place, self._end = self._end, write_at(self._file, data, self._end)
        return place

    def close(self) -> None:
        """Release the file."""
        if self._file >= 0:
            os.close(self._file)
            self._file = -1

    def __del__(self) -> None:
        self.close()

    def load(self, kept: bytes | int, size: int) -> bytes:
        """The `size` bytes that were kept. Raises OSError where they cannot be read."""
        if isinstance(kept, bytes):
            return kept
        return os.pread(self._file, size, kept)
