"""One input as bytes, lines and JSON values, and its beginning, by which the format is told."""

from __future__ import annotations

import io
import zlib
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import BinaryIO, Final

from loopscan import decode
from loopscan.compression import decompressed
from loopscan.errors import InputError
from loopscan.model import JSON
from loopscan.skips import Skips

BUFFER: Final = 1 << 20
_HEAD: Final = 1 << 18
_HEAD_LINES: Final = 60
_DOCUMENT_LIMIT: Final = 1 << 28


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
    """One input: its name as shown, its path if it has one, and its decompressed bytes, read once."""

    def __init__(self, name: str, path: Path | None = None, stream: BinaryIO | None = None) -> None:
        self.name = name
        self.path = path
        try:
            self._raw = stream if stream is not None else open(path or name, "rb", BUFFER)  # noqa: SIM115
            self._stream, self._ahead = decompressed(self._raw)
        except FileNotFoundError:
            raise InputError(f"{name}: no such file or folder") from None
        except OSError as err:
            raise InputError(f"{name}: cannot be read: {err.strerror or err}") from None
        self._read_head()
        self._head: Head | None = None

    def _read_head(self) -> None:
        """Take the first lines: enough of them, or (a long first line) at least one."""
        parts, size, lines = [self._ahead], len(self._ahead), self._ahead.count(b"\n")
        while (size < _HEAD or not lines) and lines <= _HEAD_LINES and size <= _DOCUMENT_LIMIT:
            chunk = self._chunk(_HEAD)
            if not chunk:
                break
            parts.append(chunk)
            size += len(chunk)
            lines += chunk.count(b"\n")
        self._ahead = b"".join(parts)

    def _chunk(self, size: int) -> bytes:
        try:
            return self._stream.read1(size) if isinstance(self._stream, io.BufferedReader) else self._stream.read(size)
        except (OSError, EOFError, zlib.error) as err:
            self.damage = f"compressed data is damaged or cut short: {err}"
            return b""

    damage: str | None = None
    """Set when the bytes end before they should (a cut .gz)."""

    @property
    def head(self) -> Head:
        """The first values, decoded once."""
        if self._head is None:
            self._head = self._sniffed()
        return self._head

    def _sniffed(self) -> Head:
        raw = self._ahead
        if raw.startswith(b"SQLite format 3\x00"):
            return Head(raw, [], False)
        values: list[JSON] = []
        lines = [ln for ln in raw.split(b"\n")[: _HEAD_LINES + 1] if ln.strip()]
        for i, line in enumerate(lines):
            try:
                values += decode.loads_all(line)
            except decode.BadJSON:
                if i == 0 and self._begins_document(raw, lines):
                    return Head(raw, self._document(), True)
        return Head(raw, values, False)

    def _begins_document(self, raw: bytes, lines: list[bytes]) -> bool:
        """Whether an input whose first line is no value is one value over many lines, and no damaged line log."""
        if raw.lstrip(b"\xef\xbb\xbf \t\r\n")[:1] not in (b"{", b"["):
            return False
        text = decode.text_of(raw)
        if not decode.may_begin(text):
            return False
        return len(lines) > 1 and not any(_is_object(line) for line in lines[1:] if line.startswith(b"{"))

    def _document(self) -> list[JSON]:
        """The values of an input in which one value spans several lines."""
        parts, size = [self._ahead], len(self._ahead)
        while size < _DOCUMENT_LIMIT and (chunk := self._chunk(1 << 24)):
            parts.append(chunk)
            size += len(chunk)
        self._ahead = b"".join(parts)
        values: list[JSON] = []
        try:
            for value in decode.iter_values(decode.text_of(self._ahead)):
                values.append(value)  # noqa: PERF402 - keep what was read before the damage
        except decode.BadJSON as err:
            self.damage = f"the JSON document is damaged or cut short: {err}"
        return values

    def lines(self) -> Iterator[tuple[int, bytes]]:
        """The non-empty lines with their numbers, from 1."""
        ahead, self._ahead = self._ahead, b""
        cut = ahead.rfind(b"\n") + 1
        n = 0
        for n, line in enumerate(ahead[:cut].split(b"\n")[:-1], 1):
            if line and not line.isspace():
                yield n, line
        rest = ahead[cut:]
        try:
            for line in self._stream:
                n += 1
                if rest:
                    line, rest = rest + line, b""
                if not line.isspace():
                    yield n, line
        except (OSError, EOFError, zlib.error) as err:
            self.damage = f"compressed data is damaged or cut short: {err}"
        if rest and not rest.isspace():
            yield n + 1, rest

    def values(self, skips: Skips) -> Iterator[tuple[int, JSON]]:
        """The JSON values with their line numbers (the ordinal of the value where one spans several lines).

        What is no JSON is a skip. Integers, surrogates and constants are read as `loopscan.decode` says.
        """
        head, self._head = self.head, None  # not held while the rest is read
        if head.document:
            yield from enumerate(head.values, 1)
        else:
            del head
            for number, line in self.lines():
                try:
                    value = decode.fast(line)
                except decode.FAST_ERRORS:
                    yield from self._second_tier(number, line, skips)
                else:
                    yield number, value
                    del value
        if self.damage:
            skips.add(self.name, None, self.damage)

    def _second_tier(self, number: int, line: bytes, skips: Skips) -> Iterator[tuple[int, JSON]]:
        try:
            for value in decode.iter_values(decode.text_of(line)):
                yield number, value
        except decode.BadJSON as err:
            skips.add(self.name, number, str(err))

    def position(self) -> int:
        """Bytes taken from the file so far, compressed ones where it is compressed; 0 where it does not say."""
        try:
            return self._raw.tell()
        except (OSError, ValueError):  # a pipe; a file that was closed meanwhile
            return 0

    def close(self) -> None:
        """Release the file."""
        self._stream.close()
        self._raw.close()

    def __enter__(self) -> Blob:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()


def _is_object(line: bytes) -> bool:
    try:
        return isinstance(decode.loads(line), dict)
    except decode.BadJSON:
        return False
