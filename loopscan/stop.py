"""Stopping a scan: the first Ctrl-C ends the reading where it is, so that what is known can be shown.

Signals belong to the process, and so does this state. Only the command line asks for it (`on_interrupt`); in a
program that calls `loopscan.audit()` a KeyboardInterrupt stays what it is.
"""

from __future__ import annotations

import signal
from collections.abc import Iterator
from contextlib import contextmanager
from types import FrameType


class _Stop:
    """`asked`: inputs are to end now. `waiting`: a read that may take forever is going on. `stopped`: a scan was."""

    __slots__ = ("asked", "stopped", "waiting")

    def __init__(self) -> None:
        self.asked = self.waiting = self.stopped = False


STOP = _Stop()


@contextmanager
def on_interrupt() -> Iterator[None]:
    """Inside the block the first Ctrl-C ends every input where it stands; the second one is a KeyboardInterrupt."""
    if signal.getsignal(signal.SIGINT) is _ask:  # a wider block has begun
        yield
        return
    STOP.stopped = False
    try:
        before = signal.signal(signal.SIGINT, _ask)
    except ValueError:  # not the main thread: signals go elsewhere
        yield
        return
    try:
        yield
    finally:
        signal.signal(signal.SIGINT, before)
        STOP.stopped, STOP.asked = STOP.asked, False


class Terminated(BaseException):
    """The program was asked to end (SIGTERM). Files half written are taken away on the way out."""


@contextmanager
def on_terminate() -> Iterator[None]:
    """Inside the block SIGTERM is raised as Terminated."""
    try:
        before = signal.signal(signal.SIGTERM, _end)
    except ValueError:  # not the main thread
        yield
        return
    try:
        yield
    finally:
        signal.signal(signal.SIGTERM, before)


def _end(number: int, frame: FrameType | None) -> None:
    raise Terminated


def _ask(number: int, frame: FrameType | None) -> None:
    if STOP.asked or STOP.waiting:
        raise KeyboardInterrupt
    STOP.asked = True
