"""A result left as JSON is told from another as its text would be."""

from __future__ import annotations

import json

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from loopscan.model import Call, LateCall
from loopscan.rules.likeness import LISTED, unlike

TEXTS = st.builds(
    lambda head, piece, times, tail: head + piece * times + tail,
    st.text('ab\n"\\é😀\x00', min_size=8, max_size=9),
    st.text('ab\n"\\é😀\x00', min_size=1, max_size=4),
    st.integers(0, 900),
    st.text('ab\n"\\é😀\x00', min_size=10, max_size=12),
)


def late(text: str, ascii_only: bool) -> LateCall:
    raw = json.dumps(text, ensure_ascii=ascii_only).encode()
    return LateCall("read", {}, None, False, "1", raw, json.loads)


@settings(max_examples=300, deadline=None)
@given(TEXTS, TEXTS, st.booleans(), st.booleans())
def test_left_as_json_or_not_is_the_same(first: str, second: str, one_ascii: bool, other_ascii: bool) -> None:
    told = unlike(Call("read", {}, first), Call("read", {}, second))
    assert unlike(late(first, one_ascii), late(second, other_ascii)) == told
    assert unlike(Call("read", {}, first), late(second, other_ascii)) == told
    assert unlike(late(first, one_ascii), Call("read", {}, second)) == told


@pytest.mark.parametrize("letter", ["a", "\n", "é", "😀", "\x00"])
def test_no_text_is_taken_for_longer_than_it_is(letter: str) -> None:
    for ascii_only in (True, False):
        assert not late(letter * (LISTED - 1), ascii_only).longer(LISTED)
        assert late(letter * 12 * LISTED, ascii_only).longer(LISTED)


def test_long_results_are_told_apart_without_a_look() -> None:
    first, second = (
        late("first line\n" * 900 + "and this is the end of it", False),
        late("other line\n" * 900 + "which is where that one ends", False),
    )
    assert unlike(first, second)
    assert first.raw is not None
    assert second.raw is not None
