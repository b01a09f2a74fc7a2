"""A native log while it is read: rows of usual turns, the lines of turns of any kind, ends."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Iterator
from functools import partial
from operator import itemgetter

from msgspec import UNSET

from loopscan import decode
from loopscan.blob import Blob
from loopscan.copied import Copied
from loopscan.decode import FAST_ERRORS, word
from loopscan.formats import Scan
from loopscan.formats._fields import text_or_none, when
from loopscan.formats._mapped import mapped
from loopscan.formats._native_line import Line, run_of, turn_of
from loopscan.formats._native_rows import Rows, is_plain, usage_of
from loopscan.formats._native_runs import Run, Runs
from loopscan.late import Source
from loopscan.model import JSON, MISSING, STATES, Call, End, Event, Turn
from loopscan.model import Rows as Batch
from loopscan.row import Row as UsualRow
from loopscan.row import turn_of as turn_of_row


class Log:
    """One native log while it is read."""

    def __init__(self, blob: Blob, scan: Scan, copy: Copied | None = None) -> None:
        self.blob, self.scan, self.copy = blob, scan, copy
        self.runs: Runs = scan.memory.setdefault("loopscan", Runs(scan.field_map))
        self.runs.begin(blob, copy)
        self.source: Source | None = None
        self.begin_quiets()
        self.met: list[tuple[int, str, Run]] = []
        """First line, id and state of the runs of this log that are not quiet."""
        self.kept: deque[tuple[int, Run]] = deque()
        """Line number and run of the rows that are held, oldest first."""
        self.newest: deque[tuple[int, str, Run]] = deque()
        """Place, id and run of those of them that the copy has in memory."""
        self.near = 0 if copy is None else copy.back // 2
        """Bytes that are in memory for some while longer."""

    def begin_source(self, row: Callable[[bytes], UsualRow]) -> None:
        """Lines can be read again as rows, where there is a file of them."""
        if self.copy is not None:
            self.source = Source(self.copy, row)
        elif self.blob.path is not None and self.blob.plain:
            self.source = Source(self.blob.path, row, self.blob.identity())
        self.begin_quiets()

    def is_lost(self, line: int, place: int) -> bool:
        """Whether a line of that number and place cannot be read again once more was read, where others can."""
        if self.copy is not None and not self.copy.whole:
            if self.blob.path is None:
                self.runs.mark_all(line)
            return True
        return place < 0

    def hold_newest(self, place: int) -> None:
        """Have the copy hold what is asked for at the end of runs of which nothing came since that place."""
        newest, copy, quiets = self.newest, self.copy, self.scan.quiets
        while newest and copy is not None and quiets is not None and newest[0][0] < place:
            last, run_id, run = newest.popleft()
            if run.row is not None and run.row.place == last:
                copy.hold([last, *quiets.held_at(run_id)])

    def begin_quiets(self) -> None:
        """The quiet runs take what comes now as of this log."""
        if self.scan.quiets is not None:
            self.scan.quiets.begin(self.blob.name, self.runs.logs, self.source, self.runs.by_id)
            self.runs.quiet = self.scan.quiets.states

    def run(self, run_id: str, more: bool = True) -> Run:
        """A run, made known on its first line; `more`: a line of it comes that may belong to its last turn."""
        woken = None if self.scan.quiets is None else self.scan.quiets.wake(run_id, more)
        run = self.runs.by_id.get(run_id)
        if run is None:
            run = self.runs.by_id[run_id] = Run()
        elif self.scan.quiets is not None and run_id in self.scan.quiets.going:
            self.stay(run_id, run, more)
        if run.log != self.runs.logs:
            run.log = self.runs.logs
            self.met.append((self.blob.at or 0, run_id, run))
        if woken is not None:
            state, row, lost = woken
            run.highest = state.highest
            for found in state.marks or ():
                run.keep(found)
            if state.log == run.log:
                self.met[-1] = state.first, run_id, run
            if row is not None:
                run.open(turn_of_row(row, run_id, when(row.ts)), row.number, row.ts)
            elif lost:
                self._tell_lost()
        return run

    def stay(self, run_id: str, run: Run, more: bool) -> None:
        """Take the turns that were noted of a run in an episode; with `more` the last one is held, as its row."""
        noted = None if self.scan.quiets is None else self.scan.quiets.stay(run_id, more)
        if noted is not None and noted.number:
            run.highest = noted.highest
            run.away = noted.place(noted.number - 1) if more else -1

    def stay_all(self, more: bool) -> None:
        """The same of all runs."""
        for run_id in () if self.scan.quiets is None else list(self.scan.quiets.going):
            self.stay(run_id, self.runs.by_id[run_id], more)

    def _tell_lost(self) -> None:
        self.scan.skips.add(self.blob.name, None, "changed while it was read: a turn of it is lost")

    def held(self, run: Run) -> UsualRow | None:
        """The row that a run holds, if it does: it does no longer."""
        row, away = run.row, run.away
        run.row, run.away = None, -1
        if away >= 0 and self.source is not None:
            row = self.source.row(away)
            if row is None:
                self._tell_lost()
            else:
                row.place = away
        return row

    def settle(self, run_id: str, run: Run) -> None:
        """Make a turn of a row that is held: what comes now is no further row."""
        row = self.held(run)
        if row is not None:
            run.open(turn_of_row(row, run_id, when(row.ts)), row.number, row.ts)

    def line_of(self, number: int, line: bytes, rows: Rows, lines: Iterator[tuple[int, bytes]]) -> Iterator[Event]:
        """The events of a line of usual fields, or of any other."""
        blob, runs, skips, stamped = self.blob, self.runs, self.scan.skips, not self.scan.exact
        try:
            row = rows.decode(line)
        except FAST_ERRORS:
            row = None
        if row is None or not (run_id := row.run or (blob.name if rows.anonymous else None)) or not is_plain(row):
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
            run_id, calls, "" if text is UNSET else text, False, MISSING, usage_of(row), row.model,
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

    def ended(self) -> Iterator[Event | Batch]:
        """What waited for the end of the log, in the order in which runs were met in it."""
        quiets = self.scan.quiets
        self.stay_all(False)
        waiting: list[tuple[int, str, Run | Callable[[], None]]] = [*self.met]
        if quiets is not None:
            waiting += [(s.first, s.run, partial(quiets.start, s, None)) for s in quiets.fresh.values()]
        for _, run_id, run in sorted(waiting, key=itemgetter(0)):
            if not isinstance(run, Run):
                run()
                continue
            row = self.held(run)
            if row is not None:
                yield Batch(run_id, [row], self.source)
                run.number = None
            if run.turn is not None:
                yield run.turn
                run.turn, run.number = None, None

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
