"""JSON in tiers, and its canonical form."""

from __future__ import annotations

import json
from contextlib import suppress
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from loopscan.decode import BadJSON, _deep, canonical, embedded, loads, loads_all

VALUES = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False, allow_infinity=False) | st.text(),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text(max_size=5), inner, max_size=4),
    max_leaves=20,
)


@given(VALUES)
def test_canonical_is_json_with_sorted_keys(value: Any) -> None:
    assert json.loads(canonical(value)) == value
    assert json.loads(_deep(value)) == value


@given(VALUES)
def test_reading_gives_what_the_standard_library_gives(value: Any) -> None:
    text = json.dumps(value)
    assert canonical(loads(text.encode())) == canonical(json.loads(text))


@pytest.mark.parametrize("depth", [100, 300, 500, 900, 960, 990, 5000, 100_000])
def test_any_depth_is_a_value_or_a_reason(depth: int) -> None:
    data = b"[" * depth + b"]" * depth
    if depth < 900:
        assert canonical(loads(data)) == data
        return
    with suppress(BadJSON):
        assert canonical(loads(data)) == data


@pytest.mark.parametrize(
    ("data", "want"),
    [
        (b"NaN", "\x00NaN"),
        (b"[1e999]", ["\x001e999"]),
        (rb'"\ud83d"', "\ud83d"),
        (b"12345678901234567890123", 12345678901234567890123),
        (b'{"a":1,"a":2}', {"a": 2}),
    ],
)
def test_second_tier(data: bytes, want: Any) -> None:
    assert loads(data) == want


@pytest.mark.parametrize("data", [b"", b"{", b"{'a':1}", b"nul", b"[1,]", b"\x00", b'"\t"'])
def test_what_is_no_json(data: bytes) -> None:
    with pytest.raises(BadJSON):
        loads(data)


def test_several_values_on_a_line() -> None:
    assert loads_all(b'{"a":1}{"b":2} 3') == [{"a": 1}, {"b": 2}, 3]


@pytest.mark.parametrize(
    ("text", "want"), [('{"a":1}', {"a": 1}), (" [1]", [1]), ("1", None), ('"x"', None), ("{x", None)]
)
def test_embedded(text: str, want: Any) -> None:
    assert embedded(text) == want
