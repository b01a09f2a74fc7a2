"""The cost model without a cache: each formula against the loop played turn by turn, and the worked figures."""

from __future__ import annotations

from decimal import Decimal

import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from loopscan.cost import (
    Loop,
    Overflow,
    cost_turn,
    overflow,
    send_input,
    stop_cost,
    tier_spans,
    token_turn,
    total_input,
    total_output,
    uncached_cost,
    waste,
)
from loopscan.price import Price, dollar_text, dollars, picodollars
from tests.cost_strategies import LOOPS, NUMBER, SEED, SONNET, prices


def _bill(loop: Loop, price: Price, turns: int) -> list[int]:
    """What each send costs when nothing is cached."""
    return [price.cost(send_input(loop, n), output=loop.output) for n in range(1, turns + 1)]


# The worked figures: base 3,000, growth 500, $3/$15, window 200,000.


def test_the_loop_fills_its_window_at_turn_395() -> None:
    assert send_input(SEED, 395) == 200_000
    assert overflow(SEED, 200_000) == Overflow(turn=395, paid_sends=394)
    assert overflow(SEED, 200_001) == Overflow(turn=396, paid_sends=395)
    assert overflow(SEED, 200_000, reserve=8_192) == Overflow(turn=379, paid_sends=378)


def test_394_sends_are_39_892_500_tokens_and_119_dollars_68() -> None:
    assert (3_000 * 394, 500 * 394 * 393 // 2) == (1_182_000, 38_710_500)
    assert total_input(SEED, 394) == 39_892_500
    cost = uncached_cost(SEED, SONNET, 394)
    assert dollars(cost) == Decimal("119.6775")
    assert dollar_text(cost) == "$119.68"
    with_output = uncached_cost(Loop(3_000, 500, 80), SONNET, 394)
    assert dollars(with_output - cost) == Decimal("0.4728")
    assert dollar_text(with_output) == "$120.15"


def test_a_normal_run_is_1_564_times_cheaper() -> None:
    assert total_input(SEED, 6) == 25_500
    normal, stuck = uncached_cost(SEED, SONNET, 6), uncached_cost(SEED, SONNET, 394)
    assert dollars(normal) == Decimal("0.0765")
    assert stuck // normal == 1_564
    assert round(stuck / picodollars("0.075"), 1) == 1_595.7


@pytest.mark.parametrize(("sends", "most"), [(394, 84), (400, 83)])
def test_output_is_below_half_a_dollar_up_to_84_tokens_a_call(sends: int, most: int) -> None:
    cost = [SONNET.output * total_output(Loop(0, 0, o), sends) for o in (most, most + 1)]
    assert cost[0] < picodollars("0.5") <= cost[1]


@pytest.mark.parametrize(
    ("turn", "tokens", "usd"),
    [
        (2, 6_500, "0.0195"),
        (3, 10_500, "0.0315"),
        (14, 87_500, "0.2625"),
        (15, 97_500, "0.2925"),
        (16, 108_000, "0.324"),
    ],
)
def test_a_stop_at_turn_t_pays_t_sends(turn: int, tokens: int, usd: str) -> None:
    assert total_input(SEED, turn) == tokens
    assert dollars(stop_cost(SEED, SONNET, turn)) == Decimal(usd)


def test_100_000_tokens_are_reached_at_turn_16() -> None:
    assert token_turn(SEED, 100_000) == 16
    assert token_turn(SEED, 97_500) == 15
    assert token_turn(SEED, 97_501) == 16
    assert total_input(SEED, 16) - 100_000 < send_input(SEED, 16)


def test_50_000_tokens_are_reached_at_turn_10() -> None:
    assert (token_turn(SEED, 50_000), total_input(SEED, 10)) == (10, 52_500)


def test_steps_of_1_200_tokens_reach_a_budget_of_3_000_at_the_third() -> None:
    steps = Loop(1_200, 0)
    assert [total_input(steps, n) for n in (3, 10)] == [3_600, 12_000]
    assert token_turn(steps, 3_000) == 3


def test_27_stuck_runs_waste_21_turns_each() -> None:
    """Runs of 25, 27 and 29 turns, stuck from the first one on, seen at the sixth."""
    wasted = [waste(SEED, turns, 6).turns for turns, runs in ((27, 17), (25, 4), (29, 6)) for _ in range(runs)]
    assert sum(wasted) == 17 * 21 + 4 * 19 + 6 * 23
    assert round(sum(wasted) / len(wasted), 1) == 21.1


def test_the_waste_after_turn_3_is_nearly_all_the_loops_own_growth() -> None:
    wasted = waste(SEED, 394, 3)
    assert (wasted.turns, wasted.input) == (391, 39_882_000)
    assert dollars(uncached_cost(SEED, SONNET, 394, after=3)) == Decimal("119.646")
    assert round(wasted.own_growth / wasted.input * 100, 1) == 95.6
    assert wasted.history == 391 * 4_500


def test_a_window_of_a_million_makes_it_2_998_dollars() -> None:
    assert overflow(SEED, 1_000_000) == Overflow(1_995, 1_994)
    assert dollar_text(uncached_cost(SEED, SONNET, 1_994), 0) == "$2,998"


# Closed form = turn by turn.


@given(LOOPS, NUMBER, NUMBER)
def test_totals(loop: Loop, one: int, other: int) -> None:
    after, turns = sorted((one, other))
    sends = [send_input(loop, n) for n in range(after + 1, turns + 1)]
    assert total_input(loop, turns, after) == sum(sends)
    assert total_output(loop, turns, after) == loop.output * len(sends)


@given(LOOPS, st.integers(0, 30_000), st.integers(0, 500))
def test_the_overflow_is_the_first_send_that_does_not_fit(loop: Loop, window: int, reserve: int) -> None:
    found = overflow(loop, window, reserve)
    full = [n for n in range(1, 200) if send_input(loop, n) + reserve >= window]
    assume(full or loop.growth == 0 or (found is not None and found.turn >= 200))
    if full:
        assert found == Overflow(full[0], full[0] - 1)
    elif loop.growth == 0:
        assert found is None


@pytest.mark.parametrize(
    ("loop", "window", "expected"),
    [
        (Loop(10, 0), 11, None),
        (Loop(10, -1), 11, None),
        (Loop(10, 0), 10, Overflow(1, 0)),
        (Loop(10, 5), 9, Overflow(1, 0)),
    ],
    ids=["no growth", "shrinks", "base fills it", "base beyond it"],
)
def test_edges_of_the_overflow(loop: Loop, window: int, expected: Overflow | None) -> None:
    assert overflow(loop, window) == expected


@given(st.integers(0, 3_000), st.integers(-60, 400), st.integers(0, 50), st.integers(-5, 90_000))
def test_the_token_turn_is_the_first_that_reaches_the_budget(base: int, growth: int, output: int, budget: int) -> None:
    loop, spent, expected = Loop(base, growth, output), 0, None
    for n in range(1, 3_000):
        sent = send_input(loop, n) + output
        if growth < 0 and sent < 0:
            break
        spent += sent
        if spent >= budget:
            expected = n
            break
    found = token_turn(loop, budget)
    if expected is not None:
        assert found == expected
    elif growth < 0 or (growth == 0 and base + output == 0):
        assert found is None
    else:
        assert found is not None
        assert found >= 3_000


def test_a_budget_of_zero_is_a_limit() -> None:
    assert token_turn(SEED, 0) == 1
    assert cost_turn(SEED, SONNET, 0) == 1
    assert token_turn(Loop(0, 0), 1) is None


@given(st.integers(1, 10**18), st.integers(1, 10**12))
def test_a_huge_budget_is_met_exactly(budget: int, growth: int) -> None:
    loop = Loop(1, growth)
    turn = token_turn(loop, budget)
    assert turn is not None
    assert total_input(loop, turn) >= budget > total_input(loop, turn - 1)


@given(LOOPS, prices(), st.integers(0, 300_000))
def test_the_cost_turn_is_the_first_that_reaches_the_budget(loop: Loop, price: Price, budget: int) -> None:
    bill = _bill(loop, price, 80)
    expected = next((n for n in range(1, 81) if sum(bill[:n]) >= budget), None)
    found = cost_turn(loop, price, budget)
    assert found == expected if expected is not None else found is None or found > 80


@given(LOOPS, prices(), NUMBER, NUMBER)
def test_the_uncached_cost(loop: Loop, price: Price, one: int, other: int) -> None:
    after, turns = sorted((one, other))
    assert uncached_cost(loop, price, turns, after) == sum(_bill(loop, price, turns)[after:])


@given(st.integers(0, 12_000), st.integers(-200, 200), prices())
def test_tiers_hold_from_span_to_span(base: int, growth: int, price: Price) -> None:
    loop = Loop(base, growth)
    played = [
        (n, rates.by_name()) for first, last, rates in tier_spans(loop, price, 50) for n in range(first, last + 1)
    ]
    assert played == [(n, price.at(send_input(loop, n)).by_name()) for n in range(1, 51)]


@given(LOOPS, NUMBER, NUMBER)
def test_waste_is_what_the_sends_after_the_turn_cost(loop: Loop, one: int, other: int) -> None:
    after, turns = sorted((one, other))
    wasted = waste(loop, turns, after)
    assert wasted.turns == turns - after
    assert wasted.input == sum(send_input(loop, n) for n in range(after + 1, turns + 1))
    assert wasted.history == sum(loop.base + loop.growth * after for _ in range(after, turns))
    assert wasted.own_growth == sum(loop.growth * n for n in range(turns - after))
    assert wasted.output == loop.output * (turns - after)


def test_nothing_is_wasted_after_the_end() -> None:
    assert waste(SEED, 5, 9).input == waste(SEED, 5, 5).input == 0


@given(LOOPS, prices(), st.integers(1, 40), st.integers(0, 500))
def test_a_stop_with_a_closing_call(loop: Loop, price: Price, turn: int, closing: int) -> None:
    stopped = sum(_bill(loop, price, turn))
    assert stop_cost(loop, price, turn) == stopped
    assert stop_cost(loop, price, turn, closing) == stopped + price.cost(send_input(loop, turn + 1), output=closing)


def test_a_thousand_billion_turns_take_no_time() -> None:
    assert uncached_cost(Loop(3_000, 500, 80), SONNET, 10**12) > 0
