"""The weeks of a store as flat rows: what `loopscan history` writes as JSON and CSV."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, Final

from loopscan.episodes import VERDICTS
from loopscan.model import STATES
from loopscan.report import dollars, iso
from loopscan.weeks import History, Tally

SEEN: Final = (*reversed(VERDICTS), "blind")
"""What a run can be seen as, worst first."""


def rows(found: History) -> Iterator[dict[str, Any]]:
    """A row for each week: all runs (`group` null), then each group; oldest week first."""
    lines: list[tuple[str | None, list[Tally]]] = [(None, found.whole), *((g, found.groups[g]) for g in found.ranked())]
    for i, week in enumerate(found.weeks):
        for group, tallies in lines:
            yield {
                "week": week.name,
                "from": iso(week.start),
                "to": iso(week.end),
                "goes_on": i == found.current,
                "group": group,
                **figures(tallies[i]),
                "change": change(tallies[i - 1], tallies[i]) if i else None,
            }


def figures(tally: Tally) -> dict[str, Any]:
    """The figures of a week; dollars exact, null where no run has a price."""
    usd = dollars if tally.priced else lambda _: None
    return {
        "runs": tally.runs,
        "states": {s: tally.states[s] for s in STATES if tally.states[s]},
        "verdicts": {v: tally.verdicts[v] for v in SEEN if tally.verdicts[v]},
        "turns": tally.turns,
        "tokens": tally.tokens,
        "usd": usd(tally.usd),
        "unpriced_runs": tally.unpriced,
        "wasted_turns": tally.wasted_turns,
        "wasted_usd": usd(tally.wasted_usd),
        "waiting_turns": tally.waiting_turns,
        "waiting_usd": usd(tally.waiting_usd),
    }


def change(before: Tally, now: Tally) -> dict[str, Any]:
    """How a week differs from the one before it."""
    priced = before.priced and now.priced
    return {
        "runs": now.runs - before.runs,
        **{v: now.verdicts[v] - before.verdicts[v] for v in ("stuck", "suspect", "recovered")},
        "wasted_turns": now.wasted_turns - before.wasted_turns,
        "wasted_usd": dollars(now.wasted_usd - before.wasted_usd) if priced else None,
        "usd": dollars(now.usd - before.usd) if priced else None,
    }


COLUMNS: Final = (
    "week", "from", "to", "goes_on", "group", "runs", *STATES, *(v for v in SEEN), "turns", "tokens", "usd",
    "unpriced_runs", "wasted_turns", "wasted_usd", "waiting_turns", "waiting_usd", "change_runs", "change_stuck",
    "change_suspect", "change_recovered", "change_wasted_turns", "change_wasted_usd", "change_usd",
)  # fmt: skip
"""Of the CSV. `no_progress` and the caps are states here: how runs ended."""


def flat(row: dict[str, Any]) -> dict[str, Any]:
    """A row without nesting."""
    kept = {k: v for k, v in row.items() if k not in ("states", "verdicts", "change")}
    counts = {name: row["states"].get(name, 0) for name in STATES}
    counts |= {name: row["verdicts"].get(name, 0) for name in SEEN}
    changes = row["change"] or {}
    return kept | counts | {c: changes.get(c.removeprefix("change_")) for c in COLUMNS if c.startswith("change_")}
