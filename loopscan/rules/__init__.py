"""The rules beside the period rule: one class a file, one line here, each with a stable name that reports show.

They make episodes and so verdicts; no_progress is the period rule's alone. A rule looks at what came back (`back`: the
same action is in the window; `streak`: one tool gave the same outcome again; ...), so a turn that is new costs next to
nothing. A rule's state is made when it is first needed.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from functools import cache
from importlib import import_module
from typing import Any, Final

from loopscan.errors import UsageError

REACH: Final = 20
"""Turns the rules look back."""

RULES: Final = {
    "masked": "loopscan.rules.masked:Masked",
    "long-cycle": "loopscan.rules.long_cycle:LongCycle",
    "same-effect": "loopscan.rules.same_effect:SameEffect",
    "recurrence": "loopscan.rules.recurrence:Recurrence",
    "no-effect": "loopscan.rules.no_effect:NoEffect",
    "drift": "loopscan.rules.drift:Drift",
    "same-outcome": "loopscan.rules.same_outcome:SameOutcome",
    "reworded": "loopscan.rules.reworded:Reworded",
    "same-error": "loopscan.rules.same_error:SameError",
    "text": "loopscan.rules.text:Text",
    "idle": "loopscan.rules.idle:Idle",
    "undo": "loopscan.rules.undo:Undo",
    "read-back": "loopscan.rules.read_back:ReadBack",
    "sweep": "loopscan.rules.sweep:Sweep",
    "growth": "loopscan.rules.growth:Growth",
    "inside": "loopscan.rules.inside:Inside",
}
"""Name -> module and class. `period` is always on."""

EVIDENCE: Final = ("back", "streak", "fault", "words", "reading", "writing", "shell", "many")
"""What a rule can ask to be called for: the names of its methods."""


@dataclass(slots=True, frozen=True)
class Rulebook:
    """The classes of the rules that are on, by the evidence they want; shared by all runs."""

    names: tuple[str, ...]
    back: tuple[Any, ...] = ()
    streak: tuple[Any, ...] = ()
    fault: tuple[Any, ...] = ()
    words: tuple[Any, ...] = ()
    reading: tuple[Any, ...] = ()
    writing: tuple[Any, ...] = ()
    shell: tuple[Any, ...] = ()
    many: tuple[Any, ...] = ()


def chosen(given: str, without: Iterable[str]) -> tuple[str, ...]:
    """The names of the rules that `--rules all|none|a,b` and `--no-rule` leave on. Raises UsageError."""
    names = {"all": list(RULES), "none": []}.get(given, [n.strip() for n in given.split(",") if n.strip()])
    off = list(without)
    for name in (*names, *off):
        if name not in RULES:
            raise UsageError(f"unknown rule {name!r}; known: {', '.join(RULES)} (period is always on)")
    return tuple(name for name in RULES if name in names and name not in off)


@cache
def rulebook(names: tuple[str, ...]) -> Rulebook:
    """The rules of these names. Raises UsageError for a name that is not in the table."""
    classes = [_load(name) for name in RULES if name in chosen(",".join(names) or "none", ())]
    by_evidence = {e: tuple(c for c in classes if hasattr(c, e)) for e in EVIDENCE}
    return Rulebook(names, **by_evidence)


def _load(name: str) -> Any:
    module, _, attribute = RULES[name].partition(":")
    return getattr(import_module(module), attribute)
