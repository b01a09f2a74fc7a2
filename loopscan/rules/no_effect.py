"""no-effect: edit after edit, and the same check goes on to say the same."""

from __future__ import annotations

from itertools import pairwise
from typing import Final

from loopscan.detector import Seen
from loopscan.rules import outcome, tools
from loopscan.rules.base import Rule, Run

COPIES: Final = 4
SHORT_COPIES: Final = 6
_SHORT: Final = 200


class NoEffect(Rule):
    """One shell command four times within 20 turns, the same result each time, an edit between any two of them.

    Six times where the result is short: summaries of one line come back by chance.

    A result that says it worked, or nothing, is no complaint: that is how good work is checked. Dated at the third
    time.

    Measured, hits beside the period rule: reports 0, real runs 1 (1 no other rule has), made cases 1; false alarms
    0 in 108 healthy runs.
    """

    NAME = "no-effect"
    __slots__ = ()

    def back(self, seen: Seen, run: Run) -> None:
        """An action came back."""
        calls = seen.calls
        if len(calls) != 1 or not tools.kind(calls[0].name) & tools.SHELL:
            return
        same = [seen.turn]
        earlier = seen.before
        while earlier is not None:
            if earlier.keyed(run.keyer) != seen.keyed(run.keyer):
                break
            same.append(earlier.turn)
            earlier = earlier.before
        if len(same) < COPIES:
            return
        same.reverse()
        loop = hash(("no-effect", seen.key))
        episode = self.going(run, loop, run.detector.reach)
        if episode is not None:
            self.extend(run, episode, (episode.count or 0) + 1)
        elif all(_edited(a, b, run) for a, b in pairwise(same)) and _complains(seen, len(same), run):
            self.open(
                run, [seen], turn=same[2], first=same[0], loop=loop, copies=len(same), tool=None,
                idents=seen.idents, pause=max(b - a for a, b in pairwise(same)) - 1, sure=6,
                error=True,
            )  # fmt: skip


def _edited(after: int, before: int, run: Run) -> bool:
    turns = (run.detector.at(t) for t in range(after + 1, before))
    return any(run.edits(c) and not c.error for s in turns if s is not None for c in s.calls)


def _complains(seen: Seen, copies: int, run: Run) -> bool:
    text = run.plain(seen.calls[0])
    if copies < SHORT_COPIES and len(text) < _SHORT:
        return False
    return not (outcome.worked(text) or outcome.nothing(text) or text.isspace())
