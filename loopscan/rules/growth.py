"""growth: a command that grows by what it already holds, call by call."""

from __future__ import annotations

from typing import Final

from loopscan.key import Action
from loopscan.rules import wording
from loopscan.rules.base import Rule, Run

COPIES: Final = 4


class Growth(Rule):
    """Four shell commands, each the one before with more of its own words behind it. Dated at the third.

    Measured, hits beside the period rule: reports 0, real runs 0, made cases 1 (1 no other rule has); false alarms
    0 in 108 healthy runs.
    """

    NAME = "growth"
    __slots__ = ("_first", "_line", "_third", "_times")

    def __init__(self) -> None:
        super().__init__()
        self._line = ""
        self._first = self._third = self._times = 0

    def shell(self, line: str, action: Action, run: Run) -> None:
        """A shell was used."""
        before, self._line = self._line, line
        if not before or len(line) <= len(before) or not line.startswith(before):
            self._times, self._first = 1, run.turn
            return
        if not set(wording.words(line[len(before) :])) <= set(wording.words(before)):
            self._times, self._first = 1, run.turn
            return
        self._times += 1
        if self._times == COPIES - 1:
            self._third = run.turn
        loop = hash(("growth", self._first))
        episode = self.going(run, loop, 1)
        if episode is not None:
            self.extend(run, episode, self._times)
        elif self._times == COPIES:
            self.open(
                run, [action], turn=self._third, first=self._first, loop=loop, copies=COPIES, tool=action.calls[0].name,
                pause=1 if run.turn - self._first >= COPIES else 0,
            )  # fmt: skip
