"""What comes out of a compressed stream, to the byte before damage."""

from __future__ import annotations

import zlib
from typing import Any, Final, Protocol

from loopscan.stream import Fault, Stream

RATIO: Final = 1000
FREE: Final = 1 << 28
"""Bytes that may come out at any ratio; beyond, a file that unpacks to `RATIO` times its size is no log."""
_PIECE: Final = 1 << 16


class _Decoder(Protocol):
    """One compressed member, as the `bz2`, `lzma` and `zstd` modules have it."""

    eof: bool
    unused_data: bytes
    needs_input: bool

    def decompress(self, data: bytes, max_length: int) -> bytes:
        """At most so many bytes of what comes out."""


class Gzip:
    """zlib's decompressor with the manners of the others; it keeps what comes out before damaged data."""

    def __init__(self) -> None:
        self._inner = zlib.decompressobj(31)
        self._damage: zlib.error | None = None
        self.eof, self.unused_data, self.needs_input = False, b"", True

    def decompress(self, data: bytes, max_length: int) -> bytes:
        """At most so many bytes (more, once, before damage) of what comes out. Raises zlib.error when no more does."""
        if self._damage is not None:
            raise self._damage
        data = self._inner.unconsumed_tail + data
        before = self._inner.copy()
        try:
            out = self._inner.decompress(data, max_length)
        except zlib.error as err:
            self._damage, self.needs_input = err, False
            return _before_damage(before, data)
        self.eof, self.unused_data = self._inner.eof, self._inner.unused_data
        self.needs_input = not self._inner.unconsumed_tail and len(out) < max_length
        return out


def _before_damage(inner: Any, data: bytes, piece: int = 256) -> bytes:
    """What comes out of data up to the damage in it, to the byte."""
    out = []
    for i in range(0, len(data), piece):
        ahead = inner.copy()
        try:
            out.append(ahead.decompress(data[i : i + piece]))
        except zlib.error:
            return b"".join(out) + (_before_damage(inner, data[i : i + piece], 1) if piece > 1 else b"")
        inner = ahead
    return b"".join(out)


class Unpacked(Stream):
    """What comes out of a compressed stream, member after member. Damage, a cut and a bomb are faults, and its end."""

    def __init__(self, packed: Stream, new: Any, fault: Fault, error: type[Exception] = EOFError) -> None:
        self._packed, self._new, self._fault = packed, new, fault
        self._errors = (zlib.error, EOFError, error)
        self._decoder: _Decoder = new()
        self._over = False
        self._taken = self._given = 0

    def read(self, size: int) -> bytes:
        """The next bytes."""
        while not self._over:
            try:
                data = self._step(size)
            except self._errors as err:
                self._end(f"compressed data is damaged or cut short: {err}")
                break
            if data:
                self._given += len(data)
                if self._given > FREE and self._given > RATIO * self._taken:
                    self._end(f"unpacks to more than {RATIO:,} times its size: no log does")
                return data
        return b""

    def _end(self, reason: str) -> None:
        self._over = True
        self._fault(reason)

    def _step(self, size: int) -> bytes:
        if self._decoder.eof:
            rest = self._decoder.unused_data.lstrip(b"\0")
            while not rest and (more := self._more()):
                rest = more.lstrip(b"\0")
            if not rest:
                self._over = True
                return b""
            self._decoder = self._new()
            return self._decoder.decompress(rest, size)
        data = self._more() if self._decoder.needs_input else b""
        if not data and self._decoder.needs_input:
            raise EOFError("it ends before its end mark")
        out = self._decoder.decompress(data, size)
        if not out and not data and not (self._decoder.needs_input or self._decoder.eof):
            raise EOFError("no more comes out of it")
        return out

    def _more(self) -> bytes:
        data = self._packed.read(_PIECE)
        self._taken += len(data)
        return data
