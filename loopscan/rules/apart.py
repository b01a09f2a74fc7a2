"""Calls that come back with another result: most do, and no rule makes anything of a few of them in a row.

Such a turn needs only to be noted (`Tracker.differs`). The rules are shown it when more of them follow
(`Watch.catch_up`).
"""

from __future__ import annotations

from operator import eq
from typing import Any, Final

from loopscan.late import Late, Marks, marks_of
from loopscan.row import Row
from loopscan.rules import tools
from loopscan.rules.likeness import ASKED
from loopscan.rules.masked import may_mask
from loopscan.rules.watch import Watch
from loopscan.volatile import steady

_CHANGES: Final = tools.WRITES | tools.SENDS | tools.SHELL


def apart(watch: Watch, before: Any, row: Row, what: int, marks: Marks, turn: int) -> bool:
    """Whether a row that comes back surely has another result than all before it, and no rule can fire on it.

    None can while less turns in a row came back than the shortest period is long, but at once for equal calls on end
    whose results are equal but for numbers. `before`: the nearest of the turns before; `what`: the kind of its tool;
    `marks`: those of its result, which has no wrapper.
    """
    detector, result, args, gap = watch.detector, row.result, row.args, turn - before.turn
    if not what and (type(args) is not dict or not ASKED.isdisjoint(args)):
        return False
    if gap <= 2 and what & _CHANGES:
        return False
    back = 1
    while detector.back(turn - back):
        back += 1
        if back >= gap:
            return False
    if type(result) is not str or not steady(result):
        return False
    nearest = _marks(before)
    if nearest in (None, marks) or (any(map(eq, nearest, marks)) and watch.compares(row.name)):
        return False
    earlier = before.before
    while earlier is not None and earlier.turn > turn - detector.reach:
        if _marks(earlier) in (None, marks):
            return False
        earlier = earlier.before
    return gap > 1 or (type(then := before.calls[0].result) is str and not may_mask(then, result))


def _marks(seen: Any) -> Marks | None:
    """What is known of the result of a turn; None where it is no text."""
    if type(seen) is Late:
        return seen.marks
    result = seen.calls[0].result if seen.calls else None
    return marks_of(result) if type(result) is str else None
