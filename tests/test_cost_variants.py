"""The cost model with caching, compaction and truncation, against the loop played turn by turn."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from loopscan.cost import Loop, send_input, total_input, uncached_cost
from loopscan.cost_variants import (
    automatic_cost,
    automatic_hit,
    cached_cost,
    cold_cost,
    compaction,
    compaction_cost,
    expiry_cost,
    floor_sum,
    kept_cached_cost,
    kept_cost,
    kept_input,
    kept_total,
)
from loopscan.price import Price, dollar_text
from tests.cost_strategies import LOOPS, NUMBER, SEED, SONNET, prices


def test_cached_the_loop_costs_12_dollars_66() -> None:
    assert dollar_text(cached_cost(SEED, SONNET, 394)) == "$12.66"


def test_keeping_20_turns_sends_8_times_less_and_costs_more() -> None:
    assert round(total_input(SEED, 394) / kept_total(SEED, 394, 20)) == 8
    assert dollar_text(kept_cached_cost(SEED, SONNET, 394, 20)) == "$14.42"


def test_compaction_makes_a_turn_cost_the_same_for_ever() -> None:
    tokens, turns = compaction(Loop(41_000, 1_200), 10_000, 155_000, 2_400).per_turn
    assert round(tokens / turns, -2) == 100_300
    long, longer = (compaction(Loop(41_000, 1_200), n, 155_000, 2_400).input for n in (95 + 93 * 10, 95 + 93 * 30))
    assert longer - long == tokens * 20


def test_every_turn_expired_is_a_quarter_dearer_than_no_cache() -> None:
    assert cold_cost(SEED, SONNET, 394) * 4 == uncached_cost(SEED, SONNET, 394) * 5


def test_the_cached_share_of_the_bill_tends_to_the_read_share_of_the_price() -> None:
    shares = [cached_cost(SEED, SONNET, n) / uncached_cost(SEED, SONNET, n) for n in (10, 100, 1_000, 100_000)]
    assert shares == sorted(shares, reverse=True)
    assert shares[-1] == pytest.approx(0.1, abs=1e-3)


@given(LOOPS, prices(), NUMBER, st.booleans(), st.booleans())
def test_a_warm_cache(loop: Loop, price: Price, turns: int, hour: bool, warm_base: bool) -> None:
    total = 0
    for n in range(1, turns + 1):
        prompt = send_input(loop, n)
        read = send_input(loop, n - 1) if n > 1 else loop.base if warm_base else 0
        written = prompt - read
        total += price.cost(prompt, read, written, written if hour else 0, loop.output)
    assert cached_cost(loop, price, turns, hour=hour, warm_base=warm_base) == total


@given(LOOPS, prices(), st.integers(1, 60), st.booleans())
def test_an_expired_cache(loop: Loop, price: Price, turn: int, hour: bool) -> None:
    prompt, before = send_input(loop, turn), send_input(loop, turn - 1) if turn > 1 else 0
    cold = price.cost(prompt, 0, prompt, prompt if hour else 0, loop.output)
    warm = price.cost(prompt, before, prompt - before, prompt - before if hour else 0, loop.output)
    assert expiry_cost(loop, price, turn, hour=hour) == cold - warm


@given(LOOPS, prices(), NUMBER, st.booleans())
def test_a_cache_that_is_always_cold(loop: Loop, price: Price, turns: int, hour: bool) -> None:
    total = 0
    for n in range(1, turns + 1):
        prompt = send_input(loop, n)
        total += price.cost(prompt, 0, prompt, prompt if hour else 0, loop.output)
    assert cold_cost(loop, price, turns, hour=hour) == total


@given(LOOPS, prices(), NUMBER)
def test_automatic_caching(loop: Loop, price: Price, turns: int) -> None:
    total = 0
    for n in range(1, turns + 1):
        before = send_input(loop, n - 1) if n > 1 else 0
        hit = before - before % 128 if before >= 1_024 else 0
        assert automatic_hit(loop, n) == hit
        total += price.cost(send_input(loop, n), cache_read=hit, output=loop.output)
    assert automatic_cost(loop, price, turns) == total


@given(st.integers(0, 80), st.integers(1, 300), st.integers(0, 900), st.integers(0, 5_000))
def test_a_sum_of_floors(count: int, divisor: int, step: int, start: int) -> None:
    assert floor_sum(count, divisor, step, start) == sum((start + step * i) // divisor for i in range(count))


@given(st.integers(0, 500), st.integers(1, 90), st.integers(0, 9), st.integers(0, 120), st.integers(1, 2_000), prices())
def test_compaction(base: int, growth: int, output: int, summary: int, room: int, price: Price) -> None:
    loop, threshold = Loop(base, growth, output), base + summary + room
    for turns in (0, 1, 7, 60):
        prompt, sent, written, cost, count = base, 0, 0, 0, 0
        for _ in range(turns):
            if prompt >= threshold:
                cost += price.cost(prompt, output=summary)
                sent, written, count = sent + prompt, written + summary, count + 1
                prompt = base + summary
            cost += price.cost(prompt, output=output)
            sent, written = sent + prompt, written + output
            prompt += growth
        found = compaction(loop, turns, threshold, summary)
        assert (found.input, found.output, found.count) == (sent, written, count)
        assert compaction_cost(loop, price, turns, threshold, summary) == cost


@pytest.mark.parametrize("loop", [Loop(100, 0), Loop(160_000, 10)], ids=["no growth", "no room"])
def test_compaction_needs_room_and_growth(loop: Loop) -> None:
    with pytest.raises(ValueError):
        compaction(loop, 10, 155_000, 2_000)


@given(LOOPS, prices(), st.integers(1, 60), st.integers(0, 30), st.booleans())
def test_truncation_to_the_last_turns(loop: Loop, price: Price, turns: int, keep: int, hour: bool) -> None:
    sent = cost = cached = 0
    for n in range(1, turns + 1):
        prompt = kept_input(loop, n, keep)
        sent += prompt
        cost += price.cost(prompt, output=loop.output)
        dropped = n - 1 > keep
        read = loop.base if dropped else send_input(loop, n - 1) if n > 1 else 0
        written = prompt - read
        cached += price.cost(prompt, read, written, written if hour else 0, loop.output)
    assert kept_total(loop, turns, keep) == sent
    assert kept_cost(loop, price, turns, keep) == cost
    assert kept_cached_cost(loop, price, turns, keep, hour=hour) == cached


def test_a_thousand_billion_turns_take_no_time() -> None:
    loop, turns = Loop(3_000, 500, 80), 10**12
    assert uncached_cost(loop, SONNET, turns) > cached_cost(loop, SONNET, turns) > 0
    assert automatic_cost(loop, SONNET, turns) > 0
    assert compaction_cost(loop, SONNET, turns, 155_000, 2_000) > 0
