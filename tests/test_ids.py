"""The packed set is a set."""

from __future__ import annotations

from array import array
from collections import Counter
from itertools import chain, pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from loopscan import ids
from loopscan.ids import Ids, apart, in_several

NUMBERS = st.lists(st.integers(-(1 << 63), (1 << 63) - 1) | st.integers(-40, 40), max_size=200)


@given(NUMBERS, NUMBERS)
def test_it_is_a_set(numbers: list[int], others: list[int]) -> None:
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(ids, "RECENT", 7)
        patch.setattr(ids, "_MARKS", 15)
        mine, plain = Ids(), set[int]()
        for number in numbers:
            assert (number in mine) == (number in plain)
            assert mine.met(number) == (number in plain)
            plain.add(number)
        mine.update(iter(others))
        plain.update(others)
        assert sorted(mine) == sorted(plain)
        assert len(mine) == len(plain)
        assert all(n in mine for n in plain)
        assert all((n + 1 in mine) == (n + 1 in plain) for n in plain)
        sizes = [len(part) for part in mine._packed]
        assert all(a >= 2 * b for a, b in pairwise(sizes))


@given(st.lists(st.sets(st.one_of(st.integers(1, 9), st.integers(-(1 << 63), (1 << 63) - 1).filter(bool))), max_size=5))
def test_what_is_in_several(sets: list[set[int]]) -> None:
    arrays = [array("q", some) for some in sets]
    want = {number for number, times in Counter(chain(*sets)).items() if times > 1}
    assert in_several(arrays) == want
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(ids, "compiled", lambda: None)
        assert in_several(arrays) == want


RUNS = st.lists(st.tuples(st.integers(-9, 9), st.integers(0, 30)), max_size=12)


@given(RUNS, st.integers(-3, 1 << 40), st.sets(st.integers(-9, 9)))
def test_what_is_left_out_of_others(runs: list[tuple[int, int]], before: int, left: set[int]) -> None:
    hashes, places = array("q", [run for run, _ in runs]), array("q", [place for _, place in runs])
    want = array("q", [place + before for run, place in runs if run not in left])
    rise = all(a < b for a, b in pairwise(want))
    numbers = [at for at, (run, _) in enumerate(runs) if run in left]
    assert apart(hashes, places, before, array("q", sorted(left))) == (numbers, want, rise)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(ids, "compiled", lambda: None)
        assert apart(hashes, places, before, array("q", sorted(left))) == (numbers, want, rise)
