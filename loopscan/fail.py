"""`--fail-on`: rules that turn a finished report into exit code 1.

A rule is one small object: its words as given, and what of a report trips it. A new kind of rule is one class and
one line in `parse`.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from decimal import Decimal
from difflib import get_close_matches
from operator import ge, gt, le, lt
from typing import Final, Protocol

from loopscan.episodes import VERDICTS
from loopscan.errors import UsageError
from loopscan.price import PICO
from loopscan.report import Report, RunReport

UNPRICED: Final = "unpriced"
VERDICT_WORDS: Final = (*reversed(VERDICTS), "blind")
NEW_STUCK: Final = "new:stuck"
WORDS: Final = (*VERDICT_WORDS, UNPRICED, NEW_STUCK)
_NAMED: Final = 5
"""Runs named in a message; the others are counted."""


@dataclass(slots=True, frozen=True)
class Tripped:
    """Why a rule tripped: the figure, in words, and the runs that make it."""

    figure: str
    runs: list[RunReport]


class Rule(Protocol):
    """One `--fail-on`."""

    @property
    def words(self) -> str:
        """The rule as given."""

    def tripped(self, report: Report) -> Tripped | None:
        """What of the report trips the rule, None where nothing does."""


@dataclass(slots=True, frozen=True)
class Verdict:
    """A run has this verdict."""

    words: str

    def tripped(self, report: Report) -> Tripped | None:
        runs = _of(self.words, report)
        return Tripped("", runs) if runs else None


@dataclass(slots=True, frozen=True)
class NewStuck:
    """A run is stuck that the store did not hold as stuck before."""

    words: str = NEW_STUCK

    def tripped(self, report: Report) -> Tripped | None:
        known = report.known_stuck or set()
        runs = [r for r in _of("stuck", report) if (r.format, r.run) not in known]
        return Tripped("", runs) if runs else None


@dataclass(slots=True, frozen=True)
class UnpricedSends:
    """A send has no price."""

    words: str = UNPRICED

    def tripped(self, report: Report) -> Tripped | None:
        runs = [r for r in report.runs if r.spent.unpriced]
        sends = sum(r.spent.unpriced for r in runs)
        return Tripped(f"{sends:,} sends without a price in ", runs) if runs else None


@dataclass(slots=True, frozen=True)
class Rate:
    """The share of runs with a verdict is beyond a limit."""

    words: str
    verdict: str
    beyond: Callable[[Decimal, Decimal], bool]
    limit: Decimal

    def tripped(self, report: Report) -> Tripped | None:
        runs, of = _of(self.verdict, report), len(report.runs)
        share = Decimal(len(runs)) / of if of else Decimal(0)
        if not of or not self.beyond(share, self.limit):
            return None
        return Tripped(f"{share:.2%} of {of:,} runs are {self.verdict}, ", runs)


@dataclass(slots=True, frozen=True)
class Figure:
    """A sum over all runs is beyond a limit. `name` is that of the JSON totals."""

    words: str
    name: str
    beyond: Callable[[Decimal, Decimal], bool]
    limit: Decimal

    def tripped(self, report: Report) -> Tripped | None:
        of, unit = FIGURES[self.name]
        if self.unrecorded(report):
            return None
        shares = {id(r): of(r) for r in report.runs}
        value = Decimal(sum(shares.values())) / unit
        if not self.beyond(value, self.limit):
            return None
        runs = sorted((r for r in report.runs if shares[id(r)]), key=lambda r: -shares[id(r)])
        unknown = " (unpriced sends left out)" if unit > 1 and any(r.spent.unpriced for r in report.runs) else ""
        return Tripped(f"{self.name} is {_short(value)}{unknown} in ", runs)

    def unrecorded(self, report: Report) -> bool:
        """Whether it is a count of tokens that no run recorded."""
        of = _TOKENS.get(self.name)
        return of is not None and all(of(run) is None for run in report.runs)


_TOKENS: Final[dict[str, Callable[[RunReport], int | None]]] = {
    "input_tokens": lambda r: r.spent.input,
    "output_tokens": lambda r: r.spent.output,
}

FIGURES: Final[dict[str, tuple[Callable[[RunReport], int], int]]] = {
    "runs": (lambda r: 1, 1),
    "turns": (lambda r: r.turns, 1),
    "calls": (lambda r: r.calls, 1),
    "sends": (lambda r: r.spent.sends, 1),
    "input_tokens": (lambda r: r.spent.input or 0, 1),
    "output_tokens": (lambda r: r.spent.output or 0, 1),
    "usd": (lambda r: r.usd, PICO),
    "wasted_turns": (lambda r: r.wasted.turns, 1),
    "wasted_usd": (lambda r: r.wasted.usd, PICO),
    "waiting_turns": (lambda r: r.waiting.turns, 1),
    "waiting_usd": (lambda r: r.waiting.usd, PICO),
    "unpriced_sends": (lambda r: r.spent.unpriced, 1),
}
"""Name -> the share of a run, and how many of its units are one."""

_BEYOND: Final = {">": gt, ">=": ge, "<": lt, "<=": le}
_LIMIT: Final = re.compile(
    r"(?P<name>[a-z_:-]+)\s*(?P<sign>[<>]=?)\s*\$?(?P<number>\d+(\.\d+)?|\.\d+)\s*(?P<percent>%?)"
)


def _of(verdict: str, report: Report) -> list[RunReport]:
    return [r for r in report.runs if (r.verdict or "blind") == verdict]


def _short(value: Decimal) -> str:
    text = f"{value:,.4f}"
    return text.rstrip("0").rstrip(".")


def parse(words: str) -> Rule:
    """The rule of some words. Raises UsageError."""
    text = words.strip()
    if text == UNPRICED:
        return UnpricedSends()
    if text in VERDICT_WORDS:
        return Verdict(text)
    if text == NEW_STUCK:
        return NewStuck()
    if match := _LIMIT.fullmatch(text):
        name, beyond, limit = match["name"].replace("-", "_"), _BEYOND[match["sign"]], Decimal(match["number"])
        if name.startswith("rate:"):
            share = limit / 100 if match["percent"] else limit
            return Rate(text, _known(words, name.removeprefix("rate:"), VERDICT_WORDS), beyond, share)
        if match["percent"]:
            raise UsageError(f"--fail-on {words!r}: a share is written rate:stuck>2%")
        return Figure(text, _known(words, name, tuple(FIGURES)), beyond, limit)
    raise UsageError(_no_rule(words, text, WORDS))


def _known(words: str, name: str, names: Sequence[str]) -> str:
    if name not in names:
        raise UsageError(_no_rule(words, name, names))
    return name


def _no_rule(words: str, name: str, names: Sequence[str]) -> str:
    near = get_close_matches(name, names, 1)
    more = ", a figure such as wasted_usd>5, rate:stuck>2%" if names is WORDS else ""
    hint = f"did you mean {near[0]}?" if near else f"known are {', '.join(names)}{more}"
    return f"--fail-on {words!r}: no such rule: {hint}"


def rules_of(given: Iterable[str]) -> list[Rule]:
    """The rules of every `--fail-on`, each of which may hold several, separated by commas. Raises UsageError."""
    return [parse(words) for text in given for words in text.split(",")]


def needs_store(rules: Iterable[Rule]) -> bool:
    """Whether a rule asks for what a store knew before."""
    return any(isinstance(rule, NewStuck) for rule in rules)


def failures(
    rules: Iterable[Rule],
    report: Report,
    name: Callable[[RunReport], str] = lambda run: run.run,
) -> list[str]:
    """A line for each rule that the report trips. `name`: how a run is named in it."""
    found = ((rule.words, rule.tripped(report)) for rule in rules)
    return [f"--fail-on {words}: {why.figure}{_runs(why.runs, name)}" for words, why in found if why is not None]


def untold(rules: Iterable[Rule], report: Report) -> list[str]:
    """A line for each rule on dollars or tokens that did not trip while some are not known."""
    rules = list(rules)
    sends = sum(r.spent.unpriced for r in report.runs)
    doubtful = (r for r in rules if isinstance(r, Figure) and FIGURES[r.name][1] > 1 and not r.tripped(report))
    lines = [f"--fail-on {r.words}: not told for certain: {sends:,} sends have no price" for r in doubtful if sends]
    blank = (r for r in rules if isinstance(r, Figure) and report.runs and r.unrecorded(report))
    return [*lines, *(f"--fail-on {r.words}: not told: no run recorded {r.name.replace('_', ' ')}" for r in blank)]


def _runs(runs: Sequence[RunReport], name: Callable[[RunReport], str]) -> str:
    names = f": {', '.join(name(r) for r in runs[:_NAMED])}" if runs else ""
    more = f" and {len(runs) - _NAMED:,} more" if len(runs) > _NAMED else ""
    return f"{len(runs):,} run{'' if len(runs) == 1 else 's'}{names}{more}"
