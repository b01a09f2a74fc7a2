"""The ends of runs: what the compiled part makes of them is what Python makes of them."""

from __future__ import annotations

import random
from array import array
from typing import Any

import pytest

from loopscan import part
from loopscan.compiled import compiled
from loopscan.exits import Caps
from loopscan.fired import NONE, evaluate
from loopscan.part import priced
from loopscan.price import Price
from loopscan.render import jsonl
from loopscan.series import Series, Tally
from loopscan.settle import Settled, stop
from loopscan.spill import Spill

needs_compiled = pytest.mark.skipif(compiled() is None, reason="nothing is compiled here")

NAMES = ("run-1", "", "a b", 'quo"te', "back\\slash", "näh", "tab\t", "\x7f", "日本", "x" * 3000, "\ud800", "/a.jsonl")
DOLLARS = (None, 0, 1, 10**12, 10**8, 10**8 - 1, 10**15, 10**40, -5)


def _moments(rng: random.Random) -> list[float | None]:
    whole = rng.randrange(4_000_000_000)
    return [
        None, 0.0, -1.5, float(whole), whole + rng.random(), whole + rng.randrange(1000) / 1000, 1e300, -0.0,
        float("nan"), float("inf"), 253402300799.9999999, 253402300798.9999, rng.uniform(0, 2.5e11), whole + 0.9999999,
        whole + 0.0000005, whole + 0.0000015, 951782400.0 + 86400 * rng.randrange(40000), 1e-7,
    ]  # fmt: skip


def _values(role: int, rng: random.Random) -> Any:
    if role == ord("s"):
        return rng.choice(NAMES)
    if role == ord("t"):
        return rng.choice(_moments(rng))
    if role == ord("n"):
        return rng.choice([0, 1, rng.randrange(10**6), 1 << 62, (1 << 63) - 1, 1 << 64, 10**30])
    if role == ord("d"):
        return rng.choice([*DOLLARS, rng.randrange(10 ** rng.randrange(1, 17)), rng.randrange(10**15)])
    if role == ord("f"):
        return rng.choice([None, 0.0, 0.1, 1e16, -2.5, float("inf"), round(rng.uniform(0, 1000), 1), rng.random()])
    return rng.choice(["[]", '["longest gap: 2m00s before turn 3"]', '["ü"]'])


@needs_compiled
def test_a_record_is_the_same_filled_in_by_either_part(monkeypatch: pytest.MonkeyPatch) -> None:
    rng = random.Random(7)
    pairs = []
    for _ in range(4000):
        roles = bytes(rng.choice(b"stndfj") for _ in range(rng.randrange(1, 6)))
        mould = tuple(f'"key{i}":' if i % 3 else "ö" for i in range(len(roles) + 1)), roles
        figures = tuple(_values(role, rng) for role in roles)
        pairs.append((mould, figures, jsonl._filled(mould, figures)))
    monkeypatch.setattr(jsonl, "compiled", lambda: None)
    for mould, figures, text in pairs:
        assert jsonl._filled(mould, figures) == text, (mould, figures)


@needs_compiled
@pytest.mark.parametrize("role", "stdf")
def test_most_figures_are_usual_ones(role: str) -> None:
    made = compiled()
    assert made is not None
    usual = {"s": "run-1", "t": 1790000000.001, "d": 123456789012, "f": 1.5}
    assert made.fill(("<", ">"), role.encode(), (usual[role],)) is not None
    assert made.fill(("<", ">"), role.encode(), (None,)) == "<null>"


def _report(rng: random.Random, spill: Spill) -> Settled:
    turns, most = rng.choice([1, 2, 3, rng.randrange(1, 40)]), rng.choice([0, 1, 9000, 9000, 10**9, (1 << 32) - 1])
    sent, output = (array("I", [rng.randrange(most + 1) for _ in range(turns)]) for _ in range(2))
    waits = array("d", [rng.choice([rng.uniform(-5, 900), 0.0, i * 7.5]) for i in range(turns)])
    rates = rng.choice([(3_000_000, 15_000_000), (0, 0), (0, 7), (2, 0), (10**9, 10**9)])
    price: Price | None = Price(
        input=rates[0], output=rates[1], cache_read=0, cache_write=0, cache_write_1h=0, source="flags"
    )
    if rng.random() < 0.2:
        price, rates = None, (0, 0)
    packed = priced(sent, output, array("d", bytes(8 * turns)) if rng.random() < 0.2 else waits, rates, spill)
    return Settled("r", "a", "loopscan", "m", None, None, (0.0, 0), packed, price, spill, NONE)


def _caps(rng: random.Random, report: Settled) -> Caps:
    whole = report.part
    most = (whole.turns, whole.input + whole.output, whole.usd, whole.elapsed)
    turns, tokens, usd = (
        rng.choice([None, 0, -1, 1 << 70, int(m), int(m) // 2, rng.randrange(int(m) + 2)]) for m in most[:3]
    )
    return Caps(
        turns,
        tokens,
        usd,
        rng.choice([None, 0, -1.0, 1e308, 10**400, whole.elapsed, whole.elapsed / 3]),
    )


@needs_compiled
def test_exits_are_the_same_found_by_either_part() -> None:
    rng = random.Random(11)
    met, spills = [], [Spill(0), Spill()]
    for _ in range(3000):
        report = _report(rng, rng.choice(spills))
        caps = _caps(rng, report)
        stop([report], caps)
        met.append((report, caps, report.exits))
    for report, caps, exits in met:
        evaluate(report, caps)
        assert report.exits == exits, (report, caps)
    for spill in spills:
        spill.close()
    assert sum(len(exits) for _, _, exits in met) > 1000


def _ledger(rng: random.Random, spill: Spill) -> Series:
    tally = Tally(spill=spill)
    for _ in range(rng.choice([1, 2, 30, 256, 257])):
        wide = rng.choice([1, 9000, 9000, 1 << 40, 1 << 62])
        tally.push(rng.randrange(wide), rng.choice([0, rng.randrange(wide)]), rng.randrange(wide), rng.random(), True)
    return tally.series()


@needs_compiled
def test_sums_are_the_same_made_by_either_part(monkeypatch: pytest.MonkeyPatch) -> None:
    rng, spills = random.Random(13), [Spill(0), Spill()]
    met = []
    for _ in range(200):
        spill = rng.choice(spills)
        series = rng.choice([_ledger(rng, spill), _report(rng, spill).series])
        turns = [rng.randrange(len(series) + 1) for _ in range(3)] + [len(series)]
        met.append((series, [(turn, series.at(turn), series.spent(turn)) for turn in turns]))
    monkeypatch.setattr(part, "compiled", lambda: None)
    for series, sums in met:
        for turn, totals, spent in sums:
            assert (series.at(turn), series.spent(turn)) == (totals, spent)
    for spill in spills:
        spill.close()
