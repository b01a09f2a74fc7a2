"""Waste: paid sends after an episode's firing turn that bought nothing."""

from __future__ import annotations

from collections.abc import Iterable

import msgspec

from loopscan.episodes import Episode
from loopscan.series import Series

COSTLY = ("recovered", "suspect", "stuck")
"""Verdicts whose sends are wasted; those of `waited` were spent waiting."""

Span = tuple[int, int]
"""(turn after which it starts, last turn)"""


class Waste(msgspec.Struct, gc=False):
    """Paid sends that bought nothing, and their tokens and picodollars.

    `history_tokens` of the input re-sent the history as it stood before; `own_growth_tokens` the loop itself added.
    """

    turns: int = 0
    input_tokens: int = 0
    output_tokens: int = 0
    usd: int = 0
    history_tokens: int = 0

    @property
    def own_growth_tokens(self) -> int:
        """What the loop itself added to the input."""
        return self.input_tokens - self.history_tokens

    def __add__(self, other: Waste) -> Waste:
        return Waste(
            self.turns + other.turns,
            self.input_tokens + other.input_tokens,
            self.output_tokens + other.output_tokens,
            self.usd + other.usd,
            self.history_tokens + other.history_tokens,
        )

    def __sub__(self, other: Waste) -> Waste:
        return Waste(
            self.turns - other.turns,
            self.input_tokens - other.input_tokens,
            self.output_tokens - other.output_tokens,
            self.usd - other.usd,
            self.history_tokens - other.history_tokens,
        )


def span_of(episode: Episode, end: int) -> Span:
    """The turns an episode cost: to the run's `end` where it was not left, else its repeated turns."""
    return episode.turn, episode.last if episode.left else end


def wasted_by(episode: Episode, series: Series) -> Waste:
    """What an episode cost after its firing turn, in all."""
    return Waste(*series.between(*span_of(episode, len(series))))


def wasted(episodes: list[Episode], series: Series) -> tuple[Waste, Waste]:
    """What the episodes of a run wasted, and what it spent waiting, no turn counted twice."""
    if not episodes:
        return Waste(), Waste()
    end = len(series)
    costly = [span_of(e, end) for e in episodes if e.verdict in COSTLY]
    patient = [span_of(e, end) for e in episodes if e.verdict == "waited"]
    lost = _union(costly, series)
    return lost, _union(costly + patient, series) - lost if patient else Waste()


def _union(spans: Iterable[Span], series: Series) -> Waste:
    total, reached = Waste(), 0
    for after, last in sorted(spans):
        after = max(after, reached)
        if last > after:
            total += Waste(*series.between(after, last), _history(series, after, last))
            reached = last
    return total


def _history(series: Series, after: int, last: int) -> int:
    """Input of the turns after+1 .. last that their history, as it stood before the first of them, accounts for."""
    sent = list(series.inputs(after, last))
    stood = next((tokens for tokens in sent if tokens), 0)
    return sum(min(tokens, stood) for tokens in sent)
