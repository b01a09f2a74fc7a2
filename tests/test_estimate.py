"""Tokens from characters: families, growth, output and placeholders."""

from __future__ import annotations

from fractions import Fraction

import pytest
from hypothesis import given
from hypothesis import strategies as st

from loopscan.estimate import (
    CLAUDE,
    CLAUDE_NEW,
    OTHER,
    UNNAMED,
    family,
    growth,
    is_placeholder,
    output,
    result_chars,
    written_chars,
)
from loopscan.model import Call, Turn


@pytest.mark.parametrize(
    ("model", "expected"),
    [
        ("claude-opus-4-6", CLAUDE),
        ("claude-sonnet-4-5-20250929", CLAUDE),
        ("claude-opus-4-20250514", CLAUDE),
        ("claude-3-5-sonnet-20241022", CLAUDE),
        ("anthropic/claude-3.7-sonnet", CLAUDE),
        ("us.anthropic.claude-haiku-4-5-20251001-v1:0", CLAUDE),
        ("claude-4.5-sonnet-thinking", CLAUDE),
        ("claude-instant", CLAUDE),
        ("claude-opus-4-7", CLAUDE_NEW),
        ("claude-opus-4.8", CLAUDE_NEW),
        ("claude-fable-5", CLAUDE_NEW),
        ("claude-opus-5-5[1m]", CLAUDE_NEW),
        ("Claude-Sonnet-5-20260801", CLAUDE_NEW),
        ("gpt-5-mini", OTHER),
        ("gemini-2.5-pro", OTHER),
        ("something-new", OTHER),
        (None, UNNAMED),
        ("", UNNAMED),
    ],
)
def test_the_family_of_a_model(model: str | None, expected: object) -> None:
    assert family(model) is expected


def test_the_regression_for_claude_up_to_4_6() -> None:
    assert growth(CLAUDE, 0, 0) == 115
    assert growth(CLAUDE, 345, 287) == 115 + 100 + 100
    assert growth(CLAUDE, 1, 0) == 116


def test_without_a_model_four_characters_are_a_token() -> None:
    assert growth(UNNAMED, 0, 2_000) == 500
    assert growth(UNNAMED, 0, 2_048) == 512


def test_newer_claude_models_make_more_tokens_of_the_same_text() -> None:
    old, new = growth(CLAUDE, 10_000, 10_000), growth(CLAUDE_NEW, 10_000, 10_000)
    assert 1.33 < new / old < 1.47


def test_the_user_knows_better() -> None:
    told = family("claude-opus-4-6", Fraction(5, 2))
    assert growth(told, 100, 150) == 100
    assert output(told, 5) == 2


@pytest.mark.parametrize(
    ("recorded", "written", "expected"),
    [(1, 400, True), (9, 73, True), (9, 72, False), (130, 400, False), (0, 1, True), (0, 0, False), (5, 0, False)],
)
def test_a_recorded_output_far_below_the_text_is_a_placeholder(recorded: int, written: int, expected: bool) -> None:
    assert is_placeholder(recorded, written) is expected


def test_the_output_of_claude_is_a_third_of_the_characters() -> None:
    assert output(CLAUDE, 300) == 100
    assert output(CLAUDE, 301) == 101
    assert output(CLAUDE, 0) == 0


@given(st.integers(0, 10**9), st.sampled_from([CLAUDE, CLAUDE_NEW, OTHER, UNNAMED]))
def test_an_estimate_is_no_placeholder(written: int, kind: object) -> None:
    assert not is_placeholder(output(kind, written), written)  # type: ignore[arg-type]


def test_characters_of_a_turn() -> None:
    turn = Turn(
        "r", [Call("sh", {"cmd": "ls"}, "a.txt\n"), Call("read", None, {"n": 1}), Call("wait", "x")], text="Look:"
    )
    assert written_chars(turn) == len("Look:") + len('sh{"cmd":"ls"}') + len("read") + len("waitx")
    assert result_chars(turn) == len("a.txt\n") + len('{"n":1}')
    turn.written = 7
    assert written_chars(turn) == 7
    assert written_chars(Turn("r", text=None)) == 0
