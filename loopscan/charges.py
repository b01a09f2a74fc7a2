"""What sends of any kind come to, one by one: tokens by class times the price of the send's own model and time.

Dollars that the log itself states are a check on it; they count where no price is known or `--cost recorded` asks
for them.
"""

from __future__ import annotations

import msgspec

from loopscan import estimate
from loopscan.bill import Bill
from loopscan.cold import Warmth
from loopscan.fill import Source
from loopscan.model import Turn, Usage
from loopscan.money import Money
from loopscan.price import Price, Rates, nearest, parts, picodollars
from loopscan.series import Tally
from loopscan.settings import Settings
from loopscan.terms import UNPRICED, Terms


class Charges(msgspec.Struct, gc=False):
    """The bills of an open run. `terms`: the present price, of `model`."""

    settings: Settings
    money: Money = msgspec.field(default_factory=Money)
    tally: Tally = msgspec.field(default_factory=Tally)
    warmth: Warmth = msgspec.field(default_factory=Warmth)
    model: str | None = None
    terms: Terms = UNPRICED
    rates: Rates | None = None
    current: Bill | None = None
    """The rates of the send before, and its bill where that is known."""
    _bills: dict[tuple[str | None, int, int], Bill] = {}

    def charge(self, turn: Turn, usage: Usage, source: Source) -> int:
        """Picodollars of a send."""
        money, price, output = self.money, self.terms.price, usage.output or 0
        by_class = parts(usage.input, usage.cache_read, usage.cache_write, usage.cache_write_1h)
        known = usage.input is not None or usage.output is not None
        rates: Rates | None = price if known else None
        if price is not None and known and price.tiers and sum(by_class) > price.tiers[0].above:
            rates = price.at(sum(by_class))
        if rates is not self.rates or self.current is None:
            self.rates, self.current = rates, self.bill(price, rates)
            self.tally.charge(None if rates is None else rates.output)
        bill = self.current
        told = stated(usage)
        if known or told is not None:
            counted(money.spent.usage_sources, source)
        usd = 0
        if rates is not None and price is not None:
            usd, label = rates.cost_of(by_class, output), price.source
            if told is not None:
                money.checked.add(told, usd)
                if self.settings.cost == "recorded":
                    usd, label = told, "recorded"
            counted(money.spent.prices, label)
        elif told is not None:
            usd = told
            money.checked.add(told, None)
            counted(money.spent.prices, "recorded")
        else:
            money.spent.unpriced += 1
            bill.unpriced += 1
        bill.add(by_class, output, usd)
        if source != "recorded":
            money.guessed.usd += usd
        elif known:
            self._look(turn, usage, by_class, rates)
        return usd

    def _look(self, turn: Turn, usage: Usage, by_class: tuple[int, int, int, int], rates: Rates | None) -> None:
        """See whether the cache was warm, and whether the recorded output can be true."""
        if usage.cache_read is not None:
            self.warmth.send(turn, by_class, rates, self.money.cold)
        if turn.written and usage.output is not None and estimate.is_placeholder(usage.output, turn.written):
            self.doubt(turn.written, usage.output, rates)

    def doubt(self, written: int, output: int, rates: Rates | None) -> None:
        """Note an output of the present model that cannot be true: what it lacks for so many characters."""
        more, guessed = estimate.output(estimate.family(self.model), written) - output, self.money.guessed
        guessed.placeholders += 1
        guessed.more_output += more
        guessed.more_usd += 0 if rates is None else nearest(more * rates.output)

    def bill(self, price: Price | None, rates: Rates | None) -> Bill:
        """The bill of the sends of the present model under these rates."""
        key = (self.model, id(price), id(rates))
        bill = self._bills.get(key)
        if bill is None:
            bill = self._bills[key] = Bill(self.model, price, rates)
            self.money.bills.append(bill)
        return bill


def counted(counts: dict[str, int], name: str, more: int = 1) -> None:
    """Count sends under a name."""
    counts[name] = counts.get(name, 0) + more


def stated(usage: Usage) -> int | None:
    """Picodollars that the log states for a send. Many tools write 0 for "not known": beside tokens it says nothing."""
    if usage.usd is None or (not usage.usd and (usage.input or usage.output)):
        return None
    return picodollars(usage.usd)
