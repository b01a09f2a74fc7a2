"""Where prices come from: flags, then the user's file, then the built-in snapshot, then an installed genai-prices.

One module per source. A model that none of them knows is unpriced: None, never 0.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from datetime import UTC, date, datetime
from typing import TYPE_CHECKING, Final

from loopscan.errors import UsageError
from loopscan.money import PRICE_SPAN
from loopscan.prices.names import is_million

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from loopscan.price import Price
    from loopscan.prices.file import PriceFile
    from loopscan.prices.flags import Number
    from loopscan.prices.table import Table

MILLION: Final = 1_000_000

_CACHE_SIZE: Final = 1 << 16
_YEAR_2100: Final = 4_102_444_800


@dataclass(slots=True)
class Prices:
    """Resolves a model and a time to a price.

    `flags`: one price for every model. `file`: the user's prices by model. `at`: epoch seconds that stand in for
    every send's own time (`--price-date`); None = each send's time. `now`: the time of a send that has none.
    """

    flags: Price | None = None
    file: PriceFile | None = None
    at: float | None = None
    now: float = field(default_factory=lambda: datetime.now(UTC).timestamp())
    _found: dict[tuple[str, int], Price | None] = field(default_factory=dict, repr=False)
    _windows: dict[str, int | None] = field(default_factory=dict, repr=False)

    def find(self, model: str | None, time: float | None = None) -> Price | None:
        """The price of a model at a time in epoch seconds, or None: unpriced."""
        if self.flags is not None:
            return self.flags
        if not model:
            return None
        # A damaged time is as good as none.
        own = time if time is not None and 0 <= time < _YEAR_2100 else self.now
        moment = own if self.at is None else self.at
        key = (model, int(moment // PRICE_SPAN))
        if key not in self._found:
            if len(self._found) >= _CACHE_SIZE:
                self._found.clear()
            self._found[key] = self._look_up(model, moment)
        return self._found[key]

    def window(self, model: str | None) -> int | None:
        """The context window of a model in tokens, None if no source knows it. Flags do not hide it."""
        if not model:
            return None
        if model not in self._windows:
            if len(self._windows) >= _CACHE_SIZE:
                self._windows.clear()
            known = (source.window(model) for source in self._sources())
            stated = MILLION if is_million(model) else None
            self._windows[model] = stated or next((window for window in known if window), None)
        return self._windows[model]

    def _look_up(self, model: str, moment: float) -> Price | None:
        found = (source.find(model, moment) for source in self._sources())
        return next((price for price in found if price is not None), None)

    def _sources(self) -> Iterator[PriceFile | Table]:
        """The sources in their order, each loaded only when the ones before it have failed."""
        if self.file is not None:
            yield self.file
        from loopscan.prices import snapshot

        yield snapshot.table()
        from loopscan.prices import live

        table = live.table()
        if table is not None:
            yield table


def from_options(
    p_in: Number | None = None,
    p_out: Number | None = None,
    p_cache_read: Number | None = None,
    p_cache_write: Number | None = None,
    p_cache_write_1h: Number | None = None,
    *,
    file: Path | None = None,
    price_date: str = "run",
) -> Prices:
    """The prices that the command line asks for.

    `price_date`: "run" (each send's own day), "today" or a day. Raises UsageError for values that cannot be used
    and InputError for a file that cannot be read.
    """
    from loopscan.prices import file as price_file
    from loopscan.prices import flags

    price = flags.price(p_in, p_out, p_cache_read, p_cache_write, p_cache_write_1h)
    return Prices(price, price_file.load(file) if file is not None else None, _moment(price_date))


def _moment(price_date: str) -> float | None:
    if price_date == "run":
        return None
    if price_date == "today":
        return datetime.now(UTC).timestamp()
    try:
        day = date.fromisoformat(price_date)
    except ValueError as problem:
        raise UsageError(f"--price-date must be run, today or a day like 2026-09-22, not {price_date!r}") from problem
    return datetime(day.year, day.month, day.day, 12, tzinfo=UTC).timestamp()
