"""Every made case: the stuck ones are seen, the healthy ones are left alone, each rule sees something of its own."""

from __future__ import annotations

import pytest

from loopscan.rules import RULES
from tests.cases import CASES
from tests.cases.build import Case
from tests.eval.cases import Judged, made

STUCK = [c for c in CASES.values() if c.label == "stuck"]
HEALTHY = [c for c in CASES.values() if c.label == "healthy"]


@pytest.fixture(scope="module")
def found() -> dict[str, Judged]:
    return {case.id: case for case in made()}


@pytest.mark.parametrize("case", STUCK, ids=[c.id for c in STUCK])
def test_must_fire(case: Case, found: dict[str, Judged]) -> None:
    assert found[case.id].run.verdict in ("stuck", "suspect")


@pytest.mark.parametrize("case", HEALTHY, ids=[c.id for c in HEALTHY])
def test_must_stay_clean(case: Case, found: dict[str, Judged]) -> None:
    run = found[case.id].run
    assert run.verdict in ("clean", "recovered", "waited"), [(e.rule, e.turn, e.copies) for e in run.episodes]


def test_each_rule_sees_a_case_that_the_period_rule_does_not(found: dict[str, Judged]) -> None:
    for rule in RULES:
        assert any(rule in case.found and "period" not in case.found for case in found.values()), rule


def test_firing_turns_are_those_of_the_labels(found: dict[str, Judged]) -> None:
    hits = [case for case in found.values() if case.stuck]
    dated = [case for case in hits if case.dated(("period", *RULES))]
    assert len(dated) >= 0.85 * len(hits), [c.id for c in hits if c not in dated]


def test_polls_that_end_are_waiting() -> None:
    runs = {case.id: case.run for case in made()}
    waited = {name for name, run in runs.items() if name.startswith("poll") and run.verdict == "waited"}
    assert {"poll-board", "poll-stalls", "poll-stdin"} <= waited
