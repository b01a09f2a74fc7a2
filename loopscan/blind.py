"""What hides repetition: equal calls whose results differ in the same field, or the same number, every time.

One such field makes the period rule blind for a tool. It is named, with the option that leaves it out; whether it means
something is for the user to say.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from typing import Final

from loopscan.ignored import NUMBER
from loopscan.model import JSON

PAIRS: Final = 3
"""Pairs of equal calls with different results that are wanted before a field is named."""
MOST_PAIRS: Final = 12
"""Such pairs of a tool that are looked at."""
_MOST_SPOTS: Final = 3
_MOST_TOOLS: Final = 8
_LONG: Final = 20_000


@dataclass(slots=True)
class _Tool:
    equal: int = 0
    pairs: int = 0
    spots: Counter[tuple[str, ...]] = field(default_factory=Counter)
    signs: dict[tuple[str, ...], set[int]] = field(default_factory=dict)


@dataclass(slots=True)
class Blind:
    """The pairs of equal calls of one run, by tool."""

    _tools: dict[str, _Tool] = field(default_factory=dict)

    def open(self, tool: str) -> bool:
        """Whether further pairs of a tool are wanted."""
        known = self._tools.get(tool)
        return len(self._tools) < _MOST_TOOLS if known is None else known.pairs < MOST_PAIRS

    def pair(self, tool: str, first: JSON, second: JSON, same: bool) -> None:
        """Take two results of one call that came one after the other, without their volatile parts."""
        known = self._tools.get(tool)
        if known is None:
            if len(self._tools) >= _MOST_TOOLS:
                return
            known = self._tools[tool] = _Tool()
        if same:
            known.equal += 1
        elif known.pairs < MOST_PAIRS:
            known.pairs += 1
            found = list(differences(first, second))
            if 0 < len(found) <= _MOST_SPOTS and all(spot is not None for spot, _ in found):
                spots = tuple(spot or "" for spot, _ in found)
                known.spots[spots] += 1
                known.signs.setdefault(spots, set()).add(found[0][1])

    def notes(self) -> list[str]:
        """One line per tool that a field makes blind."""
        lines = []
        shared = Counter(spots for known in self._tools.values() for spots in known.spots)
        for tool, known in self._tools.items():
            if known.pairs < PAIRS or known.equal * 4 > known.pairs:
                continue
            spots, times = known.spots.most_common(1)[0] if known.spots else ((), 0)
            going = len(known.signs.get(spots, ())) == 1 and 0 not in known.signs[spots]
            # a number that goes one way is progress, unless several tools have it: then it counts the turns
            if times * 5 < known.pairs * 4 or (going and shared[spots] < 2):
                continue
            options = " ".join(f"--ignore '{tool}:{spot}'" for spot in spots)
            lines.append(
                f"equal calls of {tool} differ only in {', '.join(spots)}: if that says nothing, add {options}"
            )
        return lines


def differences(first: JSON, second: JSON, path: str = "result", depth: int = 0) -> Iterator[tuple[str | None, int]]:
    """Where two results differ, and whether the number there went up (1), down (-1) or neither (0); None: all over."""
    if isinstance(first, dict) and isinstance(second, dict):
        if first.keys() != second.keys() or depth > _MOST_SPOTS:
            yield None, 0
            return
        for key in first:
            if first[key] != second[key]:
                yield from differences(first[key], second[key], f"{path}.{key}", depth + 1)
    elif isinstance(first, list) and isinstance(second, list) and len(first) == len(second):
        for a, b in zip(first, second, strict=True):
            if a != b:
                yield from differences(a, b, path, depth)
    elif isinstance(first, str) and isinstance(second, str) and path == "result":
        yield from _numbers(first, second)
    elif depth and not isinstance(first, (dict, list)) and not isinstance(second, (dict, list)):
        yield path, _sign(first, second)
    else:
        yield None, 0  # also where the two were not looked at: (None, None)


def _sign(first: JSON, second: JSON) -> int:
    if isinstance(first, (int, float)) and isinstance(second, (int, float)):
        return (second > first) - (second < first)
    return 0


def _numbers(first: str, second: str) -> Iterator[tuple[str | None, int]]:
    """The positions of the numbers in which two texts differ that are equal but for numbers."""
    a, b = NUMBER.findall(first), NUMBER.findall(second)
    same = len(first) < _LONG and len(second) < _LONG and len(a) == len(b)
    if not same or NUMBER.sub("#", first) != NUMBER.sub("#", second):
        yield None, 0
        return
    for at, (one, other) in enumerate(zip(a, b, strict=True), 1):
        if one != other:
            yield f"result.#{at}", _sign(float(one), float(other))


def waiting(tools: Iterable[str], turns: int) -> str:
    """The advice of a run that waited turn by turn."""
    names = ", ".join(dict.fromkeys(tools))
    return f"waited {turns} turns by asking {names} again: a wait inside the tool would have saved them"
