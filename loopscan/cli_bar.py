"""How far a long scan is: bytes read of all, on a terminal's standard error only, from two seconds on."""

from __future__ import annotations

import os
import sys
from contextlib import contextmanager
from threading import Event, Thread
from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from collections.abc import Iterator

    from loopscan.blob import Blob
    from loopscan.source import Input

PATIENCE: Final = 2.0
"""Seconds that a scan may take without a word."""
_STEP: Final = 0.2


@contextmanager
def bar(quiet: bool) -> Iterator[Bar | None]:
    """A bar for one scan; None where nobody would see it."""
    stream = sys.stderr
    if quiet or stream is None or not stream.isatty() or os.environ.get("TERM") == "dumb":
        yield None
        return
    shown = Bar()
    try:
        yield shown
    finally:
        shown.close()


class Bar:
    """Counts the bytes of the inputs. A thread of its own looks at them, so that reading is not slowed."""

    def __init__(self) -> None:
        self._sizes: dict[str, int] = {}
        self._done = 0
        self._now: Blob | None = None
        self._over = Event()
        self._thread = Thread(target=self._show, daemon=True)

    def begin(self, items: list[Input]) -> None:
        """Start to count, or start again: these are to be read."""
        self._done, self._sizes = 0, {item.path: _size(item.path) for item in items}
        if self._thread.ident is None:
            self._thread.start()

    def reading(self, blob: Blob) -> None:
        """This one is being read."""
        self._now = blob

    def done(self, item: Input) -> None:
        """This one was read or left."""
        self._now = None
        self._done += self._sizes.get(item.path, 0)

    def close(self) -> None:
        """Take the bar away."""
        self._over.set()
        if self._thread.ident is not None:
            self._thread.join()

    def _show(self) -> None:
        if self._over.wait(PATIENCE):
            return
        from rich.console import Console
        from rich.progress import BarColumn, DownloadColumn, Progress, TextColumn, TimeRemainingColumn

        columns = (TextColumn("reading"), BarColumn(), DownloadColumn(), TimeRemainingColumn())
        with Progress(*columns, console=Console(stderr=True), transient=True) as progress:
            task = progress.add_task("", total=sum(self._sizes.values()))
            while not self._over.wait(_STEP):
                blob = self._now
                progress.update(task, completed=self._done + (blob.position() if blob is not None else 0))


def _size(path: str) -> int:
    try:
        return os.stat(path).st_size if path != "-" else 0
    except OSError:
        return 0
