"""Parts of results and arguments that the user says mean nothing: `--ignore TOOL:result.path`, `[tools.NAME] ignore`.

A path is dotted; `*` stands for every key or list element. `result.#2` is the second number of a result that is text,
`result.#` every number of it.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Final

from loopscan.decode import canonical, embedded
from loopscan.errors import UsageError
from loopscan.model import JSON
from loopscan.settings import ToolSettings

NUMBER: Final = re.compile(r"\d+(?:\.\d+)?")
"""A number in a text, as `result.#2` counts them."""


@dataclass(slots=True, frozen=True)
class Ignored:
    """What is left out of the calls of one tool. `numbers`: positions in text, 0 = all. `unordered`: lists are sets."""

    args: tuple[tuple[str, ...], ...] = ()
    result: tuple[tuple[str, ...], ...] = ()
    numbers: frozenset[int] = frozenset()
    unordered: bool = False

    def of_args(self, args: JSON) -> JSON:
        """Arguments without the parts."""
        for path in self.args:
            args = without(args, path)
        return args

    def of_result(self, result: JSON) -> JSON:
        """A result without the parts; text that holds JSON is read."""
        inner = embedded(result) if isinstance(result, str) else None
        value = result if inner is None else inner
        for path in self.result:
            value = without(value, path)
        if self.numbers and isinstance(value, str):
            value = self._without_numbers(value)
        return sorted_lists(value) if self.unordered else value

    def _without_numbers(self, text: str) -> str:
        if 0 in self.numbers:
            return NUMBER.sub("#", text)
        count = iter(range(1, len(text) + 1))
        return NUMBER.sub(lambda m: "#" if next(count) in self.numbers else m[0], text)


def ignored(tools: Mapping[str, ToolSettings]) -> dict[str, Ignored]:
    """What is left out, by tool ("*" = every tool). Raises UsageError for a path that is none."""
    found = {name: _ignored(name, known) for name, known in tools.items() if known.ignore or known.unordered}
    every = found.pop("*", None)
    if every is not None:
        found = {name: _both(own, every) for name, own in found.items()} | {"*": every}
    return found


def _ignored(name: str, known: ToolSettings) -> Ignored:
    args: list[tuple[str, ...]] = []
    result: list[tuple[str, ...]] = []
    numbers: set[int] = set()
    for path in known.ignore:
        side, _, rest = path.partition(".")
        if side not in ("args", "result") or not rest:
            raise UsageError(f"ignore {name}:{path}: write result.PATH or args.PATH, for example {name}:result.updated")
        if side == "args":
            args.append(tuple(rest.split(".")))
        elif rest.startswith("#"):
            numbers.add(_position(name, path, rest[1:]))
        else:
            result.append(tuple(rest.split(".")))
    return Ignored(tuple(args), tuple(result), frozenset(numbers), bool(known.unordered))


def _position(name: str, path: str, text: str) -> int:
    if text and not text.isdecimal():
        raise UsageError(f"ignore {name}:{path}: behind # stands the position of a number, or nothing")
    return int(text or 0)


def _both(own: Ignored, every: Ignored) -> Ignored:
    return Ignored(
        own.args + every.args, own.result + every.result, own.numbers | every.numbers, own.unordered or every.unordered
    )


def without(value: JSON, path: tuple[str, ...]) -> JSON:
    """A value without what stands at a path; the value itself is left alone."""
    key, rest = path[0], path[1:]
    if isinstance(value, dict):
        if not rest:
            return {k: v for k, v in value.items() if key not in ("*", k)}
        return {k: without(v, rest) if key in ("*", k) else v for k, v in value.items()}
    if isinstance(value, list):
        # a list is passed through: `result.items.id` means the id of every item
        return [without(v, rest if key == "*" and rest else path) for v in value]
    return value


def sorted_lists(value: JSON) -> JSON:
    """A value in which the order of lists, and of the lines of a text, says nothing."""
    if isinstance(value, str):
        return "\n".join(sorted(value.splitlines()))
    if isinstance(value, dict):
        return {k: sorted_lists(v) for k, v in value.items()}
    if isinstance(value, list):
        return sorted((sorted_lists(v) for v in value), key=canonical)
    return value


def with_ignored(tools: Mapping[str, ToolSettings], lines: Iterable[str]) -> dict[str, ToolSettings]:
    """Tool settings with `--ignore TOOL:result.path` added. Raises UsageError."""
    found = dict(tools)
    for line in lines:
        name, _, path = line.rpartition(":")
        if not name or not path:
            raise UsageError(f"--ignore {line!r}: write TOOL:result.PATH or TOOL:args.PATH")
        known = found.get(name, ToolSettings())
        found[name] = ToolSettings((*known.ignore, path), known.poll, known.mutates, known.unordered)
    ignored(found)
    return found
