"""Prices and money in exact arithmetic.

A rate is picodollars (1e-12 USD) per token, which is USD per million tokens times 1,000,000: an int, or a
Fraction where a source states more digits. A cost is an int of picodollars. Nothing is rounded before print,
except the cost of one send under a fractional rate (to the nearest picodollar).
"""

from __future__ import annotations

from dataclasses import dataclass
from decimal import Decimal, InvalidOperation
from fractions import Fraction
from typing import Final

Rate = int | Fraction
"""Picodollars per token."""

PICO: Final = 10**12
"""Picodollars in a dollar."""

DEFAULT_CACHE_READ: Final = Fraction(1, 10)
DEFAULT_CACHE_WRITE: Final = Fraction(5, 4)
DEFAULT_CACHE_WRITE_1H: Final = Fraction(2)


@dataclass(slots=True, frozen=True, kw_only=True)
class Rates:
    """What one token of each class costs, in picodollars."""

    input: Rate
    output: Rate
    cache_read: Rate
    cache_write: Rate
    cache_write_1h: Rate

    def by_name(self) -> dict[str, Rate]:
        """The five rates under their field names."""
        return {name: getattr(self, name) for name in Rates.__slots__}

    def cost_of(self, parts: tuple[int, int, int, int], output: int) -> int:
        """Picodollars of input tokens by class (`parts`) and output tokens."""
        fresh, read, write, hour = parts
        return nearest(
            fresh * self.input
            + read * self.cache_read
            + write * self.cache_write
            + hour * self.cache_write_1h
            + output * self.output
        )


@dataclass(slots=True, frozen=True, kw_only=True)
class Tier(Rates):
    """The rates of a whole request whose prompt is longer than `above` tokens."""

    above: int


@dataclass(slots=True, frozen=True, kw_only=True)
class Price(Rates):
    """The price of a model.

    `tiers`: ascending by `above`. `window`: context window in tokens. `source`: where the price comes from
    ("flags", "file:prices.toml", "builtin:2026-11-30", "live:genai-prices 0.2.3"). `model`: the id matched
    there, None for flags. `assumed`: the classes the source did not state and that took a default.
    """

    tiers: tuple[Tier, ...] = ()
    window: int | None = None
    source: str = ""
    model: str | None = None
    assumed: tuple[str, ...] = ()

    def at(self, prompt: int) -> Rates:
        """The rates of a request with `prompt` tokens of input, cached included; a threshold is still below."""
        rates: Rates = self
        for tier in self.tiers:
            if prompt <= tier.above:
                break
            rates = tier
        return rates

    def cost(
        self,
        input: int,  # noqa: A002
        cache_read: int | None = None,
        cache_write: int | None = None,
        cache_write_1h: int | None = None,
        output: int | None = None,
    ) -> int:
        """Picodollars of one send; the arguments are the fields of `loopscan.model.Usage`."""
        by_class = parts(input, cache_read, cache_write, cache_write_1h)
        return self.at(sum(by_class)).cost_of(by_class, output or 0)


def parts(
    input: int | None,  # noqa: A002
    cache_read: int | None,
    cache_write: int | None,
    cache_write_1h: int | None,
) -> tuple[int, int, int, int]:
    """The input of a send by class, each token in one: uncached, read, written for 5 minutes, written for 1 hour.

    `input` is all input; `cache_read` and `cache_write` are parts of it, `cache_write_1h` is a part of
    `cache_write`. Where the parts exceed the whole (a damaged record) the whole is their sum.
    """
    read, write, hour = cache_read or 0, cache_write or 0, cache_write_1h or 0
    if hour > write:
        write = hour
    fresh = (input or 0) - read - write
    return fresh if fresh > 0 else 0, read, write - hour, hour


def rate(usd_per_million: str | int | float | Decimal | Fraction) -> Rate:
    """Picodollars per token of a price in USD per million tokens; a float counts as its shortest decimal.

    Raises ValueError for what is no finite number >= 0.
    """
    try:
        exact = usd_per_million if isinstance(usd_per_million, Fraction) else Fraction(Decimal(str(usd_per_million)))
    except (InvalidOperation, ValueError, OverflowError) as problem:
        raise ValueError(f"not a price: {usd_per_million!r}") from problem
    if exact < 0:
        raise ValueError(f"a price cannot be negative: {usd_per_million!r}")
    return whole(exact * 1_000_000)


def nearest(total: Rate) -> int:
    """A sum in picodollars as an int; only fractional rates need rounding."""
    return total if isinstance(total, int) else round(total)


def whole(value: Fraction) -> Rate:
    """The value as an int if it is one."""
    return value.numerator if value.denominator == 1 else value


def stated(
    input: Rate,  # noqa: A002
    output: Rate,
    cache_read: Rate | None = None,
    cache_write: Rate | None = None,
    cache_write_1h: Rate | None = None,
) -> tuple[Rates, tuple[str, ...]]:
    """Rates as a user states them, and the names of the classes left out.

    Those cost 0.1, 1.25 and 2 times the input: the usual terms, while vendors' own differ by model and time.
    """
    given = {"cache_read": cache_read, "cache_write": cache_write, "cache_write_1h": cache_write_1h}
    defaults = {
        "cache_read": DEFAULT_CACHE_READ,
        "cache_write": DEFAULT_CACHE_WRITE,
        "cache_write_1h": DEFAULT_CACHE_WRITE_1H,
    }
    parts = {name: whole(input * defaults[name]) if value is None else value for name, value in given.items()}
    return Rates(input=input, output=output, **parts), tuple(name for name, value in given.items() if value is None)


def picodollars(usd: str | int | float | Decimal) -> int:
    """A recorded amount of dollars as picodollars; a float counts as its shortest decimal.

    Raises ValueError for what is no finite number.
    """
    try:
        return round(Fraction(Decimal(str(usd))) * PICO)
    except (InvalidOperation, ValueError, OverflowError) as problem:
        raise ValueError(f"not an amount: {usd!r}") from problem


def dollars(pico: int) -> Decimal:
    """The exact amount in USD, without trailing zeros."""
    places = 12
    while places and pico % 10 == 0:
        pico //= 10
        places -= 1
    return Decimal(f"{pico}e-{places}") if places else Decimal(pico)


def dollar_text(pico: int, places: int = 2) -> str:
    """The amount for people: "$1,343.57"; a half is rounded away from zero."""
    unit = 10 ** (12 - places)
    cents = (abs(pico) + unit // 2) // unit
    left, right = divmod(cents, 10**places)
    sign = "-" if pico < 0 and cents else ""
    return f"{sign}${left:,}.{right:0{places}d}" if places else f"{sign}${left:,}"
