"""Compressed streams, told by content: gzip, zstd, and either inside either."""

from __future__ import annotations

from collections.abc import Callable
from importlib import import_module
from types import ModuleType
from typing import Final

from loopscan.stream import Ahead, Beside, Fault, Nothing, Recoded, Stream
from loopscan.swift import Swift, swift_module
from loopscan.unpack import Gzip, Unpacked

_LAYERS: Final = 3
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


def unpacked_again(file: Beside) -> Stream:
    """What `unpacked` makes of a file, from its beginning on. Raises OSError, as do its reads."""
    stream, ahead, _ = unpacked(file.anew(), lambda _: None, file.anew)
    return Ahead(ahead, stream)


def _gunzipped(whole: Stream, magic: bytes, fault: Fault, again: Callable[[], Stream] | None) -> Stream:
    if again is not None and len(magic) == 4 and not magic[3] & _UNKNOWN:
        swift = swift_module()
        if swift is not None:
            return Swift(whole, again, swift, fault)
    return Unpacked(whole, Gzip, fault)


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


def zstd_module() -> ModuleType | None:
    """The zstd module of Python 3.14, or the same from PyPI."""
    for name in ("compression.zstd", "backports.zstd"):
        try:
            return import_module(name)
        except ImportError:
            continue
    return None
