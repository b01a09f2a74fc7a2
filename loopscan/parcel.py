"""Reports on their way from one process to another: nearly all are of one shape, which is packed as bare values."""

from __future__ import annotations

import gc
import pickle
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from dataclasses import fields
from operator import attrgetter
from typing import Any, Final

from msgspec.structs import astuple

from loopscan.bill import Bill
from loopscan.cold import Cold
from loopscan.money import Checked, Guessed, Money, Spent
from loopscan.part import Part
from loopscan.report import RunReport
from loopscan.series import Series, Totals
from loopscan.spill import Spill
from loopscan.waste import Waste

_ELSEWHERE: Final = Spill(0)
"""Stands for the spill of another process."""
_NAMES: Final = [f.name for f in fields(RunReport)]

_head: Final = attrgetter(*_NAMES[: _NAMES.index("series")])
_Report: Final[Any] = RunReport
_NOTHING: Final = (Checked(), Guessed(), Cold())
_NO_WASTE: Final = Waste()


class Reports(list[RunReport]):
    """Reports, without exits yet, that are packed so."""

    def __reduce__(self) -> tuple[Any, ...]:
        return _reports, ([_values(report) for report in self],)


def packed(found: object) -> bytes:
    """What was found as bytes; the reports in it must be in `Reports`."""
    with _uncollected():
        return pickle.dumps(found, pickle.HIGHEST_PROTOCOL)


def unpacked(data: bytes) -> object:
    """What was packed. The series are without a spill: see `keep`."""
    with _uncollected():
        return pickle.loads(data)


def keep(reports: Iterable[RunReport], spill: Spill) -> None:
    """Keep the series of reports of another process."""
    for report in reports:
        for part in report.series.parts:
            assert isinstance(part.kept, bytes)
            part.kept = spill.keep(part.kept)
        report.series.spill = spill


def _values(report: RunReport) -> Any:
    """A report as values that take little to pack."""
    series, money, wasted, waiting = report.series, report.money, report.wasted, report.waiting
    rest = (money.checked, money.guessed, money.cold)
    return (
        _head(report),
        [_part(part, series.spill) for part in series.parts],
        (series.unpaid, series.rates, astuple(series.whole)),
        (astuple(money.spent), [astuple(bill) for bill in money.bills], None if rest == _NOTHING else rest),
        None if wasted == waiting == _NO_WASTE else (wasted, waiting),
        report.notes,
        Reports(report.variants) if report.variants else None,
    )


def _part(part: Part, spill: Spill) -> tuple[Any, ...]:
    part.kept = spill.load(part.kept, part.size)
    return astuple(part)


def _reports(values: list[Any]) -> list[RunReport]:
    return [_report(*value) for value in values]


def _report(head: Any, parts: Any, series: Any, money: Any, waste: Any, notes: list[str], variants: Any) -> RunReport:
    unpaid, rates, whole = series
    spent, bills, rest = money
    wasted, waiting = waste or (_NO_WASTE, _NO_WASTE)
    one = Series([Part(*p) for p in parts], unpaid, rates, _ELSEWHERE, Totals(*whole))
    for variant in variants or ():
        variant.series = one
    report: RunReport = _Report(
        *head,
        one,
        Money(Spent(*spent), [Bill(*b) for b in bills], *(rest or _NOTHING)),
        wasted,
        waiting,
        notes,
        variants=variants or [],
    )
    return report


@contextmanager
def _uncollected() -> Iterator[None]:
    """Thousands of new objects, none of them garbage: no look for garbage meanwhile."""
    looks = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if looks:
            gc.enable()
