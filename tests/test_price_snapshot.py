"""The built-in prices: known ones, retired models, dates, hours, tiers, windows."""

from __future__ import annotations

from datetime import UTC, date, datetime

import pytest

from loopscan.price import Price
from loopscan.prices import Prices, flags, snapshot


def at(day: str) -> float:
    return datetime.fromisoformat(day).replace(tzinfo=UTC).timestamp()


def builtin(model: str, day: str = "2026-11-30") -> Price | None:
    return snapshot.table().find(model, at(day))


def per_million(price: Price | None) -> tuple[float, ...]:
    assert price is not None
    return tuple(float(value) / 1e6 for value in price.by_name().values())


@pytest.mark.parametrize(
    ("model", "rates"),
    [
        ("claude-opus-5-5", (4, 20, 0.2, 5, 8)),
        ("claude-opus-4-5", (5, 25, 0.5, 6.25, 10)),
        ("us.anthropic.claude-opus-4-5-20251101-v1:0", (5.5, 27.5, 0.55, 6.875, 11)),
        ("eu.anthropic.claude-haiku-4-5-20251001-v1:0", (1.1, 5.5, 0.11, 1.375, 2.2)),
        ("global.anthropic.claude-haiku-4-5-20251001-v1:0", (1, 5, 0.1, 1.25, 2)),
        ("gpt-5-mini", (0.25, 2, 0.025, 0.25, 0.25)),
        ("gpt-5", (1.25, 10, 0.125, 1.25, 1.25)),
        ("gemini-2.5-pro", (1.25, 10, 0.125, 1.25, 1.25)),
    ],
)
def test_known_prices(model: str, rates: tuple[float, ...]) -> None:
    assert per_million(builtin(model)) == rates


@pytest.mark.parametrize(
    ("model", "rates"),
    [
        ("claude-sonnet-4-20250514", (3, 15, 0.3, 3.75, 6)),
        ("claude-opus-4-1-20250805", (15, 75, 1.5, 18.75, 30)),
        ("claude-3-opus-20240229", (15, 75, 1.5, 18.75, 30)),
        ("gpt-4-32k", (60, 120, 60, 60, 60)),
        ("gemini-1.5-pro", (1.25, 5, 1.25, 1.25, 1.25)),
    ],
)
def test_a_retired_model_keeps_its_price(model: str, rates: tuple[float, ...]) -> None:
    assert per_million(builtin(model)) == rates


@pytest.mark.parametrize(
    ("model", "day", "rate"),
    [
        ("gemini-4-argon", "2026-11-30", 2),
        ("gemini-4-argon", "2026-12-01", 4),
        ("gemini-3.6-flash", "2026-12-31T23:59:59", 0.75),
        ("gemini-3.6-flash", "2027-01-01", 1.5),
        ("deepseek-v4-pro", "2026-08-16T12:00", 0.435),
        ("deepseek-v4-pro", "2026-08-17T12:00", 0.66),
        ("gemini-4-argon", "1970-01-01", 2),
    ],
)
def test_a_price_counts_from_its_day_on(model: str, day: str, rate: float) -> None:
    found = builtin(model, day)
    assert found is not None
    assert found.input == rate * 1e6


def test_a_tier_that_was_dropped_counts_for_earlier_sends() -> None:
    before, after = builtin("claude-opus-4-6", "2026-03-12"), builtin("claude-opus-4-6", "2026-03-13")
    assert before is not None
    assert after is not None
    assert before.cost(200_001) == 2 * after.cost(200_001)
    assert before.cost(200_000) == after.cost(200_000)


@pytest.mark.parametrize(
    ("clock", "rate"),
    [("00:59", 0.66), ("01:00", 1.32), ("03:59", 1.32), ("04:00", 0.66), ("09:59", 1.32), ("23:00", 0.66)],
)
def test_a_price_by_the_hour(clock: str, rate: float) -> None:
    found = Prices().find("deepseek-v4-pro", at(f"2026-11-30T{clock}"))
    assert found is not None
    assert found.input == rate * 1e6


def test_tiers_start_where_the_vendor_says() -> None:
    starts = {"claude-haiku-5-5": 100_000, "gemini-2.5-pro": 200_000, "gemini-1.5-flash": 128_000, "gpt-6-sol": 272_000}
    assert {model: tier.above for model in starts if (p := builtin(model)) for tier in p.tiers} == starts


def test_a_long_write_that_the_source_forgot_is_named() -> None:
    found = builtin("us.anthropic.claude-opus-4-1-20250805-v1:0")
    assert found is not None
    assert found.assumed == ("cache_write_1h",)
    assert found.cache_write_1h == found.cache_write


def test_the_snapshot_is_small_and_dated() -> None:
    assert snapshot.PATH.stat().st_size < 100_000
    day = snapshot.table().source.removeprefix("builtin:")
    assert date.fromisoformat(day) >= date(2026, 11, 30)


def test_every_row_of_the_snapshot_is_a_price() -> None:
    for name, entry in snapshot.table().models.items():
        starts = [row[0] for row in entry[1:] if not isinstance(row[-1], dict)]
        assert starts == sorted(starts), name
        for number in range(1, len(entry)):
            found = snapshot.table()._price(name, entry, number)
            assert found.input >= 0, name
            assert [t.above for t in found.tiers] == sorted({t.above for t in found.tiers}), name


@pytest.mark.parametrize(
    ("model", "window"),
    [
        ("claude-opus-4-5", 200_000),
        ("claude-sonnet-4-5", 200_000),
        ("claude-sonnet-4-5[1m]", 1_000_000),
        ("gpt-5-mini", 400_000),
        ("nobody-knows", None),
        ("gemini-3-pro-preview", None),
    ],
)
def test_context_windows(model: str, window: int | None) -> None:
    assert Prices().window(model) == window
    assert Prices(flags=flags.price(3, 15)).window(model) == window
