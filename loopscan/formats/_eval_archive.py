"""The samples in an Inspect `.eval` archive: a zip whose members are deflated or, since 2025, compressed with zstd.

Python reads zstd members from version 3.14 on; before that `backports.zstd` brings the same code.
"""

from __future__ import annotations

import io
import os
import struct
import zipfile
import zlib
from collections.abc import Iterator
from typing import BinaryIO, Final

from loopscan import decode
from loopscan.blob import Blob
from loopscan.compression import zstd_module
from loopscan.formats._beside import LIMIT
from loopscan.formats._fields import mapping
from loopscan.model import JSON
from loopscan.skips import Skips
from loopscan.stop import STOP

_ZSTD: Final = 93
_RATIO: Final = 1000
"""Members that unpack to this many times the size of the whole archive, beyond LIMIT, are no log but a bomb."""
_DAMAGE: Final = (zipfile.BadZipFile, zlib.error, OSError, EOFError, ValueError, RuntimeError, struct.error)


class _NeedsZstd(Exception):
    """The archive has zstd members and there is nothing to read them with."""


def is_archive(raw: bytes) -> bool:
    """Whether bytes begin a zip of this layout; its first member tells."""
    if raw[:4] != b"PK\x03\x04":
        return False
    name = raw[30 : 30 + int.from_bytes(raw[26:28], "little")]
    return name.startswith((b"_journal/", b"samples/", b"header.json"))


def samples(blob: Blob, skips: Skips) -> Iterator[tuple[int, dict[str, JSON], dict[str, JSON]]]:
    """Number, log (without samples) and sample of every member that holds one. Damage is a skip, never raised."""
    if blob.path is None:
        skips.add(blob.name, None, "an archive cannot be read from a pipe: name the .eval file")
        return
    try:
        with blob.path.open("rb") as file, zipfile.ZipFile(file) as archive:
            yield from _Archive(blob.name, file, archive, skips).samples()
    except _NeedsZstd:
        skips.add(blob.name, None, "zstd members: install backports.zstd, or use Python 3.14")
    except _DAMAGE as err:
        skips.add(blob.name, None, f"damaged archive: {err}")


class _Archive:
    """An open archive."""

    def __init__(self, name: str, file: BinaryIO, archive: zipfile.ZipFile, skips: Skips) -> None:
        self._name, self._file, self._archive, self._skips = name, file, archive, skips
        self._size, self._given = os.fstat(file.fileno()).st_size, 0
        self._members = {info.filename: info for info in archive.infolist()}

    def samples(self) -> Iterator[tuple[int, dict[str, JSON], dict[str, JSON]]]:
        log = self._log()
        for number, name in enumerate(self._members, 1):
            if STOP.asked:
                return
            if not name.startswith("samples/") or not name.endswith(".json"):
                continue
            if name.count("/") == 1:
                if sample := self._document(name):
                    yield number, log, sample
            elif name.endswith("/sample.json"):
                place = f"{self._name}:{name}"
                self._skips.add(place, None, "sample in chunks: rewrite the log with inspect log convert")

    def _log(self) -> dict[str, JSON]:
        """The head of the log; a run that crashed has only the journal's."""
        if "header.json" in self._members:
            return self._document("header.json")
        start = self._document("_journal/start.json") if "_journal/start.json" in self._members else {}
        return {**start, "status": "started"}

    def _document(self, name: str) -> dict[str, JSON]:
        try:
            return mapping(decode.loads(self._bytes(self._members[name])))
        except (decode.BadJSON, *_DAMAGE) as err:
            self._skips.add(f"{self._name}:{name}", None, f"unreadable member: {err}")
            return {}

    def _bytes(self, info: zipfile.ZipInfo) -> bytes:
        self._given += info.file_size
        if info.file_size > LIMIT:
            raise ValueError(f"{info.file_size:,} bytes are too many for a sample")
        if self._given > max(LIMIT, _RATIO * self._size):
            raise ValueError(f"the archive unpacks to more than {_RATIO:,} times its size")
        if info.compress_type != _ZSTD:
            return self._archive.read(info)
        zstd = zstd_module()
        if zstd is None:
            raise _NeedsZstd
        self._file.seek(info.header_offset)
        names = struct.unpack("<HH", self._file.read(30)[26:30])
        self._file.seek(sum(names), io.SEEK_CUR)
        packed = io.BytesIO(self._file.read(info.compress_size))
        try:
            with zstd.open(packed) as stream:
                data: bytes = stream.read(info.file_size)
        except zstd.ZstdError as err:
            raise ValueError(str(err)) from None
        return data
