"""Reports on their way from one process to another: nearly all are of three shapes, which are packed as bare values."""

from __future__ import annotations

import gc
import pickle
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import fields
from operator import attrgetter
from typing import Any, Final

from msgspec.structs import astuple

from loopscan.bill import Bill
from loopscan.calm import Calm
from loopscan.cold import Cold
from loopscan.finished import Finished
from loopscan.fired import NONE
from loopscan.money import Checked, Guessed, Money, Spent
from loopscan.part import Part
from loopscan.price import Price
from loopscan.report import RunReport
from loopscan.series import Series, Totals
from loopscan.settle import NO_GAP, Settled, made
from loopscan.spill import Spill
from loopscan.waste import Waste

_ELSEWHERE: Final = Spill(0)
"""Stands for the spill of another process."""

_head: Final = attrgetter(*[f.name for f in fields(Finished)][: Finished.__match_args__.index("series")])
_Finished: Final[Any] = Finished
_Settled: Final[Any] = Settled
_Calm: Final[Any] = Calm
_quiet: Final = attrgetter(*Settled.__match_args__[: Settled.__match_args__.index("gap")])
_calm: Final = attrgetter(*Calm.__match_args__[len(Settled.__match_args__) :])
_NOTHING: Final = (Checked(), Guessed(), Cold())
_NO_WASTE: Final = Waste()
_SHORT: Final = 4
"""Values of the shorter shapes at most."""


class Reports(list[RunReport]):
    """Reports, without exits yet, that are packed so."""

    def __reduce__(self) -> tuple[Any, ...]:
        scanner = made()
        if scanner is None:
            return _reports, ([_values(report) for report in self],)
        data, shared, others = scanner.parcel(self)
        return _all, (data, shared, others, [_values(self[number]) for number in others])


def packed(found: object) -> bytes:
    """What was found as bytes; the reports in it must be in `Reports`."""
    with _uncollected():
        return pickle.dumps(found, pickle.HIGHEST_PROTOCOL)


def unpacked(data: bytes) -> object:
    """What was packed. The series are without a spill: see `keep`."""
    with _uncollected():
        return pickle.loads(data)


def keep(reports: list[RunReport], spill: Spill) -> None:
    """Keep the series of reports of another process."""
    quiet = [report for report in reports if type(report) is Settled]
    spill.keep_all([report.part for report in quiet if type(report.part.kept) is bytes])
    for settled in quiet:
        settled.spill = spill
    for report in reports:
        if type(report) is not Settled:
            report.keep(spill)


def _values(report: RunReport) -> Any:
    """A report as values that take little to pack."""
    if isinstance(report, Settled):
        told = (_calm(report),) if isinstance(report, Calm) else ()
        gap = None if report.gap is NO_GAP else report.gap
        return (*_quiet(report), gap), _part(report.part, report.spill), report.price, *told
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
    return [_settled(*value) if len(value) <= _SHORT else _finished(*value) for value in values]


def _all(data: bytes, shared: list[Any], others: list[int], values: list[Any]) -> list[RunReport]:
    """Reports of quiet runs, and others, by number, between them."""
    scanner = made()
    assert scanner is not None
    reports: list[RunReport] = scanner.unparcel(data, shared, _ELSEWHERE)
    for number, report in zip(others, _reports(values), strict=True):
        reports.insert(number, report)
    return reports


def _settled(head: Any, part: Any, price: Price | None, told: Any = None) -> Settled:
    *names, gap = head
    shared = (*names, gap or NO_GAP, Part(*part), price, _ELSEWHERE, NONE)
    report: Settled = _Settled(*shared) if told is None else _Calm(*shared, None, None, *told)
    return report


def _finished(head: Any, parts: Any, series: Any, money: Any, waste: Any, notes: list[str], variants: Any) -> Finished:
    unpaid, rates, whole = series
    spent, bills, rest = money
    wasted, waiting = waste or (_NO_WASTE, _NO_WASTE)
    one = Series([Part(*p) for p in parts], unpaid, rates, _ELSEWHERE, Totals(*whole))
    for variant in variants or ():
        variant.series = one
    report: Finished = _Finished(
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
