"""Runs that started other runs: the money of sub-agents is part of what their parent cost."""

from __future__ import annotations

from loopscan.money import Children
from loopscan.report import RunReport


def add_children(reports: list[RunReport]) -> None:
    """Give each run that started others their number and money, whatever they started in turn included.

    A run counts once in each of its ancestors; a damaged log whose runs are each other's parents ends no loop.
    """
    known: dict[tuple[str, str], RunReport] = {}
    for report in reports:
        known.setdefault((report.format, report.run), report)
    for report in reports:
        above, seen = report, {id(report)}
        while above.parent is not None:
            parent = known.get((above.format, above.parent))
            if parent is None or id(parent) in seen:
                break
            seen.add(id(parent))
            parent.children = parent.children or Children()
            parent.children.runs += 1
            parent.children.usd += report.usd
            parent.children.unpriced += report.priced_usd is None
            above = parent
