"""Episodes of repetition, and what hindsight says of them.

`Tracker` follows one run: where the period rule fires it opens an episode, extends it while each key equals the one
a period before, then restarts the window. Later turns decide the verdict of each episode (DESIGN section 3).
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Final

from loopscan.decode import canonical
from loopscan.detector import Detector
from loopscan.key import Action, Keyer
from loopscan.model import JSON, MISSING

VERDICTS: Final = ("clean", "recovered", "waited", "suspect", "stuck")
"""From best to worst."""

STUCK_COPIES: Final = 4
"""Measured on hand-read runs: 2 copies are truly stuck in 39 % of cases, 3 in 65 %, 4 in 80 %, 5 in 100 %."""

MAX_EPISODES: Final = 1000
_SHOWN_CHARS: Final = 2000


@dataclass(slots=True)
class Episode:
    """One maximal stretch of repetition: turns `first`..`last`, seen at turn `turn`.

    `loop`: hash of the actions of its block; `keys`: the block's keys in order; `outcomes`: ident of a call ->
    the results seen in the block. `block` is what to show: one entry per call (or text) of the block.
    """

    rule: str
    period: int
    turn: int
    first: int
    last: int
    block: list[dict[str, JSON]]
    loop: int
    keys: list[int]
    idents: list[int]
    outcomes: dict[int, set[int]]
    error: bool
    left_at: int | None = None
    changed: bool = False
    again: bool = False
    """The same loop with the same results was met once more later."""

    @property
    def copies(self) -> int:
        """Whole copies of the block."""
        return (self.last - self.first + 1) // self.period

    @property
    def left(self) -> bool:
        """Whether the run got out of it."""
        return self.left_at is not None and not self.again

    @property
    def verdict(self) -> str:
        """`waited`, `recovered`, `suspect` or `stuck`."""
        if self.left:
            return "waited" if self.changed and not self.error else "recovered"
        return "stuck" if self.copies >= STUCK_COPIES else "suspect"


def shown(actions: list[Action]) -> list[dict[str, JSON]]:
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


@dataclass(slots=True)
class Tracker:
    """The episodes of one run, turn by turn."""

    keyer: Keyer
    window: int = 20
    copies: int = 2
    turn: int = 0
    episodes: list[Episode] = field(default_factory=list)
    dropped: int = 0
    """Episodes beyond `MAX_EPISODES`, counted only."""
    _detector: Detector = field(init=False)
    _open: Episode | None = None
    _unleft: list[Episode] = field(default_factory=list)
    _watch: dict[int, list[Episode]] = field(default_factory=dict)

    def __post_init__(self) -> None:
        self._detector = Detector(self.keyer, self.window, self.copies)

    def push(self, action: Action) -> Episode | None:
        """Take the next turn; the episode that starts to be one at this turn, if any."""
        self.turn += 1
        if self._open is not None:
            if self._goes_on(self._open, action):
                self._open.last = self.turn
                return None
            self._close(self._open)
        if self._unleft or self._watch:
            self._judge(action)
        period = self._detector.push(action)
        return self._start(period) if period else None

    def _goes_on(self, episode: Episode, action: Action) -> bool:
        at = (self.turn - episode.first) % episode.period
        return action.ident == episode.idents[at] and self.keyer.outcome(action) == episode.keys[at]

    def _start(self, period: int) -> Episode:
        block = self._detector.block(period)
        # the block as played from the first copy on: copies are whole, so the last copy is in the same order
        keys, actions = [key for key, _ in block], [action for _, action in block]
        outcomes: dict[int, set[int]] = {}
        for action in actions:
            for ident, call in zip(action.idents, action.calls, strict=False):
                outcomes.setdefault(ident, set()).add(self.keyer.call_outcome(ident, call))
        idents = [action.ident or 0 for action in actions]
        episode = Episode(
            rule="period",
            period=period,
            turn=self.turn,
            first=self.turn - self.copies * period + 1,
            last=self.turn,
            block=shown(actions),
            loop=hash(frozenset(i for a in actions for i in a.idents)),
            keys=keys,
            idents=idents,
            outcomes=outcomes,
            error=any(c.error for a in actions for c in a.calls) or any(a.error for a in actions),
        )
        self._open = episode
        for earlier in self.episodes:
            if earlier.loop == episode.loop and set(earlier.keys) == set(keys):
                earlier.again = True
        if len(self.episodes) < MAX_EPISODES:
            self.episodes.append(episode)
        else:
            self.dropped += 1
        return episode

    def _close(self, episode: Episode) -> None:
        self._open = None
        self._detector.clear()
        self._detector.turn = self.turn - 1
        self._unleft.append(episode)
        for ident in episode.outcomes:
            self._watch.setdefault(ident, []).append(episode)

    def _judge(self, action: Action) -> None:
        """What a turn after an episode says of it: was it left, did its call return something new."""
        for ident, call in zip(action.idents, action.calls, strict=False):
            for episode in self._watch.get(ident, ()):
                if not episode.changed and call.result is not MISSING:
                    episode.changed = self.keyer.call_outcome(ident, call) not in episode.outcomes[ident]
        self._unleft = [e for e in self._unleft if not self._leaves(e, action)]

    def _leaves(self, episode: Episode, action: Action) -> bool:
        if not action.calls:
            closing = not action.error and action.idents[0] not in episode.idents
            if closing and episode.copies < STUCK_COPIES and episode.left_at is None:
                episode.left_at = self.turn
                return True
            return False
        for ident, call in zip(action.idents, action.calls, strict=False):
            if call.error:
                continue
            inside = episode.outcomes.get(ident)
            if inside is None or (call.result is not MISSING and self.keyer.call_outcome(ident, call) not in inside):
                episode.left_at = self.turn
                return True
        return False


def worst(episodes: list[Episode]) -> str:
    """The worst verdict among episodes; `clean` without any."""
    return max((e.verdict for e in episodes), key=VERDICTS.index, default="clean")
