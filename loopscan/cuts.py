"""Where a big file can be cut so that its parts are read at once: between lines that stand for themselves."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import accumulate
from typing import Any, BinaryIO, Final, NamedTuple

from loopscan import decode
from loopscan.blob import Head
from loopscan.decode import FAST_ERRORS
from loopscan.errors import InputError
from loopscan.formats import detect, load
from loopscan.formats._native_rows import Rows, rows_of
from loopscan.scan import Inputs
from loopscan.source import Input, open_input

NATIVE: Final = "loopscan"
LEAST: Final = 4 << 20
"""Bytes of a part."""
SAMPLES: Final = 24
SAMPLE: Final = 1 << 16
"""How many places of a native log are looked at for the runs that stand there, and bytes of each."""
STRETCH: Final = 4
"""A native log is cut where runs that stand at several places take up at most one in so many of the spaces between."""
_LITTLE: Final = 3
"""The last parts are one in so many of the first ones."""
_LONGEST: Final = 1 << 24
"""Bytes within which a line must end for a cut."""


class Places(NamedTuple):
    """Where the parts of a file begin, the first at 0, and its format. `run`: it is one long run (`loopscan.relay`)."""

    format: str
    starts: list[int]
    run: bool = False


def all_places(items: list[Input], sizes: list[int], inputs: Inputs, runs: bool) -> dict[int, Places]:
    """The places of the inputs that are so big that one process would be left alone with them.

    With one place, those of other big native logs too: their runs may go on in the next one. `runs`: a long run may be
    read from several places.
    """
    share = sum(sizes) // (2 * inputs.jobs)
    big = [n for n, size in enumerate(sizes) if size >= 2 * LEAST]
    found = {n: places(items[n], sizes[n], 2 * inputs.jobs if sizes[n] > share else 1, inputs, runs) for n in big}
    return {n: p for n, p in found.items() if p is not None}


def places(item: Input, size: int, parts: int, inputs: Inputs, runs: bool = False) -> Places | None:
    """The places of a file; None where it is to be read as a whole."""
    head = None if inputs.field_map else _head(item)
    name = None if head is None else inputs.format or detect(head)
    if head is None or name is None:
        return None
    try:
        with open(item.path, "rb") as file:
            samples = _samples(head, file, size) if name == NATIVE and parts > 1 else None
            run = runs and samples is not None and _is_one_run(samples, head)
            if not run and not _is_cuttable(name, head, samples, parts > 1):
                return None
            starts = sorted({0, *_starts(file, size, _weights(size, parts, run))})
    except OSError:
        return None
    return Places(name, starts, run) if len(starts) > 1 or parts == 1 else None


def _weights(size: int, parts: int, run: bool) -> list[int]:
    """The parts of a file, by their sizes. Those that are read last are small: all end at once, with little to join."""
    if run or size < _LITTLE * parts * LEAST:
        return [1] * min(parts, size // LEAST)
    return [_LITTLE] * (parts // 2) + [1] * (parts // 2)


def _starts(file: BinaryIO, size: int, weights: list[int]) -> set[int]:
    """Where the 2nd, 3rd … of the parts begin."""
    ends = [size * end // sum(weights) for end in accumulate(weights[:-1])]
    return {place for end in ends if (place := _line_after(file, end)) is not None}


def _samples(head: Head, file: BinaryIO, size: int) -> list[set[object]]:
    """The runs that stand at some places of a native log."""
    rows = rows_of(head)
    return [] if rows is None else [set(_runs_at(rows, file, size * k // SAMPLES)) for k in range(SAMPLES)]


def _is_one_run(samples: list[set[object]], head: Head) -> bool:
    first = row_of(rows_of(head), head.raw.split(b"\n", 1)[0])
    return first is not None and set[object]().union(*samples) == {first.run}


def row_of(rows: Rows | None, line: bytes) -> Any:
    """A line as a row (`loopscan.formats._native_rows.Row`); None where it is not as most lines of its log are."""
    if rows is None:
        return None
    try:
        return rows.decode(line)
    except FAST_ERRORS:
        return None


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


def _is_cuttable(name: str, head: Head, samples: list[set[object]] | None, cut: bool) -> bool:
    """Whether what comes of parts is what comes of the file. `cut` False: it is only read like a part."""
    if name == NATIVE:
        rows = rows_of(head)
        return rows is not None and not rows.anonymous and (not cut or _goes_by(samples or []))
    tell = getattr(load(name), "line_independent", None)
    return cut and tell is not None and bool(tell(head))


def _goes_by(samples: list[set[object]]) -> bool:
    """Whether the runs of a native log come and go, so that few stand in several parts."""
    met: dict[object, tuple[int, int]] = {}
    for k, runs in enumerate(samples):
        for run in runs:
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
    for size in (SAMPLE, _LONGEST):  # most lines are short
        file.seek(place)
        data = file.read(size)
        at = data.find(b"\n")
        while at >= 0 and data[at + 1 : at + 2] not in (b"{", b"["):
            at = data.find(b"\n", at + 1)
        if at >= 0 or len(data) < size:
            return None if at < 0 else place + at + 1
    return None
