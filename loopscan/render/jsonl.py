"""JSON Lines: one record per run (DESIGN section 6), in the order of the report."""

from __future__ import annotations

import json
from collections.abc import Hashable, Iterator
from functools import lru_cache
from typing import Any, Final, TextIO

import orjson

from loopscan.decode import canonical
from loopscan.hidden import escaped
from loopscan.records import record
from loopscan.render import Options
from loopscan.report import Report, RunReport, dollars, iso

_GAP: Final = "b1946ac92492d2347c6235b4d2611184"
"""Stands for a figure in a mould."""
_FIGURES: Final = (
    ("run",), ("source",), ("started",), ("ended",), ("turns",), ("calls",), ("usage", "sends"),
    ("usage", "input_tokens"), ("usage", "output_tokens"), ("cost", "usd"), ("cost", "unpriced_sends"),
    ("cost", "times_normal"), ("cost", "total_usd"), ("notes",),
)  # fmt: skip
"""Where the records of two runs of one kind differ, in the order of the record."""
_MOULDS: Final = 1000


def dumps(value: Any, indent: bool = False) -> str:
    """JSON text; hidden characters are written as escapes, and so is what the fast encoder refuses."""
    try:
        return _fast(value, indent)
    except (orjson.JSONEncodeError, RecursionError):
        pass
    try:
        return json.dumps(value, indent=2 if indent else None)
    except RecursionError:
        return canonical(value).decode()


def _fast(value: Any, indent: bool = False) -> str:
    return escaped(orjson.dumps(value, option=orjson.OPT_INDENT_2 if indent else 0).decode())


def texts(runs: list[RunReport], indent: bool = False) -> Iterator[str]:
    """The record of each run as JSON text. One that is like another one's is that one's text with its own figures."""
    moulds: dict[Hashable, str | None] = {}
    for run in runs:
        kind, text = run.kind, None
        if kind is not None:
            mould = moulds.get(kind, "")
            if mould == "":
                if len(moulds) >= _MOULDS:
                    moulds.clear()
                mould = moulds[kind] = _mould(run, indent)
            text = mould and _filled(mould, run, indent)
        yield text or dumps(record(run), indent)


def _mould(run: RunReport, indent: bool) -> str | None:
    """The record of a run with `%s` for each of its figures; None where that cannot be told."""
    full = record(run)
    for *above, name in _FIGURES:
        (full[above[0]] if above else full)[name] = _GAP
    try:
        text = _fast(full, indent)
    except (orjson.JSONEncodeError, RecursionError):
        return None
    return text.replace("%", "%%").replace(f'"{_GAP}"', "%s") if text.count(_GAP) == len(_FIGURES) else None


def _filled(mould: str, run: RunReport, indent: bool) -> str | None:
    """The record of a run of the kind of a mould."""
    spent, usd, times, notes = run.spent, run.priced_usd, run.times_normal, run.notes
    cost = "null" if usd is None else _figure(dollars(usd))
    try:
        name, source = _fast(run.run), _text(run.source)
        remarks = _fast(notes, indent).replace("\n", "\n  ") if notes else "[]"
    except orjson.JSONEncodeError:
        return None
    return mould % (
        name, source, _time(run.started), _time(run.ended), run.turns, run.calls, spent.sends, spent.input,
        spent.output, cost, spent.unpriced, "null" if times is None else _figure(times), cost, remarks,
    )  # fmt: skip


_text = lru_cache(maxsize=4)(_fast)


def _figure(value: float | None) -> str:
    return orjson.dumps(value).decode()


def _time(moment: float | None) -> str:
    stamp = iso(moment)
    return "null" if stamp is None else f'"{stamp}"'


def render(report: Report, out: TextIO, options: Options) -> None:
    """Write one line per run."""
    out.writelines(text + "\n" for text in texts(report.runs))
