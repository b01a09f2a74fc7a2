"""What every rule needs: where it is called from, and how it opens an episode."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import ClassVar, Protocol

from loopscan.detector import Detector
from loopscan.episode import STUCK_COPIES, Episode, shown
from loopscan.key import Action, Keyer
from loopscan.model import Call


class Book(Protocol):
    """Keeps the episodes of a run (`loopscan.episodes.Tracker`)."""

    def found(self, episode: Episode) -> None:
        """Take a new episode."""

    def goes_on(self, episode: Episode) -> None:
        """An episode went on at the current turn."""


class Run(Protocol):
    """The run as a rule sees it (`loopscan.rules.watch.Watch`)."""

    turn: int
    keyer: Keyer
    detector: Detector
    book: Book

    def plain(self, call: Call) -> str:
        """The text of a call's result without its wrapper and volatile parts."""

    def reads(self, call: Call) -> bool:
        """Whether a call asks for something and changes nothing."""

    def changes(self, call: Call) -> bool:
        """Whether a call may have changed something."""

    def edits(self, call: Call) -> bool:
        """Whether a call edits what it is pointed at."""


class Rule:
    """A rule of one run. `episode`: the one that may still go on."""

    __slots__ = ("episode",)

    NAME: ClassVar[str]
    AFTER_READING: ClassVar[bool] = False
    """A write says something only after a read that the rule saw."""
    AFTER_WRITING: ClassVar[bool] = False
    """A read says something only after a write that the rule saw."""

    def __init__(self) -> None:
        self.episode: Episode | None = None

    def past(self, turn: int) -> bool:
        """Whether nothing that the rule holds beside its episode says anything of a turn behind this one."""
        return False

    def going(self, run: Run, loop: int, silence: int) -> Episode | None:
        """The rule's episode of this loop if it was last seen at most `silence` turns ago."""
        episode = self.episode
        if episode is None or episode.loop != loop or run.turn - episode.last > silence + 1:
            return None
        return episode

    def open(
        self,
        run: Run,
        actions: Iterable[Action],
        *,
        turn: int,
        first: int,
        loop: int,
        copies: int | None = None,
        period: int = 1,
        tool: str | None = None,
        idents: Sequence[int] = (),
        pause: int = 0,
        sure: int = STUCK_COPIES,
        error: bool = False,
    ) -> Episode:
        """Open an episode that reached the current turn."""
        self.episode = Episode(
            self.NAME, period, turn, first, run.turn, shown(actions), loop, [loop], list(idents), error=error,
            count=copies, tool=tool, pause=pause, sure=sure,
        )  # fmt: skip
        run.book.found(self.episode)
        return self.episode

    def extend(self, run: Run, episode: Episode, copies: int | None = None) -> None:
        """The episode went on at the current turn."""
        episode.pause = max(episode.pause, run.turn - episode.last - 1)
        if copies is not None:
            episode.count = copies
        run.book.goes_on(episode)
