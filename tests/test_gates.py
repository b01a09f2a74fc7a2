"""`--fail-on` with figures and shares: what is compared, what is said."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from loopscan import audit
from loopscan.errors import UsageError
from loopscan.fail import FIGURES, failures, parse, rules_of
from loopscan.prices import from_options
from loopscan.report import Report
from tests.conftest import SAMPLES, loopscan, native


def lines(run: str, count: int, **more: Any) -> list[dict[str, Any]]:
    return [{"run_id": run, "name": "t", "args": {}, "result": 1, "input_tokens": 100_000, **more}] * count


@pytest.fixture
def report(tmp_path: Path) -> Report:
    """a: 9 sends of $0.30, wasted 7; b: 4 sends, wasted 2; c and d: one each."""
    log = native(tmp_path / "t.jsonl", *lines("a", 9), *lines("b", 4), *lines("c", 1), *lines("d", 1))
    return audit(log, prices=from_options(3, 15))


TRIPPED = {
    "wasted_usd>2": "wasted_usd is 2.7 in 2 runs: a, b",
    "wasted_usd > $2.69": "wasted_usd is 2.7 in 2 runs: a, b",
    "wasted-usd>=2.7": "wasted_usd is 2.7 in 2 runs: a, b",
    "wasted_usd>2.7": None,
    "usd>.5": "usd is 4.5 in 4 runs: a, b, c, d",
    "runs<5": "runs is 4 in 4 runs: a, b, c, d",
    "runs<=3": None,
    "unpriced_sends>0": None,
    "input_tokens>1000000": "input_tokens is 1,500,000 in 4 runs: a, b, c, d",
    "rate:stuck>2%": "50.00% of 4 runs are stuck, 2 runs: a, b",
    "rate:stuck>0.49": "50.00% of 4 runs are stuck, 2 runs: a, b",
    "rate:stuck>50%": None,
    "rate:clean>=50%": "50.00% of 4 runs are clean, 2 runs: c, d",
    "rate:blind<1%": "0.00% of 4 runs are blind, 0 runs",
    "clean": "2 runs: c, d",
    "blind": None,
}


@pytest.mark.parametrize(("words", "message"), TRIPPED.items())
def test_rules(report: Report, words: str, message: str | None) -> None:
    assert failures([parse(words)], report) == ([] if message is None else [f"--fail-on {words}: {message}"])


WRONG = {
    "wasted>5": "did you mean wasted_",
    "wasted_usd>5%": "a share is written rate:stuck>2%",
    "wasted_usd=5": "did you mean|known are",
    "rate:stuk>2%": "did you mean stuck",
    "rate:stuck": "known are|did you mean",
    "rate:usd>2%": "no such rule",
    "new:suspect": "no such rule",
    "usd>": "no such rule",
    "usd>x": "no such rule",
}


@pytest.mark.parametrize(("words", "message"), WRONG.items())
def test_words_that_are_no_rule(words: str, message: str) -> None:
    with pytest.raises(UsageError, match=message):
        parse(words)


def test_several_in_one() -> None:
    assert [r.words for r in rules_of(["stuck, suspect", "usd>5"])] == ["stuck", "suspect", "usd>5"]


def test_no_run_is_no_share(tmp_path: Path) -> None:
    empty = audit(native(tmp_path / "t.jsonl", {"run_id": "r", "state": "done"}))
    empty.runs = []
    assert failures([parse("rate:stuck>=0%"), parse("usd>0")], empty) == []


def test_unpriced_sends_are_said_to_be_left_out(tmp_path: Path) -> None:
    mixed = audit(
        native(tmp_path / "t.jsonl", *lines("a", 1, model="claude-opus-4-5"), *lines("b", 1, model="none-9")),
        prices=from_options(),
    )
    (message,) = failures([parse("usd>0")], mixed)
    assert message == "--fail-on usd>0: usd is 0.5 (unpriced sends left out) in 1 run: a"


def test_a_sum_that_lacks_prices_is_doubted(tmp_path: Path) -> None:
    log = native(tmp_path / "t.jsonl", *lines("a", 3))
    done = loopscan("audit", str(log), "--fail-on", "usd>5", "--fail-on", "turns>9")
    assert (done.returncode, done.stderr) == (
        0,
        "loopscan: --fail-on usd>5: not told for certain: 3 sends have no price\n",
    )
    assert loopscan("audit", str(log), "--fail-on", "usd>5", "-q").stderr == ""


def test_figures_are_those_of_the_totals() -> None:
    report = audit(SAMPLES / "loopscan", prices=from_options(3, 15))
    totals = report.totals()
    for name, (of, unit) in FIGURES.items():
        assert sum(map(of, report.runs)) / unit == totals[name], name


def test_the_message_on_standard_error() -> None:
    done = loopscan("audit", "sample_traces/loopscan", "--p-in", "3", "--p-out", "15", "--quiet", "-f", "json",
                    "--fail-on", "wasted_usd>5", "--fail-on", "rate:stuck>90%", "--fail-on", "waited")  # fmt: skip
    assert done.returncode == 1
    assert [line.partition(" in ")[0] for line in done.stderr.splitlines()] == [
        "loopscan: --fail-on wasted_usd>5: wasted_usd is 120.5415",
        "loopscan: --fail-on waited: 1 run: release-21",
    ]
    assert json.loads(done.stdout)["totals"]["wasted_usd"] == 120.5415
