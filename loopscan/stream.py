"""Bytes of a file or a pipe: opened without hanging, read without raising."""

from __future__ import annotations

import codecs
import errno
import os
import select
import stat
import time
from abc import ABC, abstractmethod
from collections.abc import Callable
from typing import TYPE_CHECKING, BinaryIO, Final, Self, TypeVar, cast

from loopscan.stop import STOP

if TYPE_CHECKING:
    from loopscan.recent import Recent

CHUNK: Final = 1 << 17
PIPE_PATIENCE: Final = 2.0
"""Seconds to wait for somebody to write to a named pipe."""
_POLL: Final = 0.02

_T = TypeVar("_T")
_R = TypeVar("_R")

Fault = Callable[[str], None]
"""Takes the reason why the bytes end before they should."""


class Stream(ABC):
    """A source of bytes; b"" at its end, whatever the reason."""

    back = 0
    """Bytes that who reads it into a buffer is asked to leave there."""

    @abstractmethod
    def read(self, size: int) -> bytes:
        """The next bytes, at most `size` of them."""

    def readinto(self, view: memoryview) -> int:
        """The next bytes, as many as fit; how many they are."""
        data = self.read(len(view))
        view[: len(data)] = data
        return len(data)

    def look_back(self, recent: Recent | None) -> None:  # noqa: B027 - only a copy does
        """What is read from now on goes to that buffer; None: what is in it leaves it."""


class Plain(Stream):
    """A file as it is. A read that fails, or a scan that is stopped, is its end."""

    def __init__(self, raw: BinaryIO, fault: Fault, endless: bool) -> None:
        self._read: Callable[[int], bytes | None] = getattr(raw, "read1", raw.read)
        self._readinto: Callable[[memoryview], int | None] = getattr(raw, "readinto1", None) or raw.readinto  # type: ignore[attr-defined]
        self._fault, self._endless = fault, endless

    def read(self, size: int) -> bytes:
        """The next bytes."""
        return self._tried(self._read, size) or b""

    def readinto(self, view: memoryview) -> int:
        """The next bytes, without a copy of them."""
        return self._tried(self._readinto, view) or 0

    def _tried(self, read: Callable[[_T], _R], argument: _T) -> _R | None:
        if STOP.asked:
            return None
        try:
            STOP.waiting = self._endless
            return read(argument)
        except (OSError, ValueError) as err:
            self._fault(f"cannot be read further: {getattr(err, 'strerror', None) or err}")
        except KeyboardInterrupt:
            if not self._endless:
                raise
            STOP.asked = True
        finally:
            STOP.waiting = False
        return None


class Beside(Stream):
    """An open file from its beginning on, wherever it is read otherwise. Raises OSError.

    Once it is released it is opened anew, unless another one was put in its place.
    """

    def __init__(self, raw: BinaryIO, path: str | os.PathLike[str]) -> None:
        self._path, self._place, self._file = path, 0, os.dup(raw.fileno())
        self._identity = self._seen()

    def _seen(self) -> tuple[int, int]:
        status = os.fstat(self._file)
        return status.st_dev, status.st_ino

    def anew(self) -> Self:
        """The same from its beginning."""
        self._place = 0
        if self._file < 0:
            self._file = os.open(self._path, os.O_RDONLY | os.O_NONBLOCK)  # it may be a pipe by now
            if self._seen() != self._identity:
                raise OSError(errno.ESTALE, "replaced")
        return self

    def read(self, size: int) -> bytes:
        """The next bytes."""
        data = os.pread(self._file, size, self._place)
        self._place += len(data)
        return data

    def release(self) -> None:
        """Release the file."""
        if self._file >= 0:
            os.close(self._file)
            self._file = -1

    def __del__(self) -> None:
        if hasattr(self, "_file"):
            self.release()


class Written(Stream):
    """What of a file was written by now, and the rest of its last line: a log may grow as fast as it is read.

    `left`: bytes up to the place where the file ended when it was looked at.
    """

    def __init__(self, rest: Stream, left: int) -> None:
        self._rest, self._left = rest, left

    def read(self, size: int) -> bytes:
        """The next bytes."""
        data = self._rest.read(size)
        return data[: self._allowed(data, len(data))]

    def readinto(self, view: memoryview) -> int:
        """The next bytes, without a copy of them."""
        return self._allowed(view, self._rest.readinto(view))

    def _allowed(self, data: bytes | memoryview, size: int) -> int:
        """How many of the bytes that came belong to it."""
        if size <= self._left:
            self._left -= size
            return size
        if self._left < 0:
            return 0
        ends = bytes(data[max(0, self._left - 1) : size]).find(b"\n")
        if ends < 0:
            self._left = 0
            return size
        end, self._left = max(0, self._left - 1) + ends + 1, -1
        return end


class Nothing(Stream):
    """No bytes."""

    def read(self, size: int) -> bytes:
        """Nothing."""
        return b""


class Ahead(Stream):
    """Bytes already read, then the rest of their stream."""

    def __init__(self, ahead: bytes, rest: Stream) -> None:
        self._ahead, self._at, self._rest = ahead, 0, rest

    def read(self, size: int) -> bytes:
        """The next bytes."""
        if self._at >= len(self._ahead):
            self._ahead = b""
            return self._rest.read(size)
        data = self._ahead[self._at : self._at + size]
        self._at += len(data)
        return data

    def readinto(self, view: memoryview) -> int:
        """The next bytes, without a copy of them."""
        return super().readinto(view) if self._at < len(self._ahead) else self._rest.readinto(view)


class Recoded(Stream):
    """A stream of UTF-16 or UTF-32 as UTF-8; what is no text becomes U+FFFD."""

    def __init__(self, rest: Stream, encoding: str) -> None:
        self._rest, self._decoder = rest, codecs.getincrementaldecoder(encoding)("replace")

    def read(self, size: int) -> bytes:
        """The next bytes."""
        while True:
            data = self._rest.read(size)
            text = self._decoder.decode(data, final=not data)
            if text or not data:
                return text.encode("utf-8", "replace")


def opened(path: str | os.PathLike[str]) -> tuple[BinaryIO, bytes, bool]:
    """An open file, unbuffered; bytes already taken from it; whether it may have no end.

    Raises OSError, also for a pipe that nobody writes to.
    """
    mode = os.stat(path).st_mode
    if not stat.S_ISFIFO(mode):
        return _raw(path), b"", not stat.S_ISREG(mode)
    descriptor = os.open(path, os.O_RDONLY | os.O_NONBLOCK)
    try:
        ahead = _first(descriptor)
    except OSError:
        os.close(descriptor)
        raise
    os.set_blocking(descriptor, True)
    return _raw(descriptor), ahead, True


def written(raw: BinaryIO, stream: Stream) -> Stream:
    """The stream of an open file up to where it ends now."""
    try:
        status = os.fstat(raw.fileno())
        left = status.st_size - raw.tell()
    except (OSError, ValueError):
        return stream
    # Files of the system say that they hold nothing.
    return Written(stream, left) if stat.S_ISREG(status.st_mode) and left > 0 else stream


def _raw(file: str | os.PathLike[str] | int) -> BinaryIO:
    return cast(BinaryIO, open(file, "rb", 0))


def _first(descriptor: int) -> bytes:
    """What a pipe holds, b"" if its writer holds it back. Raises OSError when no writer comes."""
    poll = select.poll()
    poll.register(descriptor, select.POLLIN | select.POLLHUP)
    until = time.monotonic() + PIPE_PATIENCE
    while not poll.poll(0):
        try:
            data = os.read(descriptor, CHUNK)
        except BlockingIOError:  # there is a writer
            return b""
        if data:
            return data
        if time.monotonic() > until:
            raise OSError("nobody writes to this pipe")
        time.sleep(_POLL)
    return b""
