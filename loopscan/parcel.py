"""Reports on their way from one process to another: nearly all are of three shapes, which are packed as bare values."""

from __future__ import annotations

import gc
import pickle
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import fields
from operator import attrgetter
from typing import Any, ClassVar, Final

from msgspec.structs import astuple

from loopscan.bill import Bill
from loopscan.calm import Calm
from loopscan.cold import Cold
from loopscan.finished import Finished
from loopscan.fired import NONE
from loopscan.money import Checked, Guessed, Money, Spent
from loopscan.part import Part
from loopscan.price import Price
from loopscan.quiet import Quiet
from loopscan.report import RunReport
from loopscan.series import Series, Totals
from loopscan.settle import NO_GAP, Settled, made, settled
from loopscan.spill import Spill
from loopscan.waste import Waste

_AT_HAND: Final = Spill(sys.maxsize)
"""Keeps what is on its way."""

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


Parcel = list["bytes | memoryview"]
"""What was packed: all but the largest bytes of it, which follow and are not copied."""


class Reports(list[RunReport]):
    """Reports, without exits yet, that are packed so; quiet runs among them become theirs."""

    def __reduce__(self) -> tuple[Any, ...]:
        scanner = made()
        if scanner is None:
            return _reports, ([_values(report) for report in self],)
        heads, columns, shared, others = scanner.parcel(self)
        values = [_values(self[number]) for number in others]
        return _all, (pickle.PickleBuffer(heads), pickle.PickleBuffer(columns), shared, others, values)


class _To:
    """What is unpacked goes to."""

    spill: ClassVar[Spill]


def packed(found: object) -> Parcel:
    """What was found as bytes; the reports in it must be in `Reports`."""
    large = list[pickle.PickleBuffer]()
    with _uncollected():
        data = pickle.dumps(found, pickle.HIGHEST_PROTOCOL, buffer_callback=large.append)
    return [data, *[buffer.raw() for buffer in large]]


def unpacked(parcel: Parcel, spill: Spill) -> object:
    """What was packed, which is not needed any more; the series of its reports are kept in `spill`."""
    _To.spill = spill
    with _uncollected():
        return pickle.loads(parcel[0], buffers=parcel[1:])


def _values(report: RunReport | Quiet) -> Any:
    """A report as values that take little to pack."""
    if isinstance(report, Quiet):
        report = settled(report, _AT_HAND)
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
        None if wasted == waiting == _NO_WASTE else (astuple(wasted), astuple(waiting)),
        report.notes,
        Reports(report.variants) if report.variants else None,
    )


def _part(part: Part, spill: Spill) -> tuple[Any, ...]:
    part.kept = spill.load(part.kept, part.size)
    return astuple(part)


def _reports(values: list[Any]) -> list[RunReport]:
    return [_settled(*value) if len(value) <= _SHORT else _finished(*value) for value in values]


def _all(
    heads: memoryview, columns: memoryview, shared: list[Any], others: list[int], values: list[Any]
) -> list[RunReport]:
    """Reports of quiet runs, and others, by number, between them."""
    scanner, spill = made(), _To.spill
    assert scanner is not None
    calm: list[RunReport] = scanner.unparcel(heads, columns, shared, spill, spill.take(columns))
    reports, at = list[RunReport](), 0
    for number, report in zip(others, _reports(values), strict=True):
        until = at + number - len(reports)
        reports += calm[at:until]
        reports.append(report)
        at = until
    return reports + calm[at:]


def _settled(head: Any, part: Any, price: Price | None, told: Any = None) -> Settled:
    *names, gap = head
    shared = (*names, gap or NO_GAP, _kept(part), price, _To.spill, NONE)
    report: Settled = _Settled(*shared) if told is None else _Calm(*shared, None, None, *told)
    return report


def _finished(head: Any, parts: Any, series: Any, money: Any, waste: Any, notes: list[str], variants: Any) -> Finished:
    unpaid, rates, whole = series
    spent, bills, rest = money
    wasted, waiting = (_NO_WASTE, _NO_WASTE) if waste is None else (Waste(*waste[0]), Waste(*waste[1]))
    one = Series([_kept(part) for part in parts], unpaid, rates, _To.spill, Totals(*whole))
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


def _kept(values: tuple[Any, ...]) -> Part:
    part = Part(*values)
    part.keep(_To.spill)
    return part


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
