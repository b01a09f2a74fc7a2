"""Policies from presets, text and files; outcomes from a file."""

from __future__ import annotations

from pathlib import Path

import pytest

from loopscan.errors import UsageError
from loopscan.policy import Policy, policies
from loopscan.settings import CapSettings, Detection
from loopscan.solved import solved

OFF = CapSettings(None, None, None, None)
CENT = 10**10

READ = {
    "seed": Policy("seed", Detection(6, 2), CapSettings(15, 100_000, None, None)),
    "controller": Policy("controller", Detection(0, 2, 3), CapSettings(10, 50_000, 50 * CENT, 60.0)),
    "coding": Policy("coding", None, CapSettings(76, None, 500 * CENT, None), "prompt"),
    "audit": Policy("audit", Detection(20, 2), CapSettings()),
    "window=6,copies=2": Policy("window=6,copies=2", Detection(6, 2), OFF),
    "copies=4": Policy("copies=4", Detection(20, 4), OFF),
    "turn_cap=auto": Policy("turn_cap=auto", None, CapSettings("auto", None, None, None)),
    "turn-cap = 1_000 , name = mine": Policy("mine", None, CapSettings(1000, None, None, None)),
    "time_cap=10m,cost_cap=$0.5": Policy("time_cap=10m,cost_cap=$0.5", None, CapSettings(None, None, 50 * CENT, 600.0)),
    "window=off,repeat_limit=3": Policy("window=off,repeat_limit=3", Detection(0, 2, 3), OFF),
    "window=9,exact=true": Policy("window=9,exact=true", Detection(9, 2, 0, True), OFF),
    "token_cap=0": Policy("token_cap=0", None, CapSettings(None, 0, None, None)),
}


@pytest.mark.parametrize("text", READ)
def test_a_policy(text: str) -> None:
    assert policies([text]) == [READ[text]]


def test_a_file_of_policies(tmp_path: Path) -> None:
    (tmp_path / "ours.toml").write_text("[tight]\nwindow = 6\nturn-cap = 15\n[loose]\ncost_cap = 2.50\nexact = true\n")
    (tmp_path / "one.toml").write_text("window = 8\ncopies = 3\n")
    assert policies([str(tmp_path / "ours.toml"), str(tmp_path / "one.toml")]) == [
        Policy("tight", Detection(6, 2), CapSettings(15, None, None, None)),
        Policy("loose", None, CapSettings(None, None, 250 * CENT, None)),
        Policy("one", Detection(8, 3), OFF),
    ]


BAD = {
    "seeds": "did you mean seed?",
    "nowhere.toml": "no such preset or file",
    "colour=1": "no such key 'colour': known are name, window",
    "turn_caps=1": "did you mean turn_cap?",
    "turn_cap=": "write key=value",
    "turn_cap=many": "a whole number, auto or off is wanted",
    "window=0": "a whole number from 1 to 100,000 is wanted",
    "window=x": "a whole number from 1",
    "copies=1": "a whole number from 2",
    "exact=maybe": "exact is true or false",
    "per=week": "per is prompt or session",
    "time_cap=soon": "a duration such as",
    "turn_cap=3,window": "write key=value",
}


@pytest.mark.parametrize("text", BAD)
def test_a_policy_that_cannot_be(text: str) -> None:
    with pytest.raises(UsageError) as err:
        policies([text])
    assert BAD[text] in str(err.value)
    assert "\n" not in str(err.value)


@pytest.mark.parametrize("text", ["", "window = ", "window = 3\n[a]\nwindow = 4\n", "\xff"])
def test_a_file_that_is_no_policy(tmp_path: Path, text: str) -> None:
    (tmp_path / "p.toml").write_text(text, encoding="latin-1")
    with pytest.raises(UsageError, match=r"p\.toml"):
        policies([str(tmp_path / "p.toml")])


def test_two_policies_of_one_name() -> None:
    with pytest.raises(UsageError, match="given twice"):
        policies(["seed", "seed"])


OUTCOMES = {
    "plain": ("a,true\nb,false\n", {"a": True, "b": False}),
    "titles": ("run,solved\na,1\nb,0\n", {"a": True, "b": False}),
    "titles of an evaluation": ("instance_id,resolved,patch\na,yes,x\n", {"a": True}),
    "scores": ("a,1.0\nb,0.5\nc,0\n", {"a": True, "b": False, "c": False}),
    "blank lines, quotes, a byte order mark": ('\ufeff"a,1",pass\n\n b , FAIL \n', {"a,1": True, "b": False}),
    "empty": ("", {}),
}


@pytest.mark.parametrize(("text", "found"), OUTCOMES.values(), ids=OUTCOMES)
def test_outcomes(tmp_path: Path, text: str, found: dict[str, bool]) -> None:
    (tmp_path / "o.csv").write_text(text)
    assert solved(str(tmp_path / "o.csv")) == found


@pytest.mark.parametrize("text", ["a,true\nb,perhaps\n", "a,1\nb\n", "a,1\nb,nan\n"])
def test_an_outcome_that_says_nothing(tmp_path: Path, text: str) -> None:
    (tmp_path / "o.csv").write_text(text)
    with pytest.raises(UsageError, match=r"o\.csv:2: write run id"):
        solved(str(tmp_path / "o.csv"))


def test_no_outcomes_there() -> None:
    with pytest.raises(UsageError, match="cannot be read"):
        solved("/no/such.csv")
