"""Reading small logs made in a test: a file of values, its events, and the parts of them that are compared."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from loopscan.blob import Blob
from loopscan.formats import Scan, detect, load
from loopscan.model import MISSING, End, Event, Turn


def events(name: str, path: Path, *values: Any, scan: Scan | None = None, indent: int | None = None) -> list[Event]:
    """The events that the reader `name`, which must claim the file, makes of values, one per line."""
    path.write_text("\n".join(json.dumps(v, indent=indent) for v in values) + "\n")
    blob = Blob(str(path), path)
    try:
        assert detect(blob.head) == name
        return list(load(name).read(blob, scan or Scan()))
    finally:
        blob.close()


def turns(found: list[Event], run: str | None = None) -> list[Turn]:
    return [e for e in found if isinstance(e, Turn) and run in (None, e.run)]


def ends(found: list[Event]) -> list[tuple[str, str, str | None]]:
    return [(e.run, e.state, e.note) for e in found if isinstance(e, End)]


def calls(name: str, found: list[Event], run: str | None = None) -> list[list[tuple[str, Any]]]:
    """Per turn the names and unwrapped results of its calls; `...` for a result that was not recorded."""
    clean = load(name).clean_result
    return [
        [(c.name, ... if c.result is MISSING else clean(c.name, c.result)) for c in t.calls] for t in turns(found, run)
    ]
