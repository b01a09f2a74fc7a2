"""Open runs of which nothing came for long: what their detectors hold waits in a file.

A session may go on at any time, so its run stays open to the end of the scan; but most of them do not. Nearly all of it
is what the window holds: this goes first, as a report has no need of it. The rest follows where very many runs sleep.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final, cast

import msgspec

from loopscan.episodes import Tracker
from loopscan.key import Action, Keyer
from loopscan.model import LateCall
from loopscan.rules import Rulebook
from loopscan.spill import Spill

if TYPE_CHECKING:
    from loopscan.run import Run

AWAKE: Final = 8
"""Open runs that keep their detectors whole."""
DOZING: Final = 32
"""Further ones that keep them."""
SLEEPING: Final = 1000
"""Further ones that keep all but what the turns of their windows hold."""
_LOOK: Final = 4
"""Turns by which it is told whether a run holds much."""
_MUCH: Final = 2000
"""Characters of results in so many turns that are much."""


class Kept(msgspec.Struct, gc=False):
    """Where something was put away, and its size in bytes."""

    place: bytes | int
    size: int


class Nap(msgspec.Struct, gc=False):
    """What is put away of a run: what its window holds; all the rest, if that is put away as well.

    `over`: whether the run was over; `plain`: nothing is to be told of what its detector holds.
    """

    held: Kept
    over: bool
    rest: Kept | None = None
    plain: bool = False


class Naps:
    """The runs that are awake, those that doze, and what the others put away.

    Only for runs whose turns nobody else changes. A run dozes, its window without what has left it, when as many others
    are awake as there is room for and no turn of it came since it was looked at last; of those that doze the same
    holds, then they sleep. Runs that wake up time and again make more room: where runs take turns with one another,
    none is to sleep.
    """

    __slots__ = ("_awake", "_dozing", "_room", "_sleeping", "_spill", "_woken")

    def __init__(self) -> None:
        self._awake: dict[int, tuple[Run, int]] = {}
        self._dozing: dict[int, tuple[Run, int]] = {}
        self._sleeping: dict[int, Run] = {}
        self._woken: set[int] = set()
        self._room = DOZING
        self._spill = Spill(0)

    def begin(self, run: Run) -> None:
        """Take note of a run that began or goes on; those that were looked at longest ago may doze or go to sleep."""
        awake, dozing = self._awake, self._dozing
        awake[id(run)] = run, -1
        for _ in range(min(2, len(awake) - AWAKE)):
            other, turns = awake.pop(next(iter(awake)))
            if other.turns == turns:
                other.progress.tracker.detector.forget()
                dozing[id(other)] = other, turns
            else:
                awake[id(other)] = other, other.turns
        for _ in range(min(2, len(dozing) - self._room)):
            other, turns = dozing.pop(next(iter(dozing)))
            if other.turns != turns:
                awake[id(other)] = other, other.turns
            elif self._put_away(other):
                self._sleeping[id(other)] = other
            else:
                dozing[id(other)] = other, turns
        if len(self._sleeping) > SLEEPING:
            self._put_all_away(self._sleeping.pop(next(iter(self._sleeping))))

    def wake(self, run: Run) -> None:
        """Wake a run that goes on."""
        self._sleeping.pop(id(run), None)
        self._fetch(run)
        if id(run) in self._woken:
            self._room += self._room // 2
        self._woken.add(id(run))
        self.begin(run)

    def forget(self, run: Run) -> None:
        """Wake a run that is to be closed, if there is something to tell of it."""
        self._awake.pop(id(run), None)
        self._dozing.pop(id(run), None)
        self._sleeping.pop(id(run), None)
        if run.nap is not None and run.nap.rest is not None and not run.nap.plain:
            self._fetch(run)

    def close(self) -> None:
        """Release the file."""
        self._spill.close()

    def _put_away(self, run: Run) -> bool:
        """Put away what the window holds; whether that was worth it."""
        tracker = run.progress.tracker
        if not _holds_much(tracker):
            return False
        from loopscan import folded  # here, as most scans have no need of it

        ring = tracker.detector.ring
        try:
            kept = self._keep(folded.fold(ring))
        except RecursionError:
            return False
        folded.empty(ring)
        run.nap, run.over = Nap(kept, run.over), True
        run.ledger.pack()
        return True

    def _put_all_away(self, run: Run) -> None:
        """Put the detector away, too."""
        import pickle

        nap, tracker, keyer = run.nap, run.progress.tracker, run.progress.keyer
        if nap is None:
            return
        try:
            _share(tracker, None, None)
            data = pickle.dumps((tracker, tracker.detector.ring), pickle.HIGHEST_PROTOCOL)
            nap.rest = self._keep(data)
        except (RecursionError, TypeError, pickle.PicklingError):  # a turn that is read again knows an open file
            return
        finally:
            _share(tracker, keyer, run.progress.rules)
        nap.plain = not tracker.episodes and (tracker.watch is None or tracker.watch.blind is None)
        run.progress.tracker, tracker.watch = Tracker(keyer), None  # else a cycle

    def _keep(self, data: bytes) -> Kept:
        return Kept(self._spill.keep(data), len(data))

    def _fetch(self, run: Run) -> None:
        nap, progress = run.nap, run.progress
        if nap is None:
            return
        if nap.rest is not None:
            import pickle

            tracker, ring = cast(
                tuple[Tracker, list[Action | None]], pickle.loads(self._spill.load(nap.rest.place, nap.rest.size))
            )
            tracker.detector.ring = ring  # a detector that is made anew begins with an empty one
            _share(tracker, progress.keyer, progress.rules)
            progress.tracker = tracker
        from loopscan import folded

        folded.unfold(progress.tracker.detector.ring, self._spill.load(nap.held.place, nap.held.size))
        run.nap, run.over = None, nap.over


def _share(tracker: Tracker, keyer: Keyer | None, rules: Rulebook | None) -> None:
    """Give a detector what all of them share; None takes it away."""
    detector, watch = tracker.detector, tracker.watch
    tracker.keyer = detector.keyer = cast(Keyer, keyer)
    tracker.rules = rules
    if watch is not None:
        watch.keyer, watch.rules = cast(Keyer, keyer), cast(Rulebook, rules)


def _holds_much(tracker: Tracker) -> bool:
    """Whether the newest turns show that putting the window away saves more than it costs."""
    detector, much = tracker.detector, 0
    for turn in range(max(1, detector.turn - _LOOK), detector.turn + 1):
        action = detector.ring[turn % detector.reach] if detector.reach else None
        if type(action) is Action:
            for call in action.calls:
                late = call.raw if type(call) is LateCall else None
                content = call.result if late is None else late
                much += len(content) if type(content) in (str, bytes) else 0
        elif action is not None:  # it is read again where asked for
            return False
    return much >= _MUCH
