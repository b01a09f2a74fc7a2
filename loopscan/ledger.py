"""The money of an open run, send by send: tokens by class times the price of the send's own model and time.

Dollars that the log itself states are a check on it; they count where no price is known or `--cost recorded` asks
for them. A send with no more to it than input and output tokens under the price of the send before takes a short
way: its numbers are noted, and the sums are made for many such sends at once.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence

import msgspec

from loopscan.charges import Charges, counted
from loopscan.estimate import PLACEHOLDER_RATIO
from loopscan.fill import COUNTED, Filling, History, Source, filling, has_content
from loopscan.model import Turn, Usage
from loopscan.money import PRICE_SPAN, PriceBook
from loopscan.series import Series
from loopscan.terms import PLAIN, terms_of
from loopscan.unsummed import ALL, Unsummed


class Ledger(Charges, gc=False):
    """What a run spent so far. `tally`: a few numbers per turn. `close` makes the sums."""

    history: History = msgspec.field(default_factory=History)
    since: float = 0.0
    until: float = 0.0
    """From when until when the present price holds."""
    plain: Unsummed = msgspec.field(default_factory=Unsummed)
    """The sends that took the short way and are not summed up yet."""
    _filling: Filling | None = None
    _series: Series | None = None

    def follow(self, other: Ledger) -> None:
        """Go on where another run of the same session ended: with its cache and its history."""
        self.warmth, self.history = other.warmth, other.history

    def pay(self, turn: Turn, prices: PriceBook, elapsed: float) -> int | None:
        """Take the next turn, `elapsed` seconds after the first one; its input as recorded or modelled."""
        usage, time = turn.usage, turn.time or 0.0
        if not self.since <= time < self.until or turn.model != self.model:
            self.look_up(turn, prices)
        if usage is None:
            if not turn.failed and not turn.compacted:
                return self._fill(turn, elapsed)
        elif (
            (sent := usage.input) is not None
            and sent <= self.terms.most
            and (output := usage.output) is not None
            and output <= PLAIN
            and usage.usd is None
        ):
            plain = usage.cache_read is usage.cache_write is usage.cache_write_1h is None
            usd = sent * self.terms.input if plain else self.cached(turn, usage, sent)
            if usd is not None:
                tally, history = self.tally, self.history
                if self.plain.source != "recorded":
                    self.begin()
                tally.input.append(sent)
                tally.output.append(output)
                tally.usd.append(usd + output * self.terms.output)
                tally.elapsed.append(elapsed)
                history.before, history.input, history.measured = turn, sent, True
                if turn.written and output * PLACEHOLDER_RATIO < turn.written:
                    self.doubt(turn.written, output, self.terms.price)
                return sent
        return self._pay(turn, elapsed)

    def took(self, sent: Sequence[int], output: Sequence[int], elapsed: Iterable[float], last: Turn) -> None:
        """Take some sends in a row that may all take the short way; `last`: the turn of the last one."""
        if self.plain.source != "recorded":
            self.begin()
        tally, rate_in, rate_out = self.tally, self.terms.input, self.terms.output
        tally.input.extend(sent)
        tally.output.extend(output)
        tally.usd.extend([i * rate_in + o * rate_out for i, o in zip(sent, output, strict=True)])
        tally.elapsed.extend(elapsed)
        self.history.before, self.history.input, self.history.measured = last, sent[-1], True

    def took_columns(self, sent: bytes, output: bytes, usd: bytes, elapsed: bytes, last: Turn) -> None:
        """The same of columns: tokens and picodollars as 64-bit integers, seconds as doubles."""
        if self.plain.source != "recorded":
            self.begin()
        tally = self.tally
        tally.input.frombytes(sent)
        tally.output.frombytes(output)
        tally.usd.frombytes(usd)
        tally.elapsed.frombytes(elapsed)
        self.history.before, self.history.input, self.history.measured = last, tally.input[-1], True

    def cached(self, turn: Turn, usage: Usage, sent: int) -> int | None:
        """Picodollars of a prompt that a cache took part in, its classes noted; None if it must go the long way."""
        read, write, hour = usage.cache_read or 0, usage.cache_write or 0, usage.cache_write_1h or 0
        plain, terms, fresh = self.plain, self.terms, sent - read - write
        if not terms.cached or fresh < 0 or hour > write:
            return None
        if plain.source != "recorded":
            self.begin()
        plain.reads += read
        plain.writes += write
        plain.hours += hour
        if plain.classes != ALL:
            plain.note(usage)
        if usage.cache_read is not None and not self.warmth.goes_on(turn, sent, read):
            self.warmth.send(turn, (fresh, read, write - hour, hour), terms.price, self.money.cold)
        return fresh * terms.input + read * terms.read + (write - hour) * terms.write + hour * terms.hour

    def filling(self) -> Filling:
        """How sends that say nothing of their usage are filled in at present."""
        if self._filling is None:
            self._filling = filling(self.model, self.terms.price is not None, self.settings)
        return self._filling

    def _fill(self, turn: Turn, elapsed: float) -> int | None:
        """Take a turn that says nothing of its usage; `loopscan.stretch` does the same for many."""
        way, terms, tally = self.filling(), self.terms, self.tally
        sent, output = way.next_input(self.history, len(tally)), way.output_of(turn)
        if not 0 <= sent <= terms.most or output > PLAIN or not has_content(turn):
            return self._pay(turn, elapsed)
        if self.plain.source != way.source:
            self.begin(way.source)
        tally.input.append(sent)
        tally.output.append(output)
        tally.usd.append(sent * terms.input + output * terms.output)
        tally.elapsed.append(elapsed)
        self.remember(turn, sent)
        return sent if way.source in COUNTED else None

    def remember(self, last: Turn, sent: int) -> None:
        """Remember the last of the sends that took the short way, and its input."""
        source, history = self.plain.source, self.history
        if source != "unknown":
            history.before, history.input = last, sent
            if source != "estimated":
                history.measured = True

    def moves_on(self, turn: Turn, prices: PriceBook) -> bool:
        """Look up the price of the next send, if that is due to nothing but the time; whether it was."""
        time = turn.time or 0.0
        if self.since <= time < self.until or turn.model != self.model:
            return False
        self.look_up(turn, prices)
        return self.since <= time < self.until

    def look_up(self, turn: Turn, prices: PriceBook) -> None:
        """The price of this send, and for how long it holds."""
        terms = terms_of(prices.find(turn.model, turn.time))
        # Sends without a time share the first span of all, which no log has.
        self.since = (turn.time or 0.0) // PRICE_SPAN * PRICE_SPAN
        self.until = self.since + PRICE_SPAN
        if terms is not self.terms or turn.model != self.model:
            self._sum_up()
            self.terms, self.model, self.current, self._filling = terms, turn.model, None, None

    def begin(self, source: str = "recorded") -> None:
        """Start to take sends of this source the short way."""
        self._sum_up()
        self.plain.begin(source, len(self.tally.input))
        price = self.rates = None if source == "unknown" else self.terms.price
        self.current = None
        self.tally.charge(None if price is None else price.output)
        if source == "estimated" and self.history.before is None:
            self.history.measured = False

    def _sum_up(self) -> None:
        """Bring the sums up to the sends that took the short way."""
        plain, money = self.plain, self.money
        source, price, spent = plain.source, self.terms.price, money.spent
        if not source:
            return
        plain.source = ""
        tally, start = self.tally, plain.start
        count = len(tally.input) - start
        sent, output, usd = sum(tally.input[start:]), sum(tally.output[start:]), sum(tally.usd[start:])
        spent.sends += count
        if source == "estimated":
            money.guessed.add(sent, output, 0 if self.history.measured else count)
        elif source != "unknown":
            spent.add(plain.usage(sent, output))
        if source != "recorded":
            money.guessed.usd += usd
        if source != "unknown":
            counted(spent.usage_sources, source, count)
        bill = self.bill(price, price)
        bill.add(plain.parts(sent), output, usd, count)
        if price is not None:
            counted(spent.prices, price.source, count)
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
        usd = self.charge(turn, usage, source)
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
        more = (usage.input or 0) - (recorded.input or 0), (usage.output or 0) - (recorded.output or 0)
        guessed.add(*more, not self.history.measured)
        return usage, source
