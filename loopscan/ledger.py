"""The money of an open run, send by send: tokens by class times the price of the send's own model and time.

Dollars that the log itself states are a check on it; they count where no price is known or `--cost recorded` asks
for them. A send with no more to it than input and output tokens under the price of the send before takes a short
way: its numbers are noted, and the sums are made for many such sends at once.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence

import msgspec

from loopscan import estimate
from loopscan.bill import Bill
from loopscan.cold import Warmth
from loopscan.fill import History, Source
from loopscan.model import Turn, Usage
from loopscan.money import PRICE_SPAN, Money, PriceBook
from loopscan.price import Price, Rates, nearest, parts, picodollars
from loopscan.series import Series, Tally
from loopscan.settings import Settings
from loopscan.terms import PLAIN, UNPRICED, Terms, terms_of


class Ledger(msgspec.Struct, gc=False):
    """What a run spent so far. `tally`: a few numbers per turn. `close` makes the sums."""

    settings: Settings
    money: Money = msgspec.field(default_factory=Money)
    tally: Tally = msgspec.field(default_factory=Tally)
    _bills: dict[tuple[str | None, int, int], Bill] = {}
    warmth: Warmth = msgspec.field(default_factory=Warmth)
    history: History = msgspec.field(default_factory=History)
    model: str | None = None
    terms: Terms = UNPRICED
    since: float = 0.0
    until: float = 0.0
    """The present price, and from when until when it holds."""
    _rates: Rates | None = None
    _current: Bill | None = None
    """The rates of the send before, and its bill where that is known."""
    start: int | None = None
    """Index in the open part of the first send that took it and is not summed up yet."""
    reads: int = 0
    writes: int = 0
    hours: int = 0
    classes: int = 0
    """Cached tokens of those sends, and which classes were recorded: 1 read, 2 written, 4 written for an hour."""
    _series: Series | None = None

    def follow(self, other: Ledger) -> None:
        """Go on where another run of the same session ended: with its cache and its history."""
        self.warmth, self.history = other.warmth, other.history

    def pay(self, turn: Turn, prices: PriceBook, elapsed: float) -> int | None:
        """Take the next turn, `elapsed` seconds after the first one; its input as recorded or modelled."""
        usage, time = turn.usage, turn.time or 0.0
        if not self.since <= time < self.until or turn.model != self.model:
            self.look_up(turn, prices)
        if (
            usage is not None
            and (sent := usage.input) is not None
            and sent <= self.terms.most
            and (output := usage.output) is not None
            and output <= PLAIN
            and usage.usd is None
            and (not turn.written or output * estimate.PLACEHOLDER_RATIO >= turn.written)
        ):
            plain = usage.cache_read is usage.cache_write is usage.cache_write_1h is None
            usd = sent * self.terms.input if plain else self.cached(turn, usage, sent)
            if usd is not None:
                tally, history = self.tally, self.history
                if self.start is None:
                    self.begin()
                tally.input.append(sent)
                tally.output.append(output)
                tally.usd.append(usd + output * self.terms.output)
                tally.elapsed.append(elapsed)
                history.before, history.input, history.measured = turn, sent, True
                return sent
        return self._pay(turn, elapsed)

    def took(self, sent: Sequence[int], output: Sequence[int], elapsed: Iterable[float], last: Turn) -> None:
        """Take some sends in a row that may all take the short way; `last`: the turn of the last one."""
        tally, rate_in, rate_out = self.tally, self.terms.input, self.terms.output
        tally.input.extend(sent)
        tally.output.extend(output)
        tally.usd.extend([i * rate_in + o * rate_out for i, o in zip(sent, output, strict=True)])
        tally.elapsed.extend(elapsed)
        self.history.before, self.history.input, self.history.measured = last, sent[-1], True

    def cached(self, turn: Turn, usage: Usage, sent: int) -> int | None:
        """Picodollars of a prompt that a cache took part in, its classes noted; None if it must go the long way."""
        read, write, hour, terms = usage.cache_read, usage.cache_write, usage.cache_write_1h or 0, self.terms
        cached = (read or 0) + (write or 0)
        if not terms.cached or cached > sent or hour > (write or 0):
            return None
        self.classes |= (read is not None) + 2 * (write is not None) + 4 * (usage.cache_write_1h is not None)
        short = (write or 0) - hour
        self.writes += write or 0
        self.hours += hour
        if read is not None:
            self.reads += read
            self.warmth.send(turn, (sent - cached, read, short, hour), terms.price, self.money.cold)
        return (sent - cached) * terms.input + (read or 0) * terms.read + short * terms.write + hour * terms.hour

    def look_up(self, turn: Turn, prices: PriceBook) -> None:
        """The price of this send, and for how long it holds."""
        terms = terms_of(prices.find(turn.model, turn.time))
        # Sends without a time share the first span of all, which no log has.
        self.since = (turn.time or 0.0) // PRICE_SPAN * PRICE_SPAN
        self.until = self.since + PRICE_SPAN
        if terms is not self.terms or turn.model != self.model:
            self._sum_up()
            self.terms, self.model, self._current = terms, turn.model, None

    def begin(self) -> None:
        """Start to take the short way."""
        price = self.terms.price
        self.start, self._rates, self._current = len(self.tally.input), price, None
        self.tally.charge(None if price is None else price.output)

    def _sum_up(self) -> None:
        """Bring the sums up to the sends that took the short way."""
        start, price = self.start, self.terms.price
        if start is None:
            return
        self.start = None
        tally, spent = self.tally, self.money.spent
        count = len(tally.input) - start
        sent, output = sum(tally.input[start:]), sum(tally.output[start:])
        spent.sends += count
        known, read, write, hour = self.classes, self.reads, self.writes, self.hours
        spent.add(
            Usage(sent, output, read if known & 1 else None, write if known & 2 else None, hour if known & 4 else None)
        )
        self.classes = self.reads = self.writes = self.hours = 0
        _count(spent.usage_sources, "recorded", count)
        bill = self._bill(price, price)
        bill.add((sent - read - write, read, write - hour, hour), output, sum(tally.usd[start:]), count)
        if price is not None:
            _count(spent.prices, price.source, count)
        else:
            spent.unpriced += count
            bill.unpriced += count

    def pack(self) -> None:
        """Pack the numbers of the turns so far."""
        self._sum_up()
        self.tally.pack()

    def close(self) -> Series:
        """Bring all sums up to date; the running totals."""
        self._sum_up()
        if self._series is None or len(self._series) < len(self.tally):
            self._series = self.tally.series()
        return self._series

    def _pay(self, turn: Turn, elapsed: float) -> int | None:
        """Take a turn of any kind."""
        self._sum_up()
        usage = turn.usage
        if usage is None and turn.failed:
            self.tally.push(0, 0, 0, elapsed, False)
            return None
        spent = self.money.spent
        spent.sends += 1
        source: Source = "recorded"
        if usage is not None and usage.input is not None:
            self.history.take(turn, usage.input)
            spent.add(usage)
        else:
            usage, source = self._completed(turn)
        usd = self._charge(turn, usage, source)
        self.tally.push(usage.input or 0, usage.output or 0, usd, elapsed, True)
        return None if source == "estimated" else usage.input

    def _completed(self, turn: Turn) -> tuple[Usage, Source]:
        """The usage of a send that the log does not hold in full; what is known of it goes into the sums."""
        usage, source = self.history.completed(turn, len(self.tally) + 1, self.settings, self.terms.price is not None)
        spent, guessed = self.money.spent, self.money.guessed
        if source != "estimated":
            spent.add(usage)
            return usage, source
        recorded = turn.usage or Usage()
        spent.add(recorded)
        guessed.input += (usage.input or 0) - (recorded.input or 0)
        guessed.output += (usage.output or 0) - (recorded.output or 0)
        guessed.baseless += not self.history.measured
        return usage, source

    def _charge(self, turn: Turn, usage: Usage, source: Source) -> int:
        """Picodollars of a send."""
        money, price, output = self.money, self.terms.price, usage.output or 0
        by_class = parts(usage.input, usage.cache_read, usage.cache_write, usage.cache_write_1h)
        known = usage.input is not None or usage.output is not None
        rates: Rates | None = price if known else None
        if price is not None and known and price.tiers and sum(by_class) > price.tiers[0].above:
            rates = price.at(sum(by_class))
        if rates is not self._rates or self._current is None:
            self._rates, self._current = rates, self._bill(price, rates)
            self.tally.charge(None if rates is None else rates.output)
        bill = self._current
        stated = _stated(usage, known)
        if known or stated is not None:
            _count(money.spent.usage_sources, source)
        usd = 0
        if rates is not None and price is not None:
            usd, label = rates.cost_of(by_class, output), price.source
            if stated is not None:
                money.checked.add(stated, usd)
                if self.settings.cost == "recorded":
                    usd, label = stated, "recorded"
            _count(money.spent.prices, label)
        elif stated is not None:
            usd = stated
            money.checked.add(stated, None)
            _count(money.spent.prices, "recorded")
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
        chars, output, guessed = turn.written, usage.output, self.money.guessed
        if chars and output is not None and estimate.is_placeholder(output, chars):
            more = estimate.output(estimate.family(turn.model), chars) - output
            guessed.placeholders += 1
            guessed.more_output += more
            guessed.more_usd += 0 if rates is None else nearest(more * rates.output)

    def _bill(self, price: Price | None, rates: Rates | None) -> Bill:
        key = (self.model, id(price), id(rates))
        bill = self._bills.get(key)
        if bill is None:
            bill = self._bills[key] = Bill(self.model, price, rates)
            self.money.bills.append(bill)
        return bill


def _count(counts: dict[str, int], name: str, more: int = 1) -> None:
    counts[name] = counts.get(name, 0) + more


def _stated(usage: Usage, known: bool) -> int | None:
    """Picodollars that the log states for a send. Many tools write 0 for "not known": beside tokens it says nothing."""
    if usage.usd is None or (not usage.usd and known and (usage.input or usage.output)):
        return None
    return picodollars(usage.usd)
