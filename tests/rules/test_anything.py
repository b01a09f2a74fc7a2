"""Rules look at whatever a log holds: they never raise, and cost a run of repeats no more than a fixed time a turn."""

from __future__ import annotations

import time

from hypothesis import given, settings
from hypothesis import strategies as st

from loopscan.episodes import Tracker
from loopscan.key import Keyer
from loopscan.model import MISSING, Call, Turn
from loopscan.rules import RULES, rulebook

LEAVES = st.none() | st.booleans() | st.integers(-9, 10**20) | st.floats(allow_nan=False) | st.text(max_size=12)
VALUES = st.recursive(
    LEAVES,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=4), inner, max_size=3),
    max_leaves=6,
)
ARGS = VALUES | st.fixed_dictionaries(
    {},
    optional={
        "path": st.sampled_from(["a", "./a", "b\\c"]),
        "command": st.sampled_from(["echo a", "ls", "edit 1:2", "", "cd x && git status"]),
        "offset": st.integers(-3, 9) | st.text(max_size=2),
        "limit": st.integers(-3, 9),
        "view_range": st.lists(st.integers(0, 9), max_size=3),
        "old": LEAVES,
        "new": LEAVES,
        "content": LEAVES,
        "message": st.sampled_from(["please look at the file again", "look again at the file please"]),
    },
)
RESULTS = VALUES | st.sampled_from(
    [
        "ok",
        "Error: no such file 3",
        "Error: no such file 4",
        "[]",
        MISSING,
        "a\nb",
        "b\na",
        "base64," + "A1" * 80,
        "1 2 3",
    ]
)
CALLS = st.builds(
    Call, st.sampled_from(["bash", "read", "edit", "send", "ask", "compact", ""]), ARGS, RESULTS, st.booleans()
)
TURNS = st.builds(
    Turn,
    st.just("r"),
    st.lists(CALLS, max_size=5),
    st.sampled_from(["", "thanks!", "I will write it now.", "word " * 90, None]),
    st.booleans(),
    RESULTS,
)


@settings(max_examples=300, deadline=None)
@given(st.lists(TURNS, max_size=30), st.integers(1, 30))
def test_rules_never_raise(turns: list[Turn], window: int) -> None:
    tracker = Tracker(Keyer(), window, 2, rulebook(tuple(RULES)))
    for turn in turns:
        tracker.push(tracker.keyer.action(turn))
    for episode in tracker.told():
        assert 1 <= episode.first <= episode.turn <= episode.last <= len(turns)
        assert episode.copies >= 1
        assert episode.verdict in ("recovered", "waited", "suspect", "stuck")
    assert all(isinstance(note, str) for note in tracker.notes())


def test_time_grows_with_the_turns_not_with_their_square() -> None:
    def seconds(turns: int) -> float:
        tracker = Tracker(Keyer(), 20, 2, rulebook(tuple(RULES)))
        begin = time.process_time()
        for n in range(turns):
            result = f"row {n * 7919 % 13}: load {n * 31 % 17}" if n % 3 else f"no match for {n % 5}"
            call = Call(("look", "bash", "read")[n % 3], {"command": f"grep {n % 5}", "path": f"f{n % 4}"}, result)
            tracker.push(tracker.keyer.action(Turn("r", [call])))
        return time.process_time() - begin

    seconds(200)
    short, long = min(seconds(1000) for _ in range(3)), seconds(8000)
    assert long < 8 * short * 3
