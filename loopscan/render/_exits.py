"""The exits of one run as a table, and how a run is named in every table."""

from __future__ import annotations

from typing import Final

from loopscan.render._grid import Column, Grid
from loopscan.render._money import mark
from loopscan.render._text import clean, money, plural
from loopscan.report import RunReport

NARROW: Final = 100
"""Below this width a row shows what an exit saves in dollars only."""


def run_name(run: RunReport, width: int | None) -> str:
    """The id of a run, its middle cut out on a terminal."""
    name = clean(run.run)
    room = None if width is None else max(14, width // 5)
    return name if room is None or len(name) <= room else f"{name[: room // 2 - 1]}…{name[-(room - room // 2) :]}"


def exit_grid(run: RunReport, width: int | None) -> Grid:
    """The exits that would have fired on one run: what each would have saved, and what a closing call there costs."""
    narrow = width is not None and width < NARROW
    columns = [Column(run_name(run, width), least=8), Column("exit"), Column("turn", right=True),
               Column("paid", right=True), Column("cost", right=True), Column("would have saved"),
               Column("closing", right=True), Column("", least=8)]  # fmt: skip
    grid, about = Grid(columns, gap=1 if narrow else 2), mark(run)
    for i, fired in enumerate(run.exits):
        cost = money(None) if run.unpriced else about + money(fired.usd)
        turns, price = plural(fired.saved_turns, "turn"), "" if run.unpriced else about + money(fired.saved_usd)
        saved = "-" if not fired.saved_turns else (price or turns) if narrow else f"{turns}  {price}".rstrip()
        closing = "-" if fired.closing_usd is None else about + money(fired.closing_usd)
        notes = ["<- first"] if i == 0 else []
        notes += ["stops a healthy run"] if fired.false_stop else []
        row = ["", fired.exit, f"{fired.turn:,}", f"{fired.paid_sends:,}", cost, saved, closing, ", ".join(notes)]
        grid.add(row, {1: "bold"} if i == 0 else {})
    return grid
