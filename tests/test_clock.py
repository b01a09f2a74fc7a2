"""Times in parts are the times in one."""

from __future__ import annotations

from random import Random

import pytest

from loopscan import clock
from loopscan.clock import seconds_of
from loopscan.formats._fields import when

ODD = [
    "", "2026", "2026-11-23", "2026-11-23T16:00", "20261123T160007.123Z", "2026-W48-1T16:00:07Z", "1764000000",
    "2026-11-23T16+05:30:15",
    "2026-11-23T16:00:7Z", "2026-11-23T16:00:07z", "2026-11-23T16:00:60Z", "2026-11-23T24:00:00Z",
    "2026-11-23T16:00:1_0Z", "2026-11-23T16:00: 7Z", "2026-11-23T16:00:07.1_0Z", "2026-11-23T16:00:\u0660\u0667Z",
    "0001-01-01T00:00:00Z", "9999-12-31T23:59:59.999999Z",
    "2026-11-23T16:00:07,5+00:00", "2026-11-23T16:00:07.1234567Z",
]  # fmt: skip


def some_stamp(chance: Random) -> str:
    day = f"{chance.choice((1969, 2026, 2100))}-{chance.randint(1, 12):02}-{chance.randint(1, 30):02}"
    time = f"{chance.randint(0, 24):02}:{chance.randint(0, 3):02}:{chance.randint(0, 60):02}"
    rest = chance.choice(("", f".{chance.randint(0, 999):03}", f".{chance.randint(0, 999_999):06}", ",5", ".1234567"))
    zone = chance.choice(("", "Z", "Z", "+00:00", "+05:30", "-01", "z", "+00:00:01"))
    return day + chance.choice("T ") + time + rest + zone


@pytest.mark.parametrize("stamp", ODD)
def test_odd_stamps(stamp: str) -> None:
    assert [seconds_of(stamp) for _ in range(2)] == [when(stamp)] * 2


def test_many_stamps(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(clock, "_MOST", 50)
    chance = Random(1)
    for _ in range(20_000):
        stamp = some_stamp(chance)
        if chance.random() < 0.05:
            at = chance.randrange(len(stamp))
            stamp = stamp[:at] + chance.choice(" _:-1T") + stamp[at + 1 :]
        assert seconds_of(stamp) == when(stamp), stamp
