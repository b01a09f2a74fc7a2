"""What comes out of gzip, by ISA-L where that is installed."""

from __future__ import annotations

import io
import zlib
from collections.abc import Callable
from importlib import import_module
from types import ModuleType
from typing import Any, Final

from loopscan.stream import Fault, Stream
from loopscan.unpack import FREE, RATIO, Gzip, Unpacked

_PIECE: Final = 1 << 18


def swift_module() -> ModuleType | None:
    """ISA-L's gzip of the `fast` extra, about three times as fast as zlib."""
    try:
        module = import_module("isal.isal_zlib")
    except ImportError:
        return None
    return module if hasattr(module, "_GzipReader") else None  # what its `igzip` is made of


class _Taken(io.RawIOBase):
    """A compressed stream as a file, and how many bytes were taken from it."""

    def __init__(self, packed: Stream) -> None:
        self._packed, self.taken = packed, 0

    def readable(self) -> bool:
        return True

    def readinto(self, buffer: Any) -> int:
        size = self._packed.readinto(memoryview(buffer))
        self.taken += size
        return size


class Swift(Stream):
    """What comes out of gzip by ISA-L. It drops what stands just before damage: then zlib unpacks all of it again."""

    def __init__(self, packed: Stream, again: Callable[[], Stream], swift: ModuleType, fault: Fault) -> None:
        self._packed = _Taken(packed)
        self._inner = swift._GzipReader(self._packed, _PIECE)
        self._errors = (zlib.error, EOFError, OSError, swift.error)
        self._again, self._fault = again, fault
        self._slow: Stream | None = None
        self._given = 0

    def read(self, size: int) -> bytes:
        """The next bytes."""
        buffer = bytearray(size)
        return bytes(buffer[: self.readinto(memoryview(buffer))])

    def readinto(self, view: memoryview) -> int:
        """The next bytes, without a copy of them."""
        if self._slow is None:
            try:
                size: int = self._inner.readinto(view)
            except self._errors:
                self._slow = self._anew()
            else:
                self._gave(size)
                return size
        return self._slow.readinto(view)

    def _gave(self, size: int) -> None:
        self._given += size
        if self._given > FREE and self._given > RATIO * self._packed.taken:
            self._slow = self._anew()

    def _anew(self) -> Stream:
        """All that was not given out yet."""
        slow = Unpacked(self._again(), Gzip, self._fault)
        while self._given and (known := slow.read(min(self._given, _PIECE))):
            self._given -= len(known)
        return slow
