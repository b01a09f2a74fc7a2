"""Compressed inputs, told by content."""

from __future__ import annotations

import gzip
import io
from typing import BinaryIO, Final

BUFFER: Final = 1 << 20


def decompressed(raw: BinaryIO) -> tuple[BinaryIO, bytes]:
    """The stream behind any compression, told by content, and the bytes already taken from it."""
    magic = b""
    while len(magic) < 4 and (more := raw.read(4 - len(magic))):
        magic += more
    if magic[:2] == b"\x1f\x8b":
        joined = io.BufferedReader(_Joined(magic, raw), BUFFER)
        return io.BufferedReader(gzip.GzipFile(fileobj=joined), BUFFER), b""
    return raw, magic


class _Joined(io.RawIOBase):
    """Bytes already read, then the rest of a stream that cannot seek."""

    def __init__(self, ahead: bytes, rest: BinaryIO) -> None:
        self._ahead, self._rest = ahead, rest

    def readable(self) -> bool:
        return True

    def readinto(self, buffer: bytearray | memoryview) -> int:  # type: ignore[override]
        data = self._ahead[: len(buffer)] if self._ahead else self._rest.read(len(buffer))
        self._ahead = self._ahead[len(data) :]
        buffer[: len(data)] = data
        return len(data)
