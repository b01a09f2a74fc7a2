"""The usual turns of a run that is not quiet, straight from their rows: `loopscan.stretch` without building turns."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING, Any, Final

import msgspec
import orjson

from loopscan.clock import seconds_of
from loopscan.decode import canonical
from loopscan.key import Action, Keyer
from loopscan.late import BYTE, Late, Marks, Source
from loopscan.model import Call
from loopscan.row import Row
from loopscan.rules import tools
from loopscan.rules.apart import apart
from loopscan.rules.likeness import ASKED, LISTED, may_be_alike, unlike
from loopscan.rules.streaks import GAP, Trail
from loopscan.rules.watch import TOOLS
from loopscan.series import PART
from loopscan.spelling import PATHS

if TYPE_CHECKING:
    from collections.abc import Callable

    from loopscan.episodes import Tracker

_SORTED: Final = orjson.OPT_SORT_KEYS
_SHELL: Final = tools.SHELL


class Look(msgspec.Struct, gc=False):
    """What a usual turn is told by and leaves behind.

    `ring`, `newest`, `reach`, `trails`: those of the detector and of the watch. `number`: turns so far; `last`: the
    newest. `model`, `most`, `since`, `until`: model, longest prompt and times under which the present price holds.
    """

    ring: list[Any]
    newest: dict[int, Any]
    reach: int
    trails: dict[str, Any]
    number: int
    model: str | None
    most: int
    since: float
    until: float
    started: float | None = None
    ended: float | None = None
    gap: tuple[float, int] = (0.0, 0)
    last: Any = None


class Doubts(msgspec.Struct, gc=False):
    """What is asked of turns that may be none of the usual ones, where those are taken straight from their lines.

    `shut`: tools of which `differs` needs to know no more than that a turn came back.
    """

    tracker: Tracker
    row: Callable[[bytes], Row]
    shut: set[str] = msgspec.field(default_factory=set)

    def unlike(self, last: Any, line: bytes) -> bool:
        """Whether the result of a line is surely not like that of the last turn of its tool."""
        if type(last) is Trail:
            return False
        row = self.row(line)
        call = Call(row.name, row.args, row.result)
        if type(last) is not Late and self._told(row) and unlike(last.calls[0], call):
            return True
        return not may_be_alike(last.calls[0], call)

    def apart(self, before: Any, line: bytes, what: int, marks: Marks, turn: int) -> bool:
        """See `loopscan.rules.apart`."""
        watch = self.tracker.watch
        assert watch is not None
        return apart(watch, before, self.row(line), what, marks, turn)

    def differs(self, name: str, action: Any) -> bool:
        """Take note that a turn came back with another result."""
        watch = self.tracker.watch
        assert watch is not None
        self.tracker.differs(name, action)
        if not watch.compares(name):
            self.shut.add(name)
        return True

    @staticmethod
    def _told(row: Row) -> bool:
        return bool(tools.kind(row.name)) or (type(row.args) is dict and ASKED.isdisjoint(row.args))


def usual(look: Look, rows: list[Row], at: int, source: Source | None, keyer: Keyer, tracker: Tracker) -> list[float]:
    """Take the usual turns from number `at` on; for each its seconds since the first turn of the run.

    It ends at the first that is not usual, or behind the last turn of a part. Longer than other functions: see
    `loopscan.stretch`.
    """
    ring, newest, reach, trails, kinds = look.ring, look.newest, look.reach, look.trails, tools.KINDS
    model, most, since, until = look.model, look.most, look.since, look.until
    number, started, ended, gap = look.number, look.started, look.ended, look.gap
    watch = tracker.watch
    assert watch is not None
    waits: list[float] = []
    last_in_part = number + PART - number % PART
    action: Any = None
    for row in rows[at:] if at else rows:
        name, args, result = row.name, row.args, row.result
        if row.model != model or row.sent > most or row.error:
            break
        time = None if row.ts is None else seconds_of(row.ts)
        if not since <= (time or 0.0) < until:
            break
        what = kinds.get(name)
        if what is None:
            what = tools.kind(name)
        plain = type(args) is dict and PATHS.isdisjoint(args)
        if not plain or what & _SHELL:
            args = keyer.read(name, args)
        try:
            ident = hash((name, orjson.dumps(args, None, _SORTED)))
        except orjson.JSONEncodeError:
            ident = hash((name, canonical(args)))
        number += 1
        before: Any = newest.get(ident)
        if before is not None and before.turn <= number - reach:
            before = None
        if type(result) is str:
            size = len(result)
            head, tail = hash(result[:8]) & BYTE, hash(result[-10:]) & BYTE
        else:
            head = tail = size = 0
        if before is not None and not apart(watch, before, row, what, (head, tail, size & BYTE), number):
            break
        last: Any = trails.get(name)
        if last is not None:
            if type(last) is Trail:
                break
            if number - last.turn <= GAP:
                if type(last) is Late:
                    far = (
                        last.head != head
                        and last.tail != tail
                        and (last.size != size & BYTE or size >= LISTED)
                        and type(result) is str
                    )
                else:
                    far = unlike(last.calls[0], Call(name, args, result))
                if not (far and (what or (type(args) is dict and ASKED.isdisjoint(args)))) and may_be_alike(
                    last.calls[0], Call(name, row.args, result)
                ):
                    break
        else:
            name = sys.intern(name)  # the key is held for as long as the run is
            if len(trails) >= TOOLS:
                del trails[next(iter(trails))]
        # nothing is changed above, everything below: the turn is a usual one
        if not plain:
            action = Action(ident, (ident,), row.calls, "", args=args, turn=number)
        elif source is not None and type(result) is str and row.place >= 0:
            action = Late(ident, number, source, row.place, head, tail, size & BYTE)
        else:
            action = row
            row.ident, row.turn, row.run, row.ts, row.model = ident, number, None, None, None
        ring[number % reach] = newest[ident] = trails[name] = action
        if before is not None:
            action.before = before
            tracker.differs(name, action)
        if time is None:
            waits.append(0.0)
        else:
            if started is None:
                started = time
            elif ended is not None and time - ended > gap[0]:
                gap = (time - ended, number)
            if not ended or time > ended:
                ended = time
            waits.append(time - started)
        if (what & _SHELL or not plain) and _shown(tracker, what, args, action):
            break
        if number == last_in_part:
            break
    if action is not None:
        look.number, look.started, look.ended, look.gap, look.last = action.turn, started, ended, gap, action
    return waits


def _shown(tracker: Tracker, what: int, args: Any, action: Any) -> bool:
    """Show a turn to the rules on shells and files; whether one of them has something going on then."""
    watch = tracker.watch
    assert watch is not None
    tracker.turn = tracker.detector.turn = watch.turn = action.turn
    if what & _SHELL:
        watch.shell(action.calls[0], action, action)
    elif what and type(args) is dict and not PATHS.isdisjoint(args):
        watch.file(what, args, action)
    return not tracker.calm()
