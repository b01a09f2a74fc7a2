"""The user's own price file."""

from __future__ import annotations

import json
import tomllib
from datetime import UTC, datetime
from pathlib import Path

import pytest

from loopscan.errors import InputError, UsageError
from loopscan.price import Price
from loopscan.prices import from_options, snapshot
from loopscan.prices.file import load


def at(day: str) -> float:
    return datetime.fromisoformat(day).replace(tzinfo=UTC).timestamp()


NOW = at("2026-11-30")


def per_million(price: Price | None) -> tuple[float, ...]:
    assert price is not None
    return tuple(float(value) / 1e6 for value in price.by_name().values())


FULL = """
[[models."claude-opus-5-5"]]
in = 4
out = 20
cache_read = 0.2
cache_write = 5
cache_write_1h = 8
context = 1_000_000
tiers = [{above = 200_000, in = 8, out = 30}]
from = 2026-09-22

[[models."claude-opus-5-5"]]
in = 5
out = 25

[models."gpt-*"]
in = 1
out = 2

[models."gpt-5*"]
in = "3"
out = 6

[models."gpt-5-mini"]
in = 0.25
out = 2
"""


@pytest.fixture
def own(tmp_path: Path) -> Path:
    path = tmp_path / "prices.toml"
    path.write_text(FULL)
    return path


def test_a_file_states_everything(own: Path) -> None:
    found = load(own).find("claude-opus-5-5", NOW)
    assert found is not None
    assert per_million(found) == (4, 20, 0.2, 5, 8)
    assert (found.window, found.source, found.model) == (1_000_000, "file:prices.toml", "claude-opus-5-5")
    assert found.assumed == ()
    (tier,) = found.tiers
    assert tier.above == 200_000
    assert [value / 1e6 for value in tier.by_name().values()] == [8, 30, 0.4, 10, 16]


def test_json_says_the_same(own: Path, tmp_path: Path) -> None:
    text = json.dumps(tomllib.loads(FULL), default=str)
    other = tmp_path / "sub" / "prices.toml"
    other.parent.mkdir()
    other.write_text("\ufeff" + text, encoding="utf-8")
    assert load(other) == load(own)


def test_a_price_by_date(own: Path) -> None:
    prices = load(own)
    days = {"2026-09-21": 5_000_000, "2026-09-22": 4_000_000, "1999-01-01": 5_000_000}
    assert {day: p.input for day in days if (p := prices.find("claude-opus-5-5", at(day)))} == days
    assert prices.window("claude-opus-5-5") == 1_000_000


def test_before_its_first_day_a_model_is_left_to_the_next_source(tmp_path: Path) -> None:
    path = tmp_path / "p.toml"
    path.write_text('[models.gpt-5]\nin = 9\nout = 9\nfrom = "2026-06-01"\n')
    prices = from_options(file=path)
    found = {day: p.source for day in ("2026-05-31", "2026-06-01") if (p := prices.find("gpt-5", at(day)))}
    assert found == {"2026-05-31": snapshot.table().source, "2026-06-01": "file:p.toml"}


@pytest.mark.parametrize(
    ("model", "match"),
    [
        ("gpt-5-mini", "gpt-5-mini"),
        ("gpt-5-mini-2025-08-07", "gpt-5-mini"),
        ("openai/gpt-5-mini", "gpt-5-mini"),
        ("gpt-5-nano", "gpt-5*"),
        ("gpt-5.1", "gpt-5*"),
        ("gpt-4o", "gpt-*"),
        ("azure/gpt-4o", "gpt-*"),
        ("claude-opus-5-5-20260922", "claude-opus-5-5"),
        ("claude-opus-5.5", "claude-opus-5-5"),
        ("claude-opus-5", None),
        ("claude-opus-5-5-5", None),
        ("o3", None),
    ],
)
def test_the_longest_match_wins(own: Path, model: str, match: str | None) -> None:
    assert load(own).match(model) == match


def test_a_star_alone_is_for_all_models_and_odd_names_match_as_they_are(tmp_path: Path) -> None:
    path = tmp_path / "p.toml"
    path.write_text('[models."*"]\nin=1\nout=1\n[models."custom:BYOK 0"]\nin=2\nout=2\n')
    prices = load(path)
    assert prices.match("custom:BYOK 0") == "custom:BYOK 0"
    assert prices.match("anything") == "*"


@pytest.mark.parametrize(
    ("text", "says"),
    [
        ("", "no prices"),
        ("[models]", "no prices"),
        ("[]", "neither TOML nor JSON|no prices"),
        ("not toml at all", "neither TOML nor JSON"),
        ('{"models": ', "neither TOML nor JSON"),
        ("models = 3", "no prices"),
        ("[models]\ngpt-5 = 3", "not a table"),
        ("[models.gpt-5]\nin = 3", "no `out`"),
        ("[models.gpt-5]\nout = 3", "no `in`"),
        ("[models.gpt-5]\nin = 3\nout = true", "out must be"),
        ("[models.gpt-5]\nin = -3\nout = 1", "negative"),
        ("[models.gpt-5]\nin = nan\nout = 1", "not a price"),
        ("[models.gpt-5]\nin = 3\nout = 1\ninput = 3", "unknown key 'input'"),
        ("[models.gpt-5]\nin = 3\nout = 1\ncontext = 0", "context must be"),
        ("[models.gpt-5]\nin = 3\nout = 1\nfrom = 'soon'", "from must be"),
        ("[models.gpt-5]\nin = 3\nout = 1\ntiers = 3", "tiers must be"),
        ("[models.gpt-5]\nin = 3\nout = 1\ntiers = [{in = 3}]", "needs `above`"),
        ("[models.gpt-5]\nin = 3\nout = 1\ntiers = [{above = 3, inn = 3}]", "unknown key 'inn'"),
    ],
)
def test_a_file_that_is_no_price_table_says_where(tmp_path: Path, text: str, says: str) -> None:
    path = tmp_path / "bad.toml"
    path.write_text(text)
    with pytest.raises(UsageError, match=says):
        load(path)


def test_a_file_that_cannot_be_read(tmp_path: Path) -> None:
    with pytest.raises(InputError):
        load(tmp_path / "none.toml")
    (tmp_path / "b.toml").write_bytes(b"\xff\xfe\x00")
    with pytest.raises(InputError):
        load(tmp_path / "b.toml")


def test_a_free_model_stays_free_in_its_tiers(tmp_path: Path) -> None:
    path = tmp_path / "p.toml"
    path.write_text("[models.house]\nin = 0\nout = 0\ntiers = [{above = 10, out = 1}]\n")
    found = load(path).find("house", NOW)
    assert found is not None
    assert found.cost(11, output=2) == 2_000_000
    assert found.cost(10, output=2) == 0
