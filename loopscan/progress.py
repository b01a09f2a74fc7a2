"""no_progress while a run goes on: the period rule, and the repeat limit where one is set."""

from __future__ import annotations

from dataclasses import dataclass, field

from loopscan.episodes import Tracker
from loopscan.key import Action, Keyer
from loopscan.rules import Rulebook


@dataclass(slots=True)
class Progress:
    """Watches one run. `fired`: the turn at which no_progress fired first, `rule` the rule that fired.

    `repeat_limit` k: the same action k times in a row counts too, whatever its results (0 = off). `rules`: what makes
    episodes beside the period rule; they never move `fired`.
    """

    keyer: Keyer
    window: int = 20
    copies: int = 2
    repeat_limit: int = 0
    rules: Rulebook | None = None
    fired: int | None = None
    rule: str | None = None
    tracker: Tracker = field(init=False)
    _action: tuple[int, ...] = ()
    _times: int = 0

    def __post_init__(self) -> None:
        self.tracker = Tracker(self.keyer, self.window, self.copies, self.rules)

    def push(self, action: Action) -> None:
        """Take the next turn."""
        episode = self.tracker.push(action)
        if self.fired is None and episode is not None:
            self.fired, self.rule = episode.turn, episode.rule
        if self.repeat_limit:
            self._count(action)

    def _count(self, action: Action) -> None:
        same = bool(action.calls) and self._action == (idents := tuple(sorted(action.idents)))
        self._times = self._times + 1 if same else 1 if action.calls else 0
        self._action = idents if same else tuple(sorted(action.idents))
        if self.fired is None and action.calls and self._times >= self.repeat_limit:
            self.fired, self.rule = self.tracker.turn, "repeat_limit"

    def reason(self) -> str:
        """One line: which rule fired on what."""
        if self.rule == "repeat_limit":
            return f"the same action {self.repeat_limit} times in a row, results ignored"
        episodes = [e for e in self.tracker.episodes if e.rule == "period"]
        if not episodes:
            return "no repetition"
        first = episodes[0]
        names = ", ".join(str(e["name"] or "text") for e in first.block)
        return f"{names}: the same {first.period}-turn block {self.copies} times in a row"
