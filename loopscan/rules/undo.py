"""undo: an edit, its reversal, the edit again: a file goes to and fro between two states, or is edited to the same."""

from __future__ import annotations

from itertools import pairwise
from typing import Final

import msgspec

from loopscan.key import Action
from loopscan.model import JSON
from loopscan.rules import outcome
from loopscan.rules.base import Rule, Run

TIMES: Final = 3
BACK: Final = 2
FILES: Final = 6

OLD: Final = frozenset(("old_string", "old_str", "old", "search", "find", "old_text", "oldText"))
NEW: Final = frozenset(("new_string", "new_str", "new", "replace", "replacement", "new_text", "newText"))
BACK_WORDS: Final = frozenset(("revert", "undo", "rollback"))
WHOLE: Final = frozenset(("content", "file_text", "contents", "new_content"))


class File(msgspec.Struct, gc=False):
    """Edits of one file: its last whole content; turns of edits without a change, and of edits marked as taken back;
    for each pair of states the turns at which it was crossed, and the state it was left in."""

    whole: int | None = None
    same: list[int] = []
    back: list[int] = []
    crossed: dict[frozenset[int], tuple[list[int], int]] = {}


class Undo(Rule):
    """The same two states of a place in a file, crossed three times to and fro; three edits that replace a text by
    itself; two edits marked as taken back. Within ten turns; dated at the last of these.

    Measured, hits beside the period rule: reports 0, real runs 0, made cases 3 (2 no other rule has); false alarms
    0 in 108 healthy runs.
    """

    NAME = "undo"
    __slots__ = ("_files",)

    def __init__(self) -> None:
        super().__init__()
        self._files: dict[str, File] = {}

    def writing(self, path: str, args: dict[str, JSON], action: Action, run: Run) -> None:
        """A file was written."""
        if action.error:
            return
        file = self._files.pop(path, None) or File()
        self._files[path] = file
        if len(self._files) > FILES:
            del self._files[next(iter(self._files))]
        if not BACK_WORDS.isdisjoint(args) and any(args.get(k) is True for k in BACK_WORDS):
            self._tell((path, "back"), file.back, BACK, action, run)
            return
        pair = _states(args, file)
        if pair is None:
            return
        if pair[0] == pair[1]:
            if file.whole is None:
                self._tell((path, "same"), file.same, TIMES, action, run)
            return
        states = frozenset(pair)
        turns, now = file.crossed.pop(states, ([], 0))
        if now != pair[1]:
            self._tell((path, states), turns, TIMES, action, run)
        file.crossed[states] = turns, pair[1]
        if len(file.crossed) > FILES:
            del file.crossed[next(iter(file.crossed))]

    def _tell(self, what: object, turns: list[int], needed: int, action: Action, run: Run) -> None:
        if len(turns) >= needed - 1 and outcome.failing(run.plain(action.calls[0])):
            return
        turns.append(run.turn)
        if self.episode is None and len(turns) < needed:
            return
        del turns[:-TIMES]
        loop = hash(("undo", what))
        episode = self.going(run, loop, run.detector.reach)
        if episode is not None:
            self.extend(run, episode, (episode.count or 0) + 1)
        elif len(turns) >= needed and turns[-1] - turns[-needed] <= run.detector.reach // 2:
            turns = turns[-needed:]
            self.open(
                run, [action], turn=turns[-1], first=turns[0], loop=loop, copies=needed,
                pause=max(b - a for a, b in pairwise(turns)) - 1,
            )  # fmt: skip


def _states(args: dict[str, JSON], file: File) -> tuple[int, int] | None:
    """Hash of a place before and after an edit; None if the call is no edit that shows both."""
    old = new = whole = None
    for name, value in args.items():
        if type(value) is str:
            if name in OLD:
                old = value
            elif name in NEW:
                new = value
            elif name in WHOLE:
                whole = value
    if whole is not None:
        before, file.whole = file.whole, hash(whole)
        return None if before is None else (before, file.whole)
    return None if old is None or new is None else (hash(old), hash(new))
