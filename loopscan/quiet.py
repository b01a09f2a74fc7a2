"""Runs of nothing but usual turns so far.

Most runs of most logs are quiet from their first turn to their last: they need no detector, no rules and no ledger of
their own, only a few bytes a turn. Content is read again from the log where somebody asks for it.
"""

from __future__ import annotations

from array import array
from itertools import pairwise
from math import isnan
from struct import Struct
from typing import TYPE_CHECKING, Any, Final

import msgspec

from loopscan.key import Action
from loopscan.late import Late, Source, marks_of
from loopscan.model import MISSING, Call
from loopscan.money import PRICE_SPAN
from loopscan.part import Part, priced
from loopscan.row import Row
from loopscan.rules import REACH
from loopscan.terms import Terms, terms_of

if TYPE_CHECKING:
    from loopscan.money import PriceBook
    from loopscan.settings import Settings
    from loopscan.spill import Spill

TURN: Final = Struct("<qqdIIHBBB")
"""A turn: ident, place of its line, time (nan = none), input and output tokens, the turn before of its tool (0 = none);
of its result head, tail and size as in `loopscan.late.Late`."""
SIZE: Final = TURN.size
_NUMBERS: Final = Struct("<16xdII5x")
SLOTS: Final = 127
"""Bits of an ident by which its turn is noted: what was not noted did not come before."""
MARKS: Final = 3
"""Bytes at the end of a turn, of its result."""


_NO_SLOTS: Final = array("H", bytes(2 * SLOTS + 2))


class Quiet(msgspec.Struct, gc=False):
    """A run of usual turns.

    `name`: where it was read, as shown; `format`: that of the log; `model`, `most`, `since`, `until`: model, longest
    prompt and times under which `terms` hold. `reach`: turns that are looked back. `first`, `line`: its first and last
    line, `log`: number of the log they stand in; `told`: the line by which its first turn is known to be over, None =
    the end; `highest`: number that it gives the last turn. `turns`: one `TURN` after another; `slots`: the last one by
    `SLOTS` of its ident; `trails`: by tool. `kept`: what the window holds where the log cannot be read again. `marks`:
    of lines, by `loopscan.formats._native_runs.mark`, where they are asked for.
    """

    run: str
    name: str
    format: str
    source: Source | None
    terms: Terms
    model: str | None
    most: int
    since: float
    until: float
    reach: int
    first: int
    log: int
    line: int = 0
    told: int | None = None
    highest: float = float("-inf")
    turns: bytearray = msgspec.field(default_factory=bytearray)
    slots: array[int] = msgspec.field(default_factory=_NO_SLOTS.__copy__)
    trails: dict[str, int] = {}
    kept: Kept | None = None
    marks: array[int] | None = None

    @property
    def number(self) -> int:
        """Turns so far."""
        return len(self.turns) // SIZE

    def priced_at(self, time: float, prices: PriceBook) -> bool:
        """Whether its price holds at a time (0 = not known), too; if so for how long."""
        if terms_of(prices.find(self.model, time or None)) is not self.terms:
            return False
        self.since = time // PRICE_SPAN * PRICE_SPAN
        self.until = self.since + PRICE_SPAN
        return True

    def numbers(self) -> tuple[array[int], array[int], array[float], Times]:
        """Input and output tokens and elapsed seconds of each turn; when they were."""
        times, sent, output = zip(*_NUMBERS.iter_unpack(self.turns), strict=True)
        seen = _times(times)
        return array("I", sent), array("I", output), seen.elapsed, seen

    def part(self, spill: Spill) -> tuple[Part, Times]:
        """The numbers of its turns, packed; when they were."""
        sent, output, elapsed, times = self.numbers()
        return priced(sent, output, elapsed, (self.terms.input, self.terms.output), spill), times

    def undo(self) -> Row | None:
        """Take the last turn back: its row, None where it can be read no more."""
        number = self.number
        _, place, _, _, _, before, head, tail, size = TURN.unpack_from(self.turns, (number - 1) * SIZE)
        if self.kept is not None:
            row = self.kept.last
        else:
            assert self.source is not None
            row = self.source.row(place)
            if row is not None:
                row.place = place
                row = row if type(row.result) is str and marks_of(row.result) == (head, tail, size) else None
        del self.turns[-SIZE:]
        name = next(name for name, turn in self.trails.items() if turn == number)
        if before:
            self.trails[name] = before
        else:
            del self.trails[name]
        return row

    @property
    def wanted(self) -> set[int]:
        """The turns whose content may be asked for."""
        return {*range(max(1, self.number - self.reach + 1), self.number + 1), *self.trails.values()}

    def call(self, turn: int, spill: Spill) -> Call | None:
        """The call of a turn; None where it can be read no more."""
        if self.kept is not None:
            return self.kept.calls(spill)[turn]
        call = self.late(turn).calls[0]
        return None if call.result is MISSING else call

    def late(self, turn: int) -> Late:
        """A turn of a log that can be read again."""
        ident, place, _, _, _, _, head, tail, size = TURN.unpack_from(self.turns, (turn - 1) * SIZE)
        assert self.source is not None
        return Late(ident, turn, self.source, place, head, tail, size)

    def window(self, spill: Spill) -> tuple[list[Any], dict[int, Any], dict[str, Any]]:
        """Ring and newest turns of a detector, trails of a watch."""
        calls = None if self.kept is None else self.kept.calls(spill)
        ring: list[Any] = [None] * self.reach
        newest, found = dict[int, Any](), dict[int, Any]()
        for turn in sorted(self.wanted):
            if calls is None:
                made: Any = self.late(turn)
            else:
                ident, call = TURN.unpack_from(self.turns, (turn - 1) * SIZE)[0], calls[turn]
                made = Action(ident, (ident,), [call], "", args=call.args, turn=turn)
            found[turn] = made
            if turn > self.number - self.reach:
                ring[turn % self.reach] = newest[made.ident] = made
        return ring, newest, {name: found[turn] for name, turn in self.trails.items()}


class Kept(msgspec.Struct, gc=False):
    """Calls of a run by turn, the row of the last, and where those calls are that were put away."""

    near: dict[int, Call] = {}
    last: Row = None
    away: bytes | int | None = None
    size: int = 0

    def calls(self, spill: Spill) -> dict[int, Call]:
        """All of them."""
        if self.away is None:
            return self.near
        found = {turn: Call(*what) for turn, *what in _decode(spill.load(self.away, self.size))}
        return found | self.near

    def put_away(self, wanted: set[int], spill: Spill) -> None:
        """Put those that are wanted away, forget the others; they stay as they are where they cannot be written."""
        calls = {turn: call for turn, call in self.calls(spill).items() if turn in wanted}
        try:
            data = _encode([(turn, c.name, c.args, c.result) for turn, c in calls.items()])
        except (msgspec.MsgspecError, ValueError, OverflowError, RecursionError):
            self.near, self.away = calls, None
            return
        self.near, self.away, self.size = {}, spill.keep(data), len(data)


_encode: Final = msgspec.msgpack.encode
_decode: Final = msgspec.msgpack.decode


class Times(msgspec.Struct, gc=False):
    """When the turns of a run were: the first, the last, the longest pause and the turn behind it, seconds of each."""

    started: float | None
    ended: float | None
    gap: tuple[float, int]
    elapsed: array[float]


def _times(times: tuple[float, ...]) -> Times:
    """What `loopscan.run.Run` makes of the times, turn by turn."""
    pauses = [b - a for a, b in pairwise(times)]
    least = min(pauses, default=0.0)
    if least >= 0 and times[0] > 0 and not isnan(sum(pauses)):
        started, longest = times[0], max(pauses, default=0.0)
        gap = (longest, pauses.index(longest) + 2) if longest > 0 else (0.0, 0)
        return Times(started, times[-1], gap, array("d", [t - started for t in times]))
    return _times_in_disorder(times)


def _times_in_disorder(times: tuple[float, ...]) -> Times:
    seen = Times(None, None, (0.0, 0), array("d"))
    for number, time in enumerate(times, 1):
        if isnan(time):
            seen.elapsed.append(0.0)
            continue
        if seen.started is None:
            seen.started = time
        elif seen.ended is not None and time - seen.ended > seen.gap[0]:
            seen.gap = (time - seen.ended, number)
        if not seen.ended or time > seen.ended:
            seen.ended = time
        seen.elapsed.append(time - seen.started)
    return seen


class Pattern(msgspec.Struct, gc=False, frozen=True):
    """What runs of one model have in common that begin at about the same time: see `Quiet`."""

    model: str | None
    terms: Terms
    most: int
    since: float
    until: float
    reach: int


def pattern(model: str | None, time: float | None, settings: Settings, prices: PriceBook) -> Pattern:
    """That of a model and the time of a first turn."""
    terms = terms_of(prices.find(model, time))
    limit = settings.context_window or prices.window(model)
    most = terms.most if limit is None or limit > terms.most else limit - 1
    since = (time or 0.0) // PRICE_SPAN * PRICE_SPAN
    return Pattern(model, terms, most, since, since + PRICE_SPAN, max(settings.window, REACH))


def quiet(like: Pattern, run: str, line: int, name: str, format_name: str, source: Source | None, log: int) -> Quiet:
    """A run whose first turn, at `line`, is of that pattern; it is not taken yet."""
    state = Quiet(
        run, name, format_name, source, like.terms, like.model, like.most, like.since, like.until, like.reach, line, log
    )  # fmt: skip
    if source is None:
        state.kept = Kept()
    return state
