"""The money of an open run, send by send: tokens by class times the price of the send's own model and time.

Dollars that the log itself states are a check on it; they count where no price is known or `--cost recorded` asks
for them.
"""

from __future__ import annotations

from dataclasses import dataclass, field

from loopscan import estimate
from loopscan.bill import Bill
from loopscan.cold import Warmth
from loopscan.fill import History, Source
from loopscan.model import Turn, Usage
from loopscan.money import Money, PriceBook
from loopscan.price import Price, Rates, nearest, parts, picodollars
from loopscan.series import Series
from loopscan.settings import Settings


@dataclass(slots=True)
class Ledger:
    """What a run spent so far. `series`: its running totals, one entry a turn."""

    settings: Settings
    money: Money = field(default_factory=Money)
    series: Series = field(default_factory=Series)
    _bills: dict[tuple[str | None, int, int], Bill] = field(default_factory=dict)
    _warmth: Warmth = field(default_factory=Warmth)
    _history: History = field(default_factory=History)

    def follow(self, other: Ledger) -> None:
        """Go on where another run of the same session ended: with its cache and its history."""
        self._warmth, self._history = other._warmth, other._history

    def pay(self, turn: Turn, prices: PriceBook, elapsed: float) -> int | None:
        """Take the next turn, `elapsed` seconds after the first one; its input as recorded or modelled."""
        usage = turn.usage
        if usage is None and turn.failed:
            self.series.push(0, 0, 0, 0, elapsed, False)
            return None
        price = prices.find(turn.model, turn.time)
        spent = self.money.spent
        spent.sends += 1
        source: Source = "recorded"
        if usage is not None and usage.input is not None:
            self._history.take(turn, usage.input)
            spent.add(usage)
        else:
            usage, source = self._completed(turn, price)
        usd, written = self._price(turn, usage, price, source)
        self.series.push(usage.input or 0, usage.output or 0, usd, written, elapsed, True)
        return None if source == "estimated" else usage.input

    def _completed(self, turn: Turn, price: Price | None) -> tuple[Usage, Source]:
        """The usage of a send that the log does not hold in full; what is known of it goes into the sums."""
        usage, source = self._history.completed(turn, len(self.series) + 1, self.settings, price is not None)
        spent, guessed = self.money.spent, self.money.guessed
        if source != "estimated":
            spent.add(usage)
            return usage, source
        recorded = turn.usage or Usage()
        spent.add(recorded)
        guessed.input += (usage.input or 0) - (recorded.input or 0)
        guessed.output += (usage.output or 0) - (recorded.output or 0)
        guessed.baseless += not self._history.measured
        return usage, source

    def _price(self, turn: Turn, usage: Usage, price: Price | None, source: Source) -> tuple[int, int]:
        """Picodollars of a send and of its output."""
        money, output = self.money, usage.output or 0
        by_class = parts(usage.input, usage.cache_read, usage.cache_write, usage.cache_write_1h)
        known = usage.input is not None or usage.output is not None
        rates = None if price is None or not known else price.at(sum(by_class)) if price.tiers else price
        bill = self._bill(turn.model, price, rates)
        stated = _stated(usage, known)
        if known or stated is not None:
            money.spent.usage_sources[source] += 1
        usd = written = 0
        if rates is not None and price is not None:
            usd, written, label = rates.cost_of(by_class, output), nearest(output * rates.output), price.source
            money.output_rate = rates.output
            if stated is not None:
                money.checked.add(stated, usd)
                if self.settings.cost == "recorded":
                    usd, written, label = stated, min(written, stated), "recorded"
            money.spent.prices[label] += 1
        elif stated is not None:
            usd = stated
            money.spent.prices["recorded"] += 1
        else:
            money.spent.unpriced += 1
            bill.unpriced += 1
        bill.add(by_class, output, usd)
        if source != "recorded":
            money.guessed.usd += usd
        elif known:
            self._look(turn, usage, by_class, rates)
        return usd, written

    def _look(self, turn: Turn, usage: Usage, by_class: tuple[int, int, int, int], rates: Rates | None) -> None:
        """See whether the cache was warm, and whether the recorded output can be true."""
        if usage.cache_read is not None:
            self._warmth.send(turn, by_class, rates, self.money.cold)
        chars, output, guessed = turn.written, usage.output, self.money.guessed
        if chars and output is not None and estimate.is_placeholder(output, chars):
            more = estimate.output(estimate.family(turn.model), chars) - output
            guessed.placeholders += 1
            guessed.more_output += more
            guessed.more_usd += 0 if rates is None else nearest(more * rates.output)

    def _bill(self, model: str | None, price: Price | None, rates: Rates | None) -> Bill:
        key = (model, id(price), id(rates))
        bill = self._bills.get(key)
        if bill is None:
            bill = self._bills[key] = Bill(model, price, rates)
            self.money.bills.append(bill)
        return bill


def _stated(usage: Usage, known: bool) -> int | None:
    """Picodollars that the log states for a send. Many tools write 0 for "not known": beside tokens it says nothing."""
    if usage.usd is None or (not usage.usd and known and (usage.input or usage.output)):
        return None
    return picodollars(usage.usd)
