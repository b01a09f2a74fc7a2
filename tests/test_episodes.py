"""Episodes and the verdict of hindsight, as a table of runs written one letter a turn.

Each letter is a call; a digit after it is its result, `!` makes it an error; `"` is a closing text.
"""

from __future__ import annotations

import re

import pytest

from loopscan.episodes import Tracker, worst
from loopscan.key import Keyer
from loopscan.model import Call, Turn


def turns(script: str) -> list[Turn]:
    found = []
    for name, result, error in re.findall(r"([a-zA-Z\"])(\d?)(!?)", script):
        if name == '"':
            found.append(Turn("r", text="I could not do it."))
        else:
            found.append(Turn("r", [Call(name, {}, result, bool(error))]))
    return found


def tracked(script: str, window: int = 20, copies: int = 2) -> Tracker:
    tracker = Tracker(Keyer(), window, copies)
    for turn in turns(script):
        tracker.push(tracker.keyer.action(turn))
    return tracker


CASES = {
    # script: verdict, [(firing turn, period, copies, first, last, left_at)]
    "abcd": ("clean", []),
    "aab": ("recovered", [(2, 1, 2, 1, 2, 3)]),
    "aa": ("suspect", [(2, 1, 2, 1, 2, None)]),
    "aaa": ("suspect", [(2, 1, 3, 1, 3, None)]),
    "aaaa": ("stuck", [(2, 1, 4, 1, 4, None)]),
    'aaa"': ("recovered", [(2, 1, 3, 1, 3, 4)]),
    'aaaa"': ("stuck", [(2, 1, 4, 1, 4, None)]),
    "abab": ("suspect", [(4, 2, 2, 1, 4, None)]),
    "xababab": ("suspect", [(5, 2, 3, 2, 7, None)]),
    "abababac": ("recovered", [(4, 2, 3, 1, 7, 8)]),
    "aabbc": ("recovered", [(2, 1, 2, 1, 2, 3), (4, 1, 2, 3, 4, 5)]),
    "aaxaa": ("suspect", [(2, 1, 2, 1, 2, None), (5, 1, 2, 4, 5, None)]),
    "a1a1a2": ("waited", [(2, 1, 2, 1, 2, 3)]),
    "a1a1a1a1a2b": ("waited", [(2, 1, 4, 1, 4, 5)]),
    "a1!a1!a2": ("recovered", [(2, 1, 2, 1, 2, 3)]),
    "aab!": ("suspect", [(2, 1, 2, 1, 2, None)]),
    "aab!c": ("recovered", [(2, 1, 2, 1, 2, 4)]),
    '""': ("suspect", [(2, 1, 2, 1, 2, None)]),
}


@pytest.mark.parametrize(("script", "want"), CASES.items(), ids=CASES)
def test_verdict(script: str, want: tuple[str, list[tuple]]) -> None:
    episodes = tracked(script).episodes
    got = [(e.turn, e.period, e.copies, e.first, e.last, e.left_at if e.left else None) for e in episodes]
    assert (worst(episodes), got) == want


def test_block_shows_names_and_arguments() -> None:
    tracker = Tracker(Keyer())
    for _ in range(2):
        for name in ("search", "open"):
            tracker.push(tracker.keyer.action(Turn("r", [Call(name, {"q": 1}, "x")])))
    assert tracker.episodes[0].block == [{"name": "search", "args": {"q": 1}}, {"name": "open", "args": {"q": 1}}]


def test_later_turns_never_move_what_fired() -> None:
    short, long = tracked("xabab"), tracked("xababcdefaaaa")
    for a, b in zip(short.episodes, long.episodes, strict=False):
        assert (a.turn, a.period, a.first) == (b.turn, b.period, b.first)


def test_many_episodes_are_counted_not_kept() -> None:
    script = "".join(f"a{i % 10}a{i % 10}b" for i in range(1500))
    tracker = tracked(script)
    assert len(tracker.episodes) == 1000
    assert tracker.dropped == 500
