"""Loops and prices for the tests of the cost model."""

from __future__ import annotations

from hypothesis import strategies as st

from loopscan.cost import Loop
from loopscan.price import Price, Rates, Tier

SEED = Loop(3_000, 500)
"""The worked example: with $3 / $15 a million it fills a window of 200,000 tokens at turn 395."""

SONNET = Price(input=3_000_000, output=15_000_000, cache_read=300_000, cache_write=3_750_000, cache_write_1h=6_000_000)

NUMBER = st.integers(0, 60)
RATE = st.integers(0, 9)
LOOPS = st.builds(Loop, st.integers(0, 3_000), st.integers(0, 400), st.integers(0, 50))


def _rates() -> st.SearchStrategy[dict[str, int]]:
    return st.fixed_dictionaries(dict.fromkeys(Rates.__slots__, RATE))


@st.composite
def prices(draw: st.DrawFn) -> Price:
    """A price with up to three thresholds where small loops meet them."""
    edges = sorted(draw(st.sets(st.integers(0, 12_000), max_size=3)))
    tiers = tuple(Tier(**draw(_rates()), above=above) for above in edges)
    return Price(**draw(_rates()), tiers=tiers)
