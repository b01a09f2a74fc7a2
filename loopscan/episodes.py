"""Episodes of repetition and their verdict, run by run.

`Tracker` follows one run: where the period rule fires it opens an episode, extends it while each key equals the one
a period before, then goes on behind it. The other rules (`loopscan.rules`) add episodes of what the period rule cannot
see. Later turns decide the verdict of each episode (`loopscan.hindsight`).
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Final

from loopscan import hindsight
from loopscan.blind import waiting
from loopscan.detector import Detector
from loopscan.episode import VERDICTS, Episode, shown, worst
from loopscan.key import Action, Keyer
from loopscan.model import MISSING
from loopscan.rules import REACH, Rulebook
from loopscan.rules.watch import Watch

__all__ = ["VERDICTS", "Episode", "Tracker", "shown", "worst"]

MAX_EPISODES: Final = 1000
ADVISED: Final = 3
"""Turns of waiting from which a better wait is advised."""


@dataclass(slots=True)
class Tracker:
    """The episodes of one run, turn by turn. `rules`: what to look for beside exact periods; None = nothing."""

    keyer: Keyer
    window: int = 20
    copies: int = 2
    rules: Rulebook | None = None
    turn: int = 0
    episodes: list[Episode] = field(default_factory=list)
    dropped: int = 0
    """Episodes beyond `MAX_EPISODES`, counted only."""
    detector: Detector = field(init=False)
    watch: Watch | None = None
    _open: Episode | None = None
    _listed: bool = True
    _unleft: list[Episode] = field(default_factory=list)
    _waited: dict[int, list[Episode]] = field(default_factory=dict)

    def __post_init__(self) -> None:
        self.detector = Detector(self.keyer, self.window, self.copies, reach=REACH if self.rules else 0)
        if self.rules is not None:
            self.watch = Watch(self.keyer, self.rules, self.detector, self)

    def calm(self) -> bool:
        """Whether nothing is going on that the next turn could go on with, end or change."""
        return not (self._open or self._unleft or self._waited or self.detector.runs)

    @property
    def repetition(self) -> Episode | None:
        """The episode of the period rule that is open."""
        return self._open

    def went_on(self, turn: int) -> None:
        """The open episode went on up to a turn."""
        assert self._open is not None
        self.turn = self._open.last = turn

    def push(self, action: Action) -> Episode | None:
        """Take the next turn; the episode of the period rule that starts to be one at this turn, if any."""
        self.turn += 1
        if self._open is not None:
            if self._goes_on(self._open, action):
                self._open.last = self.turn
                return None
            self._close(self._open)
        last = self.detector.last
        if last is not None and last.before is not None and self.watch is not None:
            self.watch.catch_up()
        period = self.detector.push(action)
        if self.watch is not None:
            self.watch.push(action, self.detector.last, self.turn)
        if self._unleft or self._waited:
            self._judge(action)
        return self._start(period) if period else None

    def differs(self, tool: str, seen: Action) -> None:
        """Take note of a turn of the window that came back with another result (`loopscan.rules.apart`)."""
        self.detector.cut(seen)
        if self.watch is not None:
            self.watch.differs(tool)

    def _goes_on(self, episode: Episode, action: Action) -> bool:
        at = (self.turn - episode.first) % episode.period
        return action.ident == episode.idents[at] and self.keyer.outcome(action) == episode.keys[at]

    def _start(self, period: int) -> Episode:
        # the block as played from the first copy on: copies are whole, so the last copy is in the same order
        block = self.detector.block(period)
        keys, actions = [key for key, _ in block], [action for _, action in block]
        outcomes: dict[int, set[int]] = {}
        for action in actions:
            for ident, call in zip(action.idents, action.calls, strict=False):
                outcomes.setdefault(ident, set()).add(self.keyer.call_outcome(ident, call))
        episode = Episode(
            rule="period",
            period=period,
            turn=self.turn,
            first=self.turn - self.copies * period + 1,
            last=self.turn,
            block=shown(actions),
            loop=hash(frozenset(i for a in actions for i in a.idents)),
            keys=keys,
            idents=[action.ident or 0 for action in actions],
            outcomes=outcomes,
            error=any(c.error for a in actions for c in a.calls) or any(a.error for a in actions),
            changed=self._only_polls(actions),
        )
        self._open, self._listed = episode, self._add(episode)
        return episode

    def _only_polls(self, actions: list[Action]) -> bool:
        tools, calls = self.keyer.tools, [c for a in actions for c in a.calls]
        return bool(tools and calls) and all((t := tools.get(c.name)) is not None and bool(t.poll) for c in calls)

    def told(self) -> list[Episode]:
        """The episodes in the order of their firing turns."""
        return sorted(self.episodes, key=lambda e: e.turn) if self.episodes else []

    def notes(self) -> list[str]:
        """What is to be said beside the episodes: what was left out, what hides repetition, what waiting cost."""
        if not self.episodes and (self.watch is None or self.watch.blind is None):
            return []
        lines = [f"{self.dropped} further episodes not listed"] if self.dropped else []
        patient = [e for e in self.episodes if e.verdict == "waited"]
        turns = sum(e.last - e.turn for e in patient)
        if turns >= ADVISED:
            lines.append(waiting([str(b["name"]) for e in patient for b in e.block if b["name"] is not None], turns))
        blind = self.watch.blind if self.watch is not None else None
        return lines + (blind.notes() if blind is not None else [])

    def _add(self, episode: Episode) -> bool:
        """List an episode; beyond `MAX_EPISODES` it is only counted, and False."""
        for earlier in self.episodes:
            if episode.repeats(earlier):
                earlier.again = True
        if len(self.episodes) >= MAX_EPISODES:
            self.dropped += 1
            return False
        self.episodes.append(episode)
        return True

    def _close(self, episode: Episode) -> None:
        self._open = None
        self.detector.restart(self.turn - 1)
        if not self._listed:
            return
        self._unleft.append(episode)
        for ident in episode.outcomes:
            self._waited.setdefault(ident, []).append(episode)

    def found(self, episode: Episode) -> None:
        """Take an episode that a rule found."""
        if self._add(episode):
            self._unleft.append(episode)

    def goes_on(self, episode: Episode) -> None:
        """A rule saw its episode go on at this turn."""
        if episode.last < self.turn:
            episode.last = self.turn
            episode.left_at = None
            if not any(e is episode for e in self._unleft):
                self._unleft.append(episode)

    def _judge(self, action: Action) -> None:
        """What a turn says of the episodes before it: was one left, did its call return something new."""
        for ident, call in zip(action.idents, action.calls, strict=False):
            waited = self._waited.get(ident)
            if waited and call.result is not MISSING:
                outcome = self.keyer.call_outcome(ident, call)
                for episode in waited:
                    episode.changed = episode.changed or outcome not in episode.outcomes[ident]
                self._waited[ident] = [e for e in waited if not e.changed]
        turn, keyer = self.turn, self.keyer
        self._unleft = [e for e in self._unleft if e.last == turn or not hindsight.leaves(e, turn, action, keyer)]
