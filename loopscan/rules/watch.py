"""What the rules see of a run: finds, turn by turn, which of them have to look.

The cheap part of every rule is here: a turn whose action is new and whose result is unlike the one before of its tool
passes with a look into one table.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any, Final

from loopscan import volatile
from loopscan.blind import Blind
from loopscan.decode import canonical
from loopscan.detector import Detector, Seen
from loopscan.key import Action, Keyer
from loopscan.model import JSON, MISSING, Call
from loopscan.rules import Rulebook, tools
from loopscan.rules.base import Book
from loopscan.rules.likeness import ASKED, Point, may_be_alike, unlike
from loopscan.rules.streaks import Trail
from loopscan.spelling import PATHS

TOOLS: Final = 16
"""Tools of a run, and commands of its shells, whose last call is kept."""


@dataclass(slots=True)
class Watch:
    """The rules over one run."""

    keyer: Keyer
    rules: Rulebook
    detector: Detector
    book: Book
    turn: int = 0
    trails: dict[str, Seen | Trail] = field(default_factory=dict)
    """The last call of each tool; a trail while its calls are alike."""
    _live: dict[type, Any] = field(default_factory=dict)
    _reading: list[Any] | None = None
    _writing: list[Any] | None = None
    _shells: list[Any] | None = None
    """Those of the rules that are told what was read, written or run; None = to be found out."""
    blind: Blind | None = None
    told: int = 0
    """The last turn that the rules were shown because it came back."""

    def push(self, action: Action, seen: Seen | None, turn: int) -> None:
        """Take the next turn; `seen`: its place in the detector's window, None if it equals nothing."""
        self.turn = turn
        calls = action.calls
        if len(calls) == 1:
            call = calls[0]
            name = call.name
            what = tools.KINDS.get(name)
            if what is None:
                what = tools.kind(name)
            if seen is not None:
                trails = self.trails
                last = trails.get(name)
                if last is None:
                    if len(trails) >= TOOLS:
                        del trails[next(iter(trails))]
                    trails[name] = seen
                elif (
                    not isinstance(last, Trail)
                    and unlike(last.calls[0], call)
                    and (what or (type(args := action.args) is dict and ASKED.isdisjoint(args)))
                ):
                    trails[name] = seen
                else:
                    self._alike(name, last, call, seen)
                if seen.before is not None:
                    self._came_back(seen, seen.before)
            if what:
                if what & tools.SHELL:
                    self.shell(call, action, seen)
                elif type(args := action.args) is dict and not PATHS.isdisjoint(args):
                    self.file(what, args, action)
            if call.error:
                self.failed(action)
        else:
            self._other(action, seen)

    def _other(self, action: Action, seen: Seen | None) -> None:
        """A turn with no call, or with several."""
        if action.calls:
            for rule in self.rules.many:
                self._of(rule).many(action, self)
        elif action.text:
            for rule in self.rules.words:
                self._of(rule).words(action, self)
        if seen is not None and seen.before is not None:
            self._came_back(seen, seen.before)
        if action.error:
            self.failed(action)

    def failed(self, action: Action) -> None:
        """A turn failed."""
        for rule in self.rules.fault:
            self._of(rule).fault(action, self)

    def compares(self, tool: str) -> bool:
        """Whether it is still of interest how the results of equal calls of a tool differ."""
        return self.blind is None or self.blind.open(tool)

    def differs(self, tool: str) -> None:
        """A call came back with a result that has nothing in common with the one before."""
        if self.blind is None:
            self.blind = Blind()
        self.blind.pair(tool, None, None, False)

    def catch_up(self) -> None:
        """Show the rules the turns just before that came back and that they were not shown: now others may follow."""
        for seen in self.detector.missed(self.told):
            self.turn = self.told = seen.turn
            for rule in self.rules.back:
                self._of(rule).back(seen, self)

    def _came_back(self, seen: Seen, before: Seen) -> None:
        self.told = seen.turn
        calls = seen.calls
        if self.keyer.tools and calls and all(map(self.polls, calls)):
            return
        self._compare(seen, before)
        for rule in self.rules.back:
            self._of(rule).back(seen, self)

    def _alike(self, name: str, last: Seen | Trail | None, call: Call, seen: Seen) -> None:
        """Compare a call with the one before of its tool, and tell the rules of a streak."""
        if last is None or (self.keyer.tools and self.polls(call)):
            self.trails[name] = seen
            if len(self.trails) > TOOLS:
                del self.trails[next(iter(self.trails))]
            return
        if not isinstance(last, Trail):
            before = last.calls[0]
            if not may_be_alike(before, call):
                self.trails[name] = seen
                return
            last = self.trails[name] = Trail(name, Point(last.turn, before, last.ident))
        elif not last.may_go_on(call):
            if not last.lapse(self.turn, call, seen.ident):
                self.trails[name] = seen
            return
        streak = last.push(self.turn, call, seen.ident, self)
        if streak is not None and streak.count > self._known(call.name, name):
            for rule in self.rules.streak:
                self._of(rule).streak(streak, seen, self)

    def _known(self, tool: str, name: str) -> int:
        """Calls in a shell's own streak, which a streak of one of its commands is part of; 0 for the shell itself."""
        trail = self.trails.get(tool)
        return trail.streak.count if name != tool and isinstance(trail, Trail) and trail.streak is not None else 0

    def shell(self, call: Call, action: Action, seen: Seen | None) -> None:
        line = tools.command(action.args)
        if line:
            if seen is not None:
                name = tools.label(call.name, line)
                last = self.trails.get(name)
                if last is not None and not isinstance(last, Trail) and unlike(last.calls[0], call):
                    self.trails[name] = seen
                else:
                    self._alike(name, last, call, seen)
            if self._shells is None:
                self._shells = [self._of(rule) for rule in self.rules.shell]
            for rule in self._shells:
                rule.shell(line, action, self)

    def file(self, what: int, args: dict[str, JSON], action: Action) -> None:
        path = tools.path_of(args)
        if path is None:
            return
        if what & tools.READS or args.get("command") == "view":
            if self._reading is None:
                live = [r for r in self.rules.reading if not r.AFTER_WRITING or r in self._live]
                self._reading = [self._of(rule) for rule in live]
            for rule in self._reading:
                rule.reading(path, args, action, self)
        elif what & tools.WRITES:
            if self._writing is None:
                live = [r for r in self.rules.writing if not r.AFTER_READING or r in self._live]
                self._writing = [self._of(rule) for rule in live]
            for rule in self._writing:
                rule.writing(path, args, action, self)

    def _compare(self, seen: Seen, before: Seen) -> None:
        """Note how the results of two equal calls differ, if they do."""
        if len(seen.calls) == 1:
            if self.blind is None:
                self.blind = Blind()
            call, same = seen.calls[0], seen.keyed(self.keyer) == before.keyed(self.keyer)
            near = not same and may_be_alike(before.calls[0], call)
            old, new = (self.value(before.calls[0]), self.value(call)) if near else (None, None)
            self.blind.pair(call.name, old, new, same)

    def _of(self, rule: type) -> Any:
        mine = self._live.get(rule)
        if mine is None:
            mine = self._live[rule] = rule()
            self._reading = self._writing = None
        return mine

    def plain(self, call: Call) -> str:
        """The text of a call's result without its wrapper and volatile parts."""
        value = self.value(call)
        return value if isinstance(value, str) else canonical(value).decode(errors="replace")

    def value(self, call: Call) -> JSON:
        """A call's result without its wrapper and volatile parts; "" if none was recorded."""
        return "" if call.result is MISSING else volatile.stable(self.keyer.unwrapped(call.name, call.result))

    def reads(self, call: Call) -> bool:
        """Whether a call asks for something and changes nothing: as the user says, else as name and command tell."""
        known = self.keyer.tools.get(call.name) if self.keyer.tools else None
        return tools.reads(call) if known is None or known.mutates is None else not known.mutates

    def changes(self, call: Call) -> bool:
        """Whether a call may have changed something."""
        return not call.error and not self.reads(call)

    def edits(self, call: Call) -> bool:
        """Whether a call edits what it is pointed at."""
        known = self.keyer.tools.get(call.name) if self.keyer.tools else None
        return tools.edits(call) if known is None or known.mutates is None else known.mutates

    def polls(self, call: Call) -> bool:
        """Whether the user says that calling this tool again is waiting."""
        known = self.keyer.tools.get(call.name) if self.keyer.tools else None
        return known is not None and bool(known.poll)
