"""A result left as JSON is told from another as its text would be."""

from __future__ import annotations

import json

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from loopscan.model import Call, LateCall
from loopscan.rules.likeness import LISTED, may_be_alike, unlike

TEXTS = st.builds(
    lambda head, piece, times, tail: head + piece * times + tail,
    st.text('ab\n"\\é😀\x00', min_size=8, max_size=9),
    st.text('ab\n"\\é😀\x00', min_size=1, max_size=4),
    st.integers(0, 900),
    st.text('ab\n"\\é😀\x00', min_size=10, max_size=12),
)


def late(text: str, ascii_only: bool) -> LateCall:
    call = LateCall("read", {}, decode=json.loads)
    call.answer(json.dumps(text, ensure_ascii=ascii_only).encode(), False)
    return call


@settings(max_examples=300, deadline=None)
@given(TEXTS, TEXTS, st.booleans())
def test_left_as_json_or_not_is_the_same(first: str, second: str, ascii_only: bool) -> None:
    one, other = Call("read", {}, first), Call("read", {}, second)
    told, alike = unlike(one, other), may_be_alike(one, other)
    assert unlike(one, late(second, ascii_only)) == told
    assert unlike(late(first, ascii_only), other) == told
    left = unlike(late(first, ascii_only), late(second, ascii_only))
    assert left >= told
    assert not (left and alike)


@pytest.mark.parametrize("letter", ["a", "\n", "é", "😀", "\x00"])
def test_no_text_is_taken_for_longer_than_it_is(letter: str) -> None:
    for ascii_only in (True, False):
        short, long = LISTED // 2 - 1, 12 * LISTED
        for size, told in ((short, False), (long, True)):
            one, other = (late(f"{end * 10}{letter * size}{end * 10}", ascii_only) for end in "xy")
            assert one.unlike(other, LISTED) == told


@pytest.mark.parametrize("texts", [("b\na", "a\nb"), ("\u2192 1\nab", "ab\n\u2192 1"), ("", "a"), ("\x00", "\x01\x00")])
@pytest.mark.parametrize("ascii_only", [True, False])
def test_short_texts_are_looked_at(texts: tuple[str, str], ascii_only: bool) -> None:
    first, second = texts
    told = unlike(Call("read", {}, first), Call("read", {}, second))
    assert unlike(late(first, ascii_only), late(second, ascii_only)) == told


def test_long_results_are_told_apart_without_a_look() -> None:
    first, second = (
        late("first line\n" * 900 + "and this is the end of it", False),
        late("other line\n" * 900 + "which is where that one ends", False),
    )
    assert unlike(first, second)
    assert first.raw is not None
    assert second.raw is not None
