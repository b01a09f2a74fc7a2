"""Nasty JSON on every path against the standard library and the rule; `make bench` runs it at full length."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.bench.fuzz import differences, log, oracle


def test_every_path_finds_what_the_oracle_finds(tmp_path: Path) -> None:
    wrong = differences(400, seed=7, folder=tmp_path)
    assert {name: bad for name, bad in wrong.items() if bad} == {}


@pytest.mark.parametrize("window", [6, 20])
def test_the_fuzz_meets_runs_that_fire_and_runs_that_do_not(window: int) -> None:
    from random import Random

    (fires,) = oracle(log(Random(7), 400), window)
    assert 100 < sum(turn is not None for turn in fires.values()) < 390
