"""`auto` caps: twice the 95th percentile of the runs that ended well. Stuck runs never set one."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from math import ceil
from typing import TYPE_CHECKING, Final, TypeVar

from loopscan.exits import Caps
from loopscan.settings import CapSettings, Typical

if TYPE_CHECKING:
    from loopscan.report import RunReport

_Number = TypeVar("_Number", int, float)

AUTO_RUNS: Final = 20
"""`auto` caps need at least this many done, not stuck, not suspect runs."""
AUTO_TURNS: Final = 25
"""The turn cap where there are fewer."""


def healthy(reports: Iterable[RunReport]) -> list[RunReport]:
    """The runs that are done and neither stuck nor suspect."""
    return [r for r in reports if r.state == "done" and r.verdict not in ("stuck", "suspect")]


def rank95(count: int) -> int:
    """The place (from 0) of the nearest-rank 95th percentile among `count` sorted values."""
    return ceil(0.95 * count) - 1


def percentile95(values: Sequence[_Number]) -> _Number:
    """Nearest-rank 95th percentile."""
    return sorted(values)[rank95(len(values))]


def typical(good: Sequence[RunReport]) -> Typical:
    """What healthy runs come to; a figure that fewer than `AUTO_RUNS` of them have stays None."""
    priced = [r.usd for r in good if r.priced_usd is not None]
    timed = [r.series.whole.elapsed for r in good if r.started is not None and len(r.series)]
    return Typical(
        _known([r.turns for r in good]), _known([r.tokens for r in good]), _known(priced), _known(timed), "scan"
    )


def _known(values: list[_Number]) -> _Number | None:
    return percentile95(values) if len(values) >= AUTO_RUNS else None


def resolve(asked: CapSettings, *known: Typical) -> Caps:
    """The caps with every `auto` worked out, each from the first of `known` that holds its figure."""
    return Caps(
        _twice([k.turns for k in known]) or AUTO_TURNS if asked.turns == "auto" else asked.turns,
        _twice([k.tokens for k in known]) if asked.tokens == "auto" else asked.tokens,
        _twice([k.usd for k in known]) if asked.usd == "auto" else asked.usd,
        _twice([k.seconds for k in known]) if asked.seconds == "auto" else asked.seconds,
    )


def _twice(figures: Iterable[_Number | None]) -> _Number | None:
    """Twice the first figure that is known; nothing where it is 0, as for runs without recorded tokens."""
    first = next((f for f in figures if f is not None), None)
    return 2 * first if first else None
