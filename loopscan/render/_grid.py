"""Aligned columns: plain text where output is piped (nothing cut, greppable), styled and fitted on a terminal."""

from __future__ import annotations

import unicodedata
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from typing import Final, TextIO

_WIDEST: Final = 200
"""Cells that a column takes where nothing is cut; longer texts stand out of line."""

_PLAIN: Final[dict[int, str]] = {}


@dataclass(slots=True, frozen=True)
class Column:
    """A column: its title, whether it holds numbers, and the least width it may shrink to (0 = it never does)."""

    title: str
    right: bool = False
    least: int = 0


@dataclass(slots=True)
class Grid:
    """Rows of cells (already cleaned) under columns. `styles`: per row, column index -> Rich style."""

    columns: Sequence[Column]
    gap: int = 2
    rows: list[list[str]] = field(default_factory=list)
    styles: list[dict[int, str]] = field(default_factory=list)

    def add(self, row: list[str], styles: dict[int, str] | None = None) -> None:
        """Add a row."""
        self.rows.append(row)
        self.styles.append(styles or _PLAIN)

    def write(self, out: TextIO, width: int | None, color: bool) -> None:
        """Write the grid; `width` None = not a terminal: nothing is cut, and no cell pads others beyond all measure."""
        table = [[c.title for c in self.columns], *self.rows]
        most = _WIDEST if width is None else width
        widths = [max(min(cells(row[i]), most) for row in table) for i in range(len(self.columns))]
        if width is not None:
            self._shrink(widths, width)
        lines = (self._line(row, widths, cut=width is not None) for row in table)
        if not color:
            out.writelines("".join(parts).rstrip() + "\n" for parts in lines)
        else:
            self._styled(lines, out)

    def _shrink(self, widths: list[int], width: int) -> None:
        """Take what is too much from the widest column that may shrink, one cell at a time."""
        excess = sum(widths) + self.gap * (len(widths) - 1) - width
        while excess > 0:
            room = [w - c.least if c.least else 0 for w, c in zip(widths, self.columns, strict=True)]
            widest = max(range(len(widths)), key=lambda i: (room[i] > 0, widths[i]))
            if room[widest] <= 0:
                return
            widths[widest] -= 1
            excess -= 1

    def _line(self, row: list[str], widths: list[int], cut: bool) -> list[str]:
        """The cells of a line, padded and (`cut`) fitted, each with the gap before it."""
        parts = []
        for i, (text, size, column) in enumerate(zip(row, widths, self.columns, strict=True)):
            text = fit(text, size) if cut else text
            pad = " " * (size - cells(text))
            parts.append(" " * (self.gap if i else 0) + (pad + text if column.right else text + pad))
        return parts

    def _styled(self, lines: Iterable[list[str]], out: TextIO) -> None:
        from rich.console import Console
        from rich.text import Text

        console = Console(
            file=out, width=10_000, force_terminal=True, markup=False, emoji=False, highlight=False,
            color_system="standard", legacy_windows=False,
        )  # fmt: skip
        for parts, styles in zip(lines, [dict.fromkeys(range(len(self.columns)), "bold"), *self.styles], strict=True):
            text = Text()
            for i, part in enumerate(parts):
                text.append(part, style=styles.get(i, ""))
            text.rstrip()
            console.print(text, soft_wrap=True)


def fit(text: str, size: int) -> str:
    """Text cut with an ellipsis to `size` terminal cells."""
    if cells(text[: size + 1]) <= size and cells(text) <= size:
        return text
    used = 0
    for i, char in enumerate(text):
        used += cells(char)
        if used > size - 1:
            return text[:i] + "…"
    return text


def cells(text: str) -> int:
    """Terminal cells a text takes."""
    if text.isascii():
        return len(text)
    return sum(0 if unicodedata.combining(c) else 2 if unicodedata.east_asian_width(c) in "WF" else 1 for c in text)
