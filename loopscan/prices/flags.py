"""Prices from the command line: `--p-in 3 --p-out 15 ...` in USD per million tokens, for every model."""

from __future__ import annotations

from decimal import Decimal

from loopscan.errors import UsageError
from loopscan.price import Price, Rate, rate, stated

Number = str | int | float | Decimal


def price(
    p_in: Number | None,
    p_out: Number | None,
    p_cache_read: Number | None = None,
    p_cache_write: Number | None = None,
    p_cache_write_1h: Number | None = None,
) -> Price | None:
    """The price that the flags state, or None without flags.

    A cache rate left out is 0.1 (read), 1.25 (write) or 2 (1h write) times the input and named in `assumed`.
    Raises UsageError where a rate is no number or `--p-in`/`--p-out` lack each other.
    """
    cached = {
        "--p-cache-read": p_cache_read,
        "--p-cache-write": p_cache_write,
        "--p-cache-write-1h": p_cache_write_1h,
    }
    given = [flag for flag, value in {"--p-in": p_in, "--p-out": p_out, **cached}.items() if value is not None]
    if not given:
        return None
    if p_in is None or p_out is None:
        missing = "--p-in" if p_in is None else "--p-out"
        raise UsageError(f"{given[0]} needs {missing} too: give both, in USD per million tokens")
    parts = (None if value is None else _rate(flag, value) for flag, value in cached.items())
    rates, assumed = stated(_rate("--p-in", p_in), _rate("--p-out", p_out), *parts)
    return Price(**rates.by_name(), tiers=(), window=None, source="flags", model=None, assumed=assumed)


def _rate(flag: str, value: Number) -> Rate:
    try:
        return rate(value)
    except ValueError as problem:
        raise UsageError(f"{flag}: {problem}") from problem
