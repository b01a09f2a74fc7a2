"""A span of time: a run counts where it ended. Consecutive spans share no run, as `until` is left out of its own."""

from __future__ import annotations

import re
from dataclasses import dataclass
from datetime import UTC, datetime, tzinfo
from typing import TYPE_CHECKING, Final

from loopscan.errors import UsageError

if TYPE_CHECKING:
    from loopscan.report import RunReport

_UNITS: Final = {"m": 60, "h": 3600, "d": 86400, "w": 7 * 86400}


@dataclass(slots=True, frozen=True)
class Span:
    """From `since` up to `until`, the latter left out, in epoch seconds; None = open."""

    since: float | None = None
    until: float | None = None

    @property
    def open(self) -> bool:
        """Whether every moment lies in it."""
        return self.since is None and self.until is None

    def holds(self, moment: float) -> bool:
        """Whether a moment in epoch seconds lies in it."""
        return (self.since is None or moment >= self.since) and (self.until is None or moment < self.until)


EVER: Final = Span()


def within(reports: list[RunReport], span: Span) -> tuple[list[RunReport], int, int]:
    """The runs that ended in the span; how many did not; how many were kept because they have no times."""
    if span.open:
        return reports, 0, 0
    kept = [r for r in reports if r.ended is None or span.holds(r.ended)]
    return kept, len(reports) - len(kept), sum(r.ended is None for r in kept)


def span(since: str | None, until: str | None, zone: str | None, now: float) -> Span:
    """The span of `--since`, `--until` and `--tz`, `now` in epoch seconds. Raises UsageError."""
    place = timezone(zone)
    found = Span(*(moment(f"--{n}", t, place, now) for n, t in (("since", since), ("until", until))))
    if found.since is not None and found.until is not None and found.since >= found.until:
        raise UsageError(f"--since {since} is not before --until {until}")
    return found


def timezone(name: str | None) -> tzinfo | None:
    """The zone that days are counted in: UTC, an IANA name, or None for `local`. Raises UsageError."""
    if name is None or name.upper() in ("UTC", "Z"):
        return UTC
    if name.lower() == "local":
        return None
    from zoneinfo import ZoneInfo

    try:
        return ZoneInfo(name)
    except (KeyError, ValueError, OSError):  # absolute paths are a ValueError, folders an OSError
        raise UsageError(f"--tz {name!r}: no such time zone; name one like Europe/Berlin, or local") from None


def moment(option: str, text: str | None, zone: tzinfo | None, now: float) -> float | None:
    """Epoch seconds of `7d` (that long ago), a date (its first moment) or a date and time. Raises UsageError."""
    if text is None:
        return None
    if ago := re.fullmatch(r"(\d+(?:\.\d+)?)\s*([mhdw])", text.strip()):
        return now - float(ago[1]) * _UNITS[ago[2]]
    try:
        stamp = datetime.fromisoformat(text.strip())
        return (stamp if stamp.tzinfo is not None else stamp.replace(tzinfo=zone)).timestamp()
    except (ValueError, OverflowError, OSError):
        raise UsageError(f"{option} {text!r}: a time ago such as 7d or 12h, or a date such as 2026-11-23") from None
