"""The files round a Harbor trajectory: those that continue it, and the result of its trial."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Final

from loopscan.blob import Blob
from loopscan.formats._beside import UNREADABLE, named, value_of
from loopscan.formats._fields import mapping
from loopscan.formats._harness import note, stop_state
from loopscan.model import JSON
from loopscan.skips import Skips

_MARK: Final = ".cont-"
_MORE: Final = 1000
"""A chain of continuations longer than this is a circle or damage."""


def _document(path: Path) -> dict[str, JSON]:
    """A JSON object on disk, {} if there is none."""
    try:
        return mapping(value_of(path))
    except UNREADABLE:
        return {}


def continuations(blob: Blob, doc: dict[str, JSON], skips: Skips) -> Iterator[dict[str, JSON]]:
    """The documents that continue a trajectory, in order, as far as they lie beside it."""
    seen: set[str] = set()
    while blob.path is not None and len(seen) < _MORE:
        name = doc.get("continued_trajectory_ref")
        if not isinstance(name, str) or name in seen:
            return
        seen.add(name)
        path = named(blob.path.parent, name)
        if path is None or name == blob.path.name:
            return
        doc = _document(path)
        if not isinstance(doc.get("steps"), list):
            skips.add(str(path), None, "no steps: the continuation of a trajectory cannot be read")
            return
        yield doc


def continues_another(path: Path) -> bool:
    """Whether the file before it in its chain lies beside this one and refers to it."""
    base, mark, number = path.stem.rpartition(_MARK)
    if not mark or not number.isdecimal() or len(number) > 6:
        return False
    before = f"{base}{_MARK}{int(number) - 1}" if int(number) > 1 else base
    return _document(path.with_name(before + path.suffix)).get("continued_trajectory_ref") == path.name


def trial_end(path: Path) -> tuple[str, str] | None:
    """State and words of the trial whose `agent/` folder holds the trajectory."""
    if path.parent.name != "agent":
        return None
    result = _document(path.parent.parent / "result.json")
    if "agent_result" not in result or "trial_name" not in result:
        return None
    failure = mapping(result.get("exception_info"))
    kind = failure.get("exception_type")
    if not isinstance(kind, str) or kind.startswith("Verifier"):
        return ("done", "trial result: no exception") if not failure else None
    words = note(kind, failure.get("exception_message")) or kind
    return ("time_cap" if kind == "AgentTimeoutError" else _state(kind, words)), words


def _state(kind: str, words: str) -> str:
    if "ContextLength" in kind:
        return "context_full"
    return "aborted" if kind in ("CancelledError", "KeyboardInterrupt") else stop_state(words)
