"""Compressed streams, told by content: gzip, zstd, and either inside either."""

from __future__ import annotations

import zlib
from collections.abc import Callable
from functools import partial
from importlib import import_module
from types import ModuleType
from typing import Any, Final, Protocol

from loopscan.stream import Ahead, Fault, Nothing, Recoded, Stream

_LAYERS: Final = 3
_PIECE: Final = 1 << 16
_SWIFT_PIECE: Final = 1 << 18
_RATIO: Final = 1000
_FREE: Final = 1 << 28
"""Bytes that may come out at any ratio; beyond, a file that unpacks to `_RATIO` times its size is no log."""
_GZIP: Final = b"\x1f\x8b"
_UNKNOWN: Final = 0xE0
"""Flags of a gzip header that have no meaning, which ISA-L takes no notice of."""
_ZSTD: Final = b"\x28\xb5\x2f\xfd"
_MARKS: Final = (
    (b"\xff\xfe\x00\x00", "utf-32"),
    (b"\x00\x00\xfe\xff", "utf-32"),
    (b"\xff\xfe", "utf-16"),
    (b"\xfe\xff", "utf-16"),
)


def unpacked(stream: Stream, fault: Fault, again: Callable[[], Stream] | None = None) -> tuple[Stream, bytes, bool]:
    """The stream of text behind compression and UTF-16; bytes already taken from it; whether it was compressed.

    What cannot be unpacked is a fault, and the stream is empty. `again`: the stream from its beginning, where it can be
    read twice.
    """
    for layer in range(_LAYERS):
        magic = _taken(stream, 4)
        whole: Stream = Ahead(magic, stream)
        if magic[:2] == _GZIP:
            stream = _gunzipped(whole, magic, fault, None if layer else again)
        elif magic == _ZSTD:
            zstd = zstd_module()
            if zstd is None:
                fault("compressed with zstd: install backports.zstd, or use Python 3.14")
                return Nothing(), b"", True
            stream = Unpacked(whole, zstd.ZstdDecompressor, fault, zstd.ZstdError)
        elif encoding := _encoding(magic):
            return Recoded(whole, encoding), b"", layer > 0
        else:
            return stream, magic, layer > 0
    fault(f"compressed {_LAYERS} times or more")
    return Nothing(), b"", True


def _gunzipped(whole: Stream, magic: bytes, fault: Fault, again: Callable[[], Stream] | None) -> Stream:
    if again is not None and len(magic) == 4 and not magic[3] & _UNKNOWN:
        swift = swift_module()
        if swift is not None:
            return Swift(whole, again, swift, fault)
    return Unpacked(whole, _Gzip, fault)


def _taken(stream: Stream, size: int) -> bytes:
    taken = b""
    while len(taken) < size and (more := stream.read(size - len(taken))):
        taken += more
    return taken


def _encoding(magic: bytes) -> str | None:
    """UTF-16 or UTF-32 by its byte order mark, or by how JSON begins in it."""
    for mark, encoding in _MARKS:
        if magic.startswith(mark):
            return encoding
    if magic[:2] in (b"{\x00", b"[\x00") and magic[3:4] == b"\x00":
        return "utf-16-le"
    return "utf-16-be" if magic[:2] in (b"\x00{", b"\x00[") and magic[2:3] == b"\x00" else None


def swift_module() -> ModuleType | None:
    """ISA-L's gzip of the `fast` extra, about three times as fast as zlib."""
    try:
        return import_module("isal.igzip_lib")
    except ImportError:
        return None


def zstd_module() -> ModuleType | None:
    """The zstd module of Python 3.14, or the same from PyPI."""
    for name in ("compression.zstd", "backports.zstd"):
        try:
            return import_module(name)
        except ImportError:
            continue
    return None


class _Decoder(Protocol):
    """One compressed member, as the `bz2`, `lzma` and `zstd` modules have it."""

    eof: bool
    unused_data: bytes
    needs_input: bool

    def decompress(self, data: bytes, max_length: int) -> bytes:
        """At most so many bytes of what comes out."""


class _Gzip:
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

    def __init__(
        self, packed: Stream, new: Any, fault: Fault, error: type[Exception] = EOFError, piece: int = _PIECE
    ) -> None:
        self._packed, self._new, self._fault, self._piece = packed, new, fault, piece
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
                if self._given > _FREE and self._given > _RATIO * self._taken:
                    self._end(f"unpacks to more than {_RATIO:,} times its size: no log does")
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
        data = self._packed.read(self._piece)
        self._taken += len(data)
        return data


class Swift(Stream):
    """What comes out of gzip by ISA-L. It drops what stands just before damage: then zlib unpacks all of it again."""

    def __init__(self, packed: Stream, again: Callable[[], Stream], swift: ModuleType, fault: Fault) -> None:
        new = partial(swift.IgzipDecompressor, flag=swift.DECOMP_GZIP)
        self._inner = Unpacked(packed, new, self._fail, swift.IsalError, _SWIFT_PIECE)
        self._again, self._fault = again, fault
        self._failed = False
        self._given = 0

    def _fail(self, reason: str) -> None:
        self._failed = True

    def read(self, size: int) -> bytes:
        """The next bytes."""
        data = self._inner.read(size)
        if not data and self._failed:
            self._failed = False
            self._inner = Unpacked(self._again(), _Gzip, self._fault)
            while self._given and (known := self._inner.read(min(self._given, _SWIFT_PIECE))):
                self._given -= len(known)
            data = self._inner.read(size)
        self._given += len(data)
        return data
