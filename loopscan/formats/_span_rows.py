"""Rows of span exports that come in parts: a start and later its completion, under one id."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from loopscan.model import JSON

WAITING: Final = 2_000
"""How many incomplete rows are remembered; many never get a completion (crashed processes)."""


class Parts:
    """Rows that are not complete yet, joined to what comes later under the same id."""

    def __init__(self) -> None:
        self._open: dict[str, dict[str, JSON]] = {}

    def whole(self, row_id: str, row: dict[str, JSON], complete: bool) -> dict[str, JSON]:
        """The row with what was known of it before; `complete`: nothing more is to come once this is there."""
        known = self._open.pop(row_id, None)
        if known is not None:
            row = _merged(known, row)
        elif complete:
            return row
        if not complete:
            self._open[row_id] = row
            if len(self._open) > WAITING:
                del self._open[next(iter(self._open))]
        return row


def _merged(old: dict[str, JSON], new: dict[str, JSON]) -> dict[str, JSON]:
    """Fields of `new` over those of `old`, objects field by field; null says nothing."""
    both = dict(old)
    for key, value in new.items():
        before = both.get(key)
        if isinstance(value, dict) and isinstance(before, dict):
            both[key] = {**before, **value}
        elif value is not None:
            both[key] = value
    return both
