"""The live guard: the worked cases, and the same exit at the same turn as an audit of the same turns."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from loopscan import Call, Guard, Hit
from loopscan.engine import Audit
from loopscan.errors import UsageError
from loopscan.model import MISSING, Turn, Usage
from loopscan.price import PICO
from loopscan.report import RunReport
from loopscan.settings import CapSettings, Settings


def play(guard: Guard, *steps: dict) -> Hit | None:
    """Run steps as an agent loop would: check, then act."""
    for step in steps:
        if (hit := guard.check()) is not None:
            return hit
        guard.record(**step)
    return guard.check()


def test_same_search_three_times_stops_at_step_three() -> None:
    guard = Guard(window=1, repeat_limit=3)
    steps = [{"name": "search", "args": {"q": "x"}, "result": i, "input_tokens": 1200} for i in range(9)]
    hit = play(guard, *steps)
    assert hit is not None
    assert (hit.exit, hit.turn) == ("no_progress", 3)
    assert "3 times in a row" in hit.reason


def test_three_searches_under_a_token_cap_stop_after_step_three() -> None:
    guard = Guard(token_cap=3000)
    hit = play(guard, *({"name": "search", "args": {"q": i}, "result": i, "input_tokens": 1200} for i in range(9)))
    assert hit is not None
    assert (hit.exit, hit.turn) == ("token_cap", 3)
    assert "3,600" in hit.reason


@pytest.mark.parametrize("cap", ["turn_cap", "token_cap", "cost_cap"])
def test_a_budget_of_zero_allows_no_call(cap: str) -> None:
    hit = Guard(**{cap: 0}).check()
    assert hit is not None
    assert (hit.exit, hit.turn) == (cap, 0)


class Shown:
    def __repr__(self) -> str:
        return "Shown(1)"


class Unseen:
    """Its repr is an address, which says nothing."""


SAME = {
    "keys that are numbers": ({1: {"a": 2}}, {1: {"a": 2}}),
    "keys that are tuples": ({(1, 2): 3}, {(1, 2): 3}),
    "bytes": (b"x", b"x"),
    "sets": ({"a", "b", "c"}, {"c", "b", "a"}),
    "tuples and lists": ((1, [2]), [1, (2,)]),
    "what has a repr": ({"x": Shown()}, {"x": Shown()}),
}
ITSELF: list = []
ITSELF.append(ITSELF)
DIFFERENT = {
    "objects without a repr": (Unseen(), Unseen()),
    "one such inside": ({"x": [Unseen()]}, {"x": [Unseen()]}),
    "a list that holds itself": (ITSELF, ITSELF),
    "bytes and text": (b"x", "x"),
}


@pytest.mark.parametrize(("first", "second"), SAME.values(), ids=SAME)
def test_python_values_are_compared_by_what_they_hold(first: object, second: object) -> None:
    assert play(Guard(), *({"name": "f", "args": v, "result": v} for v in (first, second))) is not None
    assert play(Guard(exact=True), *({"name": "f", "args": 1, "result": v} for v in (first, second))) is not None


@pytest.mark.parametrize(("first", "second"), DIFFERENT.values(), ids=DIFFERENT)
def test_what_cannot_be_seen_equals_nothing(first: object, second: object) -> None:
    assert play(Guard(), *({"name": "f", "args": 1, "result": v} for v in (first, second))) is None
    if first is not second:
        assert play(Guard(repeat_limit=2), *({"name": "f", "args": v, "result": v} for v in (first, second))) is None


BAD = [{"copies": 1}, {"copies": 0}, {"window": -1}, {"repeat_limit": -1}, {"turn_cap": -1}, {"cost_cap": -0.5}]


@pytest.mark.parametrize("settings", BAD, ids=str)
def test_settings_that_cannot_be_are_refused_at_once(settings: dict) -> None:
    with pytest.raises(UsageError):
        Guard(**settings)


def test_time_is_the_clocks() -> None:
    now = [100.0]
    guard = Guard(time_cap=60, clock=lambda: now[0])
    guard.record("wait", {}, 1)
    now[0] = 160.0
    assert guard.check() is None, "exactly at the cap is not beyond it"
    now[0] = 160.5
    hit = guard.check()
    assert hit is not None
    assert (hit.exit, hit.turn) == ("time_cap", 1)


def test_a_hit_stays() -> None:
    guard = Guard(turn_cap=1)
    guard.record("a", {}, 1)
    first = guard.check()
    guard.record("b", {}, 2)
    assert guard.check() is first


def test_an_unknown_result_never_repeats_but_its_action_does() -> None:
    quiet, limited = Guard(), Guard(repeat_limit=2)
    for guard in (quiet, limited):
        guard.record("click", {"x": 1})
        guard.record("click", {"x": 1})
    assert quiet.check() is None
    assert limited.check() is not None


def test_parallel_calls_in_any_order() -> None:
    guard = Guard()
    guard.record_calls([("a", {}, 1), ("b", {}, 2)])
    guard.record_calls([("b", {}, 2), Call("a", {}, 1)])
    hit = guard.check()
    assert hit is not None
    assert hit.exit == "no_progress"


def test_context_window_and_refusal() -> None:
    guard = Guard(context_window=1000)
    guard.record("a", {}, 1, input_tokens=1000)
    assert guard.check().exit == "context_full"  # type: ignore[union-attr]
    refused = Guard()
    refused.record(result="400: prompt is too long", error=True)
    assert refused.check().exit == "context_full"  # type: ignore[union-attr]


STEP = st.fixed_dictionaries(
    {
        "name": st.sampled_from(["a", "b", None]),
        "args": st.sampled_from([{}, {"x": 1}]),
        "result": st.sampled_from([1, 1.0, "1", True, MISSING]),
        "error": st.booleans(),
        "input_tokens": st.none() | st.integers(0, 500),
        "output_tokens": st.none() | st.integers(0, 50),
        "usd": st.none() | st.sampled_from([0.0, 0.01, 0.25]),
        "seconds": st.integers(0, 30),
    }
)


def audited(steps: list[dict], caps: CapSettings, window: int, copies: int, limit: int, full: int | None) -> RunReport:
    turns, at = [], 1_764_000_000.0
    for step in steps:
        at += step["seconds"]
        named = step["name"] is not None
        failed = not named and step["error"]
        usage = Usage(step["input_tokens"], step["output_tokens"], usd=step["usd"])
        turn = Turn("r", time=at, usage=None if usage == Usage() else usage, failed=failed, text="")
        turn.fault = step["result"] if failed else MISSING
        turn.calls = [Call(step["name"], step["args"], step["result"], step["error"])] if named else []
        turns.append(turn)
    engine = Audit(Settings(window, copies, repeat_limit=limit, caps=caps, context_window=full))
    engine.take(turns, "loopscan", "test")
    # the state is left to be `cut`: an exit that fires on the closing turn of a done run is no news to a live loop
    report = engine.finish().runs[0]
    report.state = "cut"
    return report


@settings(max_examples=300, deadline=None)
@given(
    st.lists(STEP, min_size=1, max_size=30),
    st.integers(2, 12),
    st.integers(2, 3),
    st.sampled_from([0, 2, 3]),
    st.none() | st.integers(1, 30),
    st.none() | st.integers(1, 4000),
    st.none() | st.integers(1, 200),
    st.none() | st.integers(1, 200),
    st.none() | st.integers(1, 400),
)
def test_guard_equals_audit(
    steps: list[dict],
    window: int,
    copies: int,
    limit: int,
    turn_cap: int | None,
    token_cap: int | None,
    cost_cents: int | None,
    time_cap: int | None,
    full: int | None,
) -> None:
    from loopscan.exits import Caps
    from loopscan.fired import evaluate

    usd = None if cost_cents is None else cost_cents * PICO // 100
    caps = CapSettings(turn_cap, token_cap, usd, time_cap)
    report = audited(steps, caps, window, copies, limit, full)
    evaluate(report, Caps(turn_cap, token_cap, usd, time_cap))
    guard = Guard(
        window=window, copies=copies, repeat_limit=limit, turn_cap=turn_cap, token_cap=token_cap, time_cap=time_cap,
        cost_cap=None if cost_cents is None else cost_cents / 100, context_window=full,
    )  # fmt: skip
    at, hit = 1_764_000_000.0, None
    for step in steps:
        at += step["seconds"]
        guard.record(at=at, **{k: v for k, v in step.items() if k != "seconds"})
        if (hit := guard.check()) is not None:
            break
    first = report.first_exit
    assert (hit and (hit.exit, hit.turn)) == (first and (first.exit, first.turn))
