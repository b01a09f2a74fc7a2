"""The usual lines of a native log where the compiled part is at work: it takes them from blocks, leaves the others."""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial
from math import floor
from typing import TYPE_CHECKING, Any, Final, cast

from loopscan.blocks import Blocks
from loopscan.compiled import compiled
from loopscan.decode import FAST_ERRORS
from loopscan.formats._native_held import keep, note, run_of
from loopscan.formats._native_log import Log
from loopscan.formats._native_rows import SKIPPED, Rows
from loopscan.formats._native_runs import Run
from loopscan.model import Columns, Event, Further
from loopscan.model import Rows as Batch
from loopscan.row import Row

if TYPE_CHECKING:
    from loopscan._compiled import Native
    from loopscan.quiets import Quiets, Where

_ROLES: Final = ("run", "name", "args", "result", "number", "ts", "error", "model", "sent", "output", "", SKIPPED)
_MAY_LACK: Final = ("args", "error", "model", "", SKIPPED)
_FAR: Final = 1 << 62
_AT_ONCE: Final = 256
"""Rows of one run that are given out at once, where they cannot be taken straight from their lines."""


def native_of(rows: Rows) -> Native | None:
    """What takes the usual lines of a log; None where nothing is compiled."""
    part = compiled()
    if part is None or rows.anonymous:
        return None
    fields = [(key, _ROLES.index(role)) for key, role in rows.roles if key.isascii()]  # others are looked for in vain
    needed = {role for _, role in rows.roles}.difference(_MAY_LACK)
    native: Native = part.Native(fields, sum(1 << _ROLES.index(role) for role in needed))
    return native


class Lines(Blocks):
    """The lines of a native log, block by block. `back`: see `loopscan.quiets.Quiets.take_lines`."""

    __slots__ = ("back",)

    @property
    def where(self) -> Where:
        """See `loopscan.quiets.Where`."""
        return self.data, self.at, self.end, self.number + 1, self.place, self.begin

    def take(self, native: Native, quiets: Quiets) -> bool:
        """Let the quiet runs take what they do; whether that was all of the block."""
        self.at, line, self.place, self.back = quiets.take_lines(native, self.where)
        self.number = line - 1
        return self.at >= self.end

    def goes_on(self, run: bytes) -> bool:
        """Whether the line behind the next one may be of its run, too."""
        data, end = self.data, self.end
        behind = data.find(b"\n", self.at, end) + 1
        return behind > 0 and data.find(run, behind, data.find(b"\n", behind, end)) >= 0

    def more_of(
        self, native: Native, run: Run, source: Any, look: Any, doubts: Any, rates: tuple[int, int], most: int
    ) -> Columns | None:
        """The columns of the next turns of a run, see `loopscan.model.Further`."""
        highest = floor(min(max(run.highest, -_FAR), _FAR))
        self.at, line, self.place, highest, *columns = native.more(
            look, source, doubts, rates[0], rates[1], most, highest, *self.where
        )
        self.number = line - 1
        if columns[0] is None:
            return None
        run.highest = highest
        return cast(Columns, columns)

    def row_of(self, rows: Rows, line: bytes, run: Run, run_id: str) -> Row | None:
        """The next line as a row that goes on a run; None where it does not."""
        row = self.row(rows, line)
        return None if row is None or row.run != run_id or row.number <= run.highest or row.place < 0 else row

    def row(self, rows: Rows, line: bytes) -> Row | None:
        """The next line as a row; None where it is not usual."""
        try:
            row = rows.usual(line)
        except FAST_ERRORS:
            return None
        row.line, row.place = self.number + 1, self.place
        return row


def events(log: Log, rows: Rows, native: Native) -> Iterator[Event | Batch | Further]:
    """The events of a log of usual lines; what is not usual goes the general way."""
    quiets, skips, runs = log.scan.quiets, log.scan.skips, log.runs
    assert quiets is not None
    lines = Lines(log.blob.blocks(skips))
    while lines.more():
        lines.back = False
        if log.newest and log.newest[0][0] < lines.place - log.near:
            log.hold_newest(lines.place - log.near)
        if log.is_lost(lines.number + 1, lines.place):
            lines.place = -1
        elif not runs.all_marked and lines.take(native, quiets):
            continue
        number, line = lines.number + 1, lines.peek()
        row = lines.row(rows, line)
        if row is not None:
            yield from _row(log, rows, row, line, lines, native)
            continue
        lines.step(line)
        if not line.isspace():
            log.blob.at = number
            yield from log.line_of(number, line, rows, lines)
    log.blob.tell_damage(skips)


def _row(
    log: Log, rows: Rows, row: Row, line: bytes, lines: Lines, native: Native
) -> Iterator[Event | Batch | Further]:
    """The events of a usual line, and of those behind it that go on its run."""
    quiets, runs, lost = log.scan.quiets, log.runs.by_id, row.place < 0
    assert quiets is not None
    quiets.marked = log.runs.all_marked
    asked = not (lost or lines.back) and (row.run not in runs or row.run in quiets.states)
    if asked and quiets.take([row], 0):
        lines.step(line)
        return
    log.blob.at = row.line
    run = run_of(log, row)
    if run is None or lost:
        lines.step(line)
        yield from log.line_of(row.line, line, rows, lines)
        return
    if run.turn is not None:
        yield run.turn
        run.turn = None
    before, name, most = log.held(run), row.run.encode(), _AT_ONCE
    if before is not None and not log.runs.all_marked:
        yield Batch(row.run, [before], log.source)
        before = None
        if quiets.go_on(row.run, run.highest):
            lines.take(native, quiets)
            if lines.number >= row.line:
                return
            log.stay(row.run, run, False)
    if not log.runs.all_marked and lines.goes_on(name):
        yield Further(row.run, partial(lines.more_of, native, run, log.source), rows.usual)
        line, most = lines.peek(), 2
        row = lines.row(rows, line)
    batch = [] if before is None else [before]
    while row is not None:
        lines.step(line)
        batch.append(row)
        note(log, run, row)
        if len(batch) == most or not lines.more() or name not in (line := lines.peek()):
            break
        row = lines.row_of(rows, line, run, row.run)
    yield from keep(log, batch[-1].run, run, batch, batch[-1].line)
