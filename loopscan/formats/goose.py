"""Goose sessions: `~/.local/share/goose/sessions/sessions.db` (SQLite) and, before 1.10, `<id>.jsonl` there.

Also read: `goose session export --format json`, and what `goose run` prints with `--output-format json` or
`stream-json`. One turn = one model call. Since 1.10 a call's parts are rows of their own: its words, then each tool
request followed by its response, all of one batch with the same `created`; they are put together again. One run
= one user prompt of a session (`session#k`); a session with a parent is a sub-agent. Usage = `metadata.usage` of
the message where it is written (2026 on); before, only totals per session exist. Field names follow the published
source, https://github.com/block/goose (`session_manager.rs`, `message.rs`); the samples here are made from it, for
lack of a free real one.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from pathlib import Path, PurePath

from loopscan.blob import Blob, Head
from loopscan.decode import embedded, word
from loopscan.formats import Scan
from loopscan.formats._fields import identity, items, mapping
from loopscan.formats._goose import Conversation
from loopscan.formats._sqlite import Database, opened, tables_in
from loopscan.model import JSON, End, Event

TITLE = "Goose sessions (database, JSON Lines, export, stream)"
WHERE: tuple[str, ...] = (
    "$GOOSE_PATH_ROOT/data/sessions",
    "$XDG_DATA_HOME/goose/sessions",
    "~/.local/share/goose/sessions",
    "~/Library/Application Support/Block/goose/sessions",
)
LACKS = "usage per model call, in versions before 2026"
COSMETIC_ARGS: Mapping[str, frozenset[str]] = {}


def sniff(head: Head) -> bool:
    """A database of sessions with JSON content, the head line of a session file, or tool requests of Goose."""
    tables = tables_in(head.raw)
    if tables:
        return tables >= {"sessions", "messages"} and b"content_json" in head.raw
    return _is_session(head.first) or any(_has_tools(o) for o in head.objects)


def _is_session(record: dict[str, JSON]) -> bool:
    if "working_dir" not in record:
        return False
    return (
        "message_count" in record
        or "accumulated_total_tokens" in record
        or isinstance(record.get("conversation"), list)
    )


def _has_tools(record: dict[str, JSON]) -> bool:
    message = mapping(record.get("message")) or record
    if isinstance(record.get("messages"), list) and "metadata" in record:
        return any(_has_tools(mapping(m)) for m in record["messages"][:60])
    blocks = [mapping(b) for b in items(message.get("content"))]
    return "role" in message and any("toolCall" in b or "toolResult" in b for b in blocks)


def read(blob: Blob, scan: Scan) -> Iterator[Event]:
    """The turns and ends of the sessions."""
    if tables_in(blob.head.raw):
        with opened(blob.path, blob.name, scan.skips) as database:
            if database is not None:
                yield from _database(database, scan)
        return
    log = Conversation(PurePath(blob.name).stem, scan)
    if _imported(blob, log.run, scan):
        return
    for number, record in blob.values(scan.skips):
        if not isinstance(record, dict):
            scan.skips.add(blob.name, number, "not an object: a Goose record is a JSON object")
        elif isinstance(found := record.get("conversation", record.get("messages")), list):
            log = Conversation(identity(record.get("id")) or log.run, scan, split=True)
            log.describe(record.get("session_type"), record.get("parent_session_id"), record.get("model_config"))
            for ordinal, message in enumerate(found, 1):
                yield from log.message(mapping(message), ordinal)
            yield from log.assembly.flush()
        else:
            yield from _line(log, record, number)
    yield from log.assembly.flush()


def _line(log: Conversation, record: dict[str, JSON], number: int) -> list[Event]:
    """A line of a session file or of a stream."""
    kind = record.get("type")
    if isinstance(record.get("message"), dict):
        log.split = True
        log.prompt = None
        return log.message(record["message"], number)
    if kind == "complete":
        return log.assembly.end(End(log.run, "done", "complete", number))
    if kind == "error":
        return log.assembly.end(End(log.run, "error", word(record.get("error"))[:200], number))
    if "role" in record:
        return log.message(record, number)
    if "working_dir" not in record and kind != "notification":
        log.scan.skips.unknown_type("goose", kind)
    return []


def _imported(blob: Blob, run: str, scan: Scan) -> bool:
    """Whether a session file was taken over into the database beside it."""
    path = blob.path.with_name("sessions.db") if blob.path else Path()
    if scan.exact or blob.path is None or blob.path.suffix != ".jsonl" or not path.is_file():
        return False
    with opened(path, str(path), scan.skips) as database:
        rows = database.rows("SELECT 1 FROM sessions WHERE id = ?", run) if database else iter(())
        known = next(rows, None) is not None
    scan.skips.copies += known
    return known


def _database(database: Database, scan: Scan) -> Iterator[Event]:
    columns = database.columns("sessions")
    wanted = ("session_type", "parent_session_id", "model_config_json")
    some = ", ".join(c if c in columns else f"NULL AS {c}" for c in wanted)
    extra = [c if c in database.columns("messages") else "NULL" for c in ("message_id", "metadata_json")]
    messages = f"SELECT id, role, content_json, created_timestamp, {', '.join(extra)} FROM messages"
    order = "created_at, id" if "created_at" in columns else "id"
    for run, kind, parent, config in database.rows(f"SELECT id, {some} FROM sessions ORDER BY {order}"):
        log = Conversation(identity(run) or "unnamed", scan, split=True)
        log.describe(kind, parent, embedded(config) if isinstance(config, str) else None)
        for ordinal, row in enumerate(database.rows(f"{messages} WHERE session_id = ? ORDER BY id", run), 1):
            content = embedded(row[2]) if isinstance(row[2], str) else None
            if content is None:
                scan.skips.add(database.name, None, f"damaged row: messages {row[0]}: content is no JSON")
                continue
            meta = embedded(row[5]) if isinstance(row[5], str) else None
            record = {"role": row[1], "content": content, "created": row[3], "id": row[4], "metadata": meta}
            yield from log.message(record, ordinal)
        yield from log.assembly.flush()


def clean_result(name: str, result: JSON) -> JSON:
    """Goose puts nothing round a result."""
    return result
