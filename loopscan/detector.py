"""The period rule: fire when the last `copies * p` keys are one block of p keys, for the smallest p.

Incremental: a turn costs O(1) when its action is new in the window; otherwise only the periods at which the same
key stood are touched. Memory O(window). After turn t, `run[p]` counts how many turns on end satisfied
key[t] == key[t-p]; the rule fires at p when run[p] >= (copies - 1) * p.
"""

from __future__ import annotations

from typing import Final

import msgspec

from loopscan.key import Action, Keyer

STALE: Final = 4
"""Turns that have left the window are forgotten when there are so many times more of them than it holds."""


Seen = Action
"""A turn that stands in the window."""


class Detector(msgspec.Struct, gc=False):
    """The period rule over one run. `window` W turns, `copies` >= 2; a period is at most W // copies.

    `reach`: turns that are kept, where others look further back than the rule does.
    """

    keyer: Keyer
    window: int = 20
    copies: int = 2
    turn: int = 0
    reach: int = 0
    last: Seen | None = None
    """The turn pushed last, None where it equals nothing."""
    _floor: int = 0
    ring: list[Seen | None] = []
    """The last `reach` turns, each at its number modulo `reach`; older ones may stand where nothing came since."""
    newest: dict[int, Seen] = {}
    """The newest turn of each ident; those that have left the window are forgotten now and then."""
    runs: dict[int, int] = {}
    """Period -> turns on end that were equal to the one a period before."""

    def __post_init__(self) -> None:
        self.reach = max(self.reach, self.window)
        self.ring = [None] * self.reach

    def push(self, action: Action) -> int:
        """Take the next turn; the period at which the rule fires at this turn, else 0."""
        self.turn = t = self.turn + 1
        ident, reach = action.ident, self.reach
        if ident is None or reach < self.copies:
            if self.runs:
                self.runs = {}
            self.last = None
            return 0
        newest = self.newest
        before = newest.get(ident)
        if before is not None and before.turn <= t - reach:
            before = None
        action.turn, action.before = t, before
        self.last = self.ring[t % reach] = newest[ident] = action
        if before is not None:
            return self._came_back(action)
        if self.runs:
            self.runs = {}
        if len(newest) > STALE * reach:
            self.forget()
        return 0

    def forget(self) -> None:
        """Forget the turns that have left the window."""
        at, least = (self.turn + 1) % self.reach, self.turn - self.reach
        held = self.ring[at:] + self.ring[:at]
        self.newest = {s.ident: s for s in held if s is not None and s.ident is not None and s.turn > least}

    def _came_back(self, seen: Seen) -> int:
        key = seen.key = self.keyer.outcome(seen)
        # a block that ended at `_floor` is told already: its turns are no copies any more
        longest, fired = min(self.window // self.copies, seen.turn - self._floor - 1), 0
        runs: dict[int, int] = {}
        earlier = seen.before
        while earlier is not None and (period := seen.turn - earlier.turn) <= longest:
            if earlier.key is None:
                earlier.key = self.keyer.outcome(earlier)
            if earlier.key == key:
                runs[period] = length = self.runs.get(period, 0) + 1
                if not fired and length >= (self.copies - 1) * period:
                    fired = period
            earlier = earlier.before
        if earlier is not None:
            self.cut(seen)
        self.runs = runs
        return fired

    def back(self, turn: int) -> bool:
        """Whether a turn of the window came back."""
        seen = self.ring[turn % self.reach]
        return seen is not None and seen.turn == turn and seen.before is not None

    def missed(self, after: int) -> list[Seen]:
        """The newest turns, all later than `after`, that came back one after the other."""
        found: list[Seen] = []
        turn = self.turn
        while turn > after and (seen := self.at(turn)) is not None and seen.before is not None:
            found.insert(0, seen)
            turn -= 1
        return found

    def cut(self, seen: Seen) -> None:
        """Forget the links beyond the window, so that a chain never grows with the run."""
        earlier: Seen | None = seen
        while earlier is not None and earlier.before is not None:
            if earlier.before.turn <= seen.turn - self.reach:
                earlier.before = None
            earlier = earlier.before

    def at(self, turn: int) -> Seen | None:
        """A turn of the window; None if it is not in it or equals nothing."""
        seen = self.ring[turn % self.reach] if turn > self.turn - self.reach else None
        return seen if seen is not None and seen.turn == turn else None

    def block(self, period: int) -> list[tuple[int, Action]]:
        """Key and action of the last `period` turns, oldest first; valid right after the rule fired."""
        found = map(self.at, range(self.turn - period + 1, self.turn + 1))
        return [(s.key or 0, s) for s in found if s is not None]

    def restart(self, turn: int) -> None:
        """Go on behind `turn`, the end of a repetition: what came before counts as a copy no more."""
        self.turn = self._floor = turn
        self.runs = {}
