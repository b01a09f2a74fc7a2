"""Runs of nothing but usual turns so far.

Most runs of most logs are quiet from their first turn to their last: they need no detector, no rules and no ledger of
their own, only the window and a few numbers a turn. What was not seen for long is packed until it is again.
"""

from __future__ import annotations

import sys
from array import array
from typing import TYPE_CHECKING, Any, Final

import msgspec

from loopscan.detector import STALE
from loopscan.formats._fields import when
from loopscan.key import Action
from loopscan.late import Late, Source
from loopscan.model import Call
from loopscan.money import PRICE_SPAN
from loopscan.part import Part, priced
from loopscan.row import Row
from loopscan.rows import Look, usual
from loopscan.rules import REACH
from loopscan.spill import Spill
from loopscan.terms import Terms, terms_of

if TYPE_CHECKING:
    from loopscan.key import Keyer
    from loopscan.money import PriceBook
    from loopscan.settings import Settings

_NUMBERS: Final = 6
"""Of a turn whose content can be read again: ident, turn, place, and head, tail and size of its result."""


class Packed(msgspec.Struct, gc=False):
    """A quiet run that was put away: the numbers of its turns, its window as MessagePack, the names of its trails."""

    part: Part
    window: bytes | int
    size: int
    trails: tuple[str, ...]


class Quiet(Look, gc=False, kw_only=True):
    """A run of usual turns. `name`: where it was read, as shown; `touched`: turns of the scan when it was seen last.

    `sent`, `output`: tokens, `elapsed`: seconds since its first turn, of each turn. `terms`: what its sends cost.
    """

    run: str
    name: str
    source: Source | None
    terms: Terms
    sent: array[int]
    output: array[int]
    elapsed: array[float]
    touched: int = 0
    packed: Packed | None = None

    def take(self, rows: list[Row], keyer: Keyer) -> int:
        """Take usual turns; how many of the rows they are."""
        waits = usual(self, rows, 0, self.source, keyer, None)
        count = len(waits)
        if count == 1:  # as where the runs of a log are mixed
            self.sent.append(rows[0].sent)
            self.output.append(rows[0].output)
            self.elapsed.append(waits[0])
        elif count:
            taken = rows if count == len(rows) else rows[:count]
            self.sent.extend([r.sent for r in taken])
            self.output.extend([r.output for r in taken])
            self.elapsed.extend(waits)
        if len(self.newest) > STALE * self.reach:
            least = self.number - self.reach
            self.newest = {i: s for i, s in self.newest.items() if s.turn > least}
        return count

    def part(self, spill: Spill) -> Part:
        """The numbers of its turns."""
        if self.packed is not None:
            return self.packed.part
        return priced(self.sent, self.output, self.elapsed, (self.terms.input, self.terms.output), spill)

    def pack(self, spill: Spill) -> None:
        """Put the run away until it is seen again; as it is where its content cannot be written."""
        stood = range(self.number - self.reach + 1, self.number + 1)
        window = [a for t in stood if (a := self.ring[t % self.reach])]
        window += [a for a in self.trails.values() if a.turn not in stood]
        numbers = [v for a in window if type(a) is Late for v in (a.ident, a.turn, a.place, a.head, a.tail, a.size)]
        whole = [(a.ident, a.turn, c.name, c.args, c.result) for a in window if type(a) is not Late for c in a.calls]
        try:
            data = _encode((numbers, whole, [a.turn for a in self.trails.values()]))
        except (msgspec.MsgspecError, ValueError, OverflowError, RecursionError):
            return
        trails = tuple([sys.intern(name) for name in self.trails])
        self.packed = Packed(self.part(spill), spill.keep(data), len(data), trails)
        self.ring, self.newest, self.trails, self.last = [], {}, {}, None
        self.sent = self.output = self.elapsed = _EMPTY

    def unpack(self, spill: Spill) -> None:
        """Take the run out again."""
        packed = self.packed
        if packed is None:
            return
        numbers, whole, turns = _decode(spill.load(packed.window, packed.size))
        found: dict[int, Any] = {}
        source: Any = self.source  # there is one where there are numbers
        for i in range(0, len(numbers), _NUMBERS):
            ident, turn, place, head, tail, size = numbers[i : i + _NUMBERS]
            found[turn] = Late(ident, turn, source, place, head, tail, size)
        for ident, turn, name, args, result in whole:
            found[turn] = Action(ident, (ident,), [Call(name, args, result)], "", args=args, turn=turn)
        self.ring = [None] * self.reach
        for turn in sorted(found):
            if turn > self.number - self.reach:
                self.ring[turn % self.reach] = self.newest[found[turn].ident] = self.last = found[turn]
        self.trails = {name: found[turn] for name, turn in zip(packed.trails, turns, strict=True)}
        sent, output, _, elapsed = packed.part.columns(spill)
        self.sent, self.output, self.elapsed = array("I", sent), array("I", output), array("d", elapsed)
        self.packed = None


_EMPTY: Final[array[Any]] = array("I")
_encode: Final = msgspec.msgpack.encode
_decode: Final = msgspec.msgpack.decode


def quiet(row: Row, run: str, name: str, source: Source | None, settings: Settings, prices: PriceBook) -> Quiet:
    """A run that starts with a row, which is not taken yet."""
    time = None if row.ts is None else when(row.ts)
    terms = terms_of(prices.find(row.model, time))
    limit = settings.context_window or prices.window(row.model)
    most = terms.most if limit is None or limit > terms.most else limit - 1
    since = (time or 0.0) // PRICE_SPAN * PRICE_SPAN
    reach = max(settings.window, REACH)
    return Quiet(
        [None] * reach, {}, reach, {}, 0, row.model, most, since, since + PRICE_SPAN,
        run=run, name=name, source=source, terms=terms, sent=array("I"), output=array("I"), elapsed=array("d"),
    )  # fmt: skip
