"""Prices and money: exactness, tiers, damaged records, printing."""

from __future__ import annotations

from decimal import Decimal
from fractions import Fraction

import pytest
from hypothesis import given
from hypothesis import strategies as st

from loopscan.price import Price, Tier, dollar_text, dollars, picodollars, rate, stated

SONNET = Price(input=3_000_000, output=15_000_000, cache_read=300_000, cache_write=3_750_000, cache_write_1h=6_000_000)
LONG = Price(
    **SONNET.by_name(),
    tiers=(
        Tier(
            input=6_000_000,
            output=22_500_000,
            cache_read=600_000,
            cache_write=7_500_000,
            cache_write_1h=12_000_000,
            above=200_000,
        ),
    ),
)
TOKENS = st.integers(0, 2_000_000)


@pytest.mark.parametrize(
    ("stated_price", "per_token"),
    [
        ("3", 3_000_000),
        (0.1, 100_000),
        ("0.003625", 3_625),
        (Decimal("2.50"), 2_500_000),
        (15, 15_000_000),
        (0, 0),
        ("0.0000001", Fraction(1, 10)),
        (Fraction(1, 3), Fraction(1_000_000, 3)),
    ],
)
def test_a_rate_is_exact(stated_price: object, per_token: object) -> None:
    assert rate(stated_price) == per_token  # type: ignore[arg-type]


@pytest.mark.parametrize("nonsense", ["three", "", "nan", "inf", -1, "-0.5", float("nan"), float("-inf")])
def test_a_rate_is_a_finite_number_from_zero_on(nonsense: object) -> None:
    with pytest.raises(ValueError):
        rate(nonsense)  # type: ignore[arg-type]


def test_the_four_classes_have_their_own_rates() -> None:
    cost = SONNET.cost(10_000, cache_read=4_000, cache_write=3_000, cache_write_1h=1_000, output=500)
    by_class = 3_000 * 3_000_000 + 4_000 * 300_000 + 2_000 * 3_750_000 + 1_000 * 6_000_000 + 500 * 15_000_000
    assert cost == by_class
    assert dollars(cost) == Decimal("0.0312")


def test_a_class_nobody_recorded_costs_nothing() -> None:
    assert SONNET.cost(1_000) == 3_000_000_000
    assert SONNET.cost(0, output=10) == 150_000_000


@pytest.mark.parametrize(
    ("usage", "same_as"),
    [
        ((100, 400, 100, 0, 0), (500, 400, 100, 0, 0)),
        ((0, 400, 0, 0, 7), (400, 400, 0, 0, 7)),
        ((100, 0, 20, 60, 0), (100, 0, 60, 60, 0)),
    ],
    ids=["parts beyond the whole", "no whole", "1h beyond the writes"],
)
def test_parts_beyond_their_whole_are_priced_and_nothing_is_negative(
    usage: tuple[int, ...], same_as: tuple[int, ...]
) -> None:
    assert SONNET.cost(*usage) == SONNET.cost(*same_as) > 0


def test_above_the_threshold_the_whole_request_is_dearer() -> None:
    assert LONG.cost(200_000, output=1_000) == 200_000 * 3_000_000 + 1_000 * 15_000_000
    assert LONG.cost(200_001, output=1_000) == 200_001 * 6_000_000 + 1_000 * 22_500_000


def test_the_tier_is_told_by_the_prompt_with_its_cached_part() -> None:
    assert LONG.cost(200_001, cache_read=200_000) == 1 * 6_000_000 + 200_000 * 600_000


def test_the_highest_tier_passed_counts() -> None:
    steps = tuple(Tier(input=n, output=n, cache_read=n, cache_write=n, cache_write_1h=n, above=n * 100) for n in (2, 3))
    price = Price(input=1, output=1, cache_read=1, cache_write=1, cache_write_1h=1, tiers=steps)
    assert [price.cost(n) // n for n in (200, 201, 300, 301)] == [1, 2, 2, 3]


@given(TOKENS, TOKENS, TOKENS)
def test_the_openai_formula_of_a_gpt_5_mini_bill(prompt: int, cached: int, completion: int) -> None:
    cached = min(prompt, cached)
    price = Price(input=250_000, output=2_000_000, cache_read=25_000, cache_write=250_000, cache_write_1h=250_000)
    logged = ((prompt - cached) * 0.25 + cached * 0.025 + completion * 2) / 1e6
    assert abs(float(dollars(price.cost(prompt, cached, output=completion))) - logged) < 1e-9


@given(st.lists(st.tuples(TOKENS, TOKENS, TOKENS, TOKENS), max_size=20))
def test_a_total_is_the_sum_of_its_sends_to_the_picodollar(sends: list[tuple[int, int, int, int]]) -> None:
    total = sum(SONNET.cost(a + b + c, a, b, 0, d) for a, b, c, d in sends)
    exact = sum(Decimal(c) * 3 + a * Decimal("0.3") + b * Decimal("3.75") + Decimal(d) * 15 for a, b, c, d in sends)
    assert dollars(total) * 1_000_000 == exact


def test_a_fractional_rate_is_rounded_once_per_send() -> None:
    third = Price(input=Fraction(1, 3), output=0, cache_read=0, cache_write=0, cache_write_1h=0)
    assert [third.cost(n) for n in (1, 2, 3, 100)] == [0, 1, 1, 33]


def test_rates_left_out_take_the_usual_share_and_are_named() -> None:
    rates, assumed = stated(3_000_000, 15_000_000)
    assert rates.by_name() == SONNET.by_name()
    assert assumed == ("cache_read", "cache_write", "cache_write_1h")
    rates, assumed = stated(3_000_000, 15_000_000, cache_read=0, cache_write_1h=1)
    assert (rates.cache_read, rates.cache_write, rates.cache_write_1h) == (0, 3_750_000, 1)
    assert assumed == ("cache_write",)
    assert stated(5, 1)[0].cache_read == Fraction(1, 2)


@given(st.integers(-(10**22), 10**22))
def test_dollars_are_exact(pico: int) -> None:
    assert picodollars(dollars(pico)) == pico
    assert Fraction(dollars(pico)) == Fraction(pico, 10**12)


@pytest.mark.parametrize(
    ("pico", "places", "text"),
    [
        (0, 2, "$0.00"),
        (31_500_000_000, 2, "$0.03"),
        (31_500_000_000, 4, "$0.0315"),
        (292_500_000_000, 2, "$0.29"),
        (119_677_500_000_000, 2, "$119.68"),
        (1_343_570_000_000_000, 2, "$1,343.57"),
        (5_000_000_000, 2, "$0.01"),
        (4_999_999_999, 2, "$0.00"),
        (-31_500_000_000, 2, "-$0.03"),
        (-1, 2, "$0.00"),
        (1_500_000_000_000, 0, "$2"),
    ],
)
def test_print_rounds_a_half_away_from_zero(pico: int, places: int, text: str) -> None:
    assert dollar_text(pico, places) == text


@pytest.mark.parametrize(
    ("usd", "pico"), [(0.0158, 15_800_000_000), ("0.206782", 206_782_000_000), (1e-13, 0), (3, 3 * 10**12)]
)
def test_recorded_dollars_are_read_as_written(usd: float | str, pico: int) -> None:
    assert picodollars(usd) == pico


@pytest.mark.parametrize("nonsense", ["", "$3", float("nan"), float("inf")])
def test_recorded_nonsense_is_refused(nonsense: float | str) -> None:
    with pytest.raises(ValueError):
        picodollars(nonsense)
