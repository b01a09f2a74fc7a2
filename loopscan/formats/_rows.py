"""Files that hold one whole run per value: a row with its messages, or the bare list of them.

Each value stands for itself, so a file can be read from any line on. A value may also be a list of rows.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Final

from loopscan.formats import Scan
from loopscan.formats._dialogue import Dialogue
from loopscan.formats._fields import identity, mapping, when
from loopscan.formats._stops import end_of
from loopscan.formats._talk import Talk, of_messages
from loopscan.formats._usage import usage_of
from loopscan.model import JSON, End, Event, Turn

Row = tuple[dict[str, JSON], list[JSON]]
"""A row's own fields and its messages."""

IDS: Final = (
    "run_id", "id", "traj_id", "trajectory_id", "trace_id", "conversation_id", "session_id", "thread_id", "uuid",
    "instance_id", "custom_id", "request_id",
)  # fmt: skip
_TIMES: Final = ("created_at", "timestamp", "created", "ts", "started_at")
_SESSIONS: Final = ("session_id", "conversation_id", "thread_id")
_MODELS: Final = ("model", "model_name")
_LABEL: Final = 200


def rows(value: JSON, keys: tuple[str, ...]) -> Iterator[Row]:
    """The rows of a value: messages stand under one of `keys`, or the value itself is the list of them."""
    if isinstance(value, dict):
        for key in keys:
            if is_messages(value.get(key)):
                yield value, value[key]
                return
    elif is_messages(value):
        yield {}, value
    elif isinstance(value, list):
        for part in value:
            if isinstance(part, dict):
                yield from rows(part, keys)


def is_messages(value: JSON) -> bool:
    """Whether a value is a list that begins like messages or Responses items."""
    if not isinstance(value, list) or not value:
        return False
    for part in value[:3]:
        if not isinstance(part, dict):
            return False
        kind = part.get("type")
        is_item = kind == "reasoning" or (isinstance(kind, str) and "call" in kind)
        if not is_item and not isinstance(part.get("role"), str):
            return False
    return True


class Names:
    """Run ids of rows, each given once in a scan: data sets repeat the id of a task for each attempt."""

    def __init__(self, format_name: str, scan: Scan) -> None:
        self._used: set[int] = scan.memory.setdefault(f"{format_name} ids", set())

    def name(self, record: dict[str, JSON], place: str, keys: tuple[str, ...] = IDS) -> str:
        """The id that the record states, made unique by its place where it was used before; else the place."""
        stated = _first(record, keys)
        if stated is None:
            return place
        name = stated if hash(stated) not in self._used else f"{stated}@{place.rpartition(':')[2]}"
        self._used.add(hash(stated))
        return name


def run_of(row: Row, name: str, line: int, scan: Scan, format_name: str) -> Iterator[Event]:
    """The turns of a row, and its end where the row states one."""
    record, messages = row
    if of_messages(messages) == "text":
        turns = Talk(name, line).feed_all(messages)
    else:
        dialogue = Dialogue(name, line, lambda kind: scan.skips.unknown_type(format_name, kind))
        turns = dialogue.feed_all(messages)
    yield from described(record, turns)
    if turns and (end := stated_end(record, turns[-1])) is not None:
        yield end


def described(record: dict[str, JSON], turns: list[Turn]) -> Iterable[Turn]:
    """The turns with what the row says of the whole run: model, time, labels, a lone send's usage."""
    model, time = stamp_of(record)
    for turn in turns:
        turn.model = turn.model or model
        turn.time = turn.time if turn.time is not None else time
    describe(record, turns)
    return turns


def stamp_of(record: dict[str, JSON]) -> tuple[str | None, float | None]:
    """The model and the time that a row states for all its turns."""
    model, time = _first(record, _MODELS), None
    for key in _TIMES:
        if key in record and (time := when(record[key])) is not None:
            break
    return model, time


def _first(record: dict[str, JSON], keys: tuple[str, ...]) -> str | None:
    """The first id that a record states under one of `keys`."""
    for key in keys:
        if key in record and (stated := identity(record[key])):
            return stated
    return None


def describe(record: dict[str, JSON], turns: list[Turn]) -> None:
    """Give the first turn what the row says of the run."""
    if turns:
        introduce(record, turns[0], len(turns) == 1)


def introduce(record: dict[str, JSON], first: Turn, lone: bool) -> None:
    """Give a first turn what the row says of the run: labels, session, the usage of a `lone` send."""
    if lone and first.usage is None:
        first.usage = usage_of(record.get("usage"))
    first.whole = True
    metadata = mapping(record.get("metadata"))
    labels = {k: v for k, v in metadata.items() if isinstance(v, str) and len(v) <= _LABEL} if metadata else None
    first.labels = labels or None
    first.session = _first(record, _SESSIONS)


def stated_end(record: dict[str, JSON], last: Turn) -> End | None:
    """The end that the row's own stop reason states."""
    reason = record.get("stop_reason") or record.get("finish_reason")
    return end_of(last, reason, final=True, of_run=True)
