"""A log that cannot be read again at any place, copied to a file without a name to find its lines again.

What comes once only is copied as it is read. Of a file that is compressed the newest bytes are held; room for all of it
is set apart, but it is written there only if a line before those is asked for: then all is unpacked a second time.
"""

from __future__ import annotations

import errno
import io
import os
from typing import Any, BinaryIO, Final, cast

from loopscan.compression import unpacked_again
from loopscan.fully import write_at
from loopscan.recent import Recent
from loopscan.stream import Beside, Nothing, Stream

_STEP: Final = 1 << 25
"""Bytes for which room is made at once; a copy takes no more than half of what is free."""
_BACK: Final = 1 << 22
"""Bytes that are held: where a log is asked for a line again, that is seldom further back than a tenth of this."""
_PIECE: Final = 1 << 18
_KNOWN: Final = 1 << 20
"""Bytes by which it is told whether a file is still what it was."""
_LINES: Final = 1 << 23
"""Bytes of the lines that are held beside the newest bytes."""


class Copied(Stream):
    """The bytes of a stream, of which those before are `ahead`. Raises OSError where no file can be made.

    `again`: the file that these bytes were in before they were unpacked. Those from place `_gap` to place `_next` are
    not written, nor are those that are still in the buffer into which they were read. `whole`: whether all that was
    read so far can be read again; once there is no room it cannot.
    """

    def __init__(self, ahead: bytes, rest: Stream, again: Beside | None = None) -> None:
        import tempfile  # seldom needed, slow to load

        self._rest = rest
        with tempfile.TemporaryFile(prefix="loopscan-", buffering=0) as file:
            self._file = os.dup(file.fileno())  # a file object in a cycle may be found by the collector before this
        self._size = self._room = self._gap = self._next = 0
        self._again = again if hasattr(os, "posix_fallocate") else None  # else room may be gone when it is needed
        self.back = 0 if self._again is None else _BACK
        self._recent: Recent | None = None
        self._held: dict[int, bytes] = {}
        self._left = _LINES
        self.whole = True
        self._keep(memoryview(ahead))

    def look_back(self, recent: Recent | None) -> None:
        """What is in that buffer from now on is not written."""
        if recent is None:
            self._settle()
        elif self._again is not None and self.whole and recent.end == self._size:
            self._recent, self._gap = recent, self._size

    def read(self, size: int) -> bytes:
        """The next bytes."""
        self._settle()
        data = self._rest.read(size)
        self._keep(memoryview(data))
        return data

    def readinto(self, view: memoryview) -> int:
        """The next bytes, without a copy of them in memory."""
        size = self._rest.readinto(view)
        self._keep(view[:size])
        return size

    def _keep(self, data: memoryview) -> None:
        if not self.whole:
            return
        try:
            if self._size + len(data) > self._room:
                self._make_room(len(data))
            if self._recent is None:
                write_at(self._file, data, self._size)
            self._size += len(data)
        except OSError:
            self.whole = False
            self._settle()

    def _make_room(self, size: int) -> None:
        """Make room for more: a file system writes twice as fast to what it has set apart."""
        file, more = self._file, max(size, _STEP)
        room = os.fstatvfs(file)
        if room.f_bavail * room.f_frsize < self._room + more:
            raise OSError(errno.ENOSPC, "more than half of the room")
        if hasattr(os, "posix_fallocate"):
            os.posix_fallocate(file, self._room, more)
        self._room += more

    @property
    def holds(self) -> bool:
        """Whether lines may be held."""
        return self._recent is not None and self._left > 0

    def hold(self, places: list[int]) -> None:
        """Hold the lines at some places in memory, as far as they are there, and not long or very many."""
        recent = self._recent
        if recent is None:
            return
        first = recent.first
        for place in places:
            if place >= first and self._left > 0 and place not in self._held:
                line = recent.line_at(place, io.DEFAULT_BUFFER_SIZE)
                if line:
                    self._held[place] = line
                    self._left -= len(line)

    def close(self) -> None:
        """Nothing more comes: release memory and the file that was read."""
        self._settle()
        self._rest = Nothing()  # what unpacks it knows the input, which knows this
        if self._again is not None:
            self._again.release()

    def _settle(self) -> None:
        """Write what is in the buffer, and all that comes from now on."""
        recent, self._recent = self._recent, None
        if recent is None:
            return
        self._next, first = self._size, max(recent.first, self._gap)
        try:
            write_at(self._file, recent.bytes_at(first, self._size - first), first)
            self._next = first
        except OSError:
            self.whole = False
        if self._next == self._gap:
            self._again = None

    def _unpack(self) -> None:
        """Write what stands before that, too, unless the file has changed."""
        again, self._again, place = self._again, None, 0
        if again is None:
            return
        try:
            stream = unpacked_again(again)
            while place < self._next and (data := stream.read(min(_PIECE, self._next - place))):
                write_at(self._file, memoryview(data)[max(0, self._gap - place) :], max(self._gap, place))
                place += len(data)
            known = os.pread(self._file, min(_KNOWN, self._size - self._next), self._next)
            if place == self._next and _begins(stream, known):
                self._gap, self._held = self._next, {}
        except OSError:
            return

    def __del__(self) -> None:
        if hasattr(self, "_file"):
            os.close(self._file)

    def at(self, place: int, size: int) -> bytes:
        """Some bytes of it. Raises OSError."""
        size = max(0, min(size, self._size - place))
        if place in self._held:
            return self._held[place][:size]
        if self._recent is not None and place >= self._gap:
            if place >= self._recent.first:
                return self._recent.bytes_at(place, size)
            self._settle()
        if self._gap <= place < self._next:
            self._unpack()
            if place >= self._gap:
                raise OSError(errno.ESTALE, "changed since it was read")
        if place < self._gap and (self._recent is not None or self._gap < self._next):
            size = min(size, self._gap - place)
        return os.pread(self._file, size, place)

    def open(self, mode: str = "rb") -> BinaryIO:
        """All of it from its beginning on, as a file of its own."""
        return cast(BinaryIO, io.BufferedReader(_Again(self)))


def _begins(stream: Stream, known: bytes) -> bool:
    """Whether a stream goes on with those bytes."""
    while known and (data := stream.read(len(known))):
        if not known.startswith(data):
            return False
        known = known[len(data) :]
    return not known


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
