"""The usual lines of a native log, a block at a time: to the quiet runs, and what they do not take the general way."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

from loopscan.decode import FAST_ERRORS
from loopscan.formats._native_fast import events as fast_events
from loopscan.formats._native_fast import native_of
from loopscan.formats._native_held import keep, note, run_of
from loopscan.formats._native_log import Log
from loopscan.formats._native_rows import Rows
from loopscan.model import Event, Further
from loopscan.model import Rows as Batch
from loopscan.row import Row as UsualRow

_BLOCK: Final = 256
"""Lines that are decoded before their turns are taken."""
_SEEN: Final = 1000
"""Unusual lines from which on they are no exception, where they are the most."""


def events(log: Log, rows: Rows) -> Iterator[Event | Batch | Further]:
    """The events of a log of usual lines; what is not usual goes the general way."""
    blob, skips = log.blob, log.scan.skips
    usual = rows.usual if log.scan.quiets is not None and not rows.anonymous else None
    log.begin_source(rows.usual)
    native = None if usual is None or log.source is None else native_of(rows)
    if native is not None:
        yield from fast_events(log, rows, native)
        return
    numbered = blob.placed(skips)
    lines = ((number, line) for number, _, line in numbered)
    number = missed = 0
    block: list[UsualRow] = []
    texts: list[bytes] = []
    for number, place, line in numbered:
        if usual is not None:
            try:
                row = usual(line)
            except FAST_ERRORS:
                missed += 1
                if missed > _SEEN and 2 * missed > number:
                    usual = None
            else:
                row.line, row.place = number, place
                block.append(row)
                texts.append(line)
                if len(block) < _BLOCK:
                    continue
                line = b""
        if block:
            yield from _block(log, block, texts, rows)
            block, texts = [], []
        if line:
            blob.at = number
            yield from log.line_of(number, line, rows, lines)
    yield from _block(log, block, texts, rows)
    blob.tell_damage(skips)


def _block(log: Log, block: list[UsualRow], texts: list[bytes], rows: Rows) -> Iterator[Event | Batch]:
    """The events of some lines that are decoded, of which the quiet runs take theirs."""
    quiets, at, end = log.scan.quiets, 0, len(block)
    if quiets is None or not block:
        return
    lost = log.source is not None and log.is_lost(block[0].line, block[-1].place)
    while at < end:
        quiets.marked = log.runs.all_marked
        if not lost and (at := quiets.take(block, at)) == end:
            break
        row = block[at]
        log.blob.at = row.line
        run = run_of(log, row)
        if lost or run is None:
            yield from log.line_of(row.line, texts[at], rows, iter(()))
            at += 1
            continue
        if run.turn is not None:
            yield run.turn
            run.turn = None
        before = log.held(run)
        batch = [] if before is None else [before]
        while at < end and block[at].run == row.run and block[at].number > run.highest:
            batch.append(block[at])
            note(log, run, block[at])
            at += 1
        yield from keep(log, row.run, run, batch, row.line)
