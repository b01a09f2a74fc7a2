"""Some turns of a run in a row, packed: a few numbers per turn, as bytes."""

from __future__ import annotations

from array import array
from collections.abc import Sequence
from typing import Any, Final

import msgspec

from loopscan.compiled import compiled
from loopscan.spill import Spill

_NARROW: Final = 1 << 32
_WIDE: Final = 1 << 63
_SHORT: Final = 256
"""Turns that are added up as soon as looked up."""
_SIZES: Final = {"I": 4, "q": 8, "d": 8}


class Part(msgspec.Struct, gc=False):
    """How many turns, their sums, the longest of their elapsed seconds, and where their numbers are kept.

    `codes`: type of each of the four columns (input, output, picodollars, elapsed), "-" where all its numbers are 0,
    "=" where each is what `rates` say: picodollars of an input and of an output token.
    """

    turns: int
    input: int
    output: int
    usd: int
    elapsed: float
    codes: str
    size: int
    kept: bytes | int
    rates: tuple[int, int] = (0, 0)

    def columns(self, spill: Spill) -> list[Sequence[Any]]:
        """The numbers, turn by turn."""
        data, columns = memoryview(spill.load(self.kept, self.size)), list[Sequence[Any]]()
        for code in self.codes:
            if code == "-":
                columns.append([0] * self.turns)
            elif code == "=":
                rate_in, rate_out = self.rates
                columns.append([i * rate_in + o * rate_out for i, o in zip(*columns, strict=True)])
            else:
                size = self.turns * _SIZES[code]
                columns.append(data[:size].cast(code))  # type: ignore[call-overload]
                data = data[size:]
        return columns

    def inputs(self, spill: Spill) -> Sequence[int]:
        """The first of the columns."""
        code = self.codes[0]
        if code == "-":
            return [0] * self.turns
        numbers: memoryview = memoryview(spill.load(self.kept, self.size))[: self.turns * _SIZES[code]]
        return numbers.cast(code)  # type: ignore[call-overload, no-any-return]

    def summed_to(self, turn: int, spill: Spill) -> tuple[int, int, int, float] | None:
        """Sums of the columns and longest of the seconds by the end of a turn; None where that is no quick thing."""
        made = compiled()
        if made is None or self.turns > _SHORT or self.input + self.output >= _WIDE or self.usd >= _WIDE:
            return None
        sums: tuple[int, int, int, float] = made.summed_to(
            spill.load(self.kept, self.size), self.turns, self.codes, self.rates, turn
        )
        return sums

    def keep(self, spill: Spill) -> None:
        """Keep the numbers in `spill`, where they are held as bytes."""
        if isinstance(self.kept, bytes):
            self.kept = spill.keep(self.kept)


def packed(sent: array[int], output: array[int], usd: array[int], elapsed: array[float], spill: Spill) -> Part:
    """A part of some turns, at least one."""
    sums = (sum(sent), sum(output), sum(usd), max(elapsed))
    codes = "".join([_code(total) for total in sums[:3]]) + ("d" if sums[3] else "-")
    columns: tuple[array[Any], ...] = (sent, output, usd, elapsed)
    data = b"".join([_bytes(c, code) for c, code in zip(columns, codes, strict=True)])
    return Part(len(sent), *sums, codes, len(data), spill.keep(data))


def priced(sent: array[int], output: array[int], elapsed: array[float], rates: tuple[int, int], spill: Spill) -> Part:
    """The same where every turn has the same `rates`, and tokens of at most 32 bits."""
    longest = max(elapsed)
    data = b"".join((sent.tobytes(), output.tobytes(), elapsed.tobytes() if longest else b""))
    return of_columns(data, len(sent), (sum(sent), sum(output)), longest, rates, spill)


def of_columns(
    data: bytes, turns: int, sums: tuple[int, int], longest: float, rates: tuple[int, int], spill: Spill
) -> Part:
    """The same of columns that lie behind one another already; without elapsed seconds where `longest` is 0."""
    sent, output = sums
    usd = sent * rates[0] + output * rates[1]
    codes = ("II=d" if longest else "II=-") if usd else "II-d" if longest else "II--"
    return Part(turns, sent, output, usd, longest, codes, len(data), spill.keep(data), rates)


def _code(total: int) -> str:
    return "-" if not total else "I" if total < _NARROW else "q"


def _bytes(column: array[Any], code: str) -> bytes:
    if code == "-":
        return b""
    return column.tobytes() if code == column.typecode else array(code, column).tobytes()
