"""Codex rollouts, `~/.codex/sessions/YYYY/MM/DD/rollout-<time>-<thread>.jsonl` (and `archived_sessions`).

Three generations, told apart by what occurs: bare items after a header line (to about September 2025); records
`{timestamp, type, payload}` with `token_count` events; and, from 0.149 on, the same with an `ordinal`,
`item_completed` events and a `token_usage_record` per response. Record types and which of them are written:
https://github.com/openai/codex/blob/main/codex-rs/rollout/src/policy.rs and `protocol/src/protocol.rs` there.

One turn = one response of the model: reply items up to a token count or to the results they asked for. In the first
generation parallel calls whose results stand between them cannot be told from consecutive ones. One run = one user
prompt of a thread (`thread#k`), or one task that began without a prompt; a sub-agent's thread is one run with a
parent. A script (`exec`) counts as the calls made in it. Usage = the change of the thread's counters, or the
response's own record; a compaction's own send is no turn and is not counted; the parent's history that a fork
repeats is left out.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Final

from loopscan.blob import Blob, Head
from loopscan.decode import word
from loopscan.formats import Scan
from loopscan.formats._codex_items import CALLS, OUTPUTS, cleaned
from loopscan.formats._codex_log import Log
from loopscan.formats._codex_replay import Line, own_records
from loopscan.model import JSON, Event

TITLE = "Codex rollouts (CLI, IDE, desktop)"
WHERE: tuple[str, ...] = (
    "$CODEX_HOME/sessions", "~/.codex/sessions", "$CODEX_HOME/archived_sessions", "~/.codex/archived_sessions",
)  # fmt: skip
LACKS = "recorded dollars; in the oldest versions usage and times"
_LIMITS: Final = frozenset({"timeout_ms", "justification", "yield_time_ms", "max_output_tokens"})
COSMETIC_ARGS: Mapping[str, frozenset[str]] = dict.fromkeys(
    ("shell", "shell_command", "local_shell", "exec_command", "write_stdin", "wait"), _LIMITS
)

_ENVELOPES: Final = frozenset("session_meta response_item event_msg turn_context".split())
_ITEMS: Final = frozenset("message reasoning function_call function_call_output local_shell_call".split())


def sniff(head: Head) -> bool:
    """Enveloped records, or a header without a type followed by bare response items."""
    objects = head.objects
    if any(word(o.get("type")) in _ENVELOPES and isinstance(o.get("payload"), dict) for o in objects):
        return True
    first = head.first
    if "type" in first or not {"id", "timestamp", "instructions"} <= set(first):
        return False
    return any(word(o.get("type")) in _ITEMS or "record_type" in o for o in objects[1:])


def read(blob: Blob, scan: Scan) -> Iterator[Event]:
    """The turns and ends of a rollout."""
    log = Log(blob, scan)
    lines = _lines(blob, scan)
    for line in lines if scan.exact else own_records(lines, log.meter.inherit):
        log.record(line)
        if log.turns.ready:
            yield from log.drain()
    log.turns.finish()
    yield from log.drain()


def _lines(blob: Blob, scan: Scan) -> Iterator[Line]:
    """Every record in the form of the second generation."""
    for number, record in blob.values(scan.skips):
        if not isinstance(record, dict):
            scan.skips.add(blob.name, number, "not an object: a rollout line is a JSON object")
            continue
        kind, payload = word(record.get("type")), record.get("payload")
        if isinstance(payload, dict):
            yield number, kind, payload, record
        elif kind in CALLS or kind in OUTPUTS or kind in _ITEMS:
            yield number, "response_item", record, record
        elif "type" not in record and "id" in record and "timestamp" in record:
            yield number, "session_meta", record, record
        elif "record_type" not in record:
            scan.skips.add(blob.name, number, "no payload: a rollout record holds one")


def clean_result(name: str, result: JSON) -> JSON:
    """Without the wrapper that Codex puts round outputs: durations, chunk ids, token counts."""
    return cleaned(result)
