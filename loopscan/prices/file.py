"""Prices from the user's own file (`--prices FILE`, TOML or JSON), in USD per million tokens.

    [models."claude-opus-5-5"]
    in = 4
    out = 20
    cache_read = 0.2        # left out: 0.1 times `in`
    cache_write = 5         # left out: 1.25 times
    cache_write_1h = 8      # left out: 2 times
    context = 1_000_000
    tiers = [{above = 200_000, in = 8, out = 30}]
    from = "2026-09-22"

A list of such tables under one name is a price by date: each counts from its `from` on, one without from the
beginning. A name matches the model it spells, dated snapshots of it included; "gpt-5*" matches what begins so.
The longest match wins.
"""

from __future__ import annotations

import json
import tomllib
from dataclasses import dataclass
from datetime import UTC, date, datetime
from fractions import Fraction
from pathlib import Path
from typing import Any, Final

from loopscan.errors import InputError, UsageError
from loopscan.price import Price, Rate, Rates, Tier, rate, stated, whole
from loopscan.prices.names import candidates, fold
from loopscan.small import text_of

RATES: Final = {
    "in": "input",
    "out": "output",
    "cache_read": "cache_read",
    "cache_write": "cache_write",
    "cache_write_1h": "cache_write_1h",
}
_KEYS: Final = frozenset({*RATES, "context", "tiers", "from"})


@dataclass(slots=True, frozen=True)
class PriceFile:
    """(first day, price) pairs by name, oldest first; a first day of "" holds from the beginning."""

    models: dict[str, list[tuple[str, Price]]]

    def match(self, model: str) -> str | None:
        """The name in the file that a log's model name means: exact before dateless, then the longest `*`."""
        spelled = {fold(name): name for name in self.models if not name.endswith("*")}
        names = [model.strip().lower(), *candidates(model)]
        exact = next((spelled[name] for name in names if name in spelled), None)
        if exact is not None:
            return exact
        starts = [name for name in self.models if name.endswith("*")]
        fits = [start for start in starts if any(name.startswith(fold(start[:-1])) for name in names)]
        return max(fits, key=len, default=None)

    def find(self, model: str, time: float) -> Price | None:
        """The price of a model at a time (epoch seconds), None where the file has none for it then."""
        name = self.match(model)
        if name is None:
            return None
        today = datetime.fromtimestamp(time, UTC).strftime("%Y-%m-%d")
        return next((price for first, price in reversed(self.models[name]) if first <= today), None)

    def window(self, model: str) -> int | None:
        """The context window that the file's newest price of a model states."""
        name = self.match(model)
        return self.models[name][-1][1].window if name is not None else None


def load(path: Path) -> PriceFile:
    """The prices of a file. Raises InputError if it cannot be read, UsageError for what is no price table."""
    try:
        text = text_of(path)
    except (OSError, ValueError) as problem:
        raise InputError(f"{path}: cannot be read: {problem}") from problem
    try:
        content = json.loads(text) if text.lstrip().startswith("{") else tomllib.loads(text)
    except (ValueError, RecursionError) as problem:
        raise UsageError(f"{path}: neither TOML nor JSON: {problem}") from problem
    models = content.get("models") if isinstance(content, dict) else None
    if not isinstance(models, dict) or not models:
        raise UsageError(f'{path}: no prices: write tables like [models."claude-opus-5-5"]')
    return PriceFile({name: _by_date(path, name, entry) for name, entry in models.items()})


def _by_date(path: Path, name: str, entry: Any) -> list[tuple[str, Price]]:
    tables = entry if isinstance(entry, list) else [entry]
    prices = []
    for table in tables:
        where = f"{path}: models.{name}"
        if not isinstance(table, dict):
            raise UsageError(f"{where}: not a table: write in = ..., out = ...")
        _check_keys(where, table, _KEYS)
        prices.append((_day(where, table.get("from")), _price(where, path, name, table)))
    return sorted(prices, key=lambda pair: pair[0])


def _price(where: str, path: Path, name: str, table: dict[str, Any]) -> Price:
    for needed in ("in", "out"):
        if needed not in table:
            raise UsageError(f"{where}: no `{needed}`: give the USD per million tokens")
    given = {field: _rate(where, key, table[key]) for key, field in RATES.items() if key in table}
    rates, assumed = stated(**given)
    window = table.get("context")
    if window is not None and (not isinstance(window, int) or isinstance(window, bool) or window <= 0):
        raise UsageError(f"{where}: context must be a number of tokens, not {window!r}")
    tiers = table.get("tiers", [])
    if not isinstance(tiers, list):
        raise UsageError(f"{where}: tiers must be a list like [{{above = 200000, in = 8, out = 30}}]")
    steps = sorted((_tier(where, tier, rates) for tier in tiers), key=lambda tier: tier.above)
    return Price(
        **rates.by_name(),
        tiers=tuple(steps),
        window=window,
        source=f"file:{path.name}",
        model=name,
        assumed=assumed,
    )


def _tier(where: str, tier: Any, base: Rates) -> Tier:
    """The tier; a cache rate left out keeps its ratio to the input, an output left out stays."""
    above = tier.get("above") if isinstance(tier, dict) else None
    if not isinstance(above, int) or isinstance(above, bool) or above < 0:
        raise UsageError(f"{where}: a tier needs `above`, the prompt length in tokens up to which it does not hold")
    _check_keys(where, tier, frozenset({*RATES, "above"}))
    given = {field: _rate(where, key, tier[key]) for key, field in RATES.items() if key in tier}
    entry = given.get("input", base.input)
    scaled: dict[str, Rate] = {
        name: whole(Fraction(value) * entry / base.input) if base.input and name != "output" else value
        for name, value in base.by_name().items()
    }
    return Tier(above=above, **(scaled | given))


def _check_keys(where: str, table: dict[str, Any], known: frozenset[str]) -> None:
    unknown = sorted(table.keys() - known)
    if unknown:
        raise UsageError(f"{where}: unknown key {unknown[0]!r}: known are {', '.join(sorted(known))}")


def _rate(where: str, key: str, value: Any) -> Rate:
    if isinstance(value, (int, float, str)) and not isinstance(value, bool):
        try:
            return rate(value)
        except ValueError as problem:
            raise UsageError(f"{where}: {key}: {problem}") from problem
    raise UsageError(f"{where}: {key} must be USD per million tokens, not {value!r}")


def _day(where: str, value: Any) -> str:
    if value is None:
        return ""
    try:
        return (value if isinstance(value, date) else date.fromisoformat(value)).strftime("%Y-%m-%d")
    except (TypeError, ValueError) as problem:
        raise UsageError(f"{where}: from must be a day like 2026-09-22, not {value!r}") from problem
