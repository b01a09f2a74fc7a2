"""The figures that the verdicts are held to, on the labelled runs where they are present."""

from __future__ import annotations

import pytest

from tests.eval.__main__ import main
from tests.eval.cases import ALL, Judged, made, shared
from tests.eval.figures import bare_period, best_cap, earned, left_out, turn_cap, with_rules


def labelled(name: str) -> list[Judged]:
    cases = shared(name)
    if not cases:
        pytest.skip("../shared/cases is not there")
    return cases


def test_reports_of_users() -> None:
    found = with_rules(labelled("report-cases"))
    assert found.fp <= 1
    assert found.recall >= 0.85
    assert found.agreement >= 0.85


def test_real_runs() -> None:
    cases = labelled("real-runs")
    found = with_rules(cases)
    assert found.precision >= 0.85
    assert found.recall >= 0.70
    assert found.agreement >= 0.80
    assert all(c.run.verdict != "stuck" for c in cases if not c.stuck)


def test_better_than_baselines() -> None:
    for name in ("report-cases", "real-runs"):
        cases = labelled(name)
        found, cap = with_rules(cases), best_cap(cases)
        for baseline in (bare_period(cases), turn_cap(cases, 25), turn_cap(cases, cap)):
            assert found.precision > baseline.precision
        assert found.recall >= bare_period(cases).recall


def test_it_stands_on_classes_left_out() -> None:
    cases = labelled("report-cases")
    found = left_out(cases, [*cases, *labelled("real-runs"), *made()])
    assert sum(f.fp for f in found.values()) <= 1
    assert sum(f.tp for f in found.values()) >= 0.85 * sum(c.stuck for c in cases)


def test_every_rule_earns_its_place_where_all_cases_are_known() -> None:
    cases = made()
    rules = earned(cases)
    assert with_rules(cases, rules).recall >= 0.95 * with_rules(cases).recall
    assert set(rules) <= set(ALL)


def test_the_figures_are_printed(capsys: pytest.CaptureFixture[str]) -> None:
    main()
    shown = capsys.readouterr().out
    assert "made: " in shown
    assert "bare period rule" in shown
    assert "turn cap 25" in shown
