"""Streaks: calls of one tool that got the same outcome one after the other, whatever was done in between.

What the rules on drifting arguments have in common. A streak is told apart by how its outcomes are alike: equal (in
full, or but for the words of the arguments, or failures but for numbers), alike in numbers only, or the same thing in
other words.
"""

from __future__ import annotations

from collections import deque
from dataclasses import dataclass, field
from typing import Final

from loopscan.episode import Episode
from loopscan.model import JSON, MISSING, Call
from loopscan.rules import outcome, tools, wording
from loopscan.rules.base import Run

EQUAL: Final = 3
NUMBERS: Final = 2
WORDS: Final = 1

GAP: Final = 8
"""Turns between two calls of a streak at most."""
_LONG: Final = 20_000
_SHORT: Final = 300
_PROSE: Final = 3000
LISTED: Final = 600
"""The longest list whose order is looked through."""
_FIRST: Final = 40


@dataclass(slots=True)
class Point:
    """One call of a tool, worked out as far as it was compared."""

    turn: int
    call: Call
    ident: int | None
    _plain: str | None = None
    _said: tuple[str, ...] | None = ()
    _asked: bool = False
    _content: tuple[frozenset[str], frozenset[str]] | None = None

    def plain(self, run: Run) -> str:
        """The text of its result."""
        if self._plain is None:
            self._plain = run.plain(self.call)
        return self._plain

    @property
    def said(self) -> tuple[str, ...] | None:
        """The words of its arguments; None if they are long."""
        if not self._asked:
            self._said, self._asked = wording.said(self.call.args), True
        return self._said

    def content(self, run: Run) -> tuple[frozenset[str], frozenset[str]]:
        """The content words of its arguments and of its result."""
        if self._content is None:
            self._content = wording.content(" ".join(self.said or ())), wording.content(self.plain(run))
        return self._content


@dataclass(slots=True)
class Streak:
    """`like`: how the outcomes are alike; `turns`: the first of its calls; `kins`: the same words / reworded pairs.

    `series`: numbers of the results, where only they differ; `idents`: the different actions (at most 9 are kept).
    `exact`: the results are equal in full; `looks`: calls that only look. `end`: its last
    call.
    """

    tool: str
    like: int
    start: Point
    turns: list[int]
    count: int = 2
    last: int = 0
    pause: int = 0
    same_words: int = 0
    same_counts: int = 0
    reworded: int = 0
    recent: deque[int] = field(default_factory=lambda: deque(maxlen=8))
    idents: set[int | None] = field(default_factory=set)
    series: list[list[float]] = field(default_factory=list)
    numbered: bool = False
    exact: bool = True
    looks: int = 0
    end: Point | None = None
    episodes: dict[str, Episode] = field(default_factory=dict)

    def dense(self, copies: int) -> bool:
        """Whether the last `copies` calls lie close together."""
        return len(self.recent) >= copies and self.recent[-1] - self.recent[-copies] <= 3 * copies

    @property
    def shares(self) -> bool:
        """Whether the arguments of its first and its last call have a word in common."""
        last = self.end.said if self.end is not None else None
        return not set(self.start.said or ()).isdisjoint(last or ())

    @property
    def moving(self) -> bool:
        """Whether a number of the results goes one way all along."""
        return self.numbered and outcome.moving(self.series)


@dataclass(slots=True)
class Trail:
    """The last call of one tool in a run, and the streak it is part of."""

    tool: str
    point: Point
    streak: Streak | None = None

    def push(self, turn: int, call: Call, ident: int | None, run: Run) -> Streak | None:
        """Take the tool's next call, which may be alike; the streak it is part of."""
        before, streak = self.point, self.streak
        point = self.point = Point(turn, call, ident)
        self.streak = None
        like, kin = alike(before, point, run)
        if not like or turn - before.turn > GAP:
            return None
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


def unlike(first: JSON, second: JSON) -> bool:
    """The first test of `may_be_alike`, at which nearly every turn ends."""
    return (
        type(first) is str is type(second)
        and first[:8] != second[:8]
        and first[-10:] != second[-10:]
        and (len(first) != len(second) or len(first) >= LISTED)
    )


def may_be_alike(before: Call, call: Call) -> bool:
    """Cheap: whether two calls of one tool can have the same outcome at all."""
    first, second = before.result, call.result
    if type(first) is not type(second) or first is MISSING:
        return False
    if first == second:
        return True
    if type(first) is not str:
        return type(first) is dict and len(first) < 12 and first.keys() == second.keys()
    one, other = len(first), len(second)
    if first[:_FIRST] == second[:_FIRST] and _one_fault(first, second):
        return True
    if -24 <= one - other <= 24:
        if first[:8] == second[:8] or first[-10:] == second[-10:]:
            if outcome.one_skeleton(first, second):
                return True
            if one < _SHORT and other < _SHORT and first[:1] not in ("{", "["):
                return True
        if one == other < LISTED and second.partition("\n")[0] in first:
            return sorted(first.splitlines()) == sorted(second.splitlines())
    elif one < _SHORT and other < _SHORT and (first[:8] == second[:8] or first[-10:] == second[-10:]):
        return first[:1] not in ("{", "[")
    return other < _PROSE and not tools.kind(call.name) and _reworded(before.args, call.args)


def _reworded(first: JSON, second: JSON) -> bool:
    """Whether two arguments are prose and the second says in other words what the first does."""
    return talks(first) and talks(second) and wording.kin(wording.said(first), wording.said(second)) == wording.REWORDED


ASKED: Final = frozenset("instruction instructions message prompt task question request text query_text ask".split())
"""Arguments that hold what is asked for in prose."""


def talks(args: JSON) -> bool:
    """Whether arguments hold prose that asks for something: one line of several words."""
    if isinstance(args, dict):
        if ASKED.isdisjoint(args):
            return False
        args = next(v for k, v in args.items() if k in ASKED)
    if not isinstance(args, str) or (args[:1] == "{" and not any(f'"{k}"' in args for k in ASKED)):
        return False
    return len(args) < 1000 and args.count(" ") >= 4 and "\n" not in args


def _started(tool: str, like: int, start: Point, run: Run) -> Streak:
    streak = Streak(tool, like, start, [start.turn])
    streak.recent.append(start.turn)
    streak.idents.add(start.ident)
    streak.looks += run.reads(start.call)
    return streak


def _join(streak: Streak, before: Point, point: Point, kin: int, run: Run) -> None:
    if len(streak.turns) < 4:
        streak.turns.append(point.turn)
    streak.last = point.turn
    streak.recent.append(point.turn)
    if len(streak.idents) < 9:
        streak.idents.add(point.ident)
    streak.same_words += kin >= wording.SAME_WORDS
    streak.same_counts += kin == wording.SAME_COUNTS
    streak.reworded += kin == wording.REWORDED
    streak.exact = streak.exact and (before.call.result == point.call.result or before.plain(run) == point.plain(run))
    streak.looks += run.reads(point.call)
    streak.end = point


def _numbers(point: Point, run: Run) -> list[float]:
    text = point.plain(run)
    if len(text) > _LONG:
        return []
    own = frozenset(float(w) for w in point.said or () if w.isdecimal())
    return outcome.numbers(text, own)


def alike(before: Point, point: Point, run: Run) -> tuple[int, int]:
    """How two calls of a tool are alike in their outcome (0 = not), and the kinship of their arguments."""
    same_action = before.ident == point.ident and point.ident is not None
    equal = before.call.result == point.call.result
    first, second = ("", "") if equal else (before.plain(run), point.plain(run))
    if first == second:
        return EQUAL, wording.SAME_COUNTS if same_action else wording.kin(before.said, point.said)
    if len(first) > _LONG or len(second) > _LONG:
        return 0, 0
    one_mask = outcome.one_skeleton(first, second) and outcome.masked(first) == outcome.masked(second)
    if one_mask and (point.call.error or outcome.failing(second)):
        return EQUAL, wording.SAME_COUNTS if same_action else wording.kin(before.said, point.said)
    if _one_fault(first, second):
        return EQUAL, wording.SAME_COUNTS if same_action else wording.kin(before.said, point.said)
    if same_action or tools.kind(point.call.name) & (tools.WRITES | tools.SENDS):
        return 0, 0
    kin = wording.kin(before.said, point.said)
    if one_mask and kin >= wording.SAME_WORDS and not outcome.names_files_apart(first, second):
        return NUMBERS, kin
    if sorted(first.splitlines()) == sorted(second.splitlines()):
        return EQUAL, kin
    if kin >= wording.SAME_WORDS and set(wording.words(first)) == set(wording.words(second)):
        return EQUAL, kin
    if outcome.failing(first) and outcome.failing(second):
        first, second = outcome.masked(first, True), outcome.masked(second, True)
    if wording.echo_free(first, second, before.said, point.said):
        return EQUAL, kin
    if kin == wording.REWORDED and _answers_reworded(before, point, run):
        return WORDS, kin
    return 0, kin


def _one_fault(first: str, second: str) -> bool:
    """Whether two longer results begin with one line that tells of a failure."""
    line = second.partition("\n")[0]
    return _FIRST <= len(line) < len(second) and first.startswith(line + "\n") and outcome.failing(line)


def _answers_reworded(before: Point, point: Point, run: Run) -> bool:
    if tools.kind(point.call.name) or not (talks(before.call.args) and talks(point.call.args)):
        return False
    (asked, answered), (asked_again, answered_again) = before.content(run), point.content(run)
    if len(asked) < 4 or not wording.close(asked, asked_again):
        return False
    return 2 * len(answered & answered_again) >= len(answered | answered_again) >= 3
