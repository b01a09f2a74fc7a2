"""ISO 8601 times as epoch seconds, fast where many of them share their minute."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import Final

from loopscan.formats._fields import when

_MOST: Final = 1 << 10
MINUTE: Final = 17
SECOND: Final = 19
"""Characters of date, hour and minute, the colon behind it included; those and the seconds."""
MINUTES: Final[dict[str, float]] = {}
SECONDS: Final = {f"{second:02}": float(second) for second in range(60)}
RESTS: Final = {"": 0.0}
"""Parts of times, open to those who cannot wait for a call. Rests are of UTC and have at most six decimals, so that the
sum of the three is rounded as if they were read in one."""


def seconds_of(stamp: str) -> float | None:
    """What `loopscan.formats._fields.when` makes of a text; None where it is no time."""
    minute, second = MINUTES.get(stamp[:MINUTE]), SECONDS.get(stamp[MINUTE:SECOND])
    if minute is not None and second is not None and (rest := RESTS.get(stamp[SECOND:])) is not None:
        return minute + (second + rest)
    _learn(stamp[:MINUTE], stamp[SECOND:])
    return when(stamp)


def _learn(minute: str, rest: str) -> None:
    if minute[13:14] != ":" or minute[16:] != ":":
        return
    try:
        whole = datetime.fromisoformat(minute + "00+00:00")
        moment = datetime.fromisoformat("1970-01-01T00:00:00" + rest)
        if not moment.utcoffset():
            _keep(MINUTES, minute, whole.timestamp())
            _keep(RESTS, rest, moment.replace(tzinfo=UTC).timestamp())
    except (ValueError, OverflowError):
        return


def _keep(known: dict[str, float], text: str, value: float) -> None:
    if len(known) >= _MOST:
        known.clear()
    known[text] = value
