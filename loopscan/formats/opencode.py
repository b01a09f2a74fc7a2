"""OpenCode sessions: `~/.local/share/opencode/opencode*.db` (SQLite) and, before 1.2, `storage/` beside it.

Also read: the document of `opencode export` and the stream of `opencode run --format json`. In the file store a
message and each of its parts is a JSON file; the session file (`storage/session/<project>/<id>.json`) drives the
reading and pulls `storage/message/<session>/*` and `storage/part/<message>/*`; those files alone yield nothing.
One turn = one model call: a step of a 1.x message, an assistant row of 2.x. One run = one user prompt of a session
(`session#k`); a session with a parent is a sub-agent. Usage = `tokens` of the step, else of the message. A 2.x
database keeps 1.x sessions in their old tables too: the new rows count. Field names follow the published schema,
https://github.com/anomalyco/opencode; the SQLite sample here is made from it, for lack of a free real one.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from pathlib import Path, PurePath
from typing import Final

from loopscan.blob import Blob, Head
from loopscan.decode import word
from loopscan.formats import Scan, _opencode_v1, _opencode_v2
from loopscan.formats._beside import UNREADABLE, named, value_of
from loopscan.formats._fields import identity, items, mapping, when
from loopscan.formats._opencode import Chat
from loopscan.formats._sqlite import Database, opened, tables_in
from loopscan.model import JSON, Event
from loopscan.skips import Skips

TITLE = "OpenCode sessions (database, file store, export, stream)"
WHERE: tuple[str, ...] = (
    "$XDG_DATA_HOME/opencode/opencode*.db",
    "~/.local/share/opencode/opencode*.db",
    "~/.local/share/opencode/storage/session",
)
LACKS = ""
COSMETIC_ARGS: Mapping[str, frozenset[str]] = {
    "bash": frozenset({"description", "timeout"}),
    "shell": frozenset({"description", "timeout"}),
    "task": frozenset({"description"}),
    "subagent": frozenset({"description"}),
}

_FIRST: Final = frozenset({"session", "message", "part"})
_STREAM: Final = frozenset({"step_start", "text", "reasoning", "tool_use", "step_finish", "error"})
_FRESH: Final = re.compile(
    r"<system-reminder>.*?</system-reminder>|<task_metadata>.*?</task_metadata>|\bses_[0-9A-Za-z]{20,}|tool-output/tool_\w+",
    re.DOTALL,
)


def sniff(head: Head) -> bool:
    """A database with the tables of a session, or one of the JSON records."""
    tables = tables_in(head.raw)
    if tables:
        return tables >= _FIRST or tables >= {"session_v2", "session_message"}
    if head.document or len(head.values) == 1:
        return any(_kind(o) for o in head.objects[:1])
    return any(_is_event(o) for o in head.objects)


def _kind(record: dict[str, JSON]) -> str | None:
    """What a JSON document of OpenCode is: export, session, message, part, event."""
    time, info = record.get("time"), record.get("info")
    if isinstance(info, dict) and isinstance(record.get("messages"), list):
        known = isinstance(info.get("id"), str) and isinstance(info.get("time"), dict)
        return "export" if known else None
    if _is_event(record):
        return "event"
    if isinstance(record.get("sessionID"), str):
        if isinstance(record.get("messageID"), str) and isinstance(record.get("type"), str):
            return "part"
        return "message" if record.get("role") in ("user", "assistant") and isinstance(time, dict) else None
    if isinstance(time, dict) and isinstance(record.get("id"), str) and isinstance(record.get("directory"), str):
        return "session" if "created" in time and "updated" in time else None
    return None


def _is_event(line: dict[str, JSON]) -> bool:
    if (
        identity(line.get("type")) not in _STREAM
        or not isinstance(line.get("sessionID"), str)
        or "timestamp" not in line
    ):
        return False
    return isinstance(mapping(line.get("part")).get("messageID"), str) or "error" in line


def read(blob: Blob, scan: Scan) -> Iterator[Event]:
    """The turns and ends of the sessions."""
    if tables_in(blob.head.raw):
        with opened(blob.path, blob.name, scan.skips) as database:
            if database is not None:
                yield from _database(database, scan)
        return
    stem = PurePath(blob.name).stem
    stream = _Stream(stem, scan)
    for number, record in blob.values(scan.skips):
        kind = _kind(record) if isinstance(record, dict) else None
        if kind == "export":
            yield from _export(record, stem, scan)
        elif kind == "session":
            yield from _store(record, blob, scan)
        elif kind == "event":
            yield from stream.event(record)
        elif kind is None:
            scan.skips.add(blob.name, number, "no OpenCode record: expected a session, a message or an event")
    yield from stream.flush()


def _chat(info: dict[str, JSON], run: str, scan: Scan) -> Chat:
    parent = identity(info.get("parentID"))
    created = when(mapping(info.get("time")).get("created"))
    return Chat(run, scan, parent, created, "" if parent is None else None)


def _export(document: dict[str, JSON], stem: str, scan: Scan) -> Iterator[Event]:
    info = mapping(document.get("info"))
    chat = _chat(info, identity(info.get("id")) or stem, scan)
    for value in items(document.get("messages")):
        message = mapping(value)
        if "info" in message:
            parts = [mapping(p) for p in items(message.get("parts"))]
            yield from _opencode_v1.message(chat, mapping(message["info"]), parts)
        else:
            yield from _opencode_v2.message(chat, message)


def _store(info: dict[str, JSON], blob: Blob, scan: Scan) -> Iterator[Event]:
    """The messages of a session file, from the folders of its own store."""
    stem = PurePath(blob.name).stem
    names = (identity(info["id"]) or stem, stem)
    above = blob.path.absolute().parents if blob.path else ()
    store = above[2] if len(above) > 2 else Path()
    folder = next((f for n in names if (f := named(store / "message", _safe(n)))), None)
    if folder is None:
        scan.skips.add(blob.name, None, "session without its messages: give the whole storage folder")
        return
    chat = _chat(info, names[0], scan)
    for path, message in _files(folder, scan.skips):
        ids = (identity(message.get("id")) or path.stem, path.stem)
        parts = next((f for i in ids if (f := named(store / "part", _safe(i)))), None)
        found = [p for _, p in _files(parts, scan.skips)] if parts else []
        yield from _opencode_v1.message(chat, {"id": path.stem, **message}, found)


def _safe(name: str) -> str:
    """An id as one folder name: ids come from the log and must not lead out of the store."""
    return re.sub(r"[^\w.-]", "_", name).lstrip(".") or "_"


def _files(folder: Path, skips: Skips) -> Iterator[tuple[Path, dict[str, JSON]]]:
    """The JSON objects of a folder; ids, and so the names, ascend in time."""
    for path in sorted(folder.glob("*.json")):
        try:
            value = value_of(path)
        except UNREADABLE as err:
            skips.add(str(path), None, f"cannot be read: {err}")
            continue
        if isinstance(value, dict):
            yield path, value
        else:
            skips.add(str(path), None, "not an object: a message or part is a JSON object")


def _database(database: Database, scan: Scan) -> Iterator[Event]:
    newer: set[str] = set()
    if database.columns("session_message") >= {"seq"} and (columns := database.columns("session_v2")):
        newer = {word(r[0]) for r in database.rows("SELECT DISTINCT session_id FROM session_message")}
        for chat in _chats(database, "session_v2", columns, scan):
            if chat.run in newer:
                yield from _rows(database, chat)
    for chat in _chats(database, "session", database.columns("session"), scan):
        if chat.run not in newer:
            yield from _messages(database, chat)


def _chats(database: Database, table: str, columns: frozenset[str], scan: Scan) -> Iterator[Chat]:
    """The sessions of a table, parents before what they started."""
    if "id" not in columns:
        return
    wanted = ", ".join(c if c in columns else f"NULL AS {c}" for c in ("parent_id", "time_created"))
    for run, parent, created in database.rows(f"SELECT id, {wanted} FROM {table} ORDER BY time_created, id"):
        info = {"parentID": parent, "time": {"created": created}}
        yield _chat(info, identity(run) or "unnamed", scan)


def _rows(database: Database, chat: Chat) -> Iterator[Event]:
    query = "SELECT id, type, data FROM session_message WHERE session_id = ? ORDER BY seq"
    for name, kind, data in database.rows(query, chat.run):
        row = database.document(data, f"session_message {name}")
        if row:
            yield from _opencode_v2.message(chat, {**row, "id": name, "type": kind})


def _messages(database: Database, chat: Chat) -> Iterator[Event]:
    query = "SELECT id, data FROM message WHERE session_id = ? ORDER BY time_created, id"
    for name, data in database.rows(query, chat.run):
        info = database.document(data, f"message {name}")
        if not info:
            continue
        found = database.rows("SELECT id, data FROM part WHERE message_id = ? ORDER BY id", name)
        parts = [database.document(text, f"part {part}") for part, text in found]
        yield from _opencode_v1.message(chat, {**info, "id": name}, parts)


class _Stream:
    """`opencode run --format json`: parts as they are done, a message at a time."""

    def __init__(self, stem: str, scan: Scan) -> None:
        self.stem, self.scan = stem, scan
        self.chats: dict[str, Chat] = {}
        self.chat: Chat | None = None
        self.info: dict[str, JSON] = {}
        self.parts: list[dict[str, JSON]] = []

    def event(self, line: dict[str, JSON]) -> list[Event]:
        """Take one line; returns the message before it once that is complete."""
        part, session = mapping(line.get("part")), identity(line["sessionID"]) or self.stem
        name = identity(part.get("messageID"))
        events = [] if name == self.info.get("id") or name is None else self.flush()
        if self.chat is None or self.chat.run != session:
            self.chat = self.chats.setdefault(session, Chat(session, self.scan, prompt=None))
        if name is not None:
            self.parts.append(part)
        if not self.info:
            self.info = {"id": name, "role": "assistant", "time": {"created": line.get("timestamp")}}
        if "error" in line:
            self.info["error"] = line["error"]
            events += self.flush()
        return events

    def flush(self) -> list[Event]:
        """The message that is being put together."""
        info, parts = self.info, self.parts
        self.info, self.parts = {}, []
        return _opencode_v1.message(self.chat, info, parts) if self.chat is not None and info else []


def clean_result(name: str, result: JSON) -> JSON:
    """Without injected reminders, session ids and the fresh path of an output too large to show."""
    return _FRESH.sub("", result) if isinstance(result, str) else result
