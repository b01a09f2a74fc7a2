"""Where a big file can be cut so that its parts are read at once: between lines that stand for themselves."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any, BinaryIO, Final

from loopscan import decode
from loopscan.blob import Head
from loopscan.decode import FAST_ERRORS
from loopscan.errors import InputError
from loopscan.formats import detect, load
from loopscan.formats._native_rows import Rows, rows_of
from loopscan.scan import Inputs
from loopscan.source import Input, open_input

LEAST: Final = 4 << 20
"""Bytes of a part."""
SAMPLES: Final = 24
SAMPLE: Final = 1 << 16
"""How many places of a native log are looked at for the runs that stand there, and bytes of each."""
STRETCH: Final = 4
"""A native log is cut where runs that stand at several places take up at most one in so many of the spaces between."""
_LONGEST: Final = 1 << 24
"""Bytes within which a line must end for a cut."""


def all_cuts(items: list[Input], sizes: list[int], inputs: Inputs) -> dict[int, list[int]]:
    """The cuts of the inputs that are so big that one process would be left alone with them.

    With no cut, of other big native logs too: their runs may go on in the next one.
    """
    share = sum(sizes) // (2 * inputs.jobs)
    big = [n for n, size in enumerate(sizes) if size >= 2 * LEAST]
    found = {n: cuts(items[n], sizes[n], 2 * inputs.jobs if sizes[n] > share else 1, inputs) for n in big}
    return {n: places for n, places in found.items() if places is not None}


def all_legs(
    items: list[Input], sizes: list[int], inputs: Inputs, cut: Mapping[int, list[int]]
) -> dict[int, list[int]]:
    """The places where others of such inputs can be read from, each of one long run (`loopscan.relay`), 0 first."""
    share = sum(sizes) // (2 * inputs.jobs)
    big = [n for n, size in enumerate(sizes) if size > share and size >= 2 * LEAST and n not in cut]
    found = {n: _legs(items[n], sizes[n], 2 * inputs.jobs, inputs) for n in big}
    return {n: places for n, places in found.items() if len(places) > 1}


def _legs(item: Input, size: int, parts: int, inputs: Inputs) -> list[int]:
    head = None if inputs.field_map or inputs.format not in (None, "loopscan") else _head(item)
    rows = None if head is None else rows_of(head)
    first = None if head is None else row_of(rows, head.raw.split(b"\n", 1)[0])
    if head is None or first is None or rows is None or (inputs.format or detect(head)) != "loopscan":
        return []
    try:
        with open(item.path, "rb") as file:
            met = {run for k in range(SAMPLES) for run in _runs_at(rows, file, size * k // SAMPLES)}
            return sorted({0, *_places(file, size, parts)}) if met <= {first.run} else []
    except OSError:
        return []


def row_of(rows: Rows | None, line: bytes) -> Any:
    """A line as a row (`loopscan.formats._native_rows.Row`); None where it is not as most lines of its log are."""
    if rows is None:
        return None
    try:
        return rows.decode(line)
    except FAST_ERRORS:
        return None


def cuts(item: Input, size: int, parts: int, inputs: Inputs) -> list[int] | None:
    """The bytes at which the 2nd, 3rd … part of a file begins; None where it is to be read as a whole."""
    head = None if inputs.field_map else _head(item)
    name = None if head is None else inputs.format or detect(head)
    if head is None or name is None:
        return None
    try:
        with open(item.path, "rb") as file:
            if not _is_cuttable(name, head, file, size if parts > 1 else 0):
                return None
            found = _places(file, size, parts)
    except OSError:
        return None
    return sorted(found) if found or parts == 1 else None


def _places(file: BinaryIO, size: int, parts: int) -> set[int]:
    """Where the 2nd, 3rd … of some parts begin."""
    count = min(parts, size // LEAST)
    return {place for k in range(1, count) if (place := _line_after(file, size * k // count)) is not None}


def _head(item: Input) -> Head | None:
    """The beginning of a plain file of lines."""
    try:
        with open(item.path, "rb") as file:
            if not _has_lines(file):
                return None
        with open_input(item) as blob:
            return None if blob.head.document or not blob.plain else blob.head
    except (InputError, OSError):
        return None


def _has_lines(file: BinaryIO) -> bool:
    """Whether the first line of a file is a value."""
    line = file.readline(_LONGEST)
    if line[:1] not in (b"{", b"["):
        return False
    try:
        decode.fast(line)
    except FAST_ERRORS:
        return False
    return line.endswith(b"\n")


def _is_cuttable(name: str, head: Head, file: BinaryIO, size: int) -> bool:
    """Whether what comes of parts is what comes of the file. `size` 0: it is not cut, only read like a part."""
    if name == "loopscan":
        rows = rows_of(head)
        return rows is not None and not rows.anonymous and (not size or _goes_by(rows, file, size))
    tell = getattr(load(name), "line_independent", None)
    return bool(size) and tell is not None and bool(tell(head))


def _goes_by(rows: Rows, file: BinaryIO, size: int) -> bool:
    """Whether the runs of a native log come and go, so that few stand in several parts."""
    met: dict[object, tuple[int, int]] = {}
    for k in range(SAMPLES):
        for run in _runs_at(rows, file, size * k // SAMPLES):
            met[run] = (met[run][0] if run in met else k, k)
    crossed = {space for first, last in met.values() for space in range(first, last)}
    return len(crossed) * STRETCH <= SAMPLES


def _runs_at(rows: Rows, file: BinaryIO, place: int) -> Iterator[object]:
    file.seek(place)
    for line in file.read(SAMPLE).split(b"\n")[1:-1]:
        try:
            yield rows.decode(line).run
        except FAST_ERRORS:
            continue


def _line_after(file: BinaryIO, place: int) -> int | None:
    """The first place from `place` on where a line begins with a bracket: no value goes on there."""
    file.seek(place)
    data = file.read(_LONGEST)
    at = data.find(b"\n")
    while at >= 0 and data[at + 1 : at + 2] not in (b"{", b"["):
        at = data.find(b"\n", at + 1)
    return None if at < 0 or at + 1 == len(data) else place + at + 1
