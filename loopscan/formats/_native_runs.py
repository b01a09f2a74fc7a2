"""The runs of native logs while they are read: the turn each has open, and which lines are copies of earlier ones."""

from __future__ import annotations

from array import array
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from functools import partial
from typing import TYPE_CHECKING

from loopscan.blob import Blob
from loopscan.copied import Copied
from loopscan.decode import canonical
from loopscan.errors import InputError
from loopscan.formats._mapped import mapped
from loopscan.formats._native_line import join, run_of, turn_of
from loopscan.model import JSON, MISSING, Turn
from loopscan.row import Row
from loopscan.skips import Skips

if TYPE_CHECKING:
    from loopscan.quiet import Quiet


@dataclass(slots=True)
class Run:
    """One run: its open turn, number and stamp of that turn's first line, the highest number so far.

    `same`: marks of the stamped lines of the open turn, once it has more than one line. `marks`: those of all stamped
    lines, where they are kept; `known`: the same once one had to be looked up.
    """

    turn: Turn | None = None
    row: Row | None = None
    """The open turn where it is a usual one."""
    since: int = 0
    away: int = -1
    """Number of the line since which the row is held; its place, where nothing else is held of it."""
    log: int = 0
    """The number of the log in which it was met last."""
    number: JSON = None
    stamp: JSON = None
    prompt: int | None = None
    highest: float = float("-inf")
    same: set[int] | None = None
    marks: array[int] | None = None
    known: set[int] | None = None

    def marks_of_turn(self) -> set[int]:
        """Marks of the lines of the open turn."""
        if self.same is None:
            first = self.stamp is not None and self.number is not None
            self.same = {mark(self.number, self.stamp, self.turn)} if first else set()
        return self.same

    def open(self, turn: Turn, number: JSON, stamp: JSON) -> None:
        """Open a turn with its first line."""
        self.turn, self.number, self.stamp, self.same = turn, number, stamp, None

    def add(self, more: Turn) -> None:
        """Add a further line to the open turn."""
        assert self.turn is not None
        self.marks_of_turn()
        join(self.turn, more)

    def keep(self, found: int) -> None:
        """Keep the mark of a line."""
        if self.marks is None:
            self.marks = array("q")
        self.marks.append(found)
        if self.known is not None:
            self.known.add(found)

    def has(self, found: int) -> bool:
        """Whether a line of this mark was kept."""
        if self.known is None:
            self.known = set(self.marks or ())
        return found in self.known


def mark(number: JSON, stamp: JSON, turn: Turn | None, state: JSON = None) -> int:
    """What a log copy of a line repeats: its number, its time, what was done; `loopscan.quiets` makes it of a row."""
    done: JSON = None
    if turn is not None:
        calls = turn.calls
        plain = len(calls) == 1 and turn.text == "" and not turn.failed and turn.fault is MISSING and state is None
        if plain and calls[0].result is not MISSING and not calls[0].error and type(number) is int:
            ident = hash((calls[0].name, canonical(calls[0].args)))
            result = calls[0].result
            said = result if type(result) is str else (canonical(result),)
            return hash((number, stamp if type(stamp) is str else (canonical(stamp),), ident, said))
        done = [
            [[c.name, c.args, None if c.result is MISSING else c.result, c.error] for c in calls],
            turn.text, turn.failed, None if turn.fault is MISSING else turn.fault,
        ]  # fmt: skip
    return hash((canonical([number, stamp]), canonical([done, state])))


def rank(number: JSON, otherwise: float) -> float:
    """The number of a turn as a place in the run."""
    if isinstance(number, (int, float)) and abs(number) < 1e300:
        return float(number)
    return otherwise


@dataclass(slots=True)
class Runs:
    """All runs of a scan's native logs.

    Lines whose numbers only go up need no marks. Where an earlier number comes back, `all_marked` is set and what was
    read before is read once more for its marks; a stream without a copy cannot be: it is marked from its beginning.
    """

    field_map: dict[str, str]
    by_id: dict[str, Run] = field(default_factory=dict)
    all_marked: bool = False
    logs: int = 0
    """How many were begun."""
    quiet: Mapping[str, Quiet] = field(default_factory=dict)
    """Runs of which no more is known here than there."""
    _again: list[Callable[[], Blob]] = field(default_factory=list)
    """To read each of them once more."""

    def begin(self, blob: Blob, copy: Copied | None = None) -> None:
        """An input begins; `copy`: what there will be of it."""
        self.logs += 1
        if blob.path is not None:
            self._again.append(partial(Blob, str(blob.path), blob.path))
        elif copy is not None:
            name = blob.name
            self._again.append(lambda: Blob(name, None, copy.open()))
        else:
            self.mark_all(None)

    def is_copy(self, run: Run, number: JSON, stamp: JSON, turn: Turn | None, line: int, state: JSON = None) -> bool:
        """Whether a line with `turn` and `ts`, at `line` of the newest input, was met before."""
        place = rank(number, run.highest)
        if not self.all_marked:
            if place > run.highest:
                run.highest = place
                return False
            if run.turn is not None and number == run.number:
                same, found = run.marks_of_turn(), mark(number, stamp, turn, state)
                if found in same:
                    return True
                same.add(found)
                return False
            self.mark_all(line)
        found = mark(number, stamp, turn, state)
        if place > run.highest:
            run.highest = place
        elif run.has(found):
            return True
        run.keep(found)
        return False

    def mark_all(self, line: int | None) -> None:
        """Mark what was read before `line` of the newest input (None: before it), unless it is marked already."""
        if self.all_marked:
            return
        self.all_marked = True
        for run_id, state in self.quiet.items():
            self.by_id.setdefault(run_id, Run(highest=state.highest))
        for i, again in enumerate(self._again, 1):
            try:
                with again() as blob:
                    self._mark(blob, line if i == len(self._again) else None)
            except InputError:
                continue  # gone since it was read

    def _mark(self, blob: Blob, until: int | None) -> None:
        for number, value in blob.values(Skips()):
            if number == until:
                break
            if isinstance(value, dict):
                line = mapped(value, self.field_map) if self.field_map else value
                run = self.by_id.get(run_of(line, blob.name)[0])
                turn, stamp = line.get("turn"), line.get("ts")
                if run is not None and turn is not None and stamp is not None:
                    run.keep(mark(turn, stamp, turn_of(line, "", number), line.get("state")))
