"""loopscan's own trace format: JSON Lines, one call (or one turn) per line, runs interleaved.

What teams write themselves, and what `loopscan convert` writes. Field names and their accepted synonyms: README,
"The native format". One turn = consecutive lines of a run with the same `turn`, or a line without `turn`. One
run = one `run_id`; without an id the file. Usage = the largest figure per field on the lines of a turn.

Fields that only `convert` writes, for what other formats know: `prompt` (the number k where `run_id` is `x#k`: run k
of the interactive session x), `session` (a wider session of the run), `context_window` (tokens the model takes),
`written` (characters it wrote, thinking included), `compacted` (true where the context was compacted before the turn),
`note` (beside `state`: the log's own word for the end). `text` null on a call: the words beside it were not captured.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Final, cast

from msgspec import UNSET

from loopscan import decode
from loopscan.blob import Blob, Head
from loopscan.decode import FAST_ERRORS, word
from loopscan.formats import Scan
from loopscan.formats._fields import text_or_none, when
from loopscan.formats._mapped import mapped
from loopscan.formats._native_line import ACTS, CONTEXT, NAME, Line, run_of, turn_of
from loopscan.formats._native_line import FIELDS as FIELDS
from loopscan.formats._native_rows import Row, Rows, rows_of
from loopscan.formats._native_runs import Run, Runs
from loopscan.late import Source
from loopscan.model import JSON, MISSING, STATES, Call, End, Event, Turn, Usage
from loopscan.model import Rows as Batch
from loopscan.row import Row as UsualRow

TITLE = "loopscan's own JSON Lines, one call per line"
WHERE: tuple[str, ...] = ()
LACKS = ""
COSMETIC_ARGS: Mapping[str, frozenset[str]] = {}
_BATCH: Final = 256
"""Turns of one run that are given out at once."""
_SEEN: Final = 1000
"""Unusual lines from which on they are no exception, where they are the most."""
FINAL = True
"""Nothing is added to a turn once it was given out."""


def sniff(head: Head) -> bool:
    """Objects with one of our words for what happened and one for where or with what."""
    objects = head.objects
    return bool(objects) and not head.document and any(_is_ours(o) for o in objects[:5])


_FOREIGN: Final = frozenset(
    "span_id root_span_id parent_observation_id dotted_order run_type object spans span_data messages uuid".split()
)
"""Keys of logs that use some of our words for other things."""


def _is_ours(line: Line) -> bool:
    if not _FOREIGN.isdisjoint(line) or line.get("type") in ("ToolCall", "LLMCall"):
        return False
    if not any(k in line for k in ACTS) or not any(k in line for k in CONTEXT):
        return False
    name = next((line[k] for k in NAME if k in line), None)
    return (name is None or isinstance(name, str)) and not isinstance(line.get("text"), (dict, list))


def read(blob: Blob, scan: Scan) -> Iterator[Event]:
    """The turns and ends of a native log; in `Rows` where the scan asks for them."""
    return cast(Iterator[Event], _read(blob, scan))


def _read(blob: Blob, scan: Scan) -> Iterator[Event | Batch]:
    log = _Log(blob, scan)
    rows = None if scan.field_map or blob.head.document else rows_of(blob.head)
    if rows is not None:
        yield from log.rows(rows)
    else:
        for number, value in blob.values(scan.skips):
            yield from log.value(value, number)
    for run_id, run in log.runs.by_id.items():
        if run.row is not None:
            yield Batch(run_id, [run.row], log.source)
            run.row, run.number = None, None
        if run.turn is not None:
            yield run.turn
            run.turn, run.number = None, None


class _Log:
    """One native log while it is read."""

    def __init__(self, blob: Blob, scan: Scan) -> None:
        self.blob, self.scan = blob, scan
        self.runs: Runs = scan.memory.setdefault("loopscan", Runs(scan.field_map))
        self.runs.begin(blob)
        self.source: Source | None = None

    def rows(self, rows: Rows) -> Iterator[Event | Batch]:
        """The events of a log of usual lines; what is not usual goes the general way.

        Longer than other functions: it runs once a line, and a call costs more here than what it would do.
        """
        blob, runs, by_id, skips = self.blob, self.runs, self.runs.by_id, self.scan.skips
        usual = rows.usual if self.scan.rows and not rows.anonymous else None
        lines = blob.placed(skips)
        self.source = None if blob.path is None or not blob.plain else Source(blob.path, rows.usual)
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
                            yield from self._keep(current, batch, highest)
                            batch = []
                        current = row.run
                        run = by_id.get(current)
                        if run is None:
                            run = by_id[current] = Run()
                        highest = run.highest
                        if row.number > highest and run.prompt is None and not runs.all_marked:
                            if run.turn is not None:
                                yield run.turn
                                run.turn = None
                            batch = [row] if run.row is None else [run.row, row]
                            highest = row.number
                            continue
            if batch:
                yield from self._keep(current, batch, highest)
                batch = []
            current = ""
            yield from self._line_of(number, line, rows, ((n, ln) for n, _, ln in lines))
        if batch:
            yield from self._keep(current, batch, highest)
        blob.tell_damage(skips)

    def _keep(self, run_id: str, batch: list[UsualRow], highest: float) -> Iterator[Event | Batch]:
        """Give out a batch but for its last turn, which the next line may be part of."""
        run = self.runs.by_id[run_id]
        run.row = batch.pop()
        run.highest = highest
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
        run = runs.by_id.get(run_id)
        if run is None:
            run = runs.by_id[run_id] = Run()
        elif run.prompt is not None:
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
        run.settle(run_id)
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
        run = self.runs.by_id.get(run_id)
        if run is None:
            run = self.runs.by_id[run_id] = Run()
        run.settle(run_id)
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


def clean_result(name: str, result: JSON) -> JSON:
    """Native results have no wrapper."""
    return result
