"""A usual turn in the window without its content, which is read again from the log if somebody asks for it."""

from __future__ import annotations

import errno
import os
from collections import deque
from collections.abc import Callable
from pathlib import Path
from typing import Any, BinaryIO, ClassVar, Final

from loopscan.copied import Copied
from loopscan.decode import FAST_ERRORS
from loopscan.model import JSON, MISSING, Call
from loopscan.row import Plain, Row

Marks = tuple[int, int, int]

BYTE: Final = 255
_OPEN: Final = 16
"""Files that are held open to be read again."""


class Source:
    """A log, or a copy of one, whose lines can be read again; `identity`: device and inode of the file."""

    __slots__ = ("_decode", "_file", "_identity", "_path")
    _open: ClassVar[deque[Source]] = deque()

    def __init__(
        self, path: Path | Copied, decode: Callable[[bytes], Row], identity: tuple[int, int] | None = None
    ) -> None:
        self._path, self._decode, self._identity = path, decode, identity
        self._file: BinaryIO | None = None

    def row(self, place: int) -> Row | None:
        """The row at a place; None where it is no longer there."""
        try:
            file = self._file or self._opened()
            file.seek(place)
            return self._decode(file.readline())
        except (OSError, *FAST_ERRORS):
            return None

    def line(self, place: int) -> bytes:
        """The line at a place; empty where it is no longer there."""
        try:
            file = self._file or self._opened()
            file.seek(place)
            return b"" if self._decode is _gone else file.readline()
        except OSError:
            return b""

    def _opened(self) -> BinaryIO:
        self.close_all(_OPEN - 1)
        file = self._file = self._path.open("rb")
        self._open.append(self)
        if self._identity is not None:
            status = os.fstat(file.fileno())
            if self._identity != (status.st_dev, status.st_ino):
                self._decode = _gone
        return file

    @classmethod
    def close_all(cls, but: int = 0) -> None:
        """Release the files opened first, until `but` are left; they are opened again when they are needed."""
        while len(cls._open) > but:
            cls._open.popleft().close()

    def close(self) -> None:
        """Release the file."""
        if self._file is not None:
            self._file.close()
            self._file = None


def _gone(line: bytes) -> Row:
    """No row of a file that was put in the place of the log."""
    raise OSError(errno.ESTALE, "replaced")


def marks_of(result: str) -> Marks:
    """What is held of a result (`Late`)."""
    return hash(result[:8]) & BYTE, hash(result[-10:]) & BYTE, len(result) & BYTE


class Late(Plain, gc=False):
    """A usual turn without its content.

    `head`, `tail`: of the hashes of the first 8 and the last 10 characters of its result, `size`: of the number of all
    of them, the last byte: enough to tell nearly all results apart, and nothing to hold.
    """

    ident: Any
    turn: int
    source: Source
    place: int
    head: int
    tail: int
    size: int
    before: Any = None
    key: Any = None
    rough: int | None = None
    made: list[Call] | None = None

    @property
    def error(self) -> bool:
        """No failure."""
        return False

    @property
    def args(self) -> Any:
        """The arguments of its call."""
        return self.calls[0].args

    @property
    def marks(self) -> Marks:
        """What is known of its result."""
        return self.head, self.tail, self.size

    @property
    def calls(self) -> list[Call]:
        """Its call; one that equals nothing where the log has changed since."""
        if self.made is None:
            row: Row = self.source.row(self.place)
            result: JSON = None if row is None else row.result
            if type(result) is str and self.marks == marks_of(result):
                self.made = [Call(row.name, row.args, result)]
            else:
                self.made = [Call("", None, MISSING)]
        return self.made
