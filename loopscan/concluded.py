"""What needs the whole scan: `auto` caps, the exits under them, `times_normal`, the parents of sub-agents."""

from __future__ import annotations

from statistics import median

from loopscan.auto import healthy, resolve, typical
from loopscan.exits import Caps
from loopscan.kinship import add_children, link_parents
from loopscan.report import Report, RunReport, iso
from loopscan.rules import RULES
from loopscan.settings import Settings
from loopscan.settle import stop
from loopscan.skips import Skips
from loopscan.span import within


def concluded(reports: list[RunReport], skips: Skips, settings: Settings) -> Report:
    """The report of a scan from those of its runs."""
    link_parents(reports)
    add_children(reports)
    reports, outside, untimed = within(reports, settings.span)
    caps = resolve(settings.caps, settings.typical, typical(healthy(reports)))
    normal = _normal(reports)
    stop(reports, caps)
    for report in reports if normal else ():
        if normal and (usd := report.priced_usd) is not None:
            report.times_normal = round(usd / normal, 1)
    return Report(reports, skips, caps, described(settings, caps), outside=outside, untimed=untimed)


def _normal(reports: list[RunReport]) -> float | None:
    """Median picodollars of the done, not stuck runs."""
    costs = [r.usd for r in reports if r.state == "done" and r.verdict != "stuck" and r.priced_usd is not None]
    return median(costs) if costs else None


def described(settings: Settings, caps: Caps) -> dict[str, object]:
    """The settings as they go into the report."""
    auto = [
        f"{name}_cap"
        for name, value in (
            ("turn", settings.caps.turns),
            ("token", settings.caps.tokens),
            ("cost", settings.caps.usd),
            ("time", settings.caps.seconds),
        )
        if value == "auto"
    ]
    return {
        "window": settings.window,
        "copies": settings.copies,
        "exact": settings.exact,
        "repeat_limit": settings.repeat_limit or None,
        **({} if settings.rules == tuple(RULES) else {"rules": list(settings.rules)}),
        "per": settings.per,
        "turn_cap": caps.turns,
        "token_cap": caps.tokens,
        "cost_cap": None if caps.usd is None else caps.usd / 10**12,
        "time_cap": caps.seconds,
        "auto": auto,
        "auto_from": (settings.typical.source or "scan") if auto else None,
        "context_window": settings.context_window,
        "since": iso(settings.span.since),
        "until": iso(settings.span.until),
        "advised_window": advised_window(settings, caps),
    }


def advised_window(settings: Settings, caps: Caps) -> int | None:
    """The largest window of use: a cycle longer than turn cap / copies cannot play `copies` times before the cap."""
    return None if caps.turns is None else max(settings.copies, caps.turns - caps.turns % settings.copies)
