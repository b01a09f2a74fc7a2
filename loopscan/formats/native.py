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

from loopscan.blob import Blob, Head
from loopscan.formats import Scan
from loopscan.formats._native_blocks import events
from loopscan.formats._native_line import ACTS, CONTEXT, NAME, Line
from loopscan.formats._native_line import FIELDS as FIELDS
from loopscan.formats._native_log import Log
from loopscan.formats._native_rows import rows_of
from loopscan.model import JSON, Event, Further
from loopscan.model import Rows as Batch

TITLE = "loopscan's own JSON Lines, one call per line"
WHERE: tuple[str, ...] = ()
LACKS = ""
COSMETIC_ARGS: Mapping[str, frozenset[str]] = {}
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
    """The turns and ends of a native log, but for the usual ones where the scan takes those itself."""
    return cast(Iterator[Event], _read(blob, scan))


def _read(blob: Blob, scan: Scan) -> Iterator[Event | Batch | Further]:
    rows = None if scan.field_map or blob.head.document else rows_of(blob.head)
    log = Log(blob, scan, None if rows is None or scan.quiets is None or rows.anonymous else blob.copied())
    if rows is not None:
        yield from events(log, rows)
    else:
        for number, value in blob.values(scan.skips):
            yield from log.value(value, number)
    yield from log.ended()


def clean_result(name: str, result: JSON) -> JSON:
    """Native results have no wrapper."""
    return result
