"""Runs per ISO week from a store: each run once, in the week in which it ended, in all and by agent, model, tool…"""

from __future__ import annotations

import json
from bisect import bisect_right
from collections import Counter
from dataclasses import dataclass, field
from datetime import date, datetime, timedelta, tzinfo
from typing import TYPE_CHECKING, Final

from loopscan.errors import UsageError
from loopscan.stored import storable

if TYPE_CHECKING:
    from loopscan.history import Store

BY: Final = ("agent", "model", "tool", "format")
"""What runs can be grouped by, beside `label:NAME`."""
NONE: Final = "-"
"""The group of runs that have no such thing."""

_FIGURES: Final = (
    "state", "verdict", "turns", "tokens", "usd", "wasted_turns", "wasted_usd", "waiting_turns", "waiting_usd"
)  # fmt: skip
"""The parameters of `Tally.count`."""
_DAY: Final = 86400.0


@dataclass(slots=True, frozen=True)
class Week:
    """An ISO week: its name (`2026-W48`), and from when until when it lasts in epoch seconds."""

    name: str
    start: float
    end: float


@dataclass(slots=True)
class Tally:
    """What the runs of one week come to; money in picodollars. `unpriced`: runs without a price, not in the sums."""

    runs: int = 0
    states: Counter[str] = field(default_factory=Counter)
    verdicts: Counter[str] = field(default_factory=Counter)
    turns: int = 0
    tokens: int = 0
    usd: int = 0
    unpriced: int = 0
    wasted_turns: int = 0
    wasted_usd: int = 0
    waiting_turns: int = 0
    waiting_usd: int = 0

    def count(
        self,
        state: str,
        verdict: str | None,
        turns: int,
        tokens: int,
        usd: int | None,
        wasted_turns: int,
        wasted_usd: int | None,
        waiting_turns: int,
        waiting_usd: int | None,
    ) -> None:
        """Add a run."""
        self.runs += 1
        self.states[state] += 1
        self.verdicts[verdict or "blind"] += 1
        self.turns += turns
        self.tokens += tokens
        self.usd += usd or 0
        self.unpriced += usd is None
        self.wasted_turns += wasted_turns
        self.wasted_usd += wasted_usd or 0
        self.waiting_turns += waiting_turns
        self.waiting_usd += waiting_usd or 0

    @property
    def priced(self) -> bool:
        """Whether any run has a price, or there is none."""
        return self.unpriced < self.runs or not self.runs


@dataclass(slots=True)
class History:
    """Weeks, oldest first, and for each of them the tally of all runs (`whole`) and of each group.

    `by`: what the groups are, None without. `current`: the index of the week that goes on now. `untimed`: runs
    without times; they count in the week in which they were first stored. `outside`: runs of other weeks.
    """

    weeks: list[Week]
    by: str | None
    whole: list[Tally]
    groups: dict[str, list[Tally]]
    current: int | None = None
    untimed: int = 0
    outside: int = 0

    def of(self, group: str | None) -> list[Tally]:
        """The tallies of a group, week by week."""
        return self.groups.setdefault(group or NONE, [Tally() for _ in self.weeks])

    @property
    def last(self) -> int:
        """The index of the newest week that is over: the one to compare with the one before it."""
        last = len(self.weeks) - 1
        return last - 1 if last and self.current == last else last

    def ranked(self) -> list[str]:
        """The groups, most waste in the newest whole week first, then most money, most runs."""

        def rank(name: str) -> tuple[int, int, int, int, str]:
            tally = self.groups[name][self.last]
            return -tally.wasted_usd, -tally.wasted_turns, -tally.usd, -tally.runs, name

        return sorted(self.groups, key=rank)


def history(store: Store, count: int, by: str | None, zone: tzinfo | None, now: float) -> History:
    """The last `count` weeks of a store, up to that of its newest run. Raises UsageError for an unknown `by`."""
    column = _column(by)
    newest = store.newest(now + _DAY)
    if newest is None:
        return History([], by, [], {})
    weeks = weeks_until(newest, count, zone)
    oldest = store.oldest(weeks[0].start)
    weeks = [w for w in weeks if w.end > oldest]
    found = History(weeks, by, [Tally() for _ in weeks], {})
    found.current = next((i for i, w in enumerate(weeks) if w.start <= now < w.end), None)
    starts, end = [w.start for w in weeks], weeks[-1].end
    found.outside = store.outside(starts[0], end)
    for at, timed, group, *figures in store.select((column or "format", *_FIGURES), starts[0], end):
        week = bisect_right(starts, at) - 1
        found.untimed += not timed
        found.whole[week].count(*figures)
        if by is not None and column is not None:
            found.of(_label(group, by) if column == "labels" else group)[week].count(*figures)
    if by == "tool":
        for at, _, tool, *figures in store.select(("tool", *_FIGURES), starts[0], end, tools=True):
            found.of(tool)[bisect_right(starts, at) - 1].count(*figures)
    return found


def _column(by: str | None) -> str | None:
    """The column of a store that holds what runs are grouped by. Raises UsageError."""
    if by is None or by == "tool":
        return None
    if by in BY:
        return by
    if by.startswith("label:") and len(by) > len("label:"):
        return "labels"
    raise UsageError(f"--by {by!r}: one of {', '.join(BY)} or label:NAME is wanted")


def _label(labels: str, by: str) -> str | None:
    value = json.loads(labels).get(by.removeprefix("label:"))
    return None if value is None else storable(str(value))


def weeks_until(newest: float, count: int, zone: tzinfo | None) -> list[Week]:
    """`count` ISO weeks of a time zone (None: the local one), oldest first, the last one holding `newest`."""
    day = datetime.fromtimestamp(newest, zone).date()
    monday = day - timedelta(days=day.weekday())
    count = min(count, (monday - date(1970, 1, 12)).days // 7 + 1)
    return [_week(monday - timedelta(weeks=back), zone) for back in range(max(count, 1) - 1, -1, -1)]


def _week(monday: date, zone: tzinfo | None) -> Week:
    year, number, _ = monday.isocalendar()
    return Week(f"{year}-W{number:02d}", _midnight(monday, zone), _midnight(monday + timedelta(weeks=1), zone))


def _midnight(day: date, zone: tzinfo | None) -> float:
    return datetime(day.year, day.month, day.day, tzinfo=zone).timestamp()
