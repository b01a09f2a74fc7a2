"""The best cap for a share of healthy runs hit: the smallest that stops no more of them, and what it would save."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from fractions import Fraction
from math import ceil, floor

from loopscan.exits import Caps
from loopscan.policy import Policy
from loopscan.replay import Replay, Saving, play
from loopscan.report import RunReport
from loopscan.settings import CapSettings

_CENT = 10**10
"""Picodollars; a cost cap is rounded up to the cent, a time cap to the second."""


@dataclass(slots=True)
class BestCap:
    """A cap: its exit, its value (turns, tokens, picodollars or seconds), healthy runs it stops, what it saves."""

    exit: str
    value: int
    hits: int
    saving: Saving


def best_caps(found: Replay, share: Fraction) -> list[BestCap]:
    """The best cap of each kind that the logs have figures for, most dollars saved first, then most turns."""
    good = [found.runs[i] for i in found.healthy]
    if not good:
        return []
    made = [
        _best(found, "turn_cap", _smallest([_turns(r) for r in good], share), lambda n: Caps(turns=n)),
        _best(found, "token_cap", _smallest([_tokens(r) for r in good], share), lambda n: Caps(tokens=n)),
    ]
    if any(r.priced_usd for r in good):
        usd = ceil(Fraction(_smallest([_usd(r) for r in good], share), _CENT)) * _CENT
        made.append(_best(found, "cost_cap", usd, lambda n: Caps(usd=n)))
    if any(r.series.whole.elapsed for r in good if len(r.series)):
        made.append(_best(found, "time_cap", _smallest([_seconds(r) for r in good], share), lambda n: Caps(seconds=n)))
    return sorted(made, key=lambda cap: (-cap.saving.usd, -cap.saving.turns))


def _best(found: Replay, name: str, value: int, caps: Callable[[int], Caps]) -> BestCap:
    seen = [run.altered(fired=None, rule=None) for run in found.runs]
    played = play(Policy(name, None, CapSettings(None, None, None, None)), caps(value), seen)
    return BestCap(name, value, len(played.stopped(found.healthy)), played.saving(found.failed))


def _smallest(needs: Sequence[int], share: Fraction) -> int:
    """The smallest cap that stops at most this share of runs, given the smallest that lets each of them go on."""
    return max(1, sorted(needs, reverse=True)[min(floor(share * len(needs)), len(needs) - 1)])


def _last(run: RunReport) -> int:
    """The last turn after which a cap can stop a run: not its very end where it was done there."""
    return len(run.series) - (run.state == "done")


def _turns(run: RunReport) -> int:
    return _last(run) + 1


def _tokens(run: RunReport) -> int:
    return run.series.at(_last(run)).tokens + 1 if _last(run) > 0 else 0


def _usd(run: RunReport) -> int:
    return run.series.at(_last(run)).usd + 1 if _last(run) > 0 else 0


def _seconds(run: RunReport) -> int:
    return ceil(run.series.at(_last(run)).elapsed) if _last(run) > 0 else 0
