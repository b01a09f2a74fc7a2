"""`--outcomes`: which runs solved their task, from a CSV file, where done does not mean solved (evaluations)."""

from __future__ import annotations

import csv
import io
import math
from typing import Final

from loopscan.errors import UsageError
from loopscan.small import text_of

_YES: Final = frozenset("1 true yes solved resolved pass passed success ok".split())
_NO: Final = frozenset("0 false no unsolved unresolved fail failed failure".split())


def solved(path: str) -> dict[str, bool]:
    """Run id -> whether it solved its task: the first two columns; a first line of titles is left out.

    Raises UsageError for a file that cannot be read and for a line that says neither.
    """
    found: dict[str, bool] = {}
    try:
        for number, row in enumerate(csv.reader(io.StringIO(text_of(path), newline="")), 1):
            if not any(cell.strip() for cell in row):
                continue
            said = row[1].strip().lower() if len(row) > 1 else ""
            outcome = _outcome(said)
            if number == 1 and (outcome is None or row[0].strip().lower().endswith(("run", "id"))):
                continue
            if outcome is None:
                raise UsageError(f"--outcomes {path}:{number}: write run id, solved as true/false, 1/0, yes/no")
            found[row[0].strip()] = outcome
    except (OSError, ValueError, csv.Error) as err:
        raise UsageError(f"--outcomes {path}: cannot be read: {err}") from None
    return found


def _outcome(said: str) -> bool | None:
    """What a word says; numbers count as scores, solved at 1."""
    if said in _YES or said in _NO:
        return said in _YES
    try:
        score = float(said)
    except ValueError:
        return None
    return score >= 1 if math.isfinite(score) else None
