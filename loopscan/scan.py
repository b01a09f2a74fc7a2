"""One scan from paths to a report: open, tell the format, read, audit."""

from __future__ import annotations

import os
import sys
from collections.abc import Callable, Iterable
from contextlib import nullcontext
from dataclasses import dataclass, field
from typing import Protocol

from loopscan.blob import Blob
from loopscan.depth import steady
from loopscan.engine import Audit
from loopscan.errors import InputError
from loopscan.foreign import is_empty, unknown
from loopscan.formats import Reader, Scan, detect, load
from loopscan.formats._mapped import claims
from loopscan.garbage import seldom_collected
from loopscan.money import PriceBook, Unpriced
from loopscan.outside import cannot_hold
from loopscan.report import Report
from loopscan.settings import Settings
from loopscan.skips import SHOWN, Skips
from loopscan.source import Input, expand, open_input
from loopscan.span import Span
from loopscan.stop import STOP, on_interrupt


class Watch(Protocol):
    """Who is shown how far the reading is, in files."""

    def begin(self, items: list[Input]) -> None:
        """These are to be read."""

    def reading(self, blob: Blob) -> None:
        """This one is being read."""

    def done(self, item: Input) -> None:
        """This one was read or left."""


@dataclass(slots=True)
class Inputs:
    """What to read: paths as given, the format where it is forced, and the user's own field names.

    `say`: where one-line messages go (skips, unknown inputs); None = nowhere. `tell`: the same for what only the
    curious want to know (how each file was read, every skipped record). `hide`: how a path is named where it is not to
    be said. `watch`: who is shown how far the reading is. `stoppable`: Ctrl-C ends the reading, not the program. `own`:
    device and inode of the file that is written meanwhile, which is no input. `jobs`: processes that may read at once.
    """

    paths: list[str]
    format: str | None = None
    field_map: dict[str, str] = field(default_factory=dict)
    say: Callable[[str], None] | None = None
    tell: Callable[[str], None] | None = None
    hide: Callable[[str], str] | None = None
    watch: Watch | None = None
    stoppable: bool = False
    own: tuple[int, int] | None = None
    jobs: int = 1

    def items(self) -> list[Input]:
        """The files to read, in the order of the scan."""
        return [i for i in expand(self.paths) if self.own is None or not i.is_same(*self.own)]

    def skips(self) -> Skips:
        """Where the skips of these inputs are counted and said."""
        return Skips(self.say, self.hide, SHOWN if self.tell is None else sys.maxsize)


def audit(
    paths: Iterable[str | os.PathLike[str]] | str | os.PathLike[str],
    settings: Settings | None = None,
    *,
    prices: PriceBook | None = None,
    format: str | None = None,  # noqa: A002
    jobs: int = 1,
) -> Report:
    """Audit files, folders, globs or `-`. Raises InputError, UsageError.

    `prices` prices the sends (`loopscan.prices.from_options`); by default they are unpriced. `jobs`: processes; for
    more than one a program needs its `if __name__ == "__main__"`.
    """
    given = [os.fspath(p) for p in ([paths] if isinstance(paths, (str, os.PathLike)) else paths)]
    return run(Inputs(given, format, jobs=jobs), settings or Settings(), prices or Unpriced())


def run(inputs: Inputs, settings: Settings, prices: PriceBook) -> Report:
    """Audit the inputs. Raises InputError when a named input cannot be read and nothing else was."""
    scan = Scan(inputs.skips(), settings.exact, inputs.field_map)
    engine = Audit(settings, prices, scan)
    reading = None
    with seldom_collected():
        with on_interrupt() if inputs.stoppable else nullcontext():
            if inputs.jobs > 1:
                from loopscan import parallel

                reading = parallel.read(inputs, settings, prices, engine)
            reading = reading or read_all(inputs, settings.span, scan, engine)
        report = engine.finish()
    report.not_logs, report.failures, report.unopened = reading.not_logs, reading.failures, reading.unopened
    report.stopped, report.unread = reading.stopped, reading.unread
    return report


class Sink(Protocol):
    """What takes the inputs that were recognised."""

    def read(self, blob: Blob, format_name: str, reader: Reader) -> None:
        """Take a whole one."""


def read_all(inputs: Inputs, span: Span, scan: Scan, sink: Sink) -> Reading:
    """Hand every input to `sink`. Raises InputError when a named input cannot be read and nothing else was."""
    reading = Reading(inputs, span, sink)
    if inputs.format:
        load(inputs.format)
    items, watch = inputs.items(), inputs.watch
    if watch is not None:
        watch.begin(items)
    with on_interrupt() if inputs.stoppable else nullcontext():
        reading.stopped, reading.unread = STOP.asked, len(items)
        for number, item in enumerate(items if not STOP.asked else (), 1):
            reading.try_(item, scan)
            reading.unread = len(items) - number
            if watch is not None:
                watch.done(item)
            if STOP.asked:
                reading.stopped = True
                break
    reading.conclude(scan)
    return reading


@dataclass(slots=True)
class Reading:
    """What became of the inputs so far. `read`: files read, or rightly left unread. `open`: how."""

    inputs: Inputs
    span: Span
    sink: Sink
    not_logs: list[str] = field(default_factory=list)
    failures: list[str] = field(default_factory=list)
    unopened: int = 0
    read: int = 0
    stopped: bool = False
    unread: int = 0
    open: Callable[[Input], Blob] = open_input

    def conclude(self, scan: Scan) -> None:
        """Say what could not be read. Raises InputError when a named input was among it and nothing else was read."""
        say = self.inputs.say
        if self.stopped:
            _say(say, f"stopped: what was being read is there in part, {self.unread} more were not read")
        if self.failures and not self.read:
            raise InputError(*self.failures[:20])
        for failure in self.failures:
            _say(say, failure)
        if scan.skips.total > scan.skips.limit:
            _say(say, f"{scan.skips.total - scan.skips.limit} more skipped records are not shown")

    def try_(self, item: Input, scan: Scan) -> None:
        """Read an input, or note why that cannot be."""
        try:
            with steady():
                self.take(item)
        except InputError as err:
            self._fail(item, str(err), scan)

    def _fail(self, item: Input, message: str, scan: Scan) -> None:
        """Note an input that cannot be read: an error where it was named, else a skip."""
        if item.named:
            self.failures.append(_named(message, item, self.inputs))
        else:
            scan.skips.add(item.path, None, message.removeprefix(f"{item.path}: "))

    def take(self, item: Input) -> None:
        """Read an input, unless it cannot hold a run of the span. Raises InputError."""
        forced = self.inputs.format
        if cannot_hold(item.path, forced, self.span):
            self._leave(item)
            return
        with self.open(item) as blob:
            name = _format(blob, item, self.inputs)
            if name is None:
                self._not_a_log(blob, item)
            elif cannot_hold(item.path, name, self.span):
                self._leave(item)
            else:
                self._tell(item, name)
                if self.inputs.watch is not None:
                    self.inputs.watch.reading(blob)
                self.sink.read(blob, name, load(name))
                self.read += 1

    def _leave(self, item: Input) -> None:
        self.unopened += 1
        self.read += 1
        self._tell(item, "holds no run that ended in the span, not read")

    def _tell(self, item: Input, words: str) -> None:
        _say(self.inputs.tell, _named(f"{item.path}: {words}", item, self.inputs))

    def _not_a_log(self, blob: Blob, item: Input) -> None:
        if blob.damage and (item.named or not blob.head.document):
            raise InputError(f"{item.path}: {blob.damage}")
        if not item.named:
            self.not_logs.append(item.path)
            self._tell(item, "no known log format")
        elif is_empty(blob.head):
            self.read += 1
            _say(self.inputs.say, _named(f"{item.path}: empty, no turn in it", item, self.inputs))
        else:
            raise InputError(unknown(item.path, blob.head))


def _named(message: str, item: Input, inputs: Inputs) -> str:
    return message if inputs.hide is None else message.replace(item.path, inputs.hide(item.path))


def _say(where: Callable[[str], None] | None, message: str) -> None:
    if where is not None:
        where(message)


def _format(blob: Blob, item: Input, inputs: Inputs) -> str | None:
    """The format to read an input as; under `--from` a folder's other files are left alone.

    What no reader claims but the user's field names fit is a native log under other names.
    """
    forced = inputs.format
    if forced is None:
        return detect(blob.head) or ("loopscan" if claims(blob.head, inputs.field_map) else None)
    return forced if item.named or load(forced).sniff(blob.head) else None
