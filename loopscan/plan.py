"""Which turns of a run are to be shown: its ends, and those around each episode; of the rest there are only more."""

from __future__ import annotations

from typing import Final

from loopscan.episodes import VERDICTS, Episode
from loopscan.report import RunReport
from loopscan.waste import wasted_by

LABELLED: Final = 6
"""Episodes of a run that are marked."""
_WHOLE: Final = 16
"""A run of so many turns is shown whole."""
_ENDS: Final = 2
_COPY: Final = 24
"""Turns of one copy, or from the first to the firing turn, that are shown in full."""
_GAP: Final = 2
"""No more turns than this are left out for a line that says so."""


def labelled(run: RunReport) -> list[Episode]:
    """The episodes to mark: the headline, then the worst and costliest others, in the order of their turns.

    What another rule saw in the headline's own turns adds nothing.
    """

    def weight(episode: Episode) -> tuple[int, int, int, int]:
        waste = wasted_by(episode, run.series)
        return -VERDICTS.index(episode.verdict), -waste.usd, -waste.turns, episode.turn

    head = run.headline
    if head is None:
        return []
    start = head.first - head.period
    others = [e for e in run.episodes if e is not head and not (start <= e.first and e.last <= head.last)]
    return [head, *sorted(sorted(others, key=weight)[: LABELLED - 1], key=lambda e: e.turn)]


def planned(run: RunReport) -> set[int]:
    """The turns to show."""
    turns = run.turns
    if turns <= _WHOLE:
        return set(range(1, turns + 1))
    ends = _ENDS if run.episodes else _WHOLE // 2
    wanted = {*range(1, ends + 1), *range(turns - ends + 1, turns + 1)}
    for episode in labelled(run):
        wanted |= _around(episode)
    if run.exits:
        wanted.add(run.exits[0].turn)
    return _without_small_gaps({t for t in wanted if 1 <= t <= turns})


def _around(episode: Episode) -> set[int]:
    """The turn before, the copies up to the firing turn, the last copy, and how it was left."""
    first, last, period = episode.first, episode.last, min(episode.period, _COPY)
    start = set(range(first - 1, episode.turn + 1))
    if len(start) > 2 * _COPY:
        start = {*range(first - 1, first + _COPY), *range(episode.turn - _COPY + 1, episode.turn + 1)}
    found = start | set(range(max(first, last - period + 1), last + 2))
    return found if episode.left_at is None else found | {episode.left_at}


def _without_small_gaps(wanted: set[int]) -> set[int]:
    full, before = set(wanted), 0
    for turn in sorted(wanted):
        if turn - before - 1 <= _GAP:
            full |= set(range(before + 1, turn))
        before = turn
    return full
