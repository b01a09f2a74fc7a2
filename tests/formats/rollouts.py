"""Records of Codex rollouts for tests, as the log writer would put them down."""

from __future__ import annotations

import json
from collections.abc import Iterable
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

from loopscan.blob import Blob
from loopscan.formats import Scan, detect, load
from loopscan.model import End, Event, Turn

Record = dict[str, Any]
START = datetime(2026, 9, 1, 12, tzinfo=UTC)
OWN = "01a05cd7-2a00-7aaa-8000-000000000001"  # made at START


def thread(seconds: float, tail: int) -> str:
    """A UUID of version 7 made that many seconds after START."""
    stamp = f"{round((START.timestamp() + seconds) * 1000):012x}"
    return f"{stamp[:8]}-{stamp[8:]}-7aaa-8000-{tail:012d}"


def at(seconds: float, kind: str, payload: Record, **extra: Any) -> Record:
    stamp = (START + timedelta(seconds=seconds)).isoformat(timespec="milliseconds").replace("+00:00", "Z")
    return {"timestamp": stamp, "type": kind, "payload": payload, **extra}


def meta(seconds: float = 0, run: str = OWN, **more: Any) -> Record:
    return at(seconds, "session_meta", {"id": run, "cwd": "/srv/app", "cli_version": "0.98.0", **more})


def event(seconds: float, kind: str, **fields: Any) -> Record:
    return at(seconds, "event_msg", {"type": kind, **fields})


def item(seconds: float, kind: str, **fields: Any) -> Record:
    return at(seconds, "response_item", {"type": kind, **fields})


def user(seconds: float, text: str = "Go on") -> Record:
    return event(seconds, "user_message", message=text)


def says(seconds: float, text: str) -> Record:
    return item(seconds, "message", role="assistant", content=[{"type": "output_text", "text": text}])


def calls(seconds: float, call: str, command: str = "ls", name: str = "shell_command", **more: Any) -> Record:
    return item(seconds, "function_call", name=name, call_id=call, arguments=json.dumps({"command": command}), **more)


def gives(seconds: float, call: str, output: Any = "a.txt") -> Record:
    return item(seconds, "function_call_output", call_id=call, output=output)


def tokens(total: int, cached: int = 0, output: int = 0, write: int | None = None) -> Record:
    usage = {"input_tokens": total, "cached_input_tokens": cached, "output_tokens": output}
    if write is not None:
        usage["cache_write_input_tokens"] = write
    return {**usage, "reasoning_output_tokens": output // 2, "total_tokens": total + output}


def count(seconds: float, total: Record | None, last: Record | None = None, window: int = 258400) -> Record:
    info: Record = {"model_context_window": window}
    if total is not None:
        info["total_token_usage"] = total
    if last is not None:
        info["last_token_usage"] = last
    return event(seconds, "token_count", info=info)


def done(seconds: float, **fields: Any) -> Record:
    return event(seconds, "item_completed", thread_id=OWN, item=fields)


def used(seconds: float, response: str, usage: Record, run: str = OWN, **more: Any) -> Record:
    return at(seconds, "token_usage_record", {"thread_id": run, "response_id": response, "usage": usage, **more})


def write(path: Path, records: Iterable[Record | str]) -> Path:
    path.write_text("".join((r if isinstance(r, str) else json.dumps(r)) + "\n" for r in records))
    return path


def read(path: Path, records: Iterable[Record | str], scan: Scan | None = None) -> list[Event]:
    """The events that the codex reader gives for the records, written to `path`."""
    blob = Blob(str(write(path, records)), path)
    try:
        assert detect(blob.head) == "codex"
        return list(load("codex").read(blob, scan or Scan()))
    finally:
        blob.close()


def turns(events: list[Event]) -> list[Turn]:
    return [e for e in events if isinstance(e, Turn)]


def ends(events: list[Event]) -> list[tuple[str, str | None]]:
    return [(e.state, e.note) for e in events if isinstance(e, End)]


def spent(events: list[Event]) -> list[tuple[int | None, int | None, int | None] | None]:
    """Input, cache read and output of every turn."""
    return [(u.input, u.cache_read, u.output) if (u := t.usage) else None for t in turns(events)]
