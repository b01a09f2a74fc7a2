"""text: turns without a call that say the same in other words, announce what never comes, or only thank each other."""

from __future__ import annotations

import re
from typing import Final

from loopscan.key import Action
from loopscan.rules import wording
from loopscan.rules.base import Rule, Run

COPIES: Final = 4
_SHORT: Final = 16
_ANNOUNCED: Final = 40
_LONG: Final = 2000

_INTENT: Final = re.compile(
    r"\b(?:i will|i'll|let me|let's|i am going to|i'm going to|going to|i need to|next, i|now i|i shall)\b",
    re.I,
)
_COURTESY: Final = re.compile(
    r"\b(?:thanks?|thank you|welcome|pleasure|good ?bye|bye|take care|have a|great day|cheers|likewise|you too|"
    r"best wishes|glad|happy to help|farewell|see you)\b",
    re.I,
)


class Text(Rule):
    """Four turns without a call, each close to the one before: most content words in common, or an announcement after
    an announcement about the same thing, or a courtesy after a courtesy. In between at most a call made before.

    Dated at the third, courtesies at the fourth.

    Measured, hits beside the period rule: reports 1 (1 no other rule has), real runs 0, made cases 4 (3 no other
    rule has); false alarms 0 in 108 healthy runs.
    """

    NAME = "text"
    __slots__ = ("_content", "_kind", "_last", "_turns")

    def __init__(self) -> None:
        super().__init__()
        self._content: frozenset[str] = frozenset()
        self._kind = ""
        self._last = 0
        self._turns: list[int] = []

    def words(self, action: Action, run: Run) -> None:
        """A turn of words only."""
        text = action.text or ""
        if len(text) > _LONG:
            self._last = 0
            return
        content, polite = wording.content(text), _polite(text)
        intent = "?" not in text and len(text.split()) <= _ANNOUNCED and _INTENT.search(text) is not None
        near = wording.close(self._content, content) or (
            intent and self._kind == "intent" and len(self._content & content) > 1
        )
        if not self._follows(run) or not (near or (polite and self._kind == "polite")):
            self._turns = []
        self._kind = "polite" if polite else "intent" if intent else ""
        self._content, self._last = content, run.turn
        self._turns.append(run.turn)
        loop = hash(("text", self._turns[0]))
        episode = self.going(run, loop, 1)
        if episode is not None:
            self.extend(run, episode, (episode.count or 0) + 1)
        elif len(self._turns) == COPIES:
            self.open(
                run, [action], turn=self._turns[3 if polite else 2], first=self._turns[0], loop=loop, copies=COPIES,
                idents=action.idents, pause=1 if run.turn - self._turns[0] >= COPIES else 0,
            )  # fmt: skip

    def _follows(self, run: Run) -> bool:
        """Whether nothing was done since the last text: no turn, or one whose call had been made before."""
        if run.turn - self._last == 2:
            between = run.detector.at(run.turn - 1)
            return between is not None and between.before is not None
        return run.turn - self._last == 1


def _polite(text: str) -> bool:
    return len(text.split()) <= _SHORT and _COURTESY.search(text) is not None
