"""Print how good the verdicts are on the labelled sets, and how much of it would stand on classes never looked at."""

from __future__ import annotations

from collections.abc import Sequence

from loopscan.rules import RULES
from tests.eval.cases import ALL, Judged, made, shared
from tests.eval.figures import Figures, bare_period, best_cap, left_out, turn_cap, with_rules

SETS = {"reports": "report-cases", "real runs": "real-runs"}


def main() -> None:
    sets = {name: shared(file) for name, file in SETS.items()}
    absent = [name for name, cases in sets.items() if not cases]
    if absent:
        print(f"not there: ../shared/cases ({', '.join(absent)}); the made cases only\n")
    sets = {name: cases for name, cases in sets.items() if cases} | {"made": made()}
    pool = [case for cases in sets.values() for case in cases]
    for name, cases in sets.items():
        _one(name, cases)
    for name, cases in sets.items():
        if name != "made":
            _left_out(name, cases, pool)
    _rules(sets)


def _one(name: str, cases: Sequence[Judged]) -> None:
    print(f"{name}: {sum(c.stuck for c in cases)} stuck, {sum(not c.stuck for c in cases)} healthy")
    cap = best_cap(cases)
    for title, found in (
        ("all rules", with_rules(cases)),
        ("period rule and hindsight", with_rules(cases, ("period",))),
        ("bare period rule", bare_period(cases)),
        ("turn cap 25", turn_cap(cases, 25)),
        (f"turn cap {cap}, fitted on the set", turn_cap(cases, cap)),
    ):
        print(f"  {title:32}{found}")
    wrong = [c for c in cases if c.positive(ALL) != c.stuck]
    for case in wrong:
        print(f"  {'missed' if case.stuck else 'false'}: {case.id}: {case.run.verdict}")
    late = [c for c in cases if c.stuck and c.positive(ALL) and not c.dated(ALL)]
    for case in late:
        turns = ", ".join(f"{rule} {t}" for rule, at in case.turns.items() for t in at[:3])
        print(f"  other turn: {case.id}: {turns}; the label says {case.since}")
    print()


def _left_out(name: str, cases: Sequence[Judged], pool: Sequence[Judged]) -> None:
    print(f"{name}, each class judged only by rules that earn their place on all other classes:")
    total = Figures()
    for kind, found in left_out(cases, pool).items():
        print(f"  {kind:16}{found}")
        total = Figures(*(getattr(total, f) + getattr(found, f) for f in ("tp", "fp", "fn", "tn", "dated")))
    print(f"  {'all':16}{total}\n")


def _rules(sets: dict[str, Sequence[Judged]] | dict[str, list[Judged]]) -> None:
    print("hits beside the period rule (and hits no other rule has), false alarms, by rule and set:")
    for rule in RULES:
        parts = []
        for name, cases in sets.items():
            base = with_rules(cases, ("period",)).tp
            mine = with_rules(cases, ("period", rule))
            alone = with_rules(cases).tp - with_rules(cases, [r for r in ALL if r != rule]).tp
            false = sum(not c.stuck and rule in c.found for c in cases)
            parts.append(f"{name} +{mine.tp - base:2} ({alone}), {false} false")
        print(f"  {rule:14}{'   '.join(parts)}")


if __name__ == "__main__":
    main()
