"""A run to look at: what `loopscan show` renders."""

from __future__ import annotations

from dataclasses import dataclass, field

from loopscan.episodes import Episode
from loopscan.recall import Said
from loopscan.report import Report, RunReport


@dataclass(slots=True)
class Step:
    """One turn as it is shown. `more`: its different calls beyond those in `said`; `line`: where the log has it."""

    turn: int
    line: int
    time: float | None
    said: list[Said]
    idents: tuple[int, ...] = ()
    more: int = 0


@dataclass(slots=True)
class View:
    """A run, the episodes that are marked (the headline first), the turns that are shown, in order.

    `changed_at`: the first turn after the headline at which a call of its block returned something new. `report`: the
    scan that the run is from.
    """

    run: RunReport
    report: Report
    marked: list[Episode]
    steps: list[Step] = field(default_factory=list)
    changed_at: int | None = None

    def label(self, episode: Episode) -> str:
        """The letter of a marked episode."""
        return chr(ord("A") + next(i for i, e in enumerate(self.marked) if e is episode))

    def left_out(self) -> list[tuple[int, int]]:
        """First and last turn of each stretch that is not shown."""
        gaps, before = [], 0
        for turn in [*(s.turn for s in self.steps), self.run.turns + 1]:
            if turn - before > 1:
                gaps.append((before + 1, turn - 1))
            before = turn
        return gaps

    def usd(self, first: int, last: int) -> int | None:
        """Picodollars of some turns; None where the run has no prices."""
        return None if self.run.unpriced else self.run.series.between(first - 1, last)[3]

    def tokens(self, first: int, last: int) -> tuple[int, int]:
        """Input and output tokens of some turns."""
        return self.run.series.between(first - 1, last)[1:3]


def place(episode: Episode, step: Step) -> tuple[int, int] | None:
    """Copy and position in it, from 1, of a turn of an episode; (0, 0) where copies have no fixed place.

    None: the turn is no part of it, or is other work between two copies.
    """
    if not episode.first <= step.turn <= episode.last:
        return None
    if episode.count is None:
        copy, position = divmod(step.turn - episode.first, episode.period)
        return copy + 1, position + 1
    known = bool(episode.idents or episode.tool)
    own = not known or any(i in episode.idents for i in step.idents) or any(s.name == episode.tool for s in step.said)
    return (0, 0) if own else None
