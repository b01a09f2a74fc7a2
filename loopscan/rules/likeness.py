"""Whether two calls of one tool had the same outcome, and how their arguments are kin.

Alike are results that are equal (in full, or but for the words of the arguments, or failures but for numbers), alike in
numbers only, or the same thing in other words.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

from loopscan.decode import canonical
from loopscan.model import JSON, MISSING, Call, LateCall
from loopscan.rules import outcome, tools, wording
from loopscan.rules.base import Run

EQUAL: Final = 3
NUMBERS: Final = 2
WORDS: Final = 1

LISTED: Final = 600
"""The longest list whose order is looked through."""
LONG: Final = 20_000
"""Longer results are compared in full only."""
_SHORT: Final = 300
_PROSE: Final = 3000
_FIRST: Final = 40


@dataclass(slots=True)
class Point:
    """One call of a tool, worked out as far as it was compared."""

    turn: int
    call: Call
    ident: int | None
    _plain: str | None = None
    _fails: bool | None = None
    _masked: str | None = None
    _said: tuple[str, ...] | None = ()
    _asked: bool = False
    _content: tuple[frozenset[str], frozenset[str]] | None = None

    def plain(self, run: Run) -> str:
        """The text of its result."""
        if self._plain is None:
            self._plain = run.plain(self.call)
        return self._plain

    def fails(self, run: Run) -> bool:
        """Whether its result reads like a failure."""
        if self._fails is None:
            self._fails = outcome.failing(self.plain(run))
        return self._fails

    def masked(self, run: Run) -> str:
        """The text of its result without what changes from one failure, or one look, to the next."""
        if self._masked is None:
            self._masked = outcome.masked_as(self.plain(run), self.fails(run))
        return self._masked

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


def unlike(before: Call, call: Call) -> bool:
    """The first test of `may_be_alike`, at which nearly every turn ends."""
    if type(before) is LateCall is type(call) and before.unlike(call, LISTED):
        return True
    first, second = before.result, call.result
    return (
        type(first) is str is type(second)
        and first[:8] != second[:8]
        and first[-10:] != second[-10:]
        and (len(first) != len(second) or len(first) >= LISTED)
    )


def same(first: JSON, second: JSON) -> bool:
    try:
        return bool(first == second)
    except RecursionError:
        return canonical(first) == canonical(second)


def may_be_alike(before: Call, call: Call) -> bool:
    """Cheap: whether two calls of one tool can have the same outcome at all."""
    first, second = before.result, call.result
    if type(first) is not type(second) or first is MISSING:
        return False
    if same(first, second):
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


def alike(before: Point, point: Point, run: Run) -> tuple[int, int]:
    """How two calls of a tool are alike in their outcome (0 = not), and the kinship of their arguments."""
    same_action = before.ident == point.ident and point.ident is not None
    equal = same(before.call.result, point.call.result)
    first, second = ("", "") if equal else (before.plain(run), point.plain(run))
    if first == second:
        return EQUAL, wording.SAME_COUNTS if same_action else wording.kin(before.said, point.said)
    if len(first) > LONG or len(second) > LONG:
        return 0, 0
    failed = point.call.error or point.fails(run)
    kin = wording.SAME_COUNTS if same_action else wording.kin(before.said, point.said)
    # masking is dear: only where it can decide
    one_mask = (
        (failed or kin >= wording.SAME_WORDS)
        and outcome.one_skeleton(first, second)
        and before.masked(run) == point.masked(run)
    )
    if (failed and one_mask) or _one_fault(first, second):
        return EQUAL, kin
    if same_action or tools.kind(point.call.name) & (tools.WRITES | tools.SENDS):
        return 0, 0
    if one_mask and not outcome.names_files_apart(first, second):
        return NUMBERS, kin
    if sorted(first.splitlines()) == sorted(second.splitlines()):
        return EQUAL, kin
    if kin >= wording.SAME_WORDS and set(wording.words(first)) == set(wording.words(second)):
        return EQUAL, kin
    if before.fails(run) and point.fails(run):
        first, second = before.masked(run), point.masked(run)
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
