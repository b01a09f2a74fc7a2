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
from loopscan.model import JSON, MISSING, Call
from loopscan.rules import Rulebook, tools
from loopscan.rules.base import Book
from loopscan.rules.streaks import Point, Trail, may_be_alike
from loopscan.spelling import PATHS

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
    _trails: dict[str, Seen | Trail] = field(default_factory=dict)
    """The last call of each tool; a trail while its calls are alike."""
    _live: dict[type, Any] = field(default_factory=dict)

    def push(self, action: Action, seen: Seen | None, turn: int) -> None:
        """Take the next turn; `seen`: its place in the detector's window, None if it equals nothing."""
        self.turn = turn
        calls = action.calls
        if len(calls) == 1:
            self._one(calls[0], action, seen)
        elif calls:
            for rule in self.rules.many:
                self._of(rule).many(action, self)
        elif action.text:
            for rule in self.rules.words:
                self._of(rule).words(action, self)
        if action.error:
            for rule in self.rules.fault:
                self._of(rule).fault(action, self)
        if seen is not None and seen.before is not None:
            for rule in self.rules.back:
                self._of(rule).back(seen, self)

    def _one(self, call: Call, action: Action, seen: Seen | None) -> None:
        name, args = call.name, action.args
        what = tools.KINDS.get(name)
        if what is None:
            what = tools.kind(name)
        if seen is not None:
            last = self._trails.get(name)
            if type(last) is Seen:
                # the first test of `may_be_alike`, here because nearly every turn ends at it
                first, second = last.action.calls[0].result, call.result
                if what and type(first) is str is type(second) and first[:8] != second[:8]:
                    if len(first) == len(second) or first[-10:] == second[-10:]:
                        self._alike(last, call, seen)
                    else:
                        self._trails[name] = seen
                else:
                    self._alike(last, call, seen)
            elif last is not None:
                self._alike(last, call, seen)
            else:
                self._trails[name] = seen
                if len(self._trails) > TOOLS:
                    del self._trails[next(iter(self._trails))]
        if what & tools.SHELL:
            self._shell(args, action)
        elif what and type(args) is dict and not PATHS.isdisjoint(args):
            self._file(what, args, action)

    def _alike(self, last: Seen | Trail, call: Call, seen: Seen) -> None:
        before = last.point.call if isinstance(last, Trail) else last.action.calls[0]
        if not may_be_alike(before, call):
            self._trails[call.name] = seen
            return
        if isinstance(last, Seen):
            last = self._trails[call.name] = Trail(call.name, Point(last.turn, before, last.action.ident))
        streak = last.push(self.turn, call, seen.action.ident, self)
        if streak is not None:
            for rule in self.rules.streak:
                self._of(rule).streak(streak, seen.action, self)

    def _shell(self, args: JSON, action: Action) -> None:
        line = tools.command(args) if self.rules.shell else None
        if line:
            for rule in self.rules.shell:
                self._of(rule).shell(line, action, self)

    def _file(self, what: int, args: dict[str, JSON], action: Action) -> None:
        path = tools.path_of(args)
        if path is None:
            return
        if what & tools.READS or args.get("command") == "view":
            for rule in self.rules.reading:
                if not rule.AFTER_WRITING or rule in self._live:
                    self._of(rule).reading(path, args, action, self)
        elif what & tools.WRITES:
            for rule in self.rules.writing:
                if not rule.AFTER_READING or rule in self._live:
                    self._of(rule).writing(path, args, action, self)

    def _of(self, rule: type) -> Any:
        mine = self._live.get(rule)
        if mine is None:
            mine = self._live[rule] = rule()
        return mine

    def plain(self, call: Call) -> str:
        """The text of a call's result without its wrapper and volatile parts."""
        if call.result is MISSING:
            return ""
        value = volatile.stable(self.keyer.unwrapped(call.name, call.result))
        return value if isinstance(value, str) else canonical(value).decode(errors="replace")
