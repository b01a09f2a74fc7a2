"""Reading a log made in a test: its turns and ends, what was skipped, and short views of both."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from loopscan.blob import Blob
from loopscan.formats import Scan, detect, load
from loopscan.model import MISSING, End, Event, Turn

JSON = Any


def read(path: Path, format_name: str, scan: Scan | None = None) -> list[Event]:
    """The events of a file that must be told to be of this format."""
    blob = Blob(str(path), path)
    try:
        assert detect(blob.head) == format_name
        return list(load(format_name).read(blob, scan or Scan()))
    finally:
        blob.close()


def lines(path: Path, *records: JSON) -> Path:
    """Write a JSON Lines file; text and bytes go in as they are."""
    path.parent.mkdir(parents=True, exist_ok=True)
    raw = [r if isinstance(r, bytes) else r.encode() if isinstance(r, str) else json.dumps(r).encode() for r in records]
    path.write_bytes(b"\n".join(raw) + b"\n")
    return path


def document(path: Path, value: JSON, indent: int | None = 1) -> Path:
    """Write one JSON document."""
    path.write_text(json.dumps(value, indent=indent))
    return path


def turns(events: list[Event]) -> list[Turn]:
    return [e for e in events if isinstance(e, Turn)]


def ends(events: list[Event]) -> list[tuple[str, str | None]]:
    """State and note of each end."""
    return [(e.state, e.note) for e in events if isinstance(e, End)]


def calls(events: list[Event]) -> list[list[tuple[str, JSON]]]:
    """Per turn the name and result of each call; `...` for a result that was not recorded."""
    return [[(c.name, ... if c.result is MISSING else c.result) for c in t.calls] for t in turns(events)]


def prompts(events: list[Event]) -> list[str | int | None]:
    return [t.prompt for t in turns(events)]
