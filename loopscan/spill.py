"""Packed bytes that a scan has to keep but seldom looks at: in memory up to a limit, then in a file without a name."""

from __future__ import annotations

from typing import TYPE_CHECKING, BinaryIO, Final, cast

if TYPE_CHECKING:
    from loopscan.part import Part

ROOM: Final = 12 << 20
"""Bytes that are kept in memory."""


class Spill:
    """Keeps bytes. What `keep` returns is what `load` wants: the bytes themselves, or their place in the file.

    The file is gone with the last reference to the spill, or with the process.
    """

    __slots__ = ("_elsewhere", "_end", "_file", "_room")

    def __init__(self, room: int = ROOM) -> None:
        self._room, self._end = room, 0
        self._file: BinaryIO | None = None
        self._elsewhere = False

    def keep(self, data: bytes) -> bytes | int:
        """Keep bytes."""
        if self._room >= len(data):
            self._room -= len(data)
            return data
        return self._write(data)

    def keep_all(self, parts: list[Part]) -> None:
        """Keep the numbers of parts, which hold them."""
        left: list[Part] = []
        for part in parts:
            if self._room >= part.size:
                self._room -= part.size
            else:
                left.append(part)
        if left:
            place = self._write(b"".join([cast(bytes, part.kept) for part in left]))
            for part in left:
                part.kept = place
                place += part.size

    def take(self, data: bytes | memoryview) -> int:
        """The place of bytes in the file; -1 where they are to be kept in memory, by who keeps them."""
        if self._room >= len(data):
            self._room -= len(data)
            return -1
        return self._write(data)

    def _write(self, data: bytes | memoryview) -> int:
        if self._file is None:
            import tempfile  # seldom needed, slow to load

            self._file = cast(BinaryIO, tempfile.TemporaryFile(prefix="loopscan-"))  # noqa: SIM115 - lives as long as self
        if self._elsewhere:  # to seek is to write what is held
            self._file.seek(self._end)
            self._elsewhere = False
        self._file.write(data)
        place, self._end = self._end, self._end + len(data)
        return place

    def close(self) -> None:
        """Release the file."""
        if self._file is not None:
            self._file.close()
            self._file = None

    def load(self, kept: bytes | int, size: int) -> bytes:
        """The `size` bytes that were kept."""
        if isinstance(kept, bytes):
            return kept
        assert self._file is not None
        self._file.seek(kept)
        self._elsewhere = True
        return self._file.read(size)
