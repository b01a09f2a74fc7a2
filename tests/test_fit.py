"""Fitting base and growth: straight runs, compactions, outliers, long runs."""

from __future__ import annotations

import time
from random import Random

import pytest
from hypothesis import given
from hypothesis import strategies as st

from loopscan.cost import Loop, send_input
from loopscan.fit import fit


def _line(base: int, growth: int, sends: int) -> list[int]:
    return [send_input(Loop(base, growth), n) for n in range(1, sends + 1)]


@given(st.integers(1, 100_000), st.integers(0, 5_000), st.integers(2, 300))
def test_a_straight_run_is_found_exactly(base: int, growth: int, sends: int) -> None:
    found = fit(_line(base, growth, sends))
    assert found is not None
    assert (found.base, found.growth, found.breaks, found.sends) == (base, growth, (), sends)
    assert found.r2 == pytest.approx(1)
    assert found.loop(7) == Loop(base, growth, 7)


def test_a_compaction_splits_the_run() -> None:
    found = fit([*_line(40_000, 1_200, 90), *_line(45_000, 1_000, 60), *_line(44_000, 1_200, 30)])
    assert found is not None
    assert found.breaks == (91, 151)
    assert [(s.first, s.last, s.base, s.growth) for s in found.segments] == [
        (1, 90, 40_000, 1_200),
        (91, 150, 45_000, 1_000),
        (151, 180, 44_000, 1_200),
    ]
    assert (found.base, found.growth) == (40_000, 1_200)
    assert found.r2 == pytest.approx(1)
    assert found.r2_line < 0.3
    assert found.credible


@pytest.mark.parametrize(
    ("inputs", "breaks"),
    [([1_000, 700], ()), ([1_000, 699], (2,)), ([1_000, None, 600], (3,)), ([0, 0, 5], ()), ([5, 0, 0], (2,))],
    ids=["0.7 is no break", "below it is", "over a gap", "from zero", "to zero"],
)
def test_where_a_segment_ends(inputs: list[int | None], breaks: tuple[int, ...]) -> None:
    found = fit(inputs)
    assert found is not None
    assert found.breaks == breaks


def test_one_off_jumps_do_not_tilt_the_slope() -> None:
    """Two large file reads in 40 sends: most steps are 600."""
    inputs = _line(20_000, 600, 40)
    inputs = [x + (3_000 if n >= 37 else 0) + (2_000 if n >= 3 else 0) for n, x in enumerate(inputs)]
    found = fit(inputs)
    assert found is not None
    assert found.growth == pytest.approx(600, rel=0.03)
    first = inputs[:12]
    least = fit(first)
    assert least is not None
    assert least.growth < 800


def test_sends_without_usage_keep_their_number() -> None:
    inputs: list[int | None] = [None, *_line(1_500, 500, 10)]
    inputs[4] = None
    found = fit(inputs)
    assert found is not None
    assert (found.base, found.growth, found.sends) == (1_000, 500, 9)


@pytest.mark.parametrize("inputs", [[], [5], [None, 5, None]])
def test_one_send_is_no_line(inputs: list[int | None]) -> None:
    assert fit(inputs) is None


def test_a_shrinking_or_constant_prompt_is_a_loop_that_stays() -> None:
    shrinking = fit([1_000, 990, 980])
    assert shrinking is not None
    assert shrinking.growth == -10
    assert shrinking.loop() == Loop(1_000, 0)
    constant = fit([800] * 5)
    assert constant is not None
    assert (constant.growth, constant.r2, constant.r2_line) == (0, 1, 1)


def test_segments_of_one_send_take_the_growth_of_the_others() -> None:
    found = fit([*_line(10_000, 100, 20), 500, *_line(10_000, 100, 20)])
    assert found is not None
    assert [s.growth for s in found.segments] == [100, 100]
    alone = fit([1_000, 500, 200])
    assert alone is not None
    assert [(s.base, s.growth) for s in alone.segments] == [(1_000, 0), (500, 0), (200, 0)]


def test_noise_without_growth_is_not_credible() -> None:
    noise = Random(3)
    found = fit([noise.randrange(10_000, 14_000) for _ in range(60)])
    assert found is not None
    assert not found.credible


def test_a_long_run_takes_bounded_time_and_is_fitted_the_same_each_time() -> None:
    noise = Random(5)
    inputs = [x + noise.randrange(400) for x in _line(30_000, 700, 200_000)]
    start = time.perf_counter()
    found = fit(inputs)
    assert time.perf_counter() - start < 10
    assert found is not None
    assert found.growth == pytest.approx(700, rel=0.001)
    assert found.base == pytest.approx(30_200, abs=400)
    assert fit(inputs) == found


@given(st.lists(st.none() | st.integers(0, 10**15), max_size=40))
def test_any_series_is_fitted_without_an_error(inputs: list[int | None]) -> None:
    found = fit(inputs)
    if found is not None:
        assert 0 <= found.r2 <= 1
        assert 0 <= found.r2_line <= 1
        assert found.segments[-1].last <= len(inputs)
        assert found.loop().growth >= 0
