"""An episode of repetition: what repeated, from where to where, and the verdict on it."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field
from operator import attrgetter
from typing import Any, Final

from loopscan.decode import canonical
from loopscan.key import Action
from loopscan.model import JSON, MISSING

VERDICTS: Final = ("clean", "recovered", "waited", "suspect", "stuck")
"""From best to worst."""

STUCK_COPIES: Final = 4
"""Measured on hand-read runs: 2 copies are truly stuck in 39 % of cases, 3 in 65 %, 4 in 80 %, 5 in 100 %."""


@dataclass(slots=True)
class Episode:
    """One maximal stretch of repetition: turns `first`..`last`, complete for the first time at turn `turn`.

    `loop`: hash of the actions of its block; `keys`: the block's keys in order; `outcomes`: ident of a call -> the
    results seen in the block. `block` is what to show: one entry per call (or text) of the block. `count`: copies,
    where they do not follow from the span. `tool`: a good call of it that does not go on with the episode leaves it.
    `pause`: turns of other work between two copies, at most, while it went on. `sure`: copies from which it is stuck.
    """

    rule: str
    period: int
    turn: int
    first: int
    last: int
    block: list[dict[str, JSON]]
    loop: int = 0
    keys: list[int] = field(default_factory=list)
    idents: list[int] = field(default_factory=list)
    outcomes: dict[int, set[int]] = field(default_factory=dict)
    error: bool = False
    left_at: int | None = None
    changed: bool = False
    again: bool = False
    """The same loop with the same results was met once more later."""
    count: int | None = None
    tool: str | None = None
    pause: int = 0
    sure: int = STUCK_COPIES
    texts: int = 0
    """Other texts after an episode of texts."""

    @property
    def copies(self) -> int:
        """Whole copies of the block."""
        return (self.last - self.first + 1) // self.period if self.count is None else self.count

    def repeats(self, earlier: Episode) -> bool:
        """Whether it is of the same loop with the same results as an earlier one."""
        return self.loop == earlier.loop and self.rule == earlier.rule and set(self.keys) == set(earlier.keys)

    @property
    def left(self) -> bool:
        """Whether the run got out of it."""
        return self.left_at is not None and not self.again

    @property
    def terminal(self) -> bool:
        """Whether the run ended in it."""
        return self.left_at is None

    @property
    def verdict(self) -> str:
        """`waited`, `recovered`, `suspect` or `stuck`."""
        if self.left:
            return "waited" if self.changed and not self.error else "recovered"
        return "stuck" if self.copies >= self.sure else "suspect"

    def __reduce__(self) -> tuple[Any, ...]:
        """Packed without the names of its fields, which take longer than what they hold."""
        return Episode, _held(self)


_held: Final = attrgetter(*Episode.__match_args__)


def worst(episodes: Iterable[Episode]) -> str:
    """The worst verdict among episodes; `clean` without any."""
    return max((e.verdict for e in episodes), key=VERDICTS.index, default="clean")


_SHOWN_CHARS: Final = 2000


def shown(actions: Iterable[Action]) -> list[dict[str, JSON]]:
    """The block for people: name and arguments per call, or the text; long ones are cut."""
    entries: list[dict[str, JSON]] = []
    for action in actions:
        if not action.calls:
            words = action.text or "" if action.fault is MISSING else f"failed: {_short(action.fault)}"
            entries.append({"name": None, "text": words[:_SHOWN_CHARS]})
        entries += [{"name": c.name, "args": _short(c.args)} for c in action.calls]
    return entries


def _short(value: JSON) -> JSON:
    if isinstance(value, str):
        return value if len(value) <= _SHOWN_CHARS else value[:_SHOWN_CHARS] + " …"
    text = canonical(value)
    return value if len(text) <= _SHOWN_CHARS else text[:_SHOWN_CHARS].decode(errors="ignore") + " …"
