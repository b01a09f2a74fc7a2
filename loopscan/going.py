"""Runs in an episode that goes on, line by line as in the turns before: of these only the numbers are noted.

A turn that repeats call and result of the one a period before can neither end its episode nor begin another. Its
content is that of the block; it is read again from the log where somebody asks for it.
"""

from __future__ import annotations

from math import isnan
from struct import Struct
from typing import TYPE_CHECKING, Any, Final

import msgspec
import orjson

from loopscan.late import Late, marks_of
from loopscan.run import USUAL
from loopscan.series import PART

if TYPE_CHECKING:
    from loopscan.late import Source
    from loopscan.run import Run

_TURN: Final = Struct("<qdII")
"""A turn: place of its line, time (nan = none), input and output tokens."""
_MOST: Final = 1000
"""Turns that are noted before they are taken."""
_LONG: Final = 10_000
"""Characters of a block's results that are held at most."""


class Going(msgspec.Struct, gc=False):
    """A run in an open episode.

    `model`, `most`, `since`, `until`: model, longest prompt and times under which its price holds. `block`: hash of
    the call and result of each turn, the next one first; `highest`: number that the log gives the last turn; `room`:
    turns that may be noted; `turns`: one `_TURN` after the other.
    """

    run: str
    source: Source
    model: str | None
    most: int
    since: float
    until: float
    block: list[tuple[int, str]]
    highest: float
    room: int
    turns: bytearray = msgspec.field(default_factory=bytearray)

    @property
    def number(self) -> int:
        """Turns so far."""
        return len(self.turns) // _TURN.size

    def place(self, turn: int) -> int:
        """The place of a turn, counted from 0."""
        place: int = _TURN.unpack_from(self.turns, turn * _TURN.size)[0]
        return place


def going(run: Run, source: Source, highest: float) -> Going | None:
    """A run whose next turns may only be noted; None where something else may come of them."""
    tracker, ledger = run.progress.tracker, run.ledger
    episode = tracker.repetition
    if episode is None or not run.quick or run.over or run.prompt is not None or run.nap is not None:
        return None
    if run.model_now != ledger.model:
        return None
    block = _block(run, episode.period)
    if block is None:
        return None
    most = ledger.terms.most
    if run.full is None and run.limit is not None and run.limit <= most:
        most = run.limit - 1
    room = min(_MOST, PART - run.turns % PART)
    return Going(run.id, source, ledger.model, most, ledger.since, ledger.until, block, highest, room)


def _block(run: Run, period: int) -> list[tuple[int, str]] | None:
    """The block of an open episode, from its next turn on; None where it is more than calls that got text."""
    tracker, block, size = run.progress.tracker, list[tuple[int, str]](), 0
    ends = tracker.detector.turn
    for turn in range(ends - period + 1, ends + 1):
        action: Any = tracker.detector.at(turn)
        if action is None or len(action.calls) != 1:
            return None
        call = action.calls[0]
        if call.error or action.error or type(call.args) is not dict or type(call.result) is not str:
            return None
        size += len(call.result)
        try:
            text = orjson.dumps(call.args, None, orjson.OPT_SORT_KEYS)
        except orjson.JSONEncodeError:
            return None
        block.append((hash((call.name, text)), call.result))
    at = (run.turns - ends) % period
    return block[at:] + block[:at] if size <= _LONG else None


def went_on(run: Run, noted: Going, count: int) -> None:
    """Take the first `count` of the turns that were noted of a run."""
    tracker, number = run.progress.tracker, run.turns
    started, ended, gap = run.started, run.ended, run.gap
    waits, sends, outputs = list[float](), list[int](), list[int]()
    for _, time, sent, output in _TURN.iter_unpack(memoryview(noted.turns)[: count * _TURN.size]):
        number += 1
        sends.append(sent)
        outputs.append(output)
        if isnan(time):
            waits.append(0.0)
            continue
        if started is None:
            started = time
        elif ended is not None and time - ended > gap[0]:
            gap = (time - ended, number)
        if not ended or time > ended:
            ended = time
        waits.append(time - started)
    ident, result = noted.block[(count - 1) % len(noted.block)]
    run.turns = number
    tracker.went_on(number)
    run.started, run.ended, run.gap, run.state, run.last = started, ended, gap, None, USUAL
    last: Any = Late(ident, number, noted.source, noted.place(count - 1), *marks_of(result))
    run.ledger.took(sends, outputs, waits, last)
    if not number % PART:
        run.ledger.pack()
