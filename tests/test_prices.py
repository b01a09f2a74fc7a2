"""Price sources: their order, dates, and real bills."""

from __future__ import annotations

import json
import pickle
from datetime import UTC, datetime
from importlib.util import find_spec
from pathlib import Path

import pytest

from loopscan.errors import UsageError
from loopscan.price import Price, dollars, picodollars
from loopscan.prices import Prices, flags, from_options, live, snapshot

TRACES = Path(__file__).parents[2] / "shared" / "traces"


def at(day: str) -> float:
    return datetime.fromisoformat(day).replace(tzinfo=UTC).timestamp()


NOW = at("2026-11-30")


def per_million(price: Price | None) -> tuple[float, ...]:
    assert price is not None
    return tuple(float(value) / 1e6 for value in price.by_name().values())


def test_flags_win_for_every_model_even_an_unknown_one(tmp_path: Path) -> None:
    own = tmp_path / "p.toml"
    own.write_text('[models."claude-opus-4-5"]\nin = 1\nout = 2\n')
    prices = from_options(3, "15", file=own)
    for model in ("claude-opus-4-5", "nobody-knows", None):
        found = prices.find(model, NOW)
        assert found is not None
        assert (found.source, found.model, found.input) == ("flags", None, 3_000_000)
    assert per_million(prices.flags) == (3, 15, 0.3, 3.75, 6)
    assert prices.flags is not None
    assert prices.flags.assumed == ("cache_read", "cache_write", "cache_write_1h")


def test_the_file_wins_over_the_snapshot_for_its_models_only(tmp_path: Path) -> None:
    own = tmp_path / "p.toml"
    own.write_text('[models."claude-opus-4-5"]\nin = 1\nout = 2\n[models.house-model]\nin = 7\nout = 8\n')
    prices = from_options(file=own)
    sources = {m: f.source for m in ("claude-opus-4-5-20251101", "house-model", "gpt-5") if (f := prices.find(m, NOW))}
    assert sources == {
        "claude-opus-4-5-20251101": "file:p.toml",
        "house-model": "file:p.toml",
        "gpt-5": snapshot.table().source,
    }


@pytest.mark.skipif(find_spec("genai_prices") is None, reason="the extra `prices` is not installed")
def test_an_installed_package_prices_what_the_snapshot_does_not_know() -> None:
    table = live.table()
    assert table is not None
    assert table.source.startswith("live:genai-prices ")
    assert table.find("claude-opus-4-5", NOW) is not None
    assert table.find("claude-opus-9", NOW) is None


def test_without_the_package_there_is_no_live_table() -> None:
    assert find_spec("genai_prices") is not None or live.table() is None


@pytest.mark.parametrize(
    "options", [{"p_in": 3}, {"p_out": 15}, {"p_cache_read": 1}, {"p_in": "x", "p_out": 1}, {"p_in": -1, "p_out": 1}]
)
def test_flags_that_cannot_be_used(options: dict[str, str]) -> None:
    with pytest.raises(UsageError, match="--p-"):
        from_options(**options)  # type: ignore[arg-type]


def test_a_cache_flag_is_taken_as_given() -> None:
    found = flags.price(3, 15, p_cache_read="0.075", p_cache_write_1h=0)
    assert per_million(found) == (3, 15, 0.075, 3.75, 0)
    assert found is not None
    assert found.assumed == ("cache_write",)
    assert flags.price(None, None) is None


def test_a_send_is_priced_at_its_own_day_or_at_the_one_asked_for() -> None:
    early, late = at("2026-11-30"), at("2026-12-02")
    own = from_options()
    fixed = from_options(price_date="2026-12-01")
    assert [own.find("gemini-4-argon", t).input for t in (early, late)] == [2_000_000, 4_000_000]  # type: ignore[union-attr]
    assert [fixed.find("gemini-4-argon", t).input for t in (early, late, None)] == [4_000_000] * 3  # type: ignore[union-attr]
    assert from_options(price_date="today").at is not None
    with pytest.raises(UsageError, match="--price-date"):
        from_options(price_date="yesterday")


@pytest.mark.parametrize("time", [None, float("nan"), float("inf"), -1.0, 1e300])
def test_a_send_without_a_believable_time_takes_todays_price(time: float | None) -> None:
    for day, rate in (("2026-11-30", 2_000_000), ("2026-12-05", 4_000_000)):
        found = Prices(now=at(day)).find("gemini-4-argon", time)
        assert found is not None
        assert found.input == rate


def test_prices_travel_to_other_processes() -> None:
    prices = from_options(3, 15)
    prices.find("gpt-5", NOW)
    assert pickle.loads(pickle.dumps(prices)) == prices


def test_endless_names_do_not_fill_the_memory(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("loopscan.prices._CACHE_SIZE", 10)
    prices = Prices()
    for number in range(100):
        prices.find(f"model-{number}", NOW)
        prices.window(f"model-{number}")
    assert len(prices._found) <= 10
    assert len(prices._windows) <= 10


@pytest.mark.skipif(not TRACES.exists(), reason="the shared traces are not here")
def test_recorded_bills_of_real_runs_are_met_to_the_picodollar() -> None:
    prices = from_options()
    sends = 0
    for path in sorted((TRACES / "mini-swe-agent").glob("*.traj.json")):
        content = json.loads(path.read_text())
        messages = content["messages"] if isinstance(content, dict) else content
        for message in messages:
            response = (message.get("extra") or {}).get("response") or {}
            usage = response.get("usage") or {}
            if not usage.get("cost"):
                continue
            price = prices.find(response["model"], at("2025-12-01"))
            assert price is not None
            cached = (usage.get("prompt_tokens_details") or {}).get("cached_tokens") or 0
            ours = price.cost(usage["prompt_tokens"], cached, output=usage["completion_tokens"])
            assert dollars(ours) == dollars(picodollars(usage["cost"])), path.name
            sends += 1
    assert sends > 0
