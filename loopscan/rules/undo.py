"""undo: an edit, its reversal, the edit again: one file goes to and fro between two states."""

from __future__ import annotations

from dataclasses import dataclass, field
from itertools import pairwise
from typing import Final

from loopscan.key import Action
from loopscan.model import JSON, Call
from loopscan.rules import tools
from loopscan.rules.base import Rule, Run

TIMES: Final = 3
FILES: Final = 6

_OLD: Final = ("old_string", "old_str", "old", "search", "find", "old_text")
_NEW: Final = ("new_string", "new_str", "new", "replace", "replacement", "new_text")
_WHOLE: Final = ("content", "file_text", "contents", "new_content")


@dataclass(slots=True)
class _File:
    """Edits of one file: its last whole content, and for each pair of states the turns at which it was crossed."""

    whole: int | None = None
    crossed: dict[frozenset[int], list[tuple[int, int]]] = field(default_factory=dict)


class Undo(Rule):
    """The same two states of a place in a file, crossed three times to and fro. Dated at the third crossing."""

    NAME = "undo"
    KINDS = tools.WRITES
    __slots__ = ("_files",)

    def __init__(self) -> None:
        super().__init__()
        self._files: dict[str, _File] = {}

    def each(self, call: Call, action: Action, run: Run) -> None:
        """A file may have been written."""
        args, path = call.args, tools.path_of(call.args)
        if path is None or not isinstance(args, dict):
            return
        file = self._files.pop(path, None) or _File()
        self._files[path] = file
        if len(self._files) > FILES:
            del self._files[next(iter(self._files))]
        pair = _states(args, file)
        if pair is None or pair[0] == pair[1]:
            return
        states = frozenset(pair)
        crossings = file.crossed.setdefault(states, [])
        if len(file.crossed) > FILES:
            del file.crossed[next(iter(file.crossed))]
        if crossings and crossings[-1][1] == pair[1]:
            return
        crossings.append((run.turn, pair[1]))
        loop = hash(("undo", path, states))
        episode = self.going(run, loop, run.detector.reach)
        if episode is not None:
            self.extend(run, episode, (episode.count or 0) + 1)
        elif len(crossings) >= TIMES and crossings[-1][0] - crossings[-TIMES][0] <= run.detector.reach:
            turns = [t for t, _ in crossings[-TIMES:]]
            self.open(
                run, [action], turn=turns[-1], first=turns[0], loop=loop, copies=TIMES,
                pause=max(b - a for a, b in pairwise(turns)) - 1,
            )  # fmt: skip
        del crossings[:-TIMES]


def _states(args: dict[str, JSON], file: _File) -> tuple[int, int] | None:
    """Hash of a place before and after an edit; None if the call is no edit that shows both."""
    whole = next((args[k] for k in _WHOLE if isinstance(args.get(k), str)), None)
    if whole is not None:
        before, file.whole = file.whole, hash(whole)
        return None if before is None else (before, file.whole)
    old = next((args[k] for k in _OLD if isinstance(args.get(k), str)), None)
    new = next((args[k] for k in _NEW if isinstance(args.get(k), str)), None)
    return None if old is None or new is None else (hash(old), hash(new))
