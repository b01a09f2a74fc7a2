"""Which run is meant: a run id as reported, or a part of it that fits one run only."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from difflib import get_close_matches
from typing import Final

from loopscan.errors import InputError, UsageError
from loopscan.report import RunReport

_LISTED: Final = 20
_SEARCHED: Final = 2000
"""Ids that are compared for a near one."""
_NEAR: Final = 5

Naming = Callable[[str, str], str]
"""Run id and source -> the id as it may be shown."""


def as_it_is(run: str, source: str) -> str:
    """A run id as it stands in the log."""
    return run


def which(runs: list[RunReport], asked: str, name: Naming = as_it_is) -> RunReport:
    """The run that `asked` names. Raises InputError when none does, UsageError when several do (each is listed).

    An id that fits exactly goes before ids that hold it, those before ids that hold it in other case.
    """
    if not runs:
        raise InputError("no run in these inputs")
    low = asked.lower()
    found = (
        [r for r in runs if asked in (r.run, name(r.run, r.source))]
        or [r for r in runs if r.session == asked]
        or [r for r in runs if asked in name(r.run, r.source)]
        or [r for r in runs if low in name(r.run, r.source).lower()]
    )
    if len(found) == 1:
        return found[0]
    if not found:
        raise InputError(f"no run {asked!r} among {len(runs):,}; {_near(asked, [name(r.run, r.source) for r in runs])}")
    words = f"{asked!r} fits {len(found):,} runs" if asked else f"{len(found):,} runs here: add the one to show"
    shown = [_row(r, name(r.run, r.source)) for r in found[:_LISTED]]
    more = [f"… {len(found) - _LISTED:,} more"] if len(found) > _LISTED else []
    ids = {r.run for r in found}
    hint = [] if len(ids) > 1 else ["the same id more than once: name one file, or its format with --from"]
    raise UsageError(words, *shown, *more, *hint)


def _row(run: RunReport, name: str) -> str:
    return f"  {name}  {run.format}  {run.state}, {run.turns:,} turns, {run.verdict or 'blind'}"


def _near(asked: str, ids: Iterable[str]) -> str:
    known = list(dict.fromkeys(ids))[:_SEARCHED]
    near = get_close_matches(asked[:200], known, _NEAR, 0.4)
    return f"near: {', '.join(near)}" if near else f"for example {', '.join(known[:_NEAR])}"
