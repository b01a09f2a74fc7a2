"""The report of a run that was quiet to its end: few numbers, of which the rest is made where it is asked for."""

from __future__ import annotations

from collections.abc import Hashable
from dataclasses import dataclass, fields, replace
from functools import cache, lru_cache
from types import ModuleType
from typing import Any, Final

from loopscan.bill import Bill
from loopscan.cold import Cold
from loopscan.compiled import compiled
from loopscan.episodes import Episode
from loopscan.exits import Caps
from loopscan.finished import Finished, gap_note
from loopscan.fired import NONE, Fired, evaluate
from loopscan.money import Checked, Children, Guessed, Money, Spent
from loopscan.part import Part
from loopscan.price import Price, Rate
from loopscan.quiet import Quiet
from loopscan.report import RunReport
from loopscan.series import MOST, Series, Totals, whole
from loopscan.spill import Spill
from loopscan.waste import Waste

_NOTHING: Final = (Checked(), Guessed(), Cold())
NO_GAP: Final = (0.0, 0)
"""The gap of all reports of which nothing is said of theirs."""
_NO_NOTES: Final[list[str]] = []
"""Shared by all reports of which nothing is said; nobody changes it."""


@lru_cache(maxsize=1 << 12)
def _counted(name: str, turns: int) -> dict[str, int]:
    """Shared by all reports that say the same; nobody changes it."""
    return {name: turns}


@lru_cache(maxsize=1 << 8)
def _rates(rate: Rate | None) -> list[tuple[int, Rate | None]]:
    return [(1, rate)]


@dataclass(slots=True)
class Settled(RunReport):
    """One call a turn, each with its result, of one model under one price; nothing repeated, the end not recorded.

    `gap`: the longest pause in seconds and the turn behind it, where something is to be said of it. What all of them
    have in common stands in the class, and is changed by nobody.
    """

    run: str
    source: str
    format: str
    model: str | None
    started: float | None
    ended: float | None
    gap: tuple[float, int]
    part: Part
    price: Price | None
    spill: Spill
    exits: list[Fired]
    times_normal: float | None = None
    children: Children | None = None

    filled = "recorded"
    session = parent = fired = rule = full = None
    state, state_source, verdict, blind, plain = "cut", "inferred", "clean", False, True
    labels, episodes, variants = dict[str, str](), list[Episode](), list[RunReport]()
    wasted = waiting = Waste()

    @property
    def turns(self) -> int:  # type: ignore[override]
        """Turns."""
        return self.part.turns

    calls = turns

    @property
    def kind(self) -> Hashable:
        """Runs of one kind have records that differ in names, times and sums only; None = of no kind."""
        if self.children is not None or self.session is not None or self.labels:
            return None
        price, exits = self.price, self.exits
        fired = tuple([f.exit for f in exits]) if exits else None
        return self.format, self.model, fired, price and price.source, price and price.model, self.filled, self.state

    @property
    def tokens_told(self) -> tuple[int | None, int | None, int | None, int | None]:
        """Input and output tokens of all its sends, and the same where they are estimated."""
        return self.part.input, self.part.output, None, None

    @property
    def figures(self) -> tuple[Any, ...]:
        """What its record differs in from those of its kind, in the order of the record, all but the notes."""
        exits, priced = self.exits, self.price is not None
        turns, usd = self.part.turns, self.usd if priced else None
        fired: tuple[Any, ...] = ()
        for f in exits and (exits[0], *exits):
            money = (f.usd, f.saved_usd, f.closing_usd) if priced else (None, None, None)
            fired += (f.turn, f.paid_sends, money[0], f.saved_turns, money[1], money[2])
        return (
            self.run, self.source, self.started, self.ended, turns, self.calls, *fired, turns, *self.tokens_told,
            usd, 0 if priced else turns, self.times_normal, usd,
        )  # fmt: skip

    @property
    def series(self) -> Series:
        """What it spent, turn by turn."""
        part, price = self.part, self.price
        return Series([part], [], _rates(None if price is None else price.output), self.spill, whole([part]))

    @property
    def money(self) -> Money:
        """What it spent, by class and source."""
        part, price, spent = self.part, self.price, self.spent
        bill = Bill(
            self.model, price, price, part.turns, spent.unpriced, part.input, output=part.output, usd=part.usd
        )  # fmt: skip
        return Money(spent, [bill], *_NOTHING)

    @property
    def notes(self) -> list[str]:
        """What a reader must know of it, one line each."""
        gap = self.gap
        return _NO_NOTES if gap is NO_GAP else gap_note(gap)

    @property
    def spent(self) -> Spent:
        """Tokens by class and source."""
        part, price = self.part, self.price
        unpriced, prices = (part.turns, _FREE) if price is None else (0, _counted(price.source, part.turns))
        sources = _counted("recorded", part.turns)
        return Spent(part.turns, part.input, None, None, None, part.output, unpriced, sources, prices)

    @property
    def whole(self) -> Totals:
        """The totals after the last turn."""
        return whole([self.part])

    @property
    def usd(self) -> int:
        """Picodollars of all priced sends."""
        return min(self.part.usd, MOST)

    @property
    def unpriced(self) -> bool:
        """Whether no send of the run could be priced."""
        return self.price is None

    def stopped(self, caps: Caps) -> list[Fired] | None:
        """No exits, where that is plain to see."""
        part = self.part
        return NONE if caps.spare(part.turns, part.input + part.output, part.usd, part.elapsed) else None

    def altered(self, **changes: Any) -> RunReport:
        """The same with other values of some fields."""
        changes = {name: value for name, value in changes.items() if getattr(self, name) != value}
        if changes.keys() <= set(type(self).__match_args__):
            return replace(self, **changes)
        return replace(self._finished(), **changes)

    def _finished(self) -> Finished:
        return Finished(**{f.name: getattr(self, f.name) for f in fields(Finished)})


_FREE: Final[dict[str, int]] = {}


@cache
def made() -> ModuleType | None:
    """The compiled part, which knows of reports of quiet runs then; None where there is none."""
    part = compiled()
    if part is not None:
        part.settle_with(Settled, Part, Fired, NONE, NO_GAP)
    return part


def settle(runs: list[Any], spill: Spill) -> None:
    """Put the reports of the quiet runs among some in their places."""
    scanner = made()
    left = range(len(runs)) if scanner is None else scanner.settle(runs, spill)
    for number in left:
        if isinstance(runs[number], Quiet):
            runs[number] = settled(runs[number], spill)


def settled(state: Quiet, spill: Spill) -> Settled:
    """The report of a quiet run."""
    part, times = state.part(spill)
    gap = NO_GAP if times.gap[0] < 60 else times.gap  # as nearly all are, of which nothing is said
    return Settled(
        state.run, state.name, state.format, state.model, times.started, times.ended, gap, part, state.terms.price,
        spill, NONE,
    )  # fmt: skip


def stop(reports: list[RunReport], caps: Caps) -> None:
    """Fill in the exits that fired on reports under `caps`, see `loopscan.fired`."""
    scanner, left = made(), reports
    if scanner is not None:
        numbers = scanner.stop(reports, caps.turns, caps.tokens, caps.usd, caps.seconds)
        left = [reports[number] for number in numbers]
    for report in left:
        evaluate(report, caps)
