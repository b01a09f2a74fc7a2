"""The packed set is a set."""

from __future__ import annotations

from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from loopscan import ids
from loopscan.ids import Ids

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
