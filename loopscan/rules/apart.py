"""Calls that come back with another result: most do, and no rule makes anything of one or two of them in a row.

Such a turn needs only to be noted (`Tracker.differs`). The rules are shown it when more of them follow
(`Watch.catch_up`).
"""

from __future__ import annotations

from operator import eq
from typing import Any, Final

from loopscan.detector import Detector
from loopscan.late import Late, Marks, marks_of
from loopscan.row import Row
from loopscan.rules import tools
from loopscan.rules.likeness import ASKED
from loopscan.rules.masked import may_mask
from loopscan.volatile import steady

_CHANGES: Final = tools.WRITES | tools.SENDS | tools.SHELL


def apart(detector: Detector, before: Any, row: Row, what: int, marks: Marks, turn: int) -> bool:
    """Whether a row that comes back surely has another result than all before it, and no rule can fire on it.

    `before`: the nearest of them; `what`: the kind of its tool; `marks`: those of its result, which has no wrapper.
    """
    result, args, gap = row.result, row.args, turn - before.turn
    if not what and (type(args) is not dict or not ASKED.isdisjoint(args)):
        return False
    back = detector.back(turn - 1) + 2 * detector.back(turn - 2)
    if (back == 3) if gap > 2 else (back or what & _CHANGES):
        return False
    if type(result) is not str or not steady(result):
        return False
    nearest = _marks(before)
    if nearest is None or any(map(eq, nearest, marks)):
        return False
    earlier = before.before
    while earlier is not None and earlier.turn > turn - detector.reach:
        if _marks(earlier) in (None, marks):
            return False
        earlier = earlier.before
    return gap > 1 or not may_mask(before.calls[0].result, result)


def _marks(seen: Any) -> Marks | None:
    """What is known of the result of a turn; None where it is no text."""
    if type(seen) is Late:
        return seen.marks
    result = seen.calls[0].result if seen.calls else None
    return marks_of(result) if type(result) is str else None
