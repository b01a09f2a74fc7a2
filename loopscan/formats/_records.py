"""Reading message logs: one run per value, one exchange per value, or requests that repeat their history."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

from loopscan.blob import Blob, Head
from loopscan.formats import Scan
from loopscan.formats._dialect import ITEMS, MESSAGES
from loopscan.formats._exchange import history, send_of, split
from loopscan.formats._fields import identity
from loopscan.formats._marks import prefixes
from loopscan.formats._rows import IDS, Names, Row, rows, run_of
from loopscan.formats._stitch import Send, Stitcher
from loopscan.model import JSON, Event

KEYS: Final = (*MESSAGES, *ITEMS)
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


def read_messages(blob: Blob, scan: Scan, format_name: str) -> Iterator[Event]:
    """The turns and ends of a message log in any of the dialects."""
    stitcher: Stitcher = scan.memory.setdefault(format_name, Stitcher())
    names, grows = Names(format_name, scan), _grows(blob.head)
    for number, value in blob.values(scan.skips):
        place = f"{blob.name}:{number}"
        send = send_of(value, number) if isinstance(value, dict) else None
        if send is not None:
            if send.reply_id is None or not scan.copy_of(format_name, send.reply_id):
                yield from stitcher.take(send, place)
            continue
        found = list(rows(value, KEYS))
        if not found:
            scan.skips.add(blob.name, number, "no messages: a line is a run's messages or a request with its response")
        for i, row in enumerate(found):
            here = place if len(found) == 1 else f"{place}.{i + 1}"
            if grows:
                yield from stitcher.take(_request(row, number), names.name(row[0], here, IDS))
            else:
                yield from run_of(row, names.name(row[0], here), number, scan, format_name)
    yield from stitcher.flush()


def _request(row: Row, line: int) -> Send:
    record, messages = row
    run = next((i for k in _RUNS if (i := identity(record.get(k))) is not None), None)
    return Send(history({"messages": messages}), run=run, line=line)


def unchanged(name: str, result: JSON) -> JSON:
    """A result that has no wrapper."""
    return result
