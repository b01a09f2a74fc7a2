"""What is laid on a tray by one process is taken up by another, as it was."""

from __future__ import annotations

import multiprocessing
import os
from pathlib import Path
from typing import Any

import pytest

from loopscan import tray
from loopscan.tray import Laid, Tray
from tests.test_copied import files_of_at_most

SIZES = (0, 1, tray._LEAST - 1, tray._LEAST, 5 * tray._LEAST)


def made(size: int) -> bytes:
    """Bytes of which no two parts are alike."""
    return (b"%d" % size + os.urandom(size))[:size]


def lay(found: Tray, things: list[bytes], pipe: Any) -> None:
    """Lay things down, and say where."""
    pipe.send([found.lay(thing) for thing in things])


@pytest.mark.skipif(not hasattr(os, "fork"), reason="no process forks here")
def test_what_other_processes_lay_down_is_there() -> None:
    context: Any = multiprocessing.get_context("fork")
    found, things, laid = Tray(context), [[made(size) for size in SIZES * 3] for _ in range(3)], []
    pipes = [context.Pipe() for _ in things]
    others = [
        context.Process(target=lay, args=(found, some, end)) for some, (_, end) in zip(things, pipes, strict=True)
    ]
    for other in others:
        other.start()
    laid = [pipe.recv() for pipe, _ in pipes]
    for other in others:
        other.join()
    for some, places in zip(things, laid, strict=True):
        assert [isinstance(place, Laid) for place in places] == [len(thing) >= tray._LEAST for thing in some]
        assert [found.take(place) for place in places] == some
    found.close()


def test_without_room_it_stays_as_it_is(tmp_path: Path) -> None:
    found, thing = Tray(multiprocessing.get_context()), made(3 * tray._LEAST)
    with files_of_at_most(tray._LEAST):
        assert found.lay(thing) == thing
    assert found.take(found.lay(thing)) == thing
    with pytest.raises(OSError, match="less of it"):
        found.take(Laid(100 * tray._LEAST, 1))
    found.close()
