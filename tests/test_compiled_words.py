"""What the compiled part tells of the words of a text is what Python tells."""

from __future__ import annotations

from random import Random

import pytest

from loopscan import volatile
from loopscan.compiled import compiled
from loopscan.rules import outcome, wording

PIECES = (
    "a", "f", "-", "12ab", "-12ab-", ":", "12", "\u0663\u0664", "0x", "0", "x", "tmp", "tm", "p", "/var/folders/",
    "/var", "id", "Id", "ID", "ref", "iD", "=", " ", '"', "'", "\n", "\x1c", "\u2028", "ü", "\u2014", "\U0001f600",
    "no",
    "zero", "without", "error", "errors", "can't", "limit of", "did not", "failed", "E", "ENOENT", "output", "content",
    "not", "s", "_", "exit code 1",
)  # fmt: skip


def some_text(chance: Random) -> str:
    return "".join(chance.choice(PIECES) for _ in range(chance.choice((0, 3, 9, 40))))


@pytest.mark.parametrize("seed", range(300))
def test_random_texts(seed: int, monkeypatch: pytest.MonkeyPatch) -> None:
    made = compiled()
    if made is None:
        pytest.skip("nothing is compiled here")
    chance = Random(seed)
    texts = [some_text(chance) for _ in range(40)]
    told = [(volatile.stable_text(text), outcome.failing(text), made.says_one(text, outcome.FAULTS)) for text in texts]
    steady = [made.is_steady(text) for text in texts]
    monkeypatch.setattr(volatile, "compiled", lambda: None)
    monkeypatch.setattr(outcome, "compiled", lambda: None)
    for text, (stable, failing, says), is_steady in zip(texts, told, steady, strict=True):
        assert stable == volatile.stable_text(text)
        assert failing == outcome.failing(text)
        assert says == outcome.says_fault(text), text
        assert not is_steady or stable == text
    assert any(steady)


def echoed(first: str, second: str, args: tuple[str, ...], others: tuple[str, ...]) -> bool:
    """`wording.echo_free` in full."""
    one, other = wording.words(first), wording.words(second)
    mine, its = ({piece for word in said for piece in wording.words(word)} for said in (args, others))
    for own in (mine ^ its, mine | its):
        a, b = ([w for w in said if w not in own] for said in (one, other))
        if len(a) >= 2 and a == b:
            return True
    return False


@pytest.mark.parametrize("seed", range(200))
def test_results_are_the_same_but_for_the_words_of_their_arguments(seed: int) -> None:
    chance = Random(seed)
    for _ in range(60):
        few = [chance.choice("abcd") for _ in range(chance.randrange(7))]
        first, second = (" ".join(w for w in few if chance.random() < 0.9) for _ in range(2))
        args, others = (tuple(w for w in "abc" if chance.random() < 0.4) for _ in range(2))
        assert wording.echo_free(first, second, args, others) == echoed(first, second, args, others)


def test_long_texts_are_left_to_python() -> None:
    made = compiled()
    assert made is None or made.says_one("x" * 5000, ("error",)) is None
