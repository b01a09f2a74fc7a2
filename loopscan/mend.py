"""A JSON document that is cut short or damaged, closed behind the last array element that is whole.

Its last message or step is lost, what stands before it can be read. No field of an object is dropped on its own:
only whole elements are.
"""

from __future__ import annotations

import re
from typing import Final

_TOKEN: Final = re.compile(r'"(?:[^"\\]|\\.)*"|["\[\]{},]', re.DOTALL)
_CLOSER: Final = {"[": "]", "{": "}"}


def mended(text: str, start: int, end: int) -> str | None:
    """The value that begins at `start`, as far as it is whole before `end`; None where no element is."""
    still_open: list[str] = []
    cut, closers = start, ""
    for match in _TOKEN.finditer(text, start, end):
        token = match[0]
        if token == '"':
            break  # a string that is not closed: what follows is its text
        if token in _CLOSER:
            still_open.append(token)
        elif token == ",":
            if still_open and still_open[-1] == "[":
                cut, closers = match.start(), _closed(still_open)
        elif token in "]}":
            if not still_open or _CLOSER[still_open.pop()] != token:
                break
            if still_open and still_open[-1] == "[":
                cut, closers = match.end(), _closed(still_open)
    return text[start:cut] + closers if closers else None


def _closed(still_open: list[str]) -> str:
    return "".join(_CLOSER[token] for token in reversed(still_open))
