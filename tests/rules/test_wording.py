"""Words of arguments and texts, in tables."""

from __future__ import annotations

from typing import Any

import pytest

from loopscan.rules.wording import REWORDED, SAME_COUNTS, SAME_WORDS, close, content, echo_free, kin, said

KIN: dict[str, tuple[Any, Any, int]] = {
    "order": ({"p": "a|b|c|d"}, {"p": "d|a|c|b"}, SAME_COUNTS),
    "punctuation": ("export A=1; run -x", "run -x && export A=1", SAME_COUNTS),
    "a flag": ({"t": "plan", "merge": True}, {"t": "plan", "merge": False}, SAME_COUNTS),
    "a counter": ({"thought": "compare", "thoughtNumber": 1}, {"thought": "compare", "thoughtNumber": 2}, SAME_COUNTS),
    "a reason": ({"cmd": "ls", "reason": "see"}, {"cmd": "ls", "reason": "look again"}, SAME_COUNTS),
    "path spelling": ("rg x ./src", "rg x src", SAME_COUNTS),
    "copies": ("check && check", "check", SAME_WORDS),
    "other words": ({"q": "churn of the north"}, {"q": "churn in the northern region"}, REWORDED),
    "a word more": ({"q": "dune"}, {"q": "dune movie"}, REWORDED),
    "an item of a batch": ({"path": "src/a.py", "mode": "r"}, {"path": "src/b.py", "mode": "r"}, 0),
    "another address": ({"m": "GET", "url": "https://x/users"}, {"m": "GET", "url": "https://x/admin/export"}, 0),
    "another id": ({"id": 17}, {"id": 4}, 0),
    "nothing in common": ({"q": "alpha"}, {"q": "beta gamma"}, 0),
    "JSON in text": ('{"q":"a b"}', {"q": "b a"}, SAME_COUNTS),
    "long arguments": ({"content": "word " * 900}, {"content": "word " * 900}, 0),
}


@pytest.mark.parametrize(("first", "second", "want"), KIN.values(), ids=KIN)
def test_kin(first: Any, second: Any, want: int) -> None:
    assert kin(said(first), said(second)) == want
    assert kin(said(second), said(first)) == want


ECHO = {
    "the query in the answer": ({"q": "a b"}, 'No results for "a b".', {"q": "c d e"}, 'No results for "c d e".', True),
    "another answer": ({"q": "a"}, "3 results for a", {"q": "b"}, "7 results for b", False),
    "nothing but the echo": ({"q": "a"}, "a", {"q": "b"}, "b", False),
}


@pytest.mark.parametrize(("args", "result", "others", "other", "want"), ECHO.values(), ids=ECHO)
def test_echo(args: Any, result: str, others: Any, other: str, want: bool) -> None:
    assert echo_free(result, other, said(args), said(others)) == want


def test_close_texts() -> None:
    one = content("I will now write the migration file.")
    assert close(one, content("Let me write the migration file now."))
    assert not close(one, content("The tests of the parser pass."))
    assert close(content("Waiting for input (3)"), content("Waiting for input (4)"))
    assert not close(content("So it is."), content("So it was!"))
