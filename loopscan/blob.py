"""One input as bytes, lines and JSON values, and its beginning, by which the format is told."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import BinaryIO, Final, Self

from loopscan import decode
from loopscan.blocks import Blocked, blocks
from loopscan.compression import unpacked
from loopscan.copied import Copied
from loopscan.document import begins, values_of
from loopscan.errors import InputError
from loopscan.lines import LINE_LIMIT, placed
from loopscan.model import JSON
from loopscan.rescue import rescued
from loopscan.skips import Skips
from loopscan.stream import CHUNK, Ahead, Beside, Plain, Stream, opened, written

VALUE_LIMIT: Final = 1 << 28
"""Bytes of the longest document, one JSON value over a whole input, that is read."""
DATABASE: Final = b"SQLite format 3\x00"
_ENDLESS: Final = 1 << 28
"""Bytes without a value after which a pipe, a device or a compressed file is read no further."""
_PATIENCE: Final = 1 << 34
"""The same for a plain file, which has an end."""
_HEAD: Final = 1 << 18
_HEAD_LINES: Final = 60


@dataclass(slots=True)
class Head:
    """The beginning of an input, for sniffing: the values of its first lines, or its documents.

    `document` is true where one JSON value spans several lines (pretty-printed or concatenated values).
    """

    raw: bytes
    values: list[JSON]
    document: bool

    @property
    def first(self) -> dict[str, JSON]:
        """The first value if it is an object, else an empty dict."""
        return self.values[0] if self.values and isinstance(self.values[0], dict) else {}

    @property
    def objects(self) -> list[dict[str, JSON]]:
        """Those of the values that are objects."""
        return [v for v in self.values if isinstance(v, dict)]


class Blob:
    """One input: its name as shown, its path if it has one, and its decompressed bytes, read once.

    `damage` is set when the bytes or the document end before they should.
    """

    damage: str | None
    _line: int | None
    at: int | None = None
    """The line whose turns are given out, where a reader says so."""

    def __init__(self, name: str, path: Path | None = None, stream: BinaryIO | None = None) -> None:
        self.name, self.path = name, path
        self.damage, self._line = None, None
        try:
            self._raw, ahead, endless = (stream, b"", True) if stream is not None else opened(path or name)
        except FileNotFoundError:
            raise InputError(f"{name}: no such file or folder") from None
        except (OSError, ValueError) as err:
            raise InputError(f"{name}: cannot be read: {getattr(err, 'strerror', None) or err}") from None
        self._endless = endless
        plain = written(self._raw, Plain(self._raw, self._fault, endless))
        again = None if endless else self._again
        self._stream, self._ahead, packed = unpacked(Ahead(ahead, plain) if ahead else plain, self._fault, again)
        self._patience = _ENDLESS if endless or packed else _PATIENCE
        self.plain = path is not None and self._stream is plain and not endless
        """Whether the bytes are those of a file, which can be read again."""
        self._read_head()
        self._head: Head | None = None
        self._junk = 0

    def _fault(self, reason: str) -> None:
        self.damage = self.damage or reason

    def _again(self) -> Stream:
        self._raw.seek(0)
        return written(self._raw, Plain(self._raw, self._fault, False))

    def _read_head(self) -> None:
        """Take the first lines that are not blank: enough of them, or (a long first line) at least one."""
        parts, size, lines = [self._ahead], len(self._ahead), 0
        while (size < _HEAD or not lines) and lines <= _HEAD_LINES and size <= VALUE_LIMIT:
            chunk = self._stream.read(_HEAD)
            if not chunk:
                break
            parts.append(chunk)
            size += len(chunk)
            lines += 0 if chunk.isspace() else chunk.count(b"\n")
        self._ahead = b"".join(parts)

    @property
    def head(self) -> Head:
        """The first values, decoded once."""
        if self._head is None:
            self._head = self._sniffed()
        return self._head

    def _sniffed(self) -> Head:
        raw = self._ahead
        if raw.startswith(DATABASE):
            return Head(raw, [], False)
        begin = 0
        if len(raw) > LINE_LIMIT:  # a first line that is, or is to be passed over
            begin = raw.find(b"\n", 0, -1) + 1
            if not begin:
                alone = len(raw) <= VALUE_LIMIT and self._at_end()
                return Head(raw, self._document() if alone else [], alone)
        values: list[JSON] = []
        lines = [ln for ln in raw[begin:].lstrip().split(b"\n", _HEAD_LINES + 1)[: _HEAD_LINES + 1] if ln.strip()]
        for i, line in enumerate(lines):
            try:
                values += decode.loads_all(line)
            except decode.BadJSON:
                if i == 0 and not begin and begins(raw, lines, self._at_end):
                    return Head(raw, self._document(), True)
        return Head(raw, values, False)

    def _at_end(self) -> bool:
        more = self._stream.read(CHUNK)
        self._ahead += more
        return not more

    def _document(self) -> list[JSON]:
        """The values of an input in which one value spans several lines; of a damaged one what is whole."""
        parts, size = [self._ahead], len(self._ahead)
        while size < VALUE_LIMIT and (chunk := self._stream.read(CHUNK)):
            parts.append(chunk)
            size += len(chunk)
        self._ahead = b"".join(parts)
        if size >= VALUE_LIMIT:
            self._fault(f"more than {VALUE_LIMIT:,} bytes are too many for one JSON value")
        values, damage = values_of(self._ahead)
        if damage is not None:
            self._fault(damage.reason)
            self._line = damage.line
        return values

    def lines(self, skips: Skips) -> Iterator[tuple[int, bytes]]:
        """The lines that are not blank with their numbers, from 1. One that is too long is a skip."""
        return ((number, line) for number, _, line in self.placed(skips))

    def placed(self, skips: Skips) -> Iterator[tuple[int, int, bytes]]:
        """The same with the place of each among the bytes; -1 where it is not known."""
        ahead, self._ahead, self._head = self._ahead, b"", None  # not held while the rest is read
        return placed(ahead, self._stream, self._too_long(skips), self._patience)

    def blocks(self, skips: Skips) -> Blocked:
        """The same as blocks of whole lines."""
        ahead, self._ahead, self._head = self._ahead, b"", None
        return blocks(ahead, self._stream, self._too_long(skips), self._patience)

    def copied(self) -> Copied | None:
        """From now on all of it is copied as it is read; None where it can be read again itself, or not be copied."""
        if self.plain:
            return None
        try:
            again = None if self._endless else Beside(self._raw, self.path or self.name)
            copy = Copied(self._ahead, self._stream, again)
        except OSError:
            return None
        self._stream = copy
        return copy

    def _too_long(self, skips: Skips) -> Callable[[int], None]:
        def too_long(number: int) -> None:
            skips.add(self.name, number, f"line too long: more than {LINE_LIMIT:,} bytes")

        return too_long

    def values(self, skips: Skips) -> Iterator[tuple[int, JSON]]:
        """The JSON values with their line numbers (the ordinal of the value where one spans several lines).

        What is no JSON is a skip. Integers, surrogates and constants are read as `loopscan.decode` says.
        """
        head, self._head = self.head, None
        if head.document:
            yield from enumerate(head.values, 1)
        else:
            del head
            junk = 0
            lines = self.lines(skips)
            for number, line in lines:
                try:
                    value = decode.fast(line)
                except decode.FAST_ERRORS:
                    junk += len(line)
                    if junk > self._patience:
                        self._fault(f"no JSON in {junk:,} bytes: not read further")
                        break
                    yield from rescued(self.name, (number, line), lines, skips)
                else:
                    junk = 0
                    yield number, value
                    del value
        self.tell_damage(skips)

    def rescued(
        self, number: int, line: bytes, lines: Iterator[tuple[int, bytes]], skips: Skips
    ) -> Iterator[tuple[int, JSON]]:
        """The values of one of `lines`, of whatever shape, for a reader that decodes its usual lines itself."""
        try:
            yield number, decode.fast(line)
            return
        except decode.FAST_ERRORS:
            pass
        self._junk += len(line)
        if self._junk > self._patience:
            self._fault(f"no JSON in {self._junk:,} bytes: not read further")
            return
        yield from rescued(self.name, (number, line), lines, skips)

    def tell_damage(self, skips: Skips) -> None:
        """Count it as a skip when the bytes ended before they should."""
        if self.damage:
            skips.add(self.name, self._line, self.damage)

    def position(self) -> int:
        """Bytes taken from the file so far, compressed ones where it is compressed; 0 where it does not say."""
        try:
            return self._raw.tell()
        except (OSError, ValueError):  # a pipe; a file that was closed meanwhile
            return 0

    def identity(self) -> tuple[int, int] | None:
        """Device and inode of the file that was opened; None where it is none."""
        try:
            status = os.fstat(self._raw.fileno())
        except (OSError, ValueError):
            return None
        return status.st_dev, status.st_ino

    def close(self) -> None:
        """Release the file."""
        if isinstance(self._stream, Copied):
            self._stream.close()
        self._raw.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()
