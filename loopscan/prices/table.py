"""A table of model prices by date, as data: what the built-in snapshot and a live package are turned into.

Entry: `[context window or 0, row, row, ...]`, rows by time. Row: `[start day, rates, tier, ..., hours]`: start day
"2026-03-13" or "" (from the beginning); rates and tiers as below; hours only where the row holds for a part of
each day, `{"utc": [first minute, minute after the last]}`. Rates: `[input, output, cache read, cache write, cache
write 1h]` in USD per million tokens; null = a class without a price of its own. Tier: `[above, *rates]`.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Any, Final

from loopscan.price import Price, Rates, Tier, rate
from loopscan.prices.names import candidates, dateless, fold

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

Row = list[Any]
Entry = list[Any]

_DAY: Final = 86_400


@dataclass(slots=True)
class Table:
    """Prices by model id. `source` is the label of every price found here.

    `ids` maps folded names to keys of `models`; `_built` keeps each row's `Price` once it was asked for.
    """

    source: str
    models: Mapping[str, Entry]
    ids: dict[str, str] = field(default_factory=dict)
    _built: dict[tuple[str, int], Price] = field(default_factory=dict)

    @classmethod
    def of(cls, source: str, models: Mapping[str, Entry], aliases: Mapping[str, str]) -> Table:
        """The table with every id reachable: by itself, by its aliases and without its date.

        Of several dated snapshots the newest answers to the name without a date.
        """
        ids = {fold(name): name for name in models}
        for alias, name in aliases.items():
            ids.setdefault(fold(alias), name)
        undated: dict[str, str] = {}
        for name in sorted(ids):
            undated[dateless(name)] = ids[name]
        return cls(source, models, undated | ids)

    def match(self, model: str) -> str | None:
        """The id in this table that a log's model name means."""
        return next((self.ids[name] for name in candidates(model) if name in self.ids), None)

    def window(self, model: str) -> int | None:
        """The context window of a model in tokens, where the table knows it."""
        name = self.match(model)
        return self.models[name][0] or None if name is not None else None

    def find(self, model: str, time: float) -> Price | None:
        """The price of a model at a time (epoch seconds); prices that start later do not count."""
        name = self.match(model)
        if name is None:
            return None
        number = _row_at(self.models[name], time)
        price = self._built.get((name, number))
        if price is None:
            price = self._built[name, number] = self._price(name, self.models[name], number)
        return price

    def _price(self, name: str, entry: Entry, number: int) -> Price:
        row: Row = entry[number]
        base, assumed = _rates(row[1])
        tiers = tuple(
            Tier(above=tier[0], **_rates(tier[1:])[0].by_name()) for tier in row[2:] if isinstance(tier, list)
        )
        return Price(
            **base.by_name(),
            tiers=tiers,
            window=entry[0] or None,
            source=self.source,
            model=name,
            assumed=assumed,
        )


def _row_at(entry: Entry, time: float) -> int:
    """The last row that holds at a time; the first one also holds before its own start."""
    moment = datetime.fromtimestamp(time, UTC)
    today, minute = moment.strftime("%Y-%m-%d"), moment.hour * 60 + moment.minute
    chosen = 1
    for number, row in enumerate(entry[1:], start=1):
        hours = row[-1]["utc"] if isinstance(row[-1], dict) else None
        if row[0] <= today and (hours is None or _within(minute, hours)):
            chosen = number
    return chosen


def _within(minute: int, hours: Sequence[int]) -> bool:
    first, end = hours
    return first <= minute < end if first <= end else minute >= first or minute < end


def _rates(numbers: Sequence[float | None]) -> tuple[Rates, tuple[str, ...]]:
    """Rates, and the classes they had to assume.

    A class without a price of its own costs what its whole costs: that is how a vendor bills who has no such
    class. Only a missing 1h write beside a price for writes is a gap in the table.
    """
    given = [None if number is None else rate(number) for number in numbers]
    given += [None] * (5 - len(given))
    base, output, read, write, hour = given
    base, output = base or 0, output or 0
    rates = Rates(
        input=base,
        output=output,
        cache_read=base if read is None else read,
        cache_write=base if write is None else write,
        cache_write_1h=hour if hour is not None else base if write is None else write,
    )
    return rates, ("cache_write_1h",) if hour is None and write is not None else ()
