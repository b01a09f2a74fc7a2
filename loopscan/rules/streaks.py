"""Streaks: calls of one tool that got the same outcome one after the other, whatever was done in between.

What the rules on drifting arguments have in common.
"""

from __future__ import annotations

from collections import deque
from dataclasses import dataclass, field
from typing import Final

from loopscan.episode import Episode
from loopscan.model import Call
from loopscan.rules import outcome, wording
from loopscan.rules.base import Run
from loopscan.rules.likeness import EQUAL, LONG, NUMBERS, WORDS, Point, alike, may_be_alike, same

RESUMED: Final = 3
MISSED: Final = 2
"""A streak of this many failures goes on over this many other calls of its tool."""
GAP: Final = 8
"""Turns between two calls of a streak at most."""


@dataclass(slots=True)
class Streak:
    """`like`: how the outcomes are alike; `turns`: the first of its calls; `kins`: the same words / reworded pairs.

    `series`: numbers of the results, where only they differ; `idents`: the different actions (at most 9 are kept);
    `again`: the first turns at which one of them came back. `exact`: the results are equal in full; `looks`: calls that
    only look. `end`: its last call.
    """

    tool: str
    like: int
    start: Point
    end: Point
    turns: list[int]
    count: int = 2
    last: int = 0
    pause: int = 0
    same_words: int = 0
    same_counts: int = 0
    reworded: int = 0
    recent: deque[int] = field(default_factory=lambda: deque(maxlen=8))
    idents: set[int | None] = field(default_factory=set)
    again: list[int] = field(default_factory=list)
    series: list[list[float]] = field(default_factory=list)
    numbered: bool = False
    exact: bool = True
    looks: int = 0
    episodes: dict[str, Episode] = field(default_factory=dict)

    def dense(self, copies: int) -> bool:
        """Whether the last `copies` calls lie close together."""
        return len(self.recent) >= copies and self.recent[-1] - self.recent[-copies] <= 3 * copies

    @property
    def shares(self) -> bool:
        """Whether the arguments of its first and its last call have a word in common."""
        return not set(self.start.said or ()).isdisjoint(self.end.said or ())

    @property
    def moving(self) -> bool:
        """Whether a number of the results goes one way all along."""
        return self.numbered and outcome.moving(self.series)


@dataclass(slots=True)
class Trail:
    """The last call of one tool in a run, and the streak it is part of.

    `lapsed`: a streak of failures that a call or two (`missed`) stand behind; the same failure once more resumes it.
    """

    tool: str
    point: Point
    streak: Streak | None = None
    lapsed: Streak | None = None
    missed: int = 0

    def may_go_on(self, call: Call) -> bool:
        """Cheap: whether the tool's next call can be part of a streak."""
        lapsed = self.lapsed
        return may_be_alike(self.point.call, call) or (lapsed is not None and may_be_alike(lapsed.end.call, call))

    def lapse(self, turn: int, call: Call, ident: int | None) -> bool:
        """Take a call that is unlike the one before; False where nothing is left to wait for."""
        self.point = Point(turn, call, ident)
        if self.streak is not None and self.streak.count >= RESUMED:
            self.lapsed, self.missed = self.streak, 0
        self.streak = None
        self.missed += 1
        if self.missed > MISSED:
            self.lapsed = None
        return self.lapsed is not None

    @property
    def turn(self) -> int:
        """The turn of its last call."""
        return self.point.turn

    def push(self, turn: int, call: Call, ident: int | None, run: Run) -> Streak | None:
        """Take the tool's next call, which may be alike; the streak it is part of."""
        before, point = self.point, Point(turn, call, ident)
        like, kin = alike(before, point, run)
        streak = self.streak
        if streak is None and self.lapsed is not None and (call.error or point.fails(run)):
            again, nearer = alike(self.lapsed.end, point, run)
            if again == EQUAL:
                before, streak, like, kin = self.lapsed.end, self.lapsed, again, nearer
        if not like or turn - before.turn > GAP:
            self.lapse(turn, call, ident)
            return None
        self.point, self.lapsed = point, None
        if streak is None or (streak.like == WORDS) != (like == WORDS):
            streak = _started(self.tool, like, before, run)
        else:
            streak.count += 1
            streak.like = min(streak.like, like)
            streak.pause = max(streak.pause, turn - before.turn - 1)
        self.streak = streak
        if like == NUMBERS:
            if not streak.numbered:
                streak.numbered, streak.series = True, [_numbers(before, run)]
            streak.series.append(_numbers(point, run))
            del streak.series[:-20]
        _join(streak, before, point, kin, run)
        return streak


def _started(tool: str, like: int, start: Point, run: Run) -> Streak:
    streak = Streak(tool, like, start, start, [start.turn])
    streak.recent.append(start.turn)
    streak.idents.add(start.ident)
    streak.looks += run.reads(start.call)
    return streak


def _join(streak: Streak, before: Point, point: Point, kin: int, run: Run) -> None:
    if len(streak.turns) < 4:
        streak.turns.append(point.turn)
    streak.last = point.turn
    streak.recent.append(point.turn)
    if point.ident in streak.idents:
        if len(streak.again) < 2:
            streak.again.append(point.turn)
    elif len(streak.idents) < 9:
        streak.idents.add(point.ident)
    streak.same_words += kin >= wording.SAME_WORDS
    streak.same_counts += kin == wording.SAME_COUNTS
    streak.reworded += kin == wording.REWORDED
    streak.exact = streak.exact and (
        same(before.call.result, point.call.result) or before.plain(run) == point.plain(run)
    )
    streak.looks += run.reads(point.call)
    streak.end = point


def _numbers(point: Point, run: Run) -> list[float]:
    text = point.plain(run)
    if len(text) > LONG:
        return []
    own = frozenset(float(w) for w in point.said or () if w.isdecimal())
    return outcome.numbers(text, own)
