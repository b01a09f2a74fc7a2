"""Tokens and money by class: what the sends that one model served under one price add up to."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field

import msgspec

from loopscan.price import Price, Rates, nearest

CLASSES = ("input", "cache_read", "cache_write", "cache_write_1h", "output")
"""Disjoint: `input` is what no cache took part in, `cache_write` what was written for 5 minutes."""


class Bill(msgspec.Struct, gc=False):
    """Sends of one model under one set of rates: tokens by class, and `usd` in picodollars as billed.

    `price` None: no source knows the model. `unpriced`: sends that could not be priced, for that reason or because
    their tokens are not known.
    """

    model: str | None
    price: Price | None = None
    rates: Rates | None = None
    sends: int = 0
    unpriced: int = 0
    input: int = 0
    cache_read: int = 0
    cache_write: int = 0
    cache_write_1h: int = 0
    output: int = 0
    usd: int = 0

    def add(self, parts: tuple[int, int, int, int], output: int, usd: int, sends: int = 1) -> None:
        """Add a send (or the sums of some): its input by class, its output, its picodollars."""
        self.sends += sends
        self.input += parts[0]
        self.cache_read += parts[1]
        self.cache_write += parts[2]
        self.cache_write_1h += parts[3]
        self.output += output
        self.usd += usd

    @property
    def tokens(self) -> dict[str, int]:
        """Tokens by class."""
        return {name: getattr(self, name) for name in CLASSES}

    @property
    def prompt(self) -> int:
        """All input tokens."""
        return self.input + self.cache_read + self.cache_write + self.cache_write_1h

    def by_class(self) -> dict[str, int]:
        """Picodollars by class at list price; nothing where there is no price."""
        rates = self.rates
        return {} if rates is None else {n: nearest(getattr(self, n) * getattr(rates, n)) for n in CLASSES}

    @property
    def uncached(self) -> int:
        """Picodollars of the same sends had there been no cache; as billed where there is no price."""
        rates = self.rates
        return self.usd if rates is None else nearest(self.prompt * rates.input + self.output * rates.output)


@dataclass(slots=True)
class Line:
    """Bills added up: tokens and picodollars by class, and what the same sends would have cost uncached."""

    model: str | None = None
    matched: str | None = None
    source: str | None = None
    sends: int = 0
    unpriced: int = 0
    tokens: dict[str, int] = field(default_factory=lambda: dict.fromkeys(CLASSES, 0))
    classes: dict[str, int] = field(default_factory=lambda: dict.fromkeys(CLASSES, 0))
    usd: int = 0
    uncached: int = 0

    def add(self, bill: Bill) -> None:
        """Add a bill."""
        self.sends += bill.sends
        self.unpriced += bill.unpriced
        self.usd += bill.usd
        self.uncached += bill.uncached
        for sums, more in ((self.tokens, bill.tokens), (self.classes, bill.by_class())):
            for name, value in more.items():
                sums[name] += value

    @property
    def priced_usd(self) -> int | None:
        """Picodollars, None where no send was priced."""
        return None if self.unpriced and self.unpriced >= self.sends else self.usd


def total(bills: Iterable[Bill]) -> Line:
    """All bills in one line."""
    line = Line()
    for bill in bills:
        line.add(bill)
    return line


def by_model(bills: Iterable[Bill]) -> list[Line]:
    """A line for each model and the price that was found for it, costliest first."""
    lines: dict[tuple[str | None, ...], Line] = {}
    for bill in bills:
        matched, source = (bill.price.model, bill.price.source) if bill.price else (None, None)
        key = (bill.model, matched, source)
        if key not in lines:
            lines[key] = Line(bill.model, matched, source)
        lines[key].add(bill)
    return sorted(lines.values(), key=lambda line: (-line.usd, -line.sends, line.model or ""))


def priced_as(bills: list[Bill]) -> str | None:
    """The model under whose name the costliest part of the bills was priced."""
    if len(bills) == 1:
        return bills[0].price.model if bills[0].price else None
    return next((line.matched for line in by_model(bills)), None)
