"""How a made case is written: one line a turn."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any


@dataclass(slots=True)
class Case:
    """A labelled run in native lines. `stuck_from`: the turn at which the repetition was first complete."""

    id: str
    label: str
    stuck_from: int | None
    turns: list[dict[str, Any]] = field(repr=False)

    @property
    def kind(self) -> str:
        return self.id.partition("-")[0]


def call(name: str, args: Any = None, result: Any = "", error: bool = False, **more: Any) -> dict[str, Any]:
    """A turn with one call."""
    line = {"name": name, "args": {} if args is None else args, "result": result, **more}
    return {**line, "error": True} if error else line


def bash(command: str, result: Any = "", error: bool = False, **more: Any) -> dict[str, Any]:
    """A shell call."""
    return call("bash", {"command": command}, result, error, **more)


def text(words: str) -> dict[str, Any]:
    """A turn without a call."""
    return {"name": None, "args": None, "result": None, "text": words}


def failed(message: str) -> dict[str, Any]:
    """A model call that failed."""
    return {"name": None, "error": True, "result": message}


def _numbered(turns: list[dict[str, Any] | list[dict[str, Any]]]) -> list[dict[str, Any]]:
    lines = []
    for number, turn in enumerate(turns, 1):
        lines += [{"turn": number, **line} for line in (turn if isinstance(turn, list) else [turn])]
    return lines


def stuck(case_id: str, since: int, *turns: dict[str, Any] | list[dict[str, Any]]) -> Case:
    """A stuck case; an inner list is one turn of parallel calls."""
    return Case(case_id, "stuck", since, _numbered(list(turns)))


def healthy(case_id: str, *turns: dict[str, Any] | list[dict[str, Any]]) -> Case:
    """A healthy case."""
    return Case(case_id, "healthy", None, _numbered(list(turns)))
