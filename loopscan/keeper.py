"""What the quiet runs of a scan are told of, and by whom."""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING, Any, Protocol

if TYPE_CHECKING:
    from loopscan.going import Going
    from loopscan.late import Source
    from loopscan.money import PriceBook
    from loopscan.quiet import Quiet
    from loopscan.settings import Settings
    from loopscan.spill import Spill


class Keeper(Protocol):
    """Who keeps all runs."""

    settings: Settings
    prices: PriceBook
    spill: Spill

    def full(self, format_name: str) -> dict[str, Any] | None:
        """The runs of a format that are more than quiet, by id, always the same table; None = there is `wants`, too."""

    def wants(self, run: str, format_name: str) -> bool:
        """Whether a run is asked for that is none of those."""

    def start(self, begun: Iterable[Quiet], format_name: str) -> None:
        """The first turns of quiet runs are over."""

    def wakes(self, state: Quiet, format_name: str) -> None:
        """A run is quiet no longer."""

    def repeats(self, run: str, format_name: str, source: Source, highest: float) -> Going | None:
        """See `loopscan.going`: the run as it stands, where its next turns may only be noted."""

    def held_at(self, run: str, format_name: str, source: Source) -> list[int]:
        """Where the lines of what the window of a run holds are in that log, of a run that is not quiet."""

    def repeated(self, run: str, format_name: str, noted: Going, count: int) -> None:
        """So many of those turns are there."""
