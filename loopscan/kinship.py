"""Runs that started other runs: the money of sub-agents is part of what their parent cost."""

from __future__ import annotations

from loopscan.money import Children
from loopscan.report import RunReport


def add_children(reports: list[RunReport]) -> None:
    """Give each run that started others their number and money, whatever they started in turn included.

    A run counts once in each of its ancestors; a damaged log whose runs are each other's parents ends no loop.
    """
    started = [report for report in reports if report.parent is not None]
    if not started:
        return
    known: dict[tuple[str, str], RunReport] = {}
    for report in reports:
        known.setdefault((report.format, report.run), report)
    for report in started:
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


def link_parents(reports: list[RunReport]) -> None:
    """A sub-agent's parent is the run of the session that was going on when it started."""
    if all(report.parent is None for report in reports):
        return
    sessions: dict[tuple[str, str], list[RunReport]] = {}
    ids = {(r.format, r.run) for r in reports}
    for report in reports:
        if report.session is not None and report.run.startswith(f"{report.session}#"):
            sessions.setdefault((report.format, report.session), []).append(report)
    for report in reports:
        parent = (report.format, report.parent or "")
        if report.parent is None or parent in ids or parent not in sessions:
            continue
        started = report.started
        before = [r for r in sessions[parent] if started is None or r.started is None or r.started <= started]
        report.parent = (before[-1] if before else sessions[parent][0]).run
