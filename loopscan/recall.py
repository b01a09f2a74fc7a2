"""The newest results of a run's calls, so that a turn can say what it has in common with the turns before it."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Final, TypeVar

from loopscan.change import changes, text_of
from loopscan.key import Keyer
from loopscan.model import JSON, MISSING, Call
from loopscan.redact import hashed

ROOM: Final = 2000
"""Characters of arguments, results and texts that are kept to be shown."""
_CALLS: Final = 128
_LONG: Final = 50
"""Arguments of more characters are hard to compare."""
_COMPARED: Final = 20_000
"""Characters of a result that the next one is compared with."""

_K = TypeVar("_K")
_V = TypeVar("_V")


@dataclass(slots=True)
class Said:
    """One call of a turn as text; without a name the turn's words (`args`), or the error of a failed model call.

    `result` None: not recorded, or none is expected. `same`: the turn from which on this call had this result, `akin`
    the turn at which the tool gave it for other arguments. `before`: the turn of the last other result, `changes` what
    differs from it. `times`: how often the turn holds it. `reordered`: its keys first came in
    another order. `unlike`: the turn of the tool's call before, where that has other arguments, which are too long to
    be compared by eye; `differs` says what is other in them.
    """

    name: str | None
    args: str
    result: str | None = None
    error: bool = False
    same: int | None = None
    akin: int | None = None
    before: int | None = None
    changes: list[str] = field(default_factory=list)
    times: int = 1
    reordered: bool = False
    unlike: int | None = None
    differs: list[str] = field(default_factory=list)


@dataclass(slots=True)
class _Known:
    """The last result of one call: since when it has been that, and when it was last seen."""

    since: int
    last: int
    outcome: int
    value: JSON
    args: str
    text: str | None
    order: list[str] | None = None
    """Keys of the arguments as they first came."""


@dataclass(slots=True)
class Recall:
    """Takes the calls of one run in order. `hide`: hashes in the place of what was said. Memory: `_CALLS` results."""

    keyer: Keyer
    hide: bool = False
    _calls: dict[int, _Known] = field(default_factory=dict)
    _results: dict[tuple[str, int], int] = field(default_factory=dict)
    _args: dict[str, tuple[int, int, JSON]] = field(default_factory=dict)
    """Tool -> turn, identity and arguments of its last call."""

    def call(self, turn: int, ident: int, call: Call, args: JSON) -> Said:
        """A call: `args` are those that count."""
        said = self._said(turn, ident, call.name, args, call.result, call.error)
        known, order = self._calls.get(ident), list(call.args) if isinstance(call.args, dict) else None
        if known is not None:
            known.order = known.order or order
            said.reordered = known.order != order
        before = self._args.pop(call.name, None)
        if before is not None and before[1] != ident and len(said.args) > _LONG and not self.hide:
            said.unlike, said.differs = before[0], changes(before[2], _bounded(args), exact=True)
        self._args[call.name] = turn, ident, _bounded(args)
        _forget(self._args)
        return said

    def words(self, turn: int, ident: int, text: str | None) -> Said:
        """A turn without calls."""
        said = self._said(turn, ident, "", text, "", False)
        return Said(None, said.args if text is not None else "", None, False, said.same)

    def fault(self, turn: int, ident: int, fault: JSON) -> Said:
        """A model call that failed."""
        said = self._said(turn, ident, "", None, fault, True)
        said.name, said.args = None, ""
        return said

    def _said(self, turn: int, ident: int, name: str, args: JSON, result: JSON, error: bool) -> Said:
        known = self._calls.pop(ident, None)
        shown_args = known.args if known is not None else self._text(args) if args is not None else ""
        if result is MISSING:
            if known is not None:
                self._calls[ident] = known
            return Said(name, shown_args, None, error)
        value = self.keyer.unwrapped(name, result)
        outcome = self.keyer.result_hash(name, result)
        akin = self._results.get((name, outcome)) if known is None else None
        self._results.setdefault((name, outcome), turn)
        _forget(self._results)
        if known is not None and known.outcome == outcome:
            known.last = turn
            self._calls[ident] = known
            return Said(name, shown_args, known.text, error, known.since)
        said = Said(name, shown_args, self._text(value), error, akin=akin)
        if known is not None:
            said.before, said.changes = known.last, self._changes(known.value, value)
        self._calls[ident] = _Known(
            turn, turn, outcome, _bounded(value), shown_args, said.result, known.order if known is not None else None
        )
        _forget(self._calls)
        return said

    def _changes(self, before: JSON, after: JSON) -> list[str]:
        return ["another result"] if self.hide else changes(before, _bounded(after), self.keyer.exact)

    def _text(self, value: JSON) -> str:
        if self.hide:
            return hashed(value)
        text = text_of(value)
        return text if len(text) <= ROOM else text[: ROOM - 1] + "…"


def _forget(kept: dict[_K, _V]) -> None:
    if len(kept) > _CALLS:
        del kept[next(iter(kept))]


def _bounded(value: JSON) -> JSON:
    """A value to compare with; of a long one the beginning as text."""
    text = text_of(value)
    return value if len(text) <= _COMPARED else text[:_COMPARED]
