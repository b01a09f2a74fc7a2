"""A native log while it is read: rows of usual turns, the lines of turns of any kind, ends."""

from __future__ import annotations

from collections import deque
from collections.abc import Iterator
from typing import Final

from msgspec import UNSET

from loopscan import decode
from loopscan.blob import Blob
from loopscan.decode import FAST_ERRORS, word
from loopscan.formats import Scan
from loopscan.formats._fields import text_or_none, when
from loopscan.formats._mapped import mapped
from loopscan.formats._native_line import Line, run_of, turn_of
from loopscan.formats._native_rows import Row, Rows
from loopscan.formats._native_runs import Run, Runs
from loopscan.late import Source
from loopscan.model import JSON, MISSING, STATES, Call, End, Event, Turn, Usage
from loopscan.model import Rows as Batch
from loopscan.row import Row as UsualRow
from loopscan.row import turn_of as turn_of_row

_BATCH: Final = 256
"""Turns of one run that are given out at once."""
_LONG: Final = 100_000
"""Lines for which a row is held."""
_SEEN: Final = 1000
"""Unusual lines from which on they are no exception, where they are the most."""


class Log:
    """One native log while it is read."""

    def __init__(self, blob: Blob, scan: Scan) -> None:
        self.blob, self.scan = blob, scan
        self.runs: Runs = scan.memory.setdefault("loopscan", Runs(scan.field_map))
        self.runs.begin(blob)
        self.source: Source | None = None
        self.met: list[tuple[str, Run]] = []
        """The runs of this log, in the order in which they were met."""
        self._kept: deque[tuple[int, Run]] = deque()
        """Line number and run of the rows that are held, oldest first."""

    def run(self, run_id: str) -> Run:
        """A run, made known on its first line."""
        run = self.runs.by_id.get(run_id)
        if run is None:
            run = self.runs.by_id[run_id] = Run()
        if run.log != self.runs.logs:
            run.log = self.runs.logs
            self.met.append((run_id, run))
        return run

    def held(self, run: Run) -> UsualRow | None:
        """The row that a run holds, if it does: it does no longer."""
        row, away = run.row, run.away
        run.row, run.away = None, -1
        if away >= 0 and self.source is not None:
            row = self.source.row(away)
            if row is None:
                self.scan.skips.add(self.blob.name, None, "changed while it was read: a turn of it is lost")
            else:
                row.place = away
        return row

    def settle(self, run_id: str, run: Run) -> None:
        """Make a turn of a row that is held: what comes now is no further row."""
        row = self.held(run)
        if row is not None:
            run.open(turn_of_row(row, run_id, when(row.ts)), row.number, row.ts)

    def rows(self, rows: Rows) -> Iterator[Event | Batch]:
        """The events of a log of usual lines; what is not usual goes the general way.

        Longer than other functions: it runs once a line, and a call costs more here than what it would do.
        """
        blob, runs, skips = self.blob, self.runs, self.scan.skips
        usual = rows.usual if self.scan.rows and not rows.anonymous else None
        lines = blob.placed(skips)
        number = 0
        self.source = None if blob.path is None or not blob.plain else Source(blob.path, rows.usual, blob.identity())
        current, missed = "", 0
        highest = 0.0
        batch: list[UsualRow] = []
        for number, place, line in lines:
            if usual is not None:
                try:
                    row = usual(line)
                except FAST_ERRORS:
                    missed += 1
                    if missed > _SEEN and 2 * missed > number:
                        usual = None
                else:
                    row.place = place
                    if row.run == current:
                        if row.number > highest:
                            batch.append(row)
                            highest = row.number
                            if len(batch) > _BATCH:
                                yield Batch(current, batch[:-1], self.source)
                                batch = batch[-1:]
                            continue
                    else:
                        if batch:
                            yield from self._keep(current, batch, highest, number)
                            batch = []
                        current = row.run
                        run = self.run(current)
                        highest = run.highest
                        if row.number > highest and run.prompt is None and not runs.all_marked:
                            if run.turn is not None:
                                yield run.turn
                                run.turn = None
                            before = self.held(run)
                            batch = [row] if before is None else [before, row]
                            highest = row.number
                            continue
            if batch:
                yield from self._keep(current, batch, highest, number)
                batch = []
            current = ""
            yield from self._line_of(number, line, rows, ((n, ln) for n, _, ln in lines))
        if batch:
            yield from self._keep(current, batch, highest, number)
        blob.tell_damage(skips)

    def _keep(self, run_id: str, batch: list[UsualRow], highest: float, number: int) -> Iterator[Event | Batch]:
        """Give out a batch but for its last turn, which the next line may be part of.

        Of a row that was held for long only the place is kept.
        """
        run, kept = self.runs.by_id[run_id], self._kept
        run.row = batch.pop()
        run.highest = highest
        if self.source is not None:
            run.since = number
            kept.append((number, run))
            while kept[0][0] < number - _LONG:
                since, old = kept.popleft()
                if old.since == since and old.row is not None:
                    old.away = old.row.place
                    old.row = None
        if batch:
            yield Batch(run_id, batch, self.source)

    def _line_of(self, number: int, line: bytes, rows: Rows, lines: Iterator[tuple[int, bytes]]) -> Iterator[Event]:
        """The events of a line of usual fields, or of any other."""
        blob, runs, skips, stamped = self.blob, self.runs, self.scan.skips, not self.scan.exact
        try:
            row = rows.decode(line)
        except FAST_ERRORS:
            row = None
        if row is None or not (run_id := row.run or (blob.name if rows.anonymous else None)) or not _is_usual(row):
            for place, value in blob.rescued(number, line, lines, skips):
                yield from self.value(value, place)
            return
        if type(run_id) is int:
            run_id = str(run_id)
        run = self.run(run_id)
        if run.prompt is not None:
            yield from self.value(decode.loads(line), number)
            return
        text, turn_number, stamp = row.text, row.turn, row.ts
        calls = [] if row.name is None else [Call(row.name, row.args, row.result, row.error is True)]
        turn = Turn(
            run_id, calls, "" if text is UNSET else text, False, MISSING, _usage(row), row.model,
            None if stamp is None else when(stamp), number,
        )  # fmt: skip
        for attribute, filled in rows.more:
            setattr(turn, filled, getattr(row, attribute))
        self.settle(run_id, run)
        if stamped and turn_number is not None and stamp is not None:
            if turn_number > run.highest and not runs.all_marked:
                run.highest = turn_number
            elif runs.is_copy(run, turn_number, stamp, turn, number):
                skips.copies += 1
                return
        held = run.turn
        if held is None:
            run.open(turn, turn_number, stamp)
        elif turn_number is None or turn_number != run.number:
            run.open(turn, turn_number, stamp)
            yield held
        else:
            run.add(turn)

    def value(self, record: JSON, number: int) -> Iterator[Event]:
        """The events of one value, of whatever shape."""
        if not isinstance(record, dict):
            self.scan.skips.add(self.blob.name, number, "not an object: each line must be one JSON object")
            return
        line = mapped(record, self.scan.field_map) if self.scan.field_map else record
        run_id, prompt = run_of(line, self.blob.name)
        run = self.run(run_id)
        self.settle(run_id, run)
        if prompt != run.prompt:
            if run.turn is not None:
                yield run.turn
            run.turn, run.prompt = None, prompt
        yield from self._line(line, run_id, run, number)

    def _line(self, line: Line, run_id: str, run: Run, number: int) -> Iterator[Event]:
        turn_number, stamp, state = line.get("turn"), line.get("ts"), line.get("state")
        turn = turn_of(line, run_id, number)
        marked = turn_number is not None and stamp is not None and not self.scan.exact
        if marked and self.runs.is_copy(run, turn_number, stamp, turn, number, state):
            self.scan.skips.copies += 1
            return
        if turn is not None:
            turn.prompt = run.prompt
            if run.turn is not None and (turn_number is None or turn_number != run.number):
                yield run.turn
                run.turn = None
            if run.turn is None:
                run.open(turn, turn_number, stamp)
            else:
                run.add(turn)
        if state is not None:
            if run.turn is not None:
                yield run.turn
                run.turn, run.number = None, None
            yield from self._end(line, run_id, run, number, state)

    def _end(self, line: Line, run_id: str, run: Run, number: int, state: JSON) -> Iterator[Event]:
        if state in STATES:
            note, final = text_or_none(line.get("note")), run.prompt is None
            yield End(run_id, state, note, number, final=final, time=when(line.get("ts")), prompt=run.prompt)
        else:
            reason = f"unknown state: {word(state)[:40]!r} is none of {', '.join(STATES)}"
            self.scan.skips.add(self.blob.name, number, reason)


def _is_usual(row: Row) -> bool:
    return type(row.name) is str or (type(row.text) is str and not row.error)


def _usage(row: Row) -> Usage | None:
    read_, write, hour, usd = row.cache_read_tokens, row.cache_write_tokens, row.cache_write_1h_tokens, row.usd
    given, output = row.input_tokens, row.output_tokens
    if given is None and output is None and read_ is None and write is None and hour is None and usd is None:
        return None
    return Usage(given, output, read_, write, hour, usd)
