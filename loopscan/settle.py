"""The report of a run that was quiet to its end: what `loopscan.report.finished` makes of it, without a detector."""

from __future__ import annotations

from functools import lru_cache
from typing import Final

from loopscan.bill import Bill
from loopscan.cold import Cold
from loopscan.money import Checked, Guessed, Money, Spent, money_notes
from loopscan.price import Rate
from loopscan.quiet import Quiet
from loopscan.report import RunReport, gap_note
from loopscan.series import Series, whole
from loopscan.spill import Spill
from loopscan.waste import Waste

_NOTHING: Final = (Checked(), Guessed(), Cold())
_WASTE: Final = Waste()


@lru_cache(maxsize=1 << 12)
def _counted(name: str, turns: int) -> dict[str, int]:
    """Shared by all reports that say the same; nobody changes it."""
    return {name: turns}


@lru_cache(maxsize=1 << 8)
def _rates(rate: Rate | None) -> list[tuple[int, Rate | None]]:
    return [(1, rate)]


def settled(state: Quiet, format_name: str, spill: Spill) -> RunReport:
    """The report of a quiet run."""
    part, price, turns = state.part(spill), state.terms.price, state.number
    unpriced = 0 if price is not None else turns
    spent = Spent(
        turns, part.input, output=part.output, unpriced=unpriced, usage_sources=_counted("recorded", turns),
        prices={} if price is None else _counted(price.source, turns),
    )  # fmt: skip
    bill = Bill(state.model, price, price, turns, unpriced, part.input, output=part.output, usd=part.usd)
    money = Money(spent, [bill], *_NOTHING)
    series = Series([part], [], _rates(None if price is None else price.output), spill, whole([part]))
    notes = gap_note(state.gap) + money_notes(money)
    return RunReport(
        state.run, None, None, state.name, format_name, state.model, {}, state.started, state.ended,
        turns, turns, "cut", "inferred", False, "clean", [], None, None, None, series, money, _WASTE, _WASTE, notes,
    )  # fmt: skip
