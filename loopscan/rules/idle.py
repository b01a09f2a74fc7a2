"""idle: shell commands that only say something (`echo`, `true`, `:`), one after the other."""

from __future__ import annotations

from typing import Final

from loopscan.key import Action
from loopscan.rules import tools
from loopscan.rules.base import Rule, Run

COPIES: Final = 4
SAYS: Final = ("echo", "printf", "true", ":", "#", " ", "sleep")


class Idle(Rule):
    """Four shell commands without an effect, at most one turn apart. Dated at the third.

    Measured, hits beside the period rule: reports 1 (1 no other rule has), real runs 0, made cases 4 (2 no other
    rule has); false alarms 0 in 108 healthy runs.
    """

    NAME = "idle"
    __slots__ = ("_last", "_turns")

    def __init__(self) -> None:
        super().__init__()
        self._last = 0
        self._turns: list[int] = []

    def shell(self, line: str, action: Action, run: Run) -> None:
        """A shell was used."""
        if not line.startswith(SAYS) or not tools.says_only(line):
            self._last = 0
            return
        if run.turn - self._last > 2:
            self._turns = []
        self._last = run.turn
        self._turns = [*self._turns[:COPIES], run.turn]
        loop = hash(("idle", self._turns[0]))
        episode = self.going(run, loop, 1)
        if episode is not None:
            self.extend(run, episode, (episode.count or 0) + 1)
        elif len(self._turns) == COPIES:
            self.open(
                run, [action], turn=self._turns[2], first=self._turns[0], loop=loop, copies=COPIES,
                tool=action.calls[0].name,
                pause=1 if run.turn - self._turns[0] > COPIES else 0,
            )  # fmt: skip
