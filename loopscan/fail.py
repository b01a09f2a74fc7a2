"""`--fail-on`: rules that turn a finished report into exit code 1.

A rule is one small object: its words as given, and what of a report trips it. A new kind of rule is one class and
one line in `parse`.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from difflib import get_close_matches
from typing import Final, Protocol

from loopscan.episodes import VERDICTS
from loopscan.errors import UsageError
from loopscan.report import Report, RunReport

UNPRICED: Final = "unpriced"
NEW_STUCK: Final = "new:stuck"
WORDS: Final = (*reversed(VERDICTS[1:]), UNPRICED, NEW_STUCK)
_NAMED: Final = 5
"""Runs named in a message; the others are counted."""


class Rule(Protocol):
    """One `--fail-on`."""

    @property
    def words(self) -> str:
        """The rule as given."""

    def tripped(self, report: Report) -> str | None:
        """The figure and the runs that trip the rule, None where nothing does."""


@dataclass(slots=True, frozen=True)
class Verdict:
    """A run has this verdict."""

    words: str

    def tripped(self, report: Report) -> str | None:
        runs = [r for r in report.runs if r.verdict == self.words]
        return _runs(runs) if runs else None


@dataclass(slots=True, frozen=True)
class UnpricedSends:
    """A send has no price."""

    words: str = UNPRICED

    def tripped(self, report: Report) -> str | None:
        runs = [r for r in report.runs if r.spent.unpriced]
        sends = sum(r.spent.unpriced for r in runs)
        return f"{sends:,} sends without a price in {_runs(runs)}" if runs else None


@dataclass(slots=True, frozen=True)
class NewStuck:
    """A run is stuck that the store did not hold as stuck before."""

    words: str = NEW_STUCK

    def tripped(self, report: Report) -> str | None:
        known = report.known_stuck or set()
        runs = [r for r in report.runs if r.verdict == "stuck" and (r.format, r.run) not in known]
        return _runs(runs) if runs else None


def parse(words: str) -> Rule:
    """The rule of some words. Raises UsageError."""
    text = words.strip()
    if text == UNPRICED:
        return UnpricedSends()
    if text == NEW_STUCK:
        return NewStuck()
    if text in WORDS:
        return Verdict(text)
    near = get_close_matches(text, WORDS, 1)
    hint = f"did you mean {near[0]}?" if near else f"known are {', '.join(WORDS)}"
    raise UsageError(f"--fail-on {words!r}: no such rule: {hint}")


def failures(rules: Iterable[Rule], report: Report) -> list[str]:
    """A line for each rule that the report trips."""
    return [f"--fail-on {rule.words}: {why}" for rule in rules if (why := rule.tripped(report)) is not None]


def _runs(runs: Sequence[RunReport]) -> str:
    names = ", ".join(r.run for r in runs[:_NAMED])
    more = f" and {len(runs) - _NAMED:,} more" if len(runs) > _NAMED else ""
    return f"{len(runs):,} run{'' if len(runs) == 1 else 's'}: {names}{more}"
