"""The outcome of a file out of those of the legs in which it was read."""

from __future__ import annotations

from array import array
from dataclasses import dataclass, field
from typing import Any

from loopscan.chunks import Stretch
from loopscan.finished import finished
from loopscan.joined import Cut
from loopscan.noted import Said
from loopscan.parcel import Reports
from loopscan.relay import Ran
from loopscan.shares import Outcome, Piece
from loopscan.skips import Skips
from loopscan.spliced import spliced
from loopscan.ties import Ties


@dataclass(slots=True)
class Relay(Cut):
    """An input that was read in legs. `ran`: what came of each, by its number; `told`: what came of all."""

    ran: dict[int, Ran] = field(default_factory=dict)
    told: Outcome | None = None

    def take(self, share: Any, lines: Any) -> None:
        """Take what came of a leg."""
        self.ran[share.at] = lines

    def stretches(self) -> list[Stretch] | None:
        """Nothing is to be read once more, or all of it (None)."""
        self.told = self._joined(whole=True)
        return None if self.told is None else []

    def outcome(self) -> Outcome | None:
        """What came of all; None where the legs do not tell it."""
        return self.told

    def begun(self) -> Outcome | None:
        """What is known where the scan was stopped."""
        return self._joined(whole=False)

    def _joined(self, whole: bool) -> Outcome | None:
        """What came of the legs that go on for one another, from the first on; of all, or (not `whole`) of some."""
        legs, at = list[Ran](), 0
        while (ran := self.ran.get(at)) is not None and ran.counted is not None:
            legs.append(ran)
            if ran.reached is None:
                return self._of(legs)
            at = ran.reached
        if ran is not None and ran.outcome is not None:
            return ran.outcome
        return None if whole or not legs else self._of(legs)

    def _of(self, legs: list[Ran]) -> Outcome | None:
        run = spliced([c for leg in legs if (c := leg.counted) is not None])
        if run is None or len({leg.ties.probe for leg in legs}) > 1:
            return None
        said, ids, lines = Said([], Skips()), set[int](), 0
        for leg in legs:
            first, last = leg.lines
            said.sayings += leg.said.moved(lines - first)
            lines += last - first
            said.rest.merge(leg.said.rest)
            ids.update(leg.ties.ids)
        piece = Piece(said, read=1, begun=Reports([finished(run)]))
        ties = Ties(array("q", ids), probe=legs[0].ties.probe)
        return Outcome({self.number: piece}, Piece(Said([], Skips())), ties)
