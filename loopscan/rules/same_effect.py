"""same-effect: the same message sent, the same edit made again; only the receipt differs."""

from __future__ import annotations

from typing import Final

from loopscan.detector import Seen
from loopscan.rules import tools
from loopscan.rules.base import Rule, Run

SENDS: Final = 3
EDITS: Final = 4
OTHERS: Final = 8
NEAR: Final = 2


class SameEffect(Rule):
    """Equal calls of a tool that sends or edits, at most one turn apart, whatever comes back (a receipt, the file).

    From three copies of a message, four of an edit, eight of another change (things are created and added in numbers);
    dated at the second.

    Measured, hits beside the period rule: reports 0, real runs 0, made cases 4 (4 no other rule has); false alarms
    0 in 108 healthy runs.
    """

    NAME = "same-effect"
    __slots__ = ("_action", "_first", "_second", "_times", "_turn")

    def __init__(self) -> None:
        super().__init__()
        self._action: int | None = None
        self._turn = self._first = self._second = self._times = 0

    def past(self, turn: int) -> bool:
        """See `Rule.past`."""
        return self._turn < turn - NEAR

    def back(self, seen: Seen, run: Run) -> None:
        """An action came back."""
        action, before = seen, seen.before
        if before is None or len(action.calls) != 1 or action.error or seen.turn - before.turn > NEAR:
            return
        call = action.calls[0]
        if tools.kind(call.name) & tools.SENDS:
            needed = SENDS
        elif run.edits(call):
            needed = EDITS if tools.alters(call) else OTHERS
        else:
            return
        if self._action != action.ident or self._turn != before.turn:
            self._action, self._first, self._second, self._times = action.ident, before.turn, seen.turn, 1
        self._turn = seen.turn
        self._times += 1
        loop = hash(("same-effect", action.ident))
        episode = self.going(run, loop, 1)
        if episode is not None:
            self.extend(run, episode, self._times)
        elif self._times >= needed:
            self.open(
                run, [action], turn=self._second, first=self._first, loop=loop, copies=self._times, tool=call.name,
            )  # fmt: skip
