"""Base and growth of a run, fitted to the input of its sends.

The prompt of an agent grows about in a line until it is compacted, so the series is cut where a send has less
than 0.7 of the input before it, and each segment gets a line of its own. Slopes are Theil-Sen medians: one-off
file reads do not tilt them. The fit explains and extrapolates; what was measured is never replaced by it.
"""

from __future__ import annotations

from dataclasses import dataclass
from itertools import pairwise
from typing import TYPE_CHECKING, Final

from loopscan.cost import Loop

if TYPE_CHECKING:
    from collections.abc import Sequence

DROP: Final = 0.7
"""A send with less than this share of the input before it starts a new segment."""

CREDIBLE: Final = 0.8
"""R2 by segment from which on the model describes the run well enough to be shown."""

_MOST_POINTS: Final = 200
"""Points of a segment whose pairs are all compared; longer ones are thinned evenly to as many."""

Point = tuple[int, int]
"""(send number from 1, input tokens)"""


@dataclass(slots=True, frozen=True)
class Segment:
    """One stretch without a drop: sends `first`..`last`; its line is base + growth*(n - first)."""

    first: int
    last: int
    base: float
    growth: float


@dataclass(slots=True, frozen=True)
class Fit:
    """The lines of a run.

    `base`: input of send 1 as fitted. `growth`: tokens a send adds, median over all segments. `r2_line`: share of
    the variance that one straight line explains, `r2`: that lines by segment explain (least squares, 0 to 1: how
    straight the growth is). `breaks`: the sends that start a new segment. `sends`: with a recorded input.
    """

    base: float
    growth: float
    r2_line: float
    r2: float
    breaks: tuple[int, ...]
    segments: tuple[Segment, ...]
    sends: int

    @property
    def credible(self) -> bool:
        """Whether the lines describe the run well enough to be shown."""
        return self.r2 >= CREDIBLE

    def loop(self, output: int = 0) -> Loop:
        """The fitted loop for `loopscan.cost`, in whole tokens; a shrinking prompt counts as one that stays."""
        return Loop(max(0, round(self.base)), max(0, round(self.growth)), output)


def fit(inputs: Sequence[int | None]) -> Fit | None:
    """The fit of a run's sends in order (all input, cached included; None = not recorded).

    None with fewer than two recorded sends.
    """
    points = [(number, tokens) for number, tokens in enumerate(inputs, start=1) if tokens is not None]
    if len(points) < 2:
        return None
    parts = _split(points)
    slopes = [_slopes(part) for part in parts]
    growth = _median([slope for some in slopes for slope in some])
    segments = tuple(
        _segment(part, _median(some) if some else growth) for part, some in zip(parts, slopes, strict=True)
    )
    first = segments[0]
    spread = _spread(points)
    return Fit(
        base=first.base - first.growth * (first.first - 1),
        growth=growth,
        r2_line=_explained(_rest(points), spread),
        r2=_explained(sum(_rest(part) for part in parts), spread),
        breaks=tuple(segment.first for segment in segments[1:]),
        segments=segments,
        sends=len(points),
    )


def _split(points: list[Point]) -> list[list[Point]]:
    parts = [[points[0]]]
    for before, point in pairwise(points):
        if point[1] < DROP * before[1]:
            parts.append([])
        parts[-1].append(point)
    return parts


def _slopes(part: list[Point]) -> list[float]:
    """The slopes between all pairs of (up to 200, evenly taken) points."""
    count = len(part)
    if count > _MOST_POINTS:
        part = [part[i * (count - 1) // (_MOST_POINTS - 1)] for i in range(_MOST_POINTS)]
    return [(y - b) / (x - a) for i, (a, b) in enumerate(part) for x, y in part[i + 1 :]]


def _segment(part: list[Point], growth: float) -> Segment:
    first, last = part[0][0], part[-1][0]
    return Segment(first, last, _median([y - growth * (x - first) for x, y in part]), growth)


def _median(values: list[float]) -> float:
    if not values:
        return 0.0
    values.sort()
    middle = len(values) // 2
    return values[middle] if len(values) % 2 else (values[middle - 1] + values[middle]) / 2


def _spread(points: list[Point]) -> float:
    """Sum of squares about the mean."""
    mean = sum(y for _, y in points) / len(points)
    return sum((y - mean) ** 2 for _, y in points)


def _rest(points: list[Point]) -> float:
    """Sum of squares about the least-squares line."""
    count = len(points)
    mean_x, mean_y = sum(x for x, _ in points) / count, sum(y for _, y in points) / count
    across = sum((x - mean_x) ** 2 for x, _ in points)
    both = sum((x - mean_x) * (y - mean_y) for x, y in points)
    slope = both / across if across else 0.0
    return sum((y - mean_y - slope * (x - mean_x)) ** 2 for x, y in points)


def _explained(rest: float, spread: float) -> float:
    """R2; a constant series is explained by any line."""
    return max(0.0, 1 - rest / spread) if spread else 1.0
