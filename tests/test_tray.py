"""What is laid on a tray by one process is taken up by another, as it was."""

from __future__ import annotations

import multiprocessing
import os
from typing import Any

import pytest

from loopscan import tray
from loopscan.parcel import Parcel
from loopscan.tray import Laid, Tray, sent
from tests.test_copied import files_of_at_most

SIZES = (0, 1, tray.LEAST - 1, tray.LEAST, 5 * tray.LEAST)

pytestmark = pytest.mark.skipif(not hasattr(os, "memfd_create"), reason="no memory in common here")


def made(size: int) -> bytes:
    """Bytes of which no two parts are alike."""
    return (b"%d" % size + os.urandom(size))[:size]


def parcel(size: int) -> Parcel:
    """One of so many bytes, in three parts."""
    data = made(size)
    return [data[: size // 3], memoryview(data)[size // 3 : size // 2], data[size // 2 :]]


def lay(found: Tray, slot: int, pipe: Any) -> None:
    """Lay down what comes, and say where; until nothing comes."""
    while parcels := pipe.recv():
        pipe.send([found.lay(parcel, slot) for parcel in parcels])


def test_what_other_processes_lay_down_is_there() -> None:
    context: Any = multiprocessing.get_context("fork")
    found, pipes = Tray(context, 3), [context.Pipe() for _ in range(3)]
    others = [context.Process(target=lay, args=(found, n, end)) for n, (_, end) in enumerate(pipes)]
    for other in others:
        other.start()
    for _ in range(3):
        parcels = [[sent(parcel(size)) for size in SIZES * 3] for _ in pipes]
        for (pipe, _), some in zip(pipes, parcels, strict=True):
            pipe.send(some)
        for (pipe, _), some in zip(pipes, parcels, strict=True):
            laid = pipe.recv()
            assert [isinstance(place, Laid) for place in laid] == [size >= tray.LEAST for size in SIZES * 3]
            taken = [found.take(place) if isinstance(place, Laid) else place for place in laid]
            assert [sent(one) for one in taken] == some
            for place in laid:
                if isinstance(place, Laid):
                    found.clear(place)
    for (pipe, _), other in zip(pipes, others, strict=True):
        pipe.send([])
        other.join()
    found.close()


def test_room_is_used_again_once_all_was_taken_up(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(tray, "ROOM", 1 << 20)
    found, things = Tray(multiprocessing.get_context(), 2), sent(parcel(1 << 19))
    for _ in range(3):
        first, second = found.lay(things, 1), found.lay(things, 1)
        assert isinstance(first, Laid)
        assert isinstance(second, Laid)
        assert found.lay(things, 1) == things
        assert found.take(first) == things
        found.clear(first)
        assert found.take(second) == found.lay(things, 1) == things
        found.clear(second)
    found.close()


def test_without_room_it_can_be_sent() -> None:
    found, things = Tray(multiprocessing.get_context(), 1), parcel(3 * tray.LEAST)
    with files_of_at_most(tray.LEAST):
        assert found.lay(things, 0) == sent(things)
    assert found.lay(things, 0) == Laid(0, tuple(map(len, things)), 0)
    found.close()
