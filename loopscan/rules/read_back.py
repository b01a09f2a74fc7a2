"""read-back: a guess is written into a file and read back, the next guess is written: only numbers in it change."""

from __future__ import annotations

from typing import Final

from loopscan.decode import canonical
from loopscan.key import Action
from loopscan.model import JSON
from loopscan.rules.base import Rule, Run

ROUNDS: Final = 4
LONG: Final = 400


class ReadBack(Rule):
    """Four rounds on end of writing one file and reading it back, the contents equal but for digits.

    Dated at the fourth. Edits that differ in more, and runs of what was written, are work.

    Measured, hits beside the period rule: reports 1 (1 no other rule has), real runs 0, made cases 1 (1 no other
    rule has); false alarms 0 in 108 healthy runs.
    """

    NAME = "read-back"
    AFTER_WRITING = True
    __slots__ = ("_first", "_path", "_rounds", "_turn", "_wrote")

    def __init__(self) -> None:
        super().__init__()
        self._path: str | None = None
        self._wrote = 0
        self._turn = self._first = self._rounds = 0

    def reading(self, path: str, args: dict[str, JSON], action: Action, run: Run) -> None:
        """A file was read."""
        if run.turn == self._turn + 1 and path == self._path and not action.error:
            self._turn = run.turn
            self._rounds += 1
            self._tell(action, run)

    def writing(self, path: str, args: dict[str, JSON], action: Action, run: Run) -> None:
        """A file was written."""
        wrote = 0 if action.error else _digest(args)
        if not wrote or path != self._path or wrote != self._wrote or run.turn != self._turn + 1:
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


def _digest(args: dict[str, JSON]) -> int:
    """Hash of what was written, without digits; long contents are no guesses."""
    size = sum(len(v) for v in args.values() if isinstance(v, str))
    return hash(canonical(args).translate(None, b"0123456789")) if size < LONG else 0
