"""JSON Lines: one record per run (DESIGN section 6), in the order of the report."""

from __future__ import annotations

import json
from collections.abc import Callable, Hashable, Iterator
from itertools import chain
from typing import TYPE_CHECKING, Any, Final, TextIO

import orjson

from loopscan.compiled import compiled
from loopscan.decode import canonical
from loopscan.hidden import escaped
from loopscan.records import record
from loopscan.render import Options
from loopscan.report import Report, RunReport, dollars, iso
from loopscan.settle import Settled, made

if TYPE_CHECKING:
    from loopscan.price import Price

_GAP: Final = "b1946ac92492d2347c6235b4d2611184"
"""Stands for a figure in a mould."""
_FIGURES: Final = (
    ("run",), ("source",), ("started",), ("ended",), ("turns",), ("calls",), ("usage", "sends"),
    ("usage", "input_tokens"), ("usage", "output_tokens"), ("usage", "estimated_input_tokens"),
    ("usage", "estimated_output_tokens"), ("cost", "usd"), ("cost", "unpriced_sends"), ("cost", "times_normal"),
    ("cost", "total_usd"), ("notes",),
)  # fmt: skip
_OF_EXIT: Final = ("turn", "paid_sends", "usd", "saved_turns", "saved_usd", "closing_usd")
"""Where the records of two runs of one kind differ, and what differs of each exit, first of all of the first one."""
_ROLES: Final = (b"ssttnn", b"nndndd", b"nnnnndnfdj")
"""How these figures are written, see `_FORMS`; in the order of the record, where the exits are the middle."""
_MOULDS: Final = 1000
_AT_ONCE: Final = 50
"""Lines that are written at once."""
_KNOWN: Final = 64
"""Kinds of quiet runs whose moulds the compiled part is given."""

Mould = tuple[tuple[str, ...], bytes]
"""A record without its figures: the text before, between and behind them, and how each is written."""
Known = tuple[str, "str | None", "Price | None", tuple[str, ...], tuple[str, ...], bytes]
"""The same of quiet runs of a format, a model and a price, on which those exits fired."""


def dumps(value: Any, indent: bool = False) -> str:
    """JSON text; hidden characters are written as escapes, and so is what the fast encoder refuses."""
    try:
        return _fast(value, indent)
    except (orjson.JSONEncodeError, RecursionError):
        pass
    try:
        return json.dumps(value, indent=2 if indent else None)
    except RecursionError:
        return canonical(value).decode()


def _fast(value: Any, indent: bool = False) -> str:
    return escaped(orjson.dumps(value, option=orjson.OPT_INDENT_2 if indent else 0).decode())


class Moulds:
    """The records of runs as JSON text. One that is like another one's is that one's text with its own figures."""

    def __init__(self, indent: bool = False) -> None:
        self._indent = indent
        self._moulds: dict[Hashable, Mould | None] = {}
        self._known: dict[tuple[Hashable, int], Known] = {}

    def text(self, run: RunReport) -> str:
        """The record of a run."""
        kind, text, indent = run.kind, None, self._indent
        if kind is not None:
            mould = self._moulds.get(kind, _UNKNOWN)
            if mould is _UNKNOWN:
                if len(self._moulds) >= _MOULDS:
                    self._moulds.clear()
                mould = self._moulds[kind] = _mould(run, indent)
            if mould is not None and (notes := _listed(run.notes, indent)) is not None:
                text = _filled(mould, (*run.figures, notes))
                if type(run) is Settled:
                    self._note(kind, run, mould)
        return text or dumps(record(run), indent)

    def _note(self, kind: Hashable, run: Settled, mould: Mould) -> None:
        """Give the compiled part a mould: it knows prices by their objects, of which several may be equal."""
        key = kind, id(run.price)
        if key not in self._known:
            if len(self._known) >= _KNOWN:
                self._known.clear()
            self._known[key] = run.format, run.model, run.price, tuple([f.exit for f in run.exits]), *mould

    def lines(self, runs: list[RunReport]) -> Iterator[str]:
        """The records of runs, one a line, some lines at once."""
        scanner, at = made(), 0
        while at < len(runs):
            if scanner is not None:
                block, at = scanner.told(runs, at, list(self._known.values()))
                if block:
                    yield block
                    continue
            some = runs[at : at + 1] if scanner is not None else runs[at : at + _AT_ONCE]
            yield "".join([f"{self.text(run)}\n" for run in some])
            at += len(some)


def texts(runs: list[RunReport], indent: bool = False) -> Iterator[str]:
    """The record of each run as JSON text."""
    return map(Moulds(indent).text, runs)


_UNKNOWN: Final[Mould] = ((), b"")


def _mould(run: RunReport, indent: bool) -> Mould | None:
    """What the records of all runs of this one's kind have in common; None where that cannot be told."""
    full = record(run)
    for *above, name in _FIGURES:
        (full[above[0]] if above else full)[name] = _GAP
    for fired in full["exits"]:
        fired.update(dict.fromkeys(_OF_EXIT, _GAP))  # the first one is "first_exit", too
    try:
        text = _fast(full, indent)
    except (orjson.JSONEncodeError, RecursionError):
        return None
    before, of_exit, behind = _ROLES
    roles = before + of_exit * (len(run.exits) + 1 if run.exits else 0) + behind
    return (tuple(text.split(f'"{_GAP}"')), roles) if text.count(_GAP) == len(roles) else None


def _filled(mould: Mould, figures: tuple[Any, ...]) -> str | None:
    """The record of a run of the kind of a mould; None where its texts are beyond the fast encoder."""
    made = compiled()
    if made is not None:
        text: str | None = made.fill(*mould, figures)
        if text is not None:
            return text
    pieces, roles = mould
    try:
        written = [_FORMS[role](figure) for role, figure in zip(roles, figures, strict=True)]
    except orjson.JSONEncodeError:
        return None
    return "".join(chain.from_iterable(zip(pieces, written, strict=False))) + pieces[-1]


def _listed(notes: list[str], indent: bool) -> str | None:
    if not notes:
        return "[]"
    try:
        return _fast(notes, indent).replace("\n", "\n  ")
    except orjson.JSONEncodeError:
        return None


def _dollars(pico: int | None) -> str:
    return orjson.dumps(dollars(pico)).decode()


def _time(moment: float | None) -> str:
    stamp = iso(moment)
    return "null" if stamp is None else f'"{stamp}"'


_FORMS: Final[dict[int, Callable[[Any], str]]] = {
    ord("s"): _fast, ord("t"): _time, ord("n"): _fast, ord("d"): _dollars, ord("f"): _fast, ord("j"): str,
}  # fmt: skip
"""Strings, times, counts, picodollars, other figures, and what is JSON already."""


def render(report: Report, out: TextIO, options: Options) -> None:
    """Write one line per run."""
    for block in Moulds().lines(report.runs):
        out.write(block)
