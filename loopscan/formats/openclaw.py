"""OpenClaw sessions: `~/.openclaw/agents/<agent>/sessions/*.jsonl`, since July 2026 `.../agent/openclaw-agent.sqlite`.

The entries are those of pi (turn, run, usage: see `pi`), told apart by marks that only OpenClaw leaves. The
database holds the same entries in `transcript_events`, one row each, in the order of `seq`; a session that another
one spawned (`session_windows.spawned_by`) is one run with a parent. Records of provider `openclaw` copy what the
gateway delivered and are no turns. Schema:
https://github.com/openclaw/openclaw/blob/main/src/state/openclaw-agent-schema.sql
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from itertools import groupby
from typing import Final

from loopscan.blob import Blob, Head
from loopscan.decode import word
from loopscan.formats import Scan
from loopscan.formats._pi_session import is_openclaw, is_session, read_session
from loopscan.formats._sqlite import MAGIC, Database, opened, tables_in
from loopscan.model import JSON, Event

TITLE = "OpenClaw sessions (files and database)"
WHERE: tuple[str, ...] = ("$OPENCLAW_STATE_DIR/agents", "~/.openclaw/agents", "~/.clawdbot/agents", "~/.moltbot/agents")
LACKS = ""
COSMETIC_ARGS: Mapping[str, frozenset[str]] = {
    "exec": frozenset({"timeout", "yieldMs"}),
    "process": frozenset({"timeout"}),
}

_TABLES: Final = frozenset({"transcript_events", "session_windows"})
_ROWS: Final = "SELECT session_id, seq, event_json FROM transcript_events ORDER BY session_id, seq"
_SPAWNED: Final = """SELECT w.session_id, n.current_session_id
    FROM session_windows w JOIN session_nodes n ON n.session_key = w.spawned_by"""
_RUNNING: Final = re.compile(r"\(session [\w-]+, pid [^)]*\)")


def sniff(head: Head) -> bool:
    """A database with OpenClaw's transcript tables, or a pi-like session with a mark of OpenClaw."""
    return tables_in(head.raw) >= _TABLES or (is_session(head) and is_openclaw(head))


def read(blob: Blob, scan: Scan) -> Iterator[Event]:
    """The turns and ends of a session file or of all sessions of a database."""
    if not blob.head.raw.startswith(MAGIC):
        yield from read_session(blob.values(scan.skips), scan, blob.name, "openclaw")
        return
    with opened(blob.path, blob.name, scan.skips) as db:
        if db is not None:
            yield from _sessions(db, blob.name, scan)


def _sessions(db: Database, name: str, scan: Scan) -> Iterator[Event]:
    parents: dict[JSON, JSON] = {}
    if "spawned_by" in db.columns("session_windows") and "current_session_id" in db.columns("session_nodes"):
        parents = {child: parent for child, parent in db.rows(_SPAWNED) if child != parent}
    for session, rows in groupby(db.rows(_ROWS), key=lambda row: row[0]):
        entries = ((n if isinstance(n, int) else 0, db.document(text, f"seq {n}")) for _, n, text in rows)
        values = ((n, entry) for n, entry in entries if entry)
        parent = parents.get(session)
        yield from read_session(values, scan, name, "openclaw", word(session), None if parent is None else word(parent))


def clean_result(name: str, result: JSON) -> JSON:
    """Without the names that a command left running in the background is given anew each time."""
    return _RUNNING.sub("(session)", result) if isinstance(result, str) and "(session " in result else result
