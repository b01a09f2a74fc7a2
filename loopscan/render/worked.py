"""The worked cost model for people: a row per exit, what a normal run costs beside it, and the curve."""

from __future__ import annotations

from typing import TextIO

from loopscan.price import PICO
from loopscan.render import Options
from loopscan.render._grid import Column, Grid
from loopscan.render._text import money, plural
from loopscan.worked import Case, Row, curve, spent, worked

_BAR = 40


def render(case: Case, out: TextIO, options: Options) -> None:
    """Write the table and the curve of a worked case."""
    rows = worked(case)
    last = rows[-1]
    normal = spent(case, "normal run", case.normal)
    grid = Grid([Column("exit"), Column("turn", right=True), Column("paid", right=True), Column("tokens", right=True),
                 Column("cost", right=True), Column("would have saved")])  # fmt: skip
    for row in rows:
        grid.add(
            [row.exit, f"{row.turn:,}", f"{row.paid_sends:,}", f"{row.tokens:,}", money(row.usd), _saved(row, last)]
        )
    grid.add([normal.exit, f"{normal.turn:,}", f"{normal.paid_sends:,}", f"{normal.tokens:,}", money(normal.usd), ""])
    grid.write(out, options.width, options.color)
    ratio = f": {last.usd / normal.usd:,.0f} times a normal run" if normal.usd else ""
    out.write(
        f"\nA stuck run ends by {last.exit} after {plural(last.paid_sends, 'paid send')}, {money(last.usd)}{ratio}.\n\n"
    )
    _curve(case, last, out, options)


def _saved(row: Row, last: Row) -> str:
    turns = last.paid_sends - row.paid_sends
    return f"{plural(turns, 'turn')}  {money(last.usd - row.usd)}" if turns else "-"


def _curve(case: Case, last: Row, out: TextIO, options: Options) -> None:
    """Cumulative dollars by turn: the parabola that re-sending the history draws."""
    room = _BAR if options.width is None else max(10, min(_BAR, options.width - 30))
    out.write("turn  dollars so far (every turn re-sends the whole history)\n")
    for turn, usd in curve(case, last.paid_sends):
        bar = "█" * round(room * usd / last.usd) if last.usd else ""
        out.write(f"{turn:>4,}  {bar or '▏'} {money(usd)}\n")
    base, growth, rates = case.loop.base, case.loop.growth, case.price
    out.write(
        f"\nmodel: turn n sends {base:,} + {growth:,} (n - 1) input tokens, {case.loop.output:,} output; "
        f"${float(rates.input) * 1e6 / PICO:g} in, ${float(rates.output) * 1e6 / PICO:g} out per million; "
        f"window {case.window:,}; no caching\n"
    )
