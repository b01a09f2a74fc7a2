"""Reading message logs: one run per value, one exchange per value, or requests that repeat their history."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from functools import partial
from typing import TYPE_CHECKING, Final

from loopscan.blob import Blob, Head
from loopscan.calm import WORDS
from loopscan.compiled import compiled
from loopscan.decode import FAST_ERRORS, fast, loads
from loopscan.formats import Scan
from loopscan.formats._chat_line import (
    OWN,
    SPEAKING,
    Line,
    Message,
    decode,
    pieces_of,
    played_again,
    played_of,
    turns_of,
)  # fmt: skip
from loopscan.formats._dialect import ITEMS, MESSAGES
from loopscan.formats._exchange import history, send_of, split
from loopscan.formats._fields import identity
from loopscan.formats._marks import prefixes
from loopscan.formats._rows import IDS, Names, Row, describe, introduce, rows, run_of, stamp_of, stated_end
from loopscan.formats._stitch import Send, Stitcher
from loopscan.model import JSON, MISSING, Event, LateCall, Turn
from loopscan.whole import Whole

if TYPE_CHECKING:
    from loopscan._compiled import Chat

KEYS: Final = (*MESSAGES, *ITEMS)
_PLAIN: Final = frozenset({"openai-messages", "anthropic-messages"})
_TRIES: Final = 8
"""Lines in a row that may not be plain before the others are not tried as such."""
_HOPES: Final = 64
"""How many more lines that are no calm runs there may be than such that are until all are read in the other way."""
_ONE: Final = 4
"""Bytes of an unsigned int."""
_RUNS: Final = ("run_id", "session_id", "conversation_id", "thread_id")


def line_independent(head: Head) -> bool:
    """Whether each value of an input that begins so is a run (or several) of its own."""
    return not any(isinstance(v, dict) and split(v) is not None for v in head.values) and not _grows(head)


def _grows(head: Head) -> bool:
    """Whether a value repeats all messages of an earlier one and goes on: a log of requests without responses."""
    earlier: set[int] = set()
    for value in head.values:
        if isinstance(value, dict) and split(value) is not None:
            continue
        for _, messages in rows(value, KEYS):
            chain = prefixes(history({"messages": messages}))
            if any(key in earlier for key in chain[1:-1]):
                return True
            earlier.add(chain[-1])
    return False


def read_messages(blob: Blob, scan: Scan, format_name: str) -> Iterator[Event | Whole]:
    """The turns and ends of a message log in any of the dialects."""
    log = MessageLog(blob, scan, format_name)
    if log.grows or blob.head.document or format_name not in _PLAIN:
        for number, value in blob.values(scan.skips):
            yield from log.value(value, number)
    else:
        yield from log.lines()
    yield from log.stitcher.flush()


def chat_of() -> Chat | None:
    """The compiled reader of calm runs, where there is one."""
    scanner = compiled()
    return None if scanner is None else scanner.Chat(SPEAKING, WORDS, LateCall, MISSING, fast)


class MessageLog:
    """A message log while it is read."""

    def __init__(self, blob: Blob, scan: Scan, format_name: str) -> None:
        self.blob, self.scan, self.format = blob, scan, format_name
        self.stitcher: Stitcher = scan.memory.setdefault(format_name, Stitcher())
        self.names, self.grows = Names(format_name, scan), _grows(blob.head)

    def lines(self) -> Iterator[Event | Whole]:
        """The events of a file of lines; those that are not plain go by way of `value`."""
        blob, skips = self.blob, self.scan.skips
        placed, plain = blob.placed(skips), _TRIES
        chat, hopes = chat_of() if self.scan.reach else None, _HOPES
        lines = ((number, data) for number, _, data in placed)
        for number, _, data in placed:
            if chat is not None:
                whole = self._whole(chat, data, number)
                if whole is not None:
                    hopes = min(hopes + 1, _HOPES)
                    yield whole
                    continue
                hopes -= 1
                chat = chat if hopes else None
            if plain:
                try:
                    line = decode(data)
                except FAST_ERRORS:
                    plain -= 1
                else:
                    plain = _TRIES
                    yield from self._plain(line, data, number)
                    continue
            for place, value in blob.rescued(number, data, lines, skips):
                yield from self.value(value, place)
        blob.tell_damage(skips)

    def _whole(self, chat: Chat, data: bytes, number: int) -> Whole | None:
        """A run in its simplest shape, calm or not; None where it is another, or stands among what is unusual."""
        told, played = chat.heard(data, self.scan.reach), None
        if told:
            beside, lone = told[0], len(told[2]) == _ONE
        elif (played := chat.play(data)) is not None:
            beside, lone = played[0], len(played[2]) == 1
        else:
            return None
        record = fast(beside)
        if not OWN.issuperset(record):
            return None
        name = self.names.name(record, f"{self.blob.name}:{number}")
        model, time = stamp_of(record)
        first = Turn(name, model=model, time=time, line=number)
        introduce(record, first, lone)
        end = stated_end(record, first)
        if told:
            return Whole(name, first, [], [], [], end, told[1:], play=partial(played_again, data))
        return None if played is None else Whole(name, first, *played[1:], end, restless=told is False)

    def _plain(self, line: Line | list[Message], data: bytes, number: int) -> Iterable[Event | Whole]:
        """The events of a run of plain messages."""
        messages, record = (line, {}) if isinstance(line, list) else (line.messages, line.record())
        if not messages:
            return self.value(loads(data), number)
        name = self.names.name(record, f"{self.blob.name}:{number}")
        model, time = stamp_of(record)
        if self.scan.rows and (played := played_of(messages)) is not None:
            first = Turn(name, model=model, time=time, line=number)
            introduce(record, first, len(played[1]) == 1)
            return (Whole(name, first, *played, stated_end(record, first)),)
        turns = turns_of(messages, name, number, model, time)
        if turns is None:
            return run_of(next(rows(loads(data), KEYS)), name, number, self.scan, self.format)
        describe(record, turns)
        end = stated_end(record, turns[-1]) if turns else None
        if self.scan.rows and (played := pieces_of(turns)) is not None:
            return (Whole(name, turns[0], *played, end),)
        return turns if end is None else [*turns, end]

    def value(self, value: JSON, number: int) -> Iterator[Event]:
        """The events of one value of any shape."""
        place = f"{self.blob.name}:{number}"
        send = send_of(value, number) if isinstance(value, dict) else None
        if send is not None:
            if send.reply_id is None or not self.scan.copy_of(self.format, send.reply_id):
                yield from self.stitcher.take(send, place)
            return
        found = list(rows(value, KEYS))
        if not found:
            reason = "no messages: a line is a run's messages or a request with its response"
            self.scan.skips.add(self.blob.name, number, reason)
        for i, row in enumerate(found):
            here = place if len(found) == 1 else f"{place}.{i + 1}"
            if self.grows:
                yield from self.stitcher.take(_request(row, number), self.names.name(row[0], here, IDS))
            else:
                yield from run_of(row, self.names.name(row[0], here), number, self.scan, self.format)


def _request(row: Row, line: int) -> Send:
    record, messages = row
    run = next((i for k in _RUNS if (i := identity(record.get(k))) is not None), None)
    return Send(history({"messages": messages}), run=run, line=line)


def unchanged(name: str, result: JSON) -> JSON:
    """A result that has no wrapper."""
    return result
