"""The worked cost model as data: a JSON document, JSON Lines or CSV with a row per exit and one for a normal run."""

from __future__ import annotations

import csv
from dataclasses import fields
from typing import Any, TextIO

from loopscan.records import SCHEMA
from loopscan.render.jsonl import dumps
from loopscan.report import dollars
from loopscan.worked import Case, Row, curve, spent, worked

_MONEY = {"usd": "usd", "cached": "cached_usd", "compacted": "compacted_usd", "closing": "closing_usd"}


def render(case: Case, out: TextIO, format_: str) -> None:
    """Write the case in one of `json`, `jsonl`, `csv`."""
    exits = worked(case)
    rows = [_row(row) for row in (*exits, spent(case, "normal run", case.normal))]
    if format_ == "json":
        points = curve(case, exits[-1].paid_sends) if exits else []
        lines = [
            dict(zip(("turn", "usd", "cached_usd", "compacted_usd"), (turn, *map(dollars, costs)), strict=True))
            for turn, costs in points
        ]
        document = {"schema": SCHEMA, "case": _case(case), "exits": rows[:-1], "normal": rows[-1], "curve": lines}
        out.write(dumps(document, indent=True) + "\n")
    elif format_ == "jsonl":
        out.writelines(dumps(row) + "\n" for row in rows)
    else:
        writer = csv.DictWriter(out, rows[0], lineterminator="\n")
        writer.writeheader()
        writer.writerows(rows)


def _row(row: Row) -> dict[str, Any]:
    values = {f.name: getattr(row, f.name) for f in fields(row)}
    return {_MONEY.get(k, k): dollars(v) if k in _MONEY else v for k, v in values.items()}


def _case(case: Case) -> dict[str, Any]:
    """The options that make the case."""
    loop = case.loop
    return {
        "base": loop.base,
        "growth": loop.growth,
        "out": loop.output,
        **{f"p_{name}": float(rate) / 1e6 for name, rate in case.price.by_name().items()},
        "context_window": case.window,
        "compact_at": case.compact_at,
        "summary": case.summary if case.compact_at is not None else None,
    }
