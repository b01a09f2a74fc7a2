"""The period rule: fire when the last `copies * p` keys are one block of p keys, for the smallest p.

Incremental: a turn costs O(1) when its action is new in the window; otherwise only the periods at which the same
key stood are touched. Memory O(window). After turn t, `run[p]` counts how many turns on end satisfied
key[t] == key[t-p]; the rule fires at p when run[p] >= (copies - 1) * p.
"""

from __future__ import annotations

from dataclasses import dataclass, field

from loopscan.key import Action, Keyer


@dataclass(slots=True)
class _Seen:
    """One turn inside the window; `key` is worked out when its action comes back."""

    turn: int
    action: Action
    key: int | None = None
    before: _Seen | None = None
    """The nearest earlier turn of the window with the same ident."""


@dataclass(slots=True)
class Detector:
    """The period rule over one run. `window` W turns, `copies` >= 2; a period is at most W // copies."""

    keyer: Keyer
    window: int = 20
    copies: int = 2
    turn: int = 0
    _ring: dict[int, _Seen] = field(default_factory=dict)
    _last: dict[int, _Seen] = field(default_factory=dict)
    _runs: dict[int, int] = field(default_factory=dict)

    def push(self, action: Action) -> int:
        """Take the next turn; the period at which the rule fires at this turn, else 0."""
        self.turn = t = self.turn + 1
        left = self._ring.pop(t - self.window, None)
        if left is not None and left.action.ident is not None and self._last.get(left.action.ident) is left:
            del self._last[left.action.ident]
        ident = action.ident
        if ident is None or self.window < self.copies:
            self._runs = {}
            return 0
        before = self._last.get(ident)
        seen = _Seen(t, action, None, before)
        self._ring[t] = self._last[ident] = seen
        if before is None:
            if self._runs:
                self._runs = {}
            return 0
        return self._came_back(seen)

    def _came_back(self, seen: _Seen) -> int:
        key = seen.key = self.keyer.outcome(seen.action)
        longest, fired = self.window // self.copies, 0
        runs: dict[int, int] = {}
        earlier = seen.before
        while earlier is not None and (period := seen.turn - earlier.turn) <= longest:
            if earlier.key is None:
                earlier.key = self.keyer.outcome(earlier.action)
            if earlier.key == key:
                runs[period] = length = self._runs.get(period, 0) + 1
                if not fired and length >= (self.copies - 1) * period:
                    fired = period
            earlier = earlier.before
        if earlier is not None:
            self._cut(seen)
        self._runs = runs
        return fired

    def _cut(self, seen: _Seen) -> None:
        """Forget the links beyond the window, so that a chain never grows with the run."""
        earlier: _Seen | None = seen
        while earlier is not None and earlier.before is not None:
            if earlier.before.turn <= seen.turn - self.window:
                earlier.before = None
            earlier = earlier.before

    def block(self, period: int) -> list[tuple[int, Action]]:
        """Key and action of the last `period` turns, oldest first; valid right after the rule fired."""
        found = [self._ring[t] for t in range(self.turn - period + 1, self.turn + 1)]
        return [(s.key or 0, s.action) for s in found]

    def clear(self) -> None:
        """Restart the window; turns keep their numbers."""
        self._ring, self._last, self._runs = {}, {}, {}
