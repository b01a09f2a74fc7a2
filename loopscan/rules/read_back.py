"""read-back: a guess is written into a file and read back, the next guess is written: only numbers in it change."""

from __future__ import annotations

from typing import Final

from loopscan.decode import canonical
from loopscan.key import Action
from loopscan.model import Call
from loopscan.rules import outcome, tools
from loopscan.rules.base import Rule, Run

ROUNDS: Final = 4


class ReadBack(Rule):
    """Four rounds on end of writing one file and reading it back, the contents equal but for digits.

    Dated at the fourth. Edits that differ in more, and runs of what was written, are work.
    """

    NAME = "read-back"
    KINDS = tools.READS | tools.WRITES
    __slots__ = ("_first", "_path", "_rounds", "_turn", "_wrote")

    def __init__(self) -> None:
        super().__init__()
        self._path: str | None = None
        self._wrote = ""
        self._turn = self._first = self._rounds = 0

    def each(self, call: Call, action: Action, run: Run) -> None:
        """A file may have been written or read."""
        if tools.reads(call):
            if self._path is not None and run.turn == self._turn + 1 and tools.path_of(call.args) == self._path:
                self._turn = run.turn
                self._rounds += 1
                self._tell(action, run)
            return
        path = tools.path_of(call.args)
        wrote = outcome.masked(canonical(call.args).decode(errors="replace")[:4000]) if path else ""
        if path != self._path or wrote != self._wrote or run.turn != self._turn + 1:
            self._path, self._wrote, self._rounds, self._first = path, wrote, 0, run.turn
        self._turn = run.turn

    def _tell(self, action: Action, run: Run) -> None:
        loop = hash(("read-back", self._path, self._wrote))
        episode = self.going(run, loop, 1)
        if episode is not None:
            self.extend(run, episode, self._rounds)
        elif self._rounds == ROUNDS:
            self.open(
                run, [action], turn=run.turn, first=self._first, loop=loop, copies=ROUNDS, period=2, pause=1,
                idents=action.idents,
            )  # fmt: skip
