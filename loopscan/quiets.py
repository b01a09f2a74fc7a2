"""The quiet runs of a scan, and their turns straight from the rows of a log."""

from __future__ import annotations

import sys
from array import array
from math import nan
from struct import Struct
from typing import TYPE_CHECKING, Any, Final

import orjson

from loopscan.clock import HOURS, RESTS, SECONDS, seconds_of
from loopscan.decode import canonical
from loopscan.late import BYTE, Source
from loopscan.model import Call
from loopscan.quiet import MARKS, SIZE, SLOTS, TURN, Pattern, Quiet, pattern, quiet
from loopscan.rules import tools
from loopscan.rules.likeness import ASKED, LISTED, may_be_alike
from loopscan.rules.streaks import GAP
from loopscan.rules.watch import TOOLS
from loopscan.series import PART
from loopscan.spelling import PATHS

if TYPE_CHECKING:
    from mmap import mmap

    from loopscan._compiled import Native
    from loopscan.going import Going
    from loopscan.keeper import Keeper
    from loopscan.row import Row

_HELD: Final = 20_000
"""Calls that are held of logs that cannot be read again."""
_FULL: Final = PART * SIZE
_SORTED: Final = orjson.OPT_SORT_KEYS
_IDENT: Final = Struct("<q").pack


Where = tuple["bytes | mmap", int, int, int, int, int]
"""Some bytes, and from which on to which lines of them are to be taken; number and place of the first line, and from
which byte on there are lines before it."""


class Quiets:
    """Takes usual turns; knows the runs of nothing else.

    `states`: the quiet runs by id; `fresh`: those of them whose first turn may go on.
    `marked`: whether marks of all turns are kept. `going`: runs in an episode that goes on.
    """

    def __init__(self, keeper: Keeper, format_name: str) -> None:
        self.states: dict[str, Quiet] = {}
        self.fresh: dict[str, Quiet] = {}
        self.marked = False
        self.going: dict[str, Going] = {}
        self._keeper, self._format = keeper, format_name
        self._settings, self._prices, self._spill = keeper.settings, keeper.prices, keeper.spill
        self._name, self._log = "", 0
        self._source: Source | None = None
        self._known: dict[str, Any] = {}
        self._full = keeper.full(format_name)
        self._like: Pattern | None = None
        self._held: dict[str, Quiet] = {}
        self._calls = 0

    def begin(self, name: str, log: int, source: Source | None, known: dict[str, Any]) -> None:
        """A log begins; the runs that are `known` are none of ours."""
        self._name, self._log, self._source, self._known = name, log, source, known

    def take_lines(self, native: Native, where: Where) -> tuple[int, int, int, bool]:
        """The same straight from lines, where the compiled part is at work.

        Byte, number and place of the first line that is not taken; whether its call is known to have come before.
        """
        begun: list[Quiet] = []
        found = native.take(
            self.states, self.fresh, self._source, self._log, self._prices, self.begin_run, begun, self.going,
            self._known, self._full, *where,
        )  # fmt: skip
        if begun:
            self._keeper.start(begun, self._format)
        return found

    def take(self, rows: list[Row], at: int) -> int:
        """Take the usual turns of quiet runs from number `at` on; the number of the first that is none.

        Longer than other functions: see `loopscan.stretch`.
        """
        states, kinds, source, log, marked = self.states, tools.KINDS, self._source, self._log, self.marked
        pack = TURN.pack
        for row in rows[at:] if at else rows:
            state = states.get(row.run)
            if state is None:
                moment = None if row.ts is None else seconds_of(row.ts)
                state = self.begin_run(row.run, row.model, moment, row.line)
                if state is None:
                    return at
            name, args, result = row.name, row.args, row.result
            if (
                row.number <= state.highest
                or row.model != state.model
                or row.sent > state.most
                or row.error
                or state.source is not source
                or type(result) is not str
                or type(args) is not dict
                or not PATHS.isdisjoint(args)
            ):
                return at
            stamp = row.ts
            if stamp is None:
                time, moment = nan, 0.0
            else:
                hour, second, rest = HOURS.get(stamp[:14]), SECONDS.get(stamp[14:19]), RESTS.get(stamp[19:])
                if hour is not None and second is not None and rest is not None:
                    time = moment = hour + second + rest
                elif (known := seconds_of(stamp)) is not None:
                    time = moment = known
                else:
                    time, moment = nan, 0.0
            if not state.since <= moment < state.until and not state.priced_at(moment, self._prices):
                return at
            what = kinds.get(name)
            if what is None:
                what = tools.kind(name)
            turns = state.turns
            end = len(turns)
            if what & tools.SHELL or end == _FULL:
                return at
            try:
                ident = hash((name, orjson.dumps(args, None, _SORTED)))
            except orjson.JSONEncodeError:
                ident = hash((name, canonical(args)))
            number, slot = end // SIZE + 1, ident & SLOTS
            slots = state.slots
            before = slots[slot]
            if before and before > number - state.reach and _came_back(turns, ident, end - (state.reach - 1) * SIZE):
                return at
            head, tail, size = hash(result[:8]) & BYTE, hash(result[-10:]) & BYTE, len(result)
            trails = state.trails
            last = trails.get(name, 0)
            if not last:
                if len(trails) >= TOOLS:
                    return at
                name = sys.intern(name)  # held for as long as the run is
            elif number - last <= GAP:
                marks = last * SIZE - MARKS
                if (
                    turns[marks] == head
                    or turns[marks + 1] == tail
                    or (turns[marks + 2] == size & BYTE and size < LISTED)
                    or not (what or ASKED.isdisjoint(args))
                ) and self._alike(state, last, row):
                    return at
            turns += pack(ident, row.place, time, row.sent, row.output, last, head, tail, size & BYTE)
            trails[name] = slots[slot] = number
            state.highest, state.line, state.log = row.number, row.line, log
            if marked and stamp is not None:
                if state.marks is None:
                    state.marks = array("q")
                state.marks.append(hash((row.number, stamp, ident, result)))
            if number == 2:
                self.start(state, row.line)
            if source is None:
                self._keep(state, number, row)
            at += 1
        return at

    def begin_run(self, run: str, model: str | None, time: float | None, line: int) -> Quiet | None:
        """A run whose first line says so; None for one that is known to be no quiet one."""
        if run in self._known or not self._keeper.wants(run, self._format):
            return None
        like = self._like
        if like is None or model != like.model or not like.since <= (time or 0.0) < like.until:
            like = self._like = pattern(model, time, self._settings, self._prices)
        state = quiet(like, run, line, self._name, self._format, self._source, self._log)
        self.states[run] = self.fresh[run] = state
        return state

    def start(self, state: Quiet, line: int | None) -> None:
        """The first turn of a run is over."""
        if self.fresh.pop(state.run, None) is not None:
            state.told = line
            self._keeper.start([state], self._format)

    def end(self) -> None:
        """Nothing more comes of any run."""
        for state in list(self.fresh.values()):
            self.start(state, None)

    def go_on(self, run: str, highest: float) -> bool:
        """Begin to note the turns of a run where it is in an episode; whether it is."""
        if self._source is None or (noted := self._keeper.repeats(run, self._format, self._source, highest)) is None:
            return False
        self.going[run] = noted
        return True

    def held_at(self, run: str) -> list[int]:
        """Where the lines are that are asked for when more comes of a run that is not quiet, or its end."""
        return [] if self._source is None else self._keeper.held_at(run, self._format, self._source)

    def stay(self, run: str, more: bool) -> Going | None:
        """Take the turns that were noted of a run; without the last one, if `more` may be added to that."""
        noted = self.going.pop(run, None)
        if noted is not None and (count := noted.number - more) > 0:
            self._keeper.repeated(run, self._format, noted, count)
        return noted

    def _alike(self, state: Quiet, turn: int, row: Row) -> bool:
        """Whether the call of a row may be alike to that of a turn of its run, as far as can be told."""
        before = state.call(turn, self._spill)
        return before is None or may_be_alike(before, Call(row.name, row.args, row.result))

    def _keep(self, state: Quiet, turn: int, row: Row) -> None:
        assert state.kept is not None
        state.kept.near[turn], state.kept.last = Call(row.name, row.args, row.result), row
        self._held[state.run] = state
        self._calls += 1
        if self._calls > _HELD:
            for held in self._held.values():
                if held.kept is not None:
                    held.kept.put_away(held.wanted, self._spill)
            self._held, self._calls = {}, 0

    def wake(self, run: str, undo: bool) -> tuple[Quiet, Row | None, bool] | None:
        """Let go of a run; with `undo` without its last turn, where that stands in the present log.

        The run as it was, and the row of the turn that was undone; whether that could not be read again. None for a run
        that is not quiet.
        """
        state = self.states.pop(run, None)
        if state is None:
            return None
        row, lost = None, False
        if undo and state.number and state.log == self._log:
            row = state.undo()
            lost = row is None
        self._held.pop(run, None)
        self.fresh.pop(run, None)
        if state.number:
            self._keeper.wakes(state, self._format)
        state.source = None  # for whoever still holds it
        return state, row, lost


def _came_back(turns: bytearray, ident: int, start: int) -> bool:
    """Whether a turn from byte `start` on has that ident."""
    sought = _IDENT(ident)
    at = turns.find(sought, max(0, start))
    while at >= 0 and at % SIZE:
        at = turns.find(sought, at + 1)
    return at >= 0
