"""The worked cost model for people: a row per exit, what a normal run costs beside it, and the curve."""

from __future__ import annotations

from typing import TextIO

from loopscan.money import CLOSING_OUTPUT
from loopscan.price import PICO, Rate
from loopscan.render import Options
from loopscan.render._exits import NARROW
from loopscan.render._grid import Column, Grid
from loopscan.render._text import folded, money, plural
from loopscan.worked import Case, Endless, Row, curve, endless, spent, worked

_BAR = 40
_BESIDE = 20
"""Cells of the dollars of one more curve beside the bar."""


def render(case: Case, out: TextIO, options: Options) -> None:
    """Write the table and the curve of a worked case."""
    rows = worked(case)
    last = rows[-1] if rows else spent(case, "normal run", case.normal)
    normal = spent(case, "normal run", case.normal)
    _exits(case, [*rows, normal], last, options.width).write(out, options.width, options.color)
    ratio = f": {last.usd / normal.usd:,.0f} times a normal run" if normal.usd else ""
    lines = [f"A stuck run ends by {last.exit} after {plural(last.paid_sends, 'paid send')}, {money(last.usd)}{ratio}."]
    if last.cached is not None:
        lines.append(f"With a cache that stays warm it costs {money(last.cached)}.")
    forever = endless(case)
    if forever is not None:
        lines.append(_endless(case, forever))
    _write(lines, out, options)
    out.write("\n")
    _curve(case, last, out, options)
    _write([_model(case)], out, options)


def _write(lines: list[str], out: TextIO, options: Options) -> None:
    """Lines after an empty one, folded on a terminal."""
    out.write("\n")
    out.writelines(part + "\n" for line in lines for part in folded(line, options.width))


def _exits(case: Case, rows: list[Row], last: Row, width: int | None) -> Grid:
    cached, compacted, narrow = case.cache, case.compact_at is not None, width is not None and width < NARROW
    grid = Grid([Column("exit"), *[Column(title, right=True) for title in ("turn", "paid", "tokens", "cost")],
                 *([Column("cached", right=True)] if cached else []),
                 *([Column("compacted", right=True)] if compacted else []),
                 Column("would save" if narrow else "would have saved"), Column("closing", right=True)],
                gap=1 if narrow else 2)  # fmt: skip
    for row in rows:
        extra = [money(row.cached)] * cached + [money(row.compacted)] * compacted
        saved = ["-" if row.closing is None else money(row.closing)]
        saved = ["", ""] if row.exit == "normal run" else [_saved(row, last, narrow), *saved]
        counts = [f"{row.turn:,}", f"{row.paid_sends:,}", f"{row.tokens:,}"]
        grid.add([row.exit, *counts, money(row.usd), *extra, *saved])
    return grid


def _saved(row: Row, last: Row, narrow: bool) -> str:
    turns, price = last.paid_sends - row.paid_sends, money(last.usd - row.usd)
    return "-" if not turns else price if narrow else f"{plural(turns, 'turn')}  {price}"


def _endless(case: Case, forever: Endless) -> str:
    shape = forever.shape
    caps = [f"turn_cap at turn {case.turn_cap:,}"] if case.turn_cap is not None else []
    caps += [f"token_cap at turn {forever.token_turn:,}"] if forever.token_turn is not None else []
    caps += [f"cost_cap at turn {forever.cost_turn:,}"] if forever.cost_turn is not None else []
    ends = f"no_progress and the caps end it ({', '.join(caps)})" if caps else "no_progress alone ends it"
    return (
        f"Compacted at {case.compact_at:,} tokens to {case.summary:,}: after {shape.first:,} turns, then every "
        f"{shape.later:,}; a turn then costs {money(round(forever.per_turn))} for ever, the window never fills: {ends}."
    )


def _curve(case: Case, last: Row, out: TextIO, options: Options) -> None:
    """Cumulative dollars by turn: the parabola that re-sending the history draws, and the other curves beside it."""
    beside = 30 + _BESIDE * (case.cache + (case.compact_at is not None))
    room = _BAR if options.width is None else max(10, min(_BAR, options.width - beside))
    out.write("turn  dollars so far (every turn re-sends the whole history)\n")
    for turn, (usd, cached, compacted) in curve(case, last.paid_sends):
        bar = "█" * round(room * usd / last.usd) if last.usd else ""
        more = "" if cached is None else f"  cached {money(cached)}"
        more += "" if compacted is None else f"  compacted {money(compacted)}"
        out.write(f"{turn:>4,}  {bar or '▏'} {money(usd)}{more}\n")


def _model(case: Case) -> str:
    """What the figures were worked out from."""
    base, growth, rates = case.loop.base, case.loop.growth, case.price
    caching = ""
    if case.cache:
        caching = (
            f"; cached at {_per_million(rates.cache_read)} to read, {_per_million(rates.cache_write)} to write"
            f"{' (assumed)' if rates.assumed else ''}"
        )
    return (
        f"model: turn n sends {base:,} + {growth:,} (n - 1) input tokens, {case.loop.output:,} output; "
        f"{_per_million(rates.input)} in, {_per_million(rates.output)} out per million; "
        f"window {case.window:,}{caching or '; no caching'}; closing = one last summary of {CLOSING_OUTPUT:,} tokens"
    )


def _per_million(rate: Rate) -> str:
    return f"${float(rate) * 1e6 / PICO:g}"
