"""A log that can be read only once, copied to a file without a name as it is read, to find its lines again."""

from __future__ import annotations

import errno
import io
import os
from typing import Any, BinaryIO, Final, cast

from loopscan.stream import Stream

_STEP: Final = 1 << 25
"""Bytes for which room is made at once; a copy takes no more than half of what is free."""


class Copied(Stream):
    """The bytes of a stream, of which those before are `ahead`. Raises OSError where no file can be made.

    `whole`: whether all that was read so far is in the file; once there is no room it is not.
    """

    def __init__(self, ahead: bytes, rest: Stream) -> None:
        import tempfile  # seldom needed, slow to load

        self._rest = rest
        with tempfile.TemporaryFile(prefix="loopscan-", buffering=0) as file:
            self._file = os.dup(file.fileno())  # a file object in a cycle may be found by the collector before this
        self._size = self._room = 0
        self.whole = True
        self._keep(memoryview(ahead))

    def read(self, size: int) -> bytes:
        """The next bytes."""
        data = self._rest.read(size)
        self._keep(memoryview(data))
        return data

    def readinto(self, view: memoryview) -> int:
        """The next bytes, without a copy of them in memory."""
        size = self._rest.readinto(view)
        self._keep(view[:size])
        return size

    def _keep(self, data: memoryview) -> None:
        try:
            while data and self.whole:
                if self._size + len(data) > self._room:
                    self._make_room(len(data))
                written = os.pwrite(self._file, data, self._size)
                self._size, data = self._size + written, data[written:]
        except OSError:
            self.whole = False

    def _make_room(self, size: int) -> None:
        """Make room for more: a file system writes twice as fast to what it has set apart."""
        file, more = self._file, max(size, _STEP)
        room = os.fstatvfs(file)
        if room.f_bavail * room.f_frsize < self._room + more:
            raise OSError(errno.ENOSPC, "more than half of the room")
        if hasattr(os, "posix_fallocate"):
            os.posix_fallocate(file, self._room, more)
        self._room += more

    def __del__(self) -> None:
        if hasattr(self, "_file"):
            os.close(self._file)

    def at(self, place: int, size: int) -> bytes:
        """Some bytes of it. Raises OSError."""
        return os.pread(self._file, max(0, min(size, self._size - place)), place)

    def open(self, mode: str = "rb") -> BinaryIO:
        """All of it from its beginning on, as a file of its own."""
        return cast(BinaryIO, io.BufferedReader(_Again(self)))


class _Again(io.RawIOBase):
    """A copy as a file."""

    def __init__(self, copy: Copied) -> None:
        self._copy, self._place = copy, 0

    def readable(self) -> bool:
        return True

    def seekable(self) -> bool:
        return True

    def seek(self, offset: int, whence: int = os.SEEK_SET) -> int:
        if whence == os.SEEK_END:
            raise OSError("its end is not known yet")
        self._place = offset + (self._place if whence == os.SEEK_CUR else 0)
        return self._place

    def readinto(self, buffer: Any) -> int:
        data = self._copy.at(self._place, len(buffer))
        buffer[: len(data)] = data
        self._place += len(data)
        return len(data)
