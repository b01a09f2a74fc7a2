"""Rules against brute force."""

from __future__ import annotations

from hypothesis import given, settings
from hypothesis import strategies as st

from loopscan.detector import Detector
from loopscan.episodes import Tracker
from loopscan.key import Keyer
from loopscan.model import Call, Turn
from loopscan.rules import rulebook
from loopscan.rules.inside import repeated
from loopscan.rules.sweep import joined


def tracked(rule: str, results: list[tuple[str, object]], window: int = 20) -> Tracker:
    tracker = Tracker(Keyer(), window, 2, rulebook((rule,)))
    for args, result in results:
        tracker.push(tracker.keyer.action(Turn("r", [Call("tool", {"k": args}, result)])))
    return tracker


@settings(max_examples=200, deadline=None)
@given(st.integers(5, 24), st.integers(2, 3), st.lists(st.integers(0, 99), max_size=5))
def test_long_cycle_fires_where_two_long_blocks_are_complete(period: int, copies: int, before: list[int]) -> None:
    keys = [f"x{k}" for k in dict.fromkeys(before)] + [f"b{k}" for k in range(period)] * copies
    tracker = tracked("long-cycle", [(k, k) for k in keys])
    lead = len(keys) - period * copies
    want = (
        {"long-cycle": lead + 2 * period} if 10 < period < 20 else {"period": lead + 2 * period} if period <= 10 else {}
    )
    assert {e.rule: e.turn for e in tracker.episodes} == want


@settings(max_examples=200, deadline=None)
@given(st.lists(st.tuples(st.integers(1, 60), st.integers(0, 20)), max_size=25))
def test_ranges_join_as_sets_of_lines_do(reads: list[tuple[int, int]]) -> None:
    seen: list[tuple[int, int]] = []
    lines: set[int] = set()
    for low, size in reads:
        asked = set(range(low, low + size + 1))
        seen, covered = joined(seen, (low, low + size))
        assert covered == (asked <= lines)
        lines |= asked
        assert {n for a, b in seen for n in range(a, b + 1)} == lines


@settings(max_examples=200, deadline=None)
@given(st.text("abc de\n", min_size=3, max_size=60), st.integers(1, 40), st.text("xyz ", max_size=80))
def test_a_piece_played_often_is_counted(piece: str, times: int, before: str) -> None:
    piece = piece.strip() + ".\n"
    got = repeated(before + piece * times)
    size = len(piece) * times
    if times >= 12 and size >= 400 and size > 2 * len(before):
        assert got >= times - 1
    if got:
        assert got >= 8


def test_short_texts_and_lists_are_no_repetition() -> None:
    assert repeated("Yes. " * 20) == 0
    assert repeated("\n".join(f"{n}. item number {n} of the list" for n in range(40))) == 0
    assert repeated("-" * 400) == 0


@settings(max_examples=200, deadline=None)
@given(st.lists(st.integers(0, 4), max_size=60), st.integers(2, 12), st.integers(2, 3))
def test_a_longer_reach_changes_nothing_of_the_period_rule(keys: list[int], window: int, copies: int) -> None:
    keyer = Keyer(exact=True)
    plain, wide = Detector(keyer, window, copies), Detector(keyer, window, copies, reach=30)
    for key in keys:
        action = keyer.action(Turn("r", [Call("tool", {"k": key}, "same")]))
        assert plain.push(action) == wide.push(action)


@settings(max_examples=150, deadline=None)
@given(st.lists(st.sampled_from("abc"), min_size=1, max_size=50))
def test_episodes_with_rules_hold_those_of_the_period_rule_alone(keys: list[str]) -> None:
    results = [(k, f"{k} found") for k in keys]
    alone, beside = tracked("masked", results), Tracker(Keyer())
    for args, result in results:
        beside.push(beside.keyer.action(Turn("r", [Call("tool", {"k": args}, result)])))
    told = [[(e.turn, e.period, e.first, e.last, e.left_at) for e in t.episodes if e.rule == "period"]
            for t in (alone, beside)]  # fmt: skip
    assert told[0] == told[1]


def test_a_counter_is_no_long_cycle() -> None:
    results = ["start", *["same"] * 90, "end", *range(60)]
    assert {e.rule for e in tracked("long-cycle", [("a", r) for r in results]).episodes} == {"period"}
