"""Aligned columns: plain text where output is piped (nothing cut, greppable), Rich on a terminal."""

from __future__ import annotations

import unicodedata
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import TextIO


@dataclass(slots=True)
class Column:
    """A column: its title, whether it holds numbers (right-aligned), and the least width it may shrink to."""

    title: str
    right: bool = False
    least: int = 0


@dataclass(slots=True)
class Grid:
    """Rows of cells (already cleaned) under columns. `styles`: per row, column index -> Rich style."""

    columns: Sequence[Column]
    rows: list[list[str]] = field(default_factory=list)
    styles: list[dict[int, str]] = field(default_factory=list)

    def add(self, cells: list[str], styles: dict[int, str] | None = None) -> None:
        """Add a row."""
        self.rows.append(cells)
        self.styles.append(styles or {})

    def write(self, out: TextIO, width: int | None, color: bool) -> None:
        """Write the grid; `width` None = not a terminal."""
        if width is None:
            self._plain(out)
        else:
            self._rich(out, width, color)

    def _plain(self, out: TextIO) -> None:
        table = [[c.title for c in self.columns], *self.rows]
        widths = [max(cells(row[i]) for row in table) for i in range(len(self.columns))]
        for row in table:
            parts = []
            for text, size, column in zip(row, widths, self.columns, strict=True):
                pad = " " * (size - cells(text))
                parts.append(pad + text if column.right else text + pad)
            out.write("  ".join(parts).rstrip() + "\n")

    def _rich(self, out: TextIO, width: int, color: bool) -> None:
        from rich.table import Table
        from rich.text import Text

        table = Table(box=None, pad_edge=False, padding=(0, 2, 0, 0), header_style="bold")
        for column in self.columns:
            table.add_column(
                Text(column.title), justify="right" if column.right else "left", overflow="fold",
                no_wrap=not column.least, min_width=column.least or None,
            )  # fmt: skip
        for row, styles in zip(self.rows, self.styles, strict=True):
            table.add_row(*(Text(text, style=styles.get(i, "")) for i, text in enumerate(row)))
        console(out, width, color).print(table)


def console(out: TextIO, width: int, color: bool) -> Console:  # type: ignore[name-defined]  # noqa: F821
    """A Rich console of fixed width without markup, emoji or highlighting."""
    from rich.console import Console

    return Console(
        file=out, width=width, force_terminal=color, no_color=not color, markup=False, emoji=False, highlight=False,
        color_system="standard" if color else None, legacy_windows=False,
    )  # fmt: skip


def cells(text: str) -> int:
    """Terminal cells a text takes."""
    if text.isascii():
        return len(text)
    return sum(0 if unicodedata.combining(c) else 2 if unicodedata.east_asian_width(c) in "WF" else 1 for c in text)
