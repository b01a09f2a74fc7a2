"""A price as the short way of a ledger needs it: whole rates, and the longest prompt for which they hold."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

import msgspec

if TYPE_CHECKING:
    from loopscan.price import Price, Rate

PLAIN: Final = 10**9
"""The short way is for whole rates and counts up to this: their products fit 64 bits."""


class Terms(msgspec.Struct, gc=False, frozen=True):
    """Picodollars per token by class. `most`: the longest prompt that may take the short way, -1 = none.

    `cached`: whether sends that a cache took part in may take it too. Without a price every rate is 0.
    """

    price: Price | None = None
    most: int = PLAIN
    input: int = 0
    output: int = 0
    read: int = 0
    write: int = 0
    hour: int = 0
    cached: bool = True


UNPRICED: Final = Terms()
_KNOWN: dict[int, Terms] = {}
_MOST_KNOWN: Final = 1000


def terms_of(price: Price | None) -> Terms:
    """The terms of a price."""
    if price is None:
        return UNPRICED
    known = _KNOWN.get(id(price))
    if known is None or known.price is not price:
        if len(_KNOWN) >= _MOST_KNOWN:
            _KNOWN.clear()
        known = _KNOWN[id(price)] = _made(price)
    return known


def _made(price: Price) -> Terms:
    if not (_whole(price.input) and _whole(price.output)):
        return Terms(price, -1)
    most = min(price.tiers[0].above if price.tiers else PLAIN, PLAIN)
    cached = _whole(price.cache_read) and _whole(price.cache_write) and _whole(price.cache_write_1h)
    read, write, hour = (int(r) if cached else 0 for r in (price.cache_read, price.cache_write, price.cache_write_1h))
    return Terms(price, most, int(price.input), int(price.output), read, write, hour, cached)


def _whole(rate: Rate) -> bool:
    return isinstance(rate, int) and rate <= PLAIN
