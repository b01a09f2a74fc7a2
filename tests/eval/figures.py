"""Figures of a set of judged cases: precision, recall, firing turns, with a class left out, beside baselines."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass

from tests.eval.cases import ALL, Judged


@dataclass(slots=True)
class Figures:
    """True and false positives and negatives; `dated`: hits whose firing turn is that of the label."""

    tp: int = 0
    fp: int = 0
    fn: int = 0
    tn: int = 0
    dated: int = 0

    @property
    def precision(self) -> float:
        return self.tp / (self.tp + self.fp) if self.tp + self.fp else 1.0

    @property
    def recall(self) -> float:
        return self.tp / (self.tp + self.fn) if self.tp + self.fn else 1.0

    @property
    def agreement(self) -> float:
        return self.dated / self.tp if self.tp else 1.0

    def __str__(self) -> str:
        return (
            f"TP {self.tp:3} FP {self.fp:2} FN {self.fn:2} TN {self.tn:3}  precision {self.precision:.2f}  "
            f"recall {self.recall:.2f}  firing turn {self.agreement:.2f}"
        )


def figures(cases: Iterable[Judged], says: Callable[[Judged], bool], rules: Sequence[str] = ALL) -> Figures:
    """The figures of a way to tell stuck runs."""
    found = Figures()
    for case in cases:
        hit = says(case)
        found.tp += hit and case.stuck
        found.fp += hit and not case.stuck
        found.fn += case.stuck and not hit
        found.tn += not case.stuck and not hit
        found.dated += hit and case.stuck and case.dated(rules)
    return found


def with_rules(cases: Iterable[Judged], rules: Sequence[str] = ALL) -> Figures:
    """The figures with some of the rules on."""
    return figures(cases, lambda case: case.positive(rules), rules)


def bare_period(cases: Iterable[Judged]) -> Figures:
    """The period rule as an alarm: whatever fires is stuck, nothing is told from what came after."""
    return figures(cases, lambda case: case.run.fired is not None, ("period",))


def turn_cap(cases: Iterable[Judged], cap: int) -> Figures:
    """A turn cap as the only alarm."""
    return figures(cases, lambda case: case.run.turns >= cap, ())


def best_cap(cases: Sequence[Judged]) -> int:
    """The turn cap with the best F1 on the very cases it is judged by."""

    def f1(cap: int) -> float:
        found = turn_cap(cases, cap)
        return 2 * found.tp / (2 * found.tp + found.fp + found.fn)

    return max(range(2, 101), key=f1)


def earned(cases: Sequence[Judged]) -> list[str]:
    """The rules that earn their place on some cases: one by one the one with most new hits that hits no healthy run."""
    rules = ["period"]
    while True:
        now = with_rules(cases, rules)
        gains = []
        for name in ALL:
            then = with_rules(cases, [*rules, name])
            if name not in rules and then.tp > now.tp and then.fp <= now.fp:
                gains.append((then.tp, -ALL.index(name), name))
        if not gains:
            return rules
        rules.append(max(gains)[2])


def left_out(cases: Sequence[Judged], pool: Sequence[Judged]) -> dict[str, Figures]:
    """Per class: the figures on it with only those rules that earn their place on all other classes."""
    found = {}
    for kind in sorted({case.kind for case in cases}):
        rules = earned([case for case in pool if case.kind != kind])
        found[kind] = with_rules([case for case in cases if case.kind == kind], rules)
    return found
