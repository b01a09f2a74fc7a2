"""ISO 8601 times as epoch seconds, fast where many of them share their hour."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import Final

from loopscan.formats._fields import when

_MOST: Final = 1 << 12
HOUR: Final = 14
SECOND: Final = 19
"""Characters of date and hour, the colon behind it included; those, minutes and seconds."""
HOURS: Final[dict[str, float]] = {}
SECONDS: Final[dict[str, float]] = {}
RESTS: Final = {"": 0.0}
"""Parts of times, open to those who cannot wait for a call: date and hour; minutes and seconds; fraction and zone, of
UTC and of at most six decimals. The first two add up to a whole number: the sum is rounded as if read in one."""


def seconds_of(stamp: str) -> float | None:
    """What `loopscan.formats._fields.when` makes of a text; None where it is no time."""
    hour, second = HOURS.get(stamp[:HOUR]), SECONDS.get(stamp[HOUR:SECOND])
    if hour is not None and second is not None and (rest := RESTS.get(stamp[SECOND:])) is not None:
        return hour + second + rest
    _learn(stamp[:HOUR], stamp[HOUR:SECOND], stamp[SECOND:])
    return when(stamp)


def _learn(hour: str, second: str, rest: str) -> None:
    if hour[13:] != ":" or second[2:3] != ":" or (len(RESTS) >= _MOST and rest not in RESTS):
        return
    try:
        parts = (f"{hour}00:00", f"1970-01-01T00:{second}", f"1970-01-01T00:00:00{rest}")
        moments = [datetime.fromisoformat(part) for part in parts]
    except ValueError:
        return
    if any(moment.utcoffset() for moment in moments):
        return
    if len(HOURS) >= _MOST:
        HOURS.clear()
    HOURS[hour], SECONDS[second], RESTS[rest] = (moment.replace(tzinfo=UTC).timestamp() for moment in moments)
