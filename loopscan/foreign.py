"""Inputs that are no log: empty ones, and what is said of those of no known format."""

from __future__ import annotations

from typing import Final

from loopscan.blob import DATABASE, VALUE_LIMIT, Head
from loopscan.formats import FORMATS

_EMPTY: Final = 1 << 20
"""Bytes of nothing that are still an empty file."""


def is_empty(head: Head) -> bool:
    """Whether an input holds nothing."""
    return len(head.raw) < _EMPTY and not head.raw.strip(b"\xef\xbb\xbf \t\r\n\x00")


def unknown(path: str, head: Head) -> str:
    """The line about an input of no known format, with the first keys it holds."""
    keys = ", ".join(list(head.first)[:8])
    found = f"its first keys are {keys}" if keys else "it does not begin with a JSON object"
    if head.raw.startswith(DATABASE):
        found = "it is a database without the tables of a known agent"
    if len(head.raw) > VALUE_LIMIT:
        found = f"its first {VALUE_LIMIT:,} bytes hold no whole line"
    return f"{path}: no known log format: {found}; name one with --from ({', '.join(FORMATS)}) or map fields with --map"
