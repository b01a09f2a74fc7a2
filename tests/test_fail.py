"""`--fail-on`: which reports trip which rule, what is said, and the exit code."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from loopscan import audit
from loopscan.errors import UsageError
from loopscan.fail import failures, parse, untold
from loopscan.prices import from_options
from tests.conftest import loopscan, native

DEPLOY = "sample_traces/loopscan/deployment.jsonl"


def sends(run: str, count: int, **more: Any) -> list[dict[str, Any]]:
    return [{"run_id": run, "name": "t", "args": {}, "result": 1, "input_tokens": 5, **more}] * count


def test_a_verdict_trips_its_own_rule_only(tmp_path: Path) -> None:
    report = audit(native(tmp_path / "t.jsonl", *sends("a", 9), *sends("b", 2), *sends("c", 1)))
    tripped = {word: failures([parse(word)], report) for word in ("stuck", "suspect", "recovered", "waited")}
    assert tripped == {
        "stuck": ["--fail-on stuck: 1 run: a"],
        "suspect": ["--fail-on suspect: 1 run: b"],
        "recovered": [],
        "waited": [],
    }


def test_sends_without_a_price(tmp_path: Path) -> None:
    lines = [*sends("a", 2, model="claude-opus-4-5"), *sends("b", 3, model="claude-opus-9"), *sends("c", 1)]
    log = native(tmp_path / "t.jsonl", *lines)
    rule = parse("unpriced")
    assert failures([rule], audit(log, prices=from_options())) == [
        "--fail-on unpriced: 4 sends without a price in 2 runs: b, c"
    ]
    assert failures([rule], audit(log, prices=from_options(3, 15))) == []


def test_a_message_names_five_runs(tmp_path: Path) -> None:
    lines = [line for i in range(8) for line in sends(f"r{i}", 9)]
    (message,) = failures([parse("stuck")], audit(native(tmp_path / "t.jsonl", *lines)))
    assert message == "--fail-on stuck: 8 runs: r0, r1, r2, r3, r4 and 3 more"


@pytest.mark.parametrize(
    ("words", "hint"), [("stuk", "did you mean stuck"), ("rubbish!", "known are stuck, suspect"), ("", "known are")]
)
def test_words_that_are_no_rule(words: str, hint: str) -> None:
    with pytest.raises(UsageError, match=hint):
        parse(words)


EXITS: dict[str, tuple[list[str], int]] = {
    "a rule that trips": (["audit", DEPLOY, "--fail-on", "stuck"], 1),
    "one of two": (["audit", DEPLOY, "--fail-on", "waited", "--fail-on", "stuck"], 1),
    "none": (["audit", DEPLOY, "--fail-on", "waited"], 0),
    "what is not shown trips too": (["audit", DEPLOY, "--only", "clean", "--fail-on", "stuck"], 1),
    "no price": (["audit", DEPLOY, "--fail-on", "unpriced"], 1),
    "flags price it": (["audit", DEPLOY, "--fail-on", "unpriced", "--p-in", "3", "--p-out", "15"], 0),
    "the cost command": (["cost", DEPLOY, "--fail-on", "unpriced"], 1),
    "no such rule": (["audit", DEPLOY, "--fail-on", "unprized"], 2),
}


@pytest.mark.parametrize(("args", "code"), EXITS.values(), ids=EXITS)
def test_exit_codes(args: list[str], code: int) -> None:
    done = loopscan(*args)
    assert done.returncode == code, done.stderr
    assert bool(done.stdout) == (code != 2)
    assert ("--fail-on" in done.stderr) == (code != 0)


@pytest.mark.parametrize("words", ["output_tokens<5", "output_tokens>5", "input_tokens<5"])
def test_tokens_that_nobody_recorded_trip_nothing_and_it_is_said(tmp_path: Path, words: str) -> None:
    report = audit(native(tmp_path / "t.jsonl", {"run_id": "a", "name": "t", "args": {}, "result": 1}))
    assert failures([parse(words)], report) == []
    name = words[:-2].replace("_", " ")
    assert untold([parse(words)], report) == [f"--fail-on {words}: not told: no run recorded {name}"]
    assert untold([parse(words)], audit(native(tmp_path / "u.jsonl", *sends("a", 1, output_tokens=0)))) == []
