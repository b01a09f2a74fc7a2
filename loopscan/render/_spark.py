"""A row of numbers as one word of block characters."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

BLOCKS: Final = "▁▂▃▄▅▆▇█"


def spark(values: Sequence[int | float]) -> str:
    """A block for each value, the highest for the largest of them; the lowest stands for 0 alone."""
    most = max(values, default=0)
    return "".join(BLOCKS[_height(value, most)] for value in values)


def _height(value: float, most: float) -> int:
    if value <= 0 or most <= 0:
        return 0
    return max(1, round(value / most * (len(BLOCKS) - 1)))
