"""inside: repetition within one turn: one call many times in a reply, one line many times in a text."""

from __future__ import annotations

from collections import Counter
from typing import Final

from loopscan.key import Action
from loopscan.rules import outcome
from loopscan.rules.base import Rule, Run

CALLS: Final = 4
LINES: Final = 8
_LEAST: Final = 300
_MOST: Final = 1 << 20
"""Characters; no model writes more in one reply."""
_UNIT: Final = 30


class Inside(Rule):
    """One reply that asks for the same call four times and gets the same but for numbers; a text that ends in one piece
    played eight times, which fills half of it.

    Measured, hits beside the period rule: reports 1 (1 no other rule has), real runs 0, made cases 3 (3 no other
    rule has); false alarms 0 in 108 healthy runs.
    """

    NAME = "inside"
    __slots__ = ()

    def many(self, action: Action, run: Run) -> None:
        """A turn with several calls."""
        if len(action.calls) < CALLS:
            return
        ident, times = Counter(action.idents).most_common(1)[0]
        if times < CALLS:
            return
        same = [c for i, c in zip(action.idents, action.calls, strict=False) if i == ident]
        if len({outcome.masked(run.plain(c)) for c in same}) == 1:
            one = Action(ident, (ident,), same[:1], "", error=same[0].error)
            self.open(
                run, [one], turn=run.turn, first=run.turn, loop=hash(("inside", ident)), copies=times, error=one.error
            )

    def words(self, action: Action, run: Run) -> None:
        """A turn of words only."""
        times = repeated(action.text or "")
        if times:
            self.open(run, [action], turn=run.turn, first=run.turn, loop=hash(("inside", action.text)), copies=times)


def repeated(text: str) -> int:
    """How often the piece is played in which a text ends; 0 if it is no repetition."""
    text = text.rstrip()
    if not _LEAST <= len(text) <= _MOST:
        return 0
    unit = text[-_UNIT:]
    before = text.rfind(unit, 0, -1)
    if before < 0 or sum(c.isalpha() for c in unit) < 2:
        return 0
    size = len(text) - _UNIT - before
    piece = text[-size:]
    times, end = 1, len(text) - size
    while end >= size and text.startswith(piece, end - size):
        times, end = times + 1, end - size
    return times if times >= LINES and 2 * times * size >= len(text) else 0
