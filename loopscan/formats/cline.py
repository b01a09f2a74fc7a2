"""Cline, Roo Code and Kilo Code tasks, and sessions of the Cline CLI 3.

VS Code keeps a folder per task, `<globalStorage>/<extension>/tasks/<id>/`: `api_conversation_history.json` (messages
of Anthropic's shape; calls may be XML in text, results text) and `ui_messages.json` (the panel: cost per request, how
the task ended). They tell of the same requests: the history drives the reading and takes figures from the panel
beside it; the panel is read by itself only where the history is not there. The CLI keeps one document per session,
`~/.cline/data/sessions/<id>/<id>.messages.json`. One turn = one assistant message; one run = one user prompt of a task
(`task#k`). Field names follow the published source, https://github.com/cline/cline (`ExtensionMessage.ts`,
`messages/metrics.ts`, `sdk/packages/shared/src/llms/messages.ts`) and a public task; the samples here are made from it.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from pathlib import PurePath
from typing import Final

from loopscan.blob import Blob, Head
from loopscan.formats import Scan
from loopscan.formats._beside import UNREADABLE, named, value_of
from loopscan.formats._cline_talk import Talk
from loopscan.formats._cline_text import texts_of, without_details
from loopscan.formats._cline_ui import Panel, Request, panel_of, turns_of
from loopscan.formats._fields import identity, items, mapping
from loopscan.model import JSON, Event

TITLE = "Cline, Roo Code, Kilo Code tasks; Cline CLI sessions"
_CODE: Final = ("~/.config/Code/User/globalStorage", "~/Library/Application Support/Code/User/globalStorage")
_EXTENSIONS: Final = ("saoudrizwan.claude-dev", "rooveterinaryinc.roo-cline", "kilocode.kilo-code")
WHERE: tuple[str, ...] = ("~/.cline/data/sessions", *(f"{c}/{e}/tasks" for c in _CODE for e in _EXTENSIONS))
LACKS = ""
COSMETIC_ARGS: Mapping[str, frozenset[str]] = {"*": frozenset({"task_progress"})}

_HISTORY: Final = "api_conversation_history.json"
_PANEL: Final = "ui_messages.json"
_BESIDE: Final = frozenset({"task_metadata.json", "history_item.json", "context_history.json", "settings.json"})
_STATUS: Final = {"completed": "done", "failed": "error", "cancelled": "aborted", "aborted": "aborted"}


def sniff(head: Head) -> bool:
    """A list of panel rows or of messages with marks of Cline, or a session document of its CLI."""
    value = head.values[0] if head.values else None
    if isinstance(value, list):
        first = [v for v in value[:12] if isinstance(v, dict)]
        return bool(first) and (all(map(_is_row, first)) or _is_history(first))
    return isinstance(value, dict) and _is_session(value)


def _is_row(row: dict[str, JSON]) -> bool:
    return row.get("type") in ("say", "ask") and "ts" in row and isinstance(row.get(row["type"]), str)


def _is_history(messages: list[dict[str, JSON]]) -> bool:
    if not all(m.get("role") in ("user", "assistant") and "content" in m for m in messages):
        return False
    if all(_is_stamped(m) for m in messages):
        return True
    for message in messages:
        info = mapping(message.get("modelInfo"))
        if "modelId" in info and "providerId" in info:
            return True
        texts = texts_of(message["content"]) if message["role"] == "user" else []
        if any(t.startswith("<task>") or "<environment_details>" in t for t in texts):
            return True
    return False


def _is_stamped(message: dict[str, JSON]) -> bool:
    stamp = message.get("ts")
    return isinstance(stamp, int) and stamp > 10**12 and isinstance(message["content"], list)


def _is_session(document: dict[str, JSON]) -> bool:
    messages = document.get("messages")
    if not isinstance(messages, list) or not isinstance(document.get("sessionId"), str):
        return False
    known = all("role" in mapping(m) and ("ts" in mapping(m) or "id" in mapping(m)) for m in messages[:5])
    return known and ("origin" in document or "version" in document)


def read(blob: Blob, scan: Scan) -> Iterator[Event]:
    """The turns and ends of a task or session."""
    if PurePath(blob.name).name in _BESIDE:
        return
    for number, value in blob.values(scan.skips):
        if isinstance(value, dict) and _is_session(value):
            yield from _session(value, blob, scan)
        elif isinstance(value, dict) and "session_id" in value:
            continue  # what the CLI keeps of a session beside its messages
        elif not isinstance(value, list):
            scan.skips.add(blob.name, number, "not a list: a task file is a list of messages")
        elif value and all(_is_row(mapping(v)) for v in value[:12]):
            if blob.path is None or not blob.path.with_name(_HISTORY).is_file():
                yield from turns_of(value, _task_name(blob))
        else:
            yield from _task(value, blob, scan)


def _task_name(blob: Blob) -> str:
    """The folder of a task names it; a file by any other name names itself."""
    path = blob.path.absolute() if blob.path else PurePath(blob.name)
    return path.parent.name if path.name in (_HISTORY, _PANEL) and path.parent.name else path.stem


def _sibling(blob: Blob, name: str, scan: Scan) -> JSON:
    """A file of the same folder, None if it is not there or damaged."""
    path = named(blob.path.parent, name) if blob.path else None
    if path is None:
        return None
    try:
        return value_of(path)
    except UNREADABLE as err:
        scan.skips.add(str(path), None, f"cannot be read: {err}")
        return None


def _task(messages: list[JSON], blob: Blob, scan: Scan) -> Iterator[Event]:
    panel = panel_of(items(_sibling(blob, _PANEL, scan)))
    talk = Talk(_task_name(blob), scan)
    talk.parent = identity(mapping(_sibling(blob, "history_item.json", scan)).get("parentTaskId"))
    used = items(mapping(_sibling(blob, "task_metadata.json", scan)).get("model_usage"))
    talk.model = identity(mapping(used[-1]).get("model_id")) if used else None
    requests = _matched(panel, [mapping(m).get("role") for m in messages])
    for index, message in enumerate(messages):
        yield from talk.message(mapping(message), index, requests.get(index, []))
    yield from talk.finish(panel)


def _matched(panel: Panel, roles: list[JSON]) -> dict[int, list[Request]]:
    """Requests by the assistant message they brought; several where some failed before it came."""
    answers = [i for i, role in enumerate(roles) if role == "assistant"]
    found: dict[int, list[Request]] = {}
    if all(r.index is not None for r in panel.requests):
        for request in panel.requests:
            found.setdefault((request.index or 0) + 2, []).append(request)
        return found
    came = [r for r in panel.requests if r.fault is None and not r.cancelled]
    pairs = zip(answers, came, strict=False) if len(answers) == len(came) else ()
    return {index: [request] for index, request in pairs}


def _session(document: dict[str, JSON], blob: Blob, scan: Scan) -> Iterator[Event]:
    run = identity(document["sessionId"]) or _task_name(blob)
    talk = Talk(run, scan)
    origin = mapping(document.get("origin"))
    talk.parent = identity(origin.get("parentThreadId") or document.get("parentSessionId"))
    if talk.parent is not None:
        talk.prompt = None
    for index, message in enumerate(items(document.get("messages"))):
        yield from talk.message(mapping(message), index, [])
    manifest = mapping(_sibling(blob, f"{run}.json", scan))
    status = identity(manifest.get("status"))
    state = _STATUS.get(status or "") if manifest.get("session_id") == run else None
    yield from talk.finish(Panel(state=state, note=status))


def clean_result(name: str, result: JSON) -> JSON:
    """Without the editor's state."""
    return without_details(result) if isinstance(result, str) else result
