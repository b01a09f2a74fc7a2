"""A usual turn as its line was decoded: one call with a result, its tokens, its time.

It can stand in the window in the place of an `Action`.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated, Any

import msgspec

from loopscan.model import MISSING, Call, Turn, Usage

if TYPE_CHECKING:
    from loopscan.key import Keyer

Never = Annotated[int, msgspec.Meta(gt=1, lt=1)]
"""The type of a field that a line does not have: no value is of it."""

Row = Any
"""A `Usual` with the fields of its log: `run`, `number` (of the turn), `ts`, `model`, `name`, `args`, `result`,
`error`, `sent`, `output`."""


class Plain(msgspec.Struct, gc=False):
    """What every usual turn has in common: no words beside its call, no failure."""

    @property
    def text(self) -> str:
        """No words beside the call."""
        return ""

    @property
    def fault(self) -> object:
        """No failure."""
        return MISSING

    @property
    def written(self) -> None:
        """Not recorded."""

    @property
    def idents(self: Any) -> tuple[int, ...]:
        """The ident of its call."""
        return (self.ident,)

    def keyed(self, keyer: Keyer) -> int:
        """See `Action.keyed`."""
        mine: Any = self
        if mine.key is None:
            mine.key = keyer.outcome(mine)
        key: int = mine.key
        return key


class Usual(Plain, gc=False, kw_only=True, rename=lambda name: f"<{name}>"):
    """What an `Action` has, of a line that is one. See there; what is None here is filled in by the window.

    `line`: number of its line; `place`: where that begins, -1 where it cannot be read again.
    """

    ident: Never = 0
    turn: Never = 0
    before: None = None
    key: None = None
    rough: None = None
    made: None = None
    line: Never = 0
    place: Never = -1

    @property
    def calls(self: Row) -> list[Call]:
        """Its call."""
        if self.made is None:
            self.made = [Call(self.name, self.args, self.result, self.error is True)]
        calls: list[Call] = self.made
        return calls


def turn_of(row: Row, run: str, time: float | None) -> Turn:
    """A row as the turn that it is."""
    return Turn(run, row.calls, "", False, MISSING, Usage(row.sent, row.output), row.model, time)
