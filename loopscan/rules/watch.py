"""What the rules see of a run: finds, turn by turn, which of them have to look.

The cheap part of every rule is here: a turn whose action is new and whose result is unlike the one before of its tool
passes with a look into one table.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any, Final

from loopscan import volatile
from loopscan.decode import canonical
from loopscan.detector import Detector, Seen
from loopscan.key import Action, Keyer
from loopscan.model import MISSING, Call
from loopscan.rules import Rulebook
from loopscan.rules.base import Book
from loopscan.rules.streaks import Trail, talks
from loopscan.rules.tools import kind

TOOLS: Final = 12
"""Tools of a run whose last call is kept."""


@dataclass(slots=True)
class Watch:
    """The rules over one run."""

    keyer: Keyer
    rules: Rulebook
    detector: Detector
    book: Book
    turn: int = 0
    _trails: dict[str, Trail] = field(default_factory=dict)
    _live: dict[type, Any] = field(default_factory=dict)

    def push(self, action: Action, seen: Seen | None, turn: int) -> None:
        """Take the next turn; `seen`: its place in the detector's window, None if it equals nothing."""
        self.turn = turn
        calls, rules = action.calls, self.rules
        if len(calls) == 1:
            self._one(calls[0], action)
        elif calls:
            for rule in rules.many:
                self._of(rule).many(action, self)
        elif action.text:
            for rule in rules.words:
                self._of(rule).words(action, self)
        if action.error:
            for rule in rules.fault:
                self._of(rule).fault(action, self)
        if seen is not None and seen.before is not None:
            for rule in rules.back:
                self._of(rule).back(seen, self)

    def _one(self, call: Call, action: Action) -> None:
        trail = self._trails.get(call.name)
        if trail is None:
            trail = self._new(call, action.ident)
        elif trail.may_go_on(call):
            streak = trail.push(self.turn, call, action.ident, self)
            if streak is not None:
                for rule in self.rules.streak:
                    self._of(rule).streak(streak, action, self)
        else:
            trail.put(self.turn, call, action.ident)
        for rule in trail.rules:
            self._of(rule).each(call, action, self)

    def _new(self, call: Call, ident: int | None) -> Trail:
        if len(self._trails) >= TOOLS:
            oldest = min(self._trails.values(), key=lambda t: t.turn)
            del self._trails[oldest.tool]
        what, rules = kind(call.name), self.rules
        wanted = tuple(r for r in rules.each if what & r.KINDS)
        trail = Trail(call.name, not what and talks(call.args), wanted, self.turn, call, ident)
        self._trails[call.name] = trail
        return trail

    def _of(self, rule: type) -> Any:
        mine = self._live.get(rule)
        if mine is None:
            mine = self._live[rule] = rule()
        return mine

    def plain(self, call: Call) -> str:
        """The text of a call's result without its wrapper and volatile parts."""
        result = call.result
        if result is MISSING:
            return ""
        if self.keyer.unwrap is not None:
            result = self.keyer.unwrap(call.name, result)
        value = volatile.stable(result)
        return value if isinstance(value, str) else canonical(value).decode(errors="replace")
