"""The period rule: the thirteen cases, and equality with a brute-force reference."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from loopscan.detector import Detector
from loopscan.key import Keyer
from loopscan.model import Call, Turn

S = ("search", {"q": "refund"}, "none")
A, B, C = (("a", {}, 1), ("b", {}, 2), ("c", {}, 3))

CASES = {
    "the same call three times": ([S, S, S], 2, 2),
    "two-call cycle, window too small": ([A, B] * 3, 2, None),
    "two-call cycle": ([A, B] * 3, 4, 4),
    "time-out, then an answer": ([("get", {}, "timeout"), ("get", {}, "42")], 2, None),
    "poll pending, then done": ([("poll", {}, "pending"), ("poll", {}, "done")], 2, None),
    "poll pending twice": ([("poll", {}, "pending"), ("poll", {}, "pending")], 6, 2),
    "reordered keys": ([("s", {"a": 1, "b": 2}, 0), ("s", {"b": 2, "a": 1}, 0)], 2, 2),
    "three-call cycle, window too small": ([A, B, C] * 2, 4, None),
    "three-call cycle": ([A, B, C] * 2, 6, 6),
    "a cycle after another call": ([S, A, B, A, B], 4, 5),
    "new arguments each time": ([("s", {"q": i}, "none") for i in range(5)], 2, None),
    "no turn": ([], 2, None),
    "window 1 holds no two copies": ([S, S], 1, None),
}


def first_fire(
    calls: list[tuple[str, object, object]], window: int, copies: int = 2, exact: bool = False
) -> int | None:
    detector = Detector(Keyer(exact=exact), window, copies)
    keyer = detector.keyer
    for turn, (name, args, result) in enumerate(calls, 1):
        if detector.push(keyer.action(Turn("r", [Call(name, args, result)]))):
            return turn
    return None


@pytest.mark.parametrize("exact", [False, True], ids=["normalised", "exact"])
@pytest.mark.parametrize(("calls", "window", "want"), CASES.values(), ids=CASES)
def test_thirteen_cases(calls: list, window: int, want: int | None, exact: bool) -> None:
    assert first_fire(calls, window, exact=exact) == want


def brute_force(keys: list, window: int, copies: int) -> tuple[int, int] | None:
    """The rule as written: after each turn, compare the last copies * p keys for every p."""
    for t in range(1, len(keys) + 1):
        for p in range(1, window // copies + 1):
            if t >= copies * p:
                tail = keys[t - copies * p : t]
                if all(tail[i] == tail[i % p] for i in range(len(tail))):
                    return t, p
    return None


@settings(max_examples=400, deadline=None)
@given(
    st.lists(st.integers(0, 2), max_size=60) | st.lists(st.integers(0, 5), max_size=60),
    st.integers(1, 20),
    st.integers(2, 4),
)
def test_equals_brute_force(keys: list[int], window: int, copies: int) -> None:
    detector = Detector(Keyer(exact=True), window, copies)
    got = None
    for t, key in enumerate(keys, 1):
        action = detector.keyer.action(Turn("r", [Call("tool", {"k": key}, "same")]))
        if (period := detector.push(action)) and got is None:
            got = (t, period)
            assert [a.calls[0].args["k"] for _, a in detector.block(period)] == keys[t - period : t]
    assert got == brute_force(keys, window, copies)
