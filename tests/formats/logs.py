"""Writing small logs and reading them with the reader that claims them."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from loopscan.blob import Blob
from loopscan.formats import Scan, detect, load
from loopscan.model import MISSING, End, Event, Turn


def read_log(path: Path, format_name: str, *values: Any, scan: Scan | None = None) -> list[Event]:
    """Write values as JSON lines (text as it is) and read them; the reader must claim the file."""
    path.write_text("".join((v if isinstance(v, str) else json.dumps(v)) + "\n" for v in values))
    blob = Blob(str(path), path)
    try:
        assert detect(blob.head) == format_name
        return list(load(format_name).read(blob, scan or Scan()))
    finally:
        blob.close()


def told(events: list[Event]) -> dict[str, list[Any]]:
    """Per run its turns in short: calls as (name, args, result, "error"?), a text, {"fault": …}; ends as states."""
    runs: dict[str, list[Any]] = {}
    for event in events:
        runs.setdefault(event.run, []).append(event.state if isinstance(event, End) else _turn(event))
    return runs


def _turn(turn: Turn) -> Any:
    if turn.failed:
        return {"fault": None if turn.fault is MISSING else turn.fault}
    if not turn.calls:
        return turn.text
    return [
        (c.name, c.args, "MISSING" if c.result is MISSING else c.result, *(["error"] if c.error else []))
        for c in turn.calls
    ]


def turns(events: list[Event]) -> list[Turn]:
    return [e for e in events if isinstance(e, Turn)]
