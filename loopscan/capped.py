"""The exits that fire on a run of one price, straight from the columns of its turns."""

from __future__ import annotations

from operator import attrgetter
from typing import TYPE_CHECKING, Final

from loopscan.compiled import compiled
from loopscan.fired import Fired
from loopscan.money import CLOSING_OUTPUT
from loopscan.price import nearest
from loopscan.series import MOST

if TYPE_CHECKING:
    from loopscan.exits import Caps
    from loopscan.part import Part
    from loopscan.price import Rate
    from loopscan.spill import Spill

_CAPS: Final = ("turn_cap", "token_cap", "cost_cap", "time_cap")
_TURN: Final = attrgetter("turn")


def capped(part: Part, rate: Rate | None, caps: Caps, spill: Spill) -> list[Fired] | None:
    """What `loopscan.fired.evaluate` finds on a run that is not done and of which nothing but caps is reached.

    `part`: all its turns, of tokens of 32 bits under its `rates`; `rate`: picodollars of an output token, None without
    a price. None where nothing is compiled, or sums are absurd.
    """
    made = compiled()
    if made is None or part.usd > MOST or part.input + part.output > MOST:
        return None
    turns, exits = part.turns, list[Fired]()
    data = spill.load(part.kept, part.size)
    found = made.reached(data, turns, part.rates, caps.turns, caps.tokens, caps.usd, caps.seconds)
    for name, place in zip(_CAPS, found, strict=True):
        if place is None:
            continue
        turn, usd, sent, written = place
        closing = None if rate is None or turn == turns else _closing(sent, written, part.rates, rate)
        exits.append(Fired(name, turn, turn, usd, turns - turn, part.usd - usd, False, None, closing))
    exits.sort(key=_TURN)
    return exits


def _closing(sent: int, written: int, rates: tuple[int, int], rate: Rate) -> int | None:
    """See `loopscan.money.closing_call`; tokens of the next turn."""
    usd = sent * rates[0] + written * rates[1]
    if sent and not usd and rate:
        return None
    return max(0, usd - nearest(written * rate)) + nearest(CLOSING_OUTPUT * rate)
