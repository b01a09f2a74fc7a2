"""The folder of an OpenHands SDK conversation: its state, and its events as files in order."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from loopscan.blob import Blob
from loopscan.formats._beside import UNREADABLE, value_of
from loopscan.formats._fields import identity, mapping
from loopscan.model import JSON
from loopscan.skips import Skips

_EVENT: Final = re.compile(r"event-(\d{5,})-[0-9a-fA-F-]{8,}\.json")
_STATE: Final = "base_state.json"


@dataclass(slots=True)
class Folder:
    """One conversation on disk; `first`: the name of the event file that stands for it."""

    conversation: str
    state: dict[str, JSON]
    files: list[Path]

    @property
    def first(self) -> str:
        """The name of the first event file, or of the state where there is none."""
        return self.files[0].name if self.files else _STATE

    def events(self, skips: Skips) -> Iterator[tuple[int, JSON]]:
        """The events with their numbers, from 1. A damaged file is a skip."""
        for number, path in enumerate(self.files, 1):
            try:
                yield number, value_of(path)
            except UNREADABLE as err:
                skips.add(str(path), None, f"unreadable event: {err}")


def is_state(value: dict[str, JSON]) -> bool:
    """Whether a document is the state of a conversation."""
    return "execution_status" in value and "agent" in value and ("workspace" in value or "persistence_dir" in value)


def name_of(blob: Blob) -> str:
    """The file's own name."""
    return blob.path.name if blob.path is not None else blob.name


def folder_of(blob: Blob) -> Folder | None:
    """The conversation that a file is a part of; None for a file that stands for itself."""
    path = blob.path
    if path is None:
        return None
    if path.name == _STATE and is_state(blob.head.first):
        folder = path.parent
    elif _EVENT.fullmatch(path.name) and path.parent.name == "events":
        folder = path.parent.parent
    else:
        return None
    state = _state(folder / _STATE)
    found = [p for p in (folder / "events").glob("event-*.json") if _EVENT.fullmatch(p.name)]
    files = sorted(found, key=lambda p: (len(p.name.split("-")[1]), p.name))
    return Folder(identity(state.get("id")) or folder.name or blob.name, state, files)


def _state(path: Path) -> dict[str, JSON]:
    try:
        return mapping(value_of(path))
    except UNREADABLE:
        return {}
