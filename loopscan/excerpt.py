"""An audit of some lines of a log: what it takes to put what comes of several in one order."""

from __future__ import annotations

from array import array
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from itertools import islice
from typing import Any, Final

from loopscan.blob import Blob
from loopscan.compiled import compiled
from loopscan.depth import deeper
from loopscan.engine import Audit
from loopscan.formats import Reader
from loopscan.model import End, Event, Further, Rows, Several
from loopscan.origin import place_of
from loopscan.portion import Portion, Spans
from loopscan.quiet import Quiet
from loopscan.run import Run
from loopscan.ties import run_hash, salt
from loopscan.whole import Whole

NATIVE: Final = "loopscan"
_CALLS: Final = 3
"""Calls on the way from a scan to its decoders beyond those of one process."""


@dataclass(slots=True)
class Excerpt(Audit):
    """An audit of some lines. `wanted`: hashes of the runs it is about, None = all.

    `number`, `portion`: the input that is read, and what of it. `begins`: input and line at which runs begin that are
    not quiet; `spans`: where those stand. Of each run that began, see `note`: its hash, its place (`loopscan.origin`),
    its first and its last line.
    """

    number: int = 0
    portion: Portion | None = None
    begins: dict[str, tuple[int, int | None]] = field(default_factory=dict)
    wanted: frozenset[int] | None = None
    spans: Spans = field(default_factory=Spans)
    hashes: array[int] = field(default_factory=lambda: array("q"))
    places: array[int] = field(default_factory=lambda: array("q"))
    first: array[int] = field(default_factory=lambda: array("q"))
    last: array[int] = field(default_factory=lambda: array("q"))

    def read(self, blob: Blob, format_name: str, reader: Reader) -> None:
        """Take a portion. Where runs have no names they may be called by their lines."""
        if format_name != NATIVE and self.portion is not None:
            self.portion.count_before()
        with deeper(_CALLS):
            Audit.read(self, blob, format_name, reader)

    def take(self, events: Iterable[Event | Several | Rows | Whole | Further], format_name: str, source: str) -> None:
        """Take the events of the wanted runs."""
        Audit.take(self, self._noted(events, format_name), format_name, source)

    def _noted(
        self, events: Iterable[Event | Several | Rows | Whole | Further], format_name: str
    ) -> Iterator[Event | Several | Rows | Whole | Further]:
        wanted, begins = self.wanted, self.begins
        for event in events:
            if wanted is None or run_hash(format_name, event.run) in wanted:
                if event.run not in begins and self.portion is not None and (type(event) is not End or event.final):
                    begins[event.run] = self.number, self.portion.at
                yield event

    def full(self, format_name: str) -> dict[str, Run] | None:
        """The open runs of a format that are more than quiet, where all are asked for."""
        return Audit.full(self, format_name) if self.wanted is None else None

    def wants(self, run: str, format_name: str) -> bool:
        """Whether a run is asked for."""
        asked = self.wanted is None or run_hash(format_name, run) in self.wanted
        return asked and Audit.wants(self, run, format_name)

    def wakes(self, state: Quiet, format_name: str) -> None:
        """Make a full run of a quiet one."""
        self.spans.woken(state.run, state.first, state.line)
        if self.portion is not None:
            at = self.portion.at if state.told is None else state.told
            self.begins.setdefault(state.run, (self.number, at))
        Audit.wakes(self, state, format_name)

    def note(self) -> None:
        """Note where the runs begin, and stand, that began since the last time."""
        before, scanner, number = len(self.hashes), compiled(), self.number
        runs: list[Any] = list(islice(self._open.values(), before, None))
        told, waiting = place_of(number, 0, False), place_of(number, 0, True)
        if scanner is None:
            *columns, others = *[bytes(8 * len(runs))] * 4, list(range(len(runs)))
        else:
            *columns, others = scanner.stands(runs, NATIVE, salt(NATIVE), told, waiting)
        for known, column in zip((self.hashes, self.places, self.first, self.last), columns, strict=True):
            known.frombytes(column)
        identities = list(islice(self._open, before, None)) if others else []
        for other in others:
            self._note(before + other, identities[other], runs[other])

    def _note(self, at: int, identity: tuple[str, str], state: Any) -> None:
        run, spans = identity[1], self.spans
        if type(state) is Quiet:
            first, last, number, line = state.first, state.line, self.number, state.told
        else:
            first, last = spans.first.get(run, 0), spans.last.get(run, 0)
            number, line = self.begins[run]
        self.hashes[at], self.first[at], self.last[at] = run_hash(*identity), first, last
        self.places[at] = place_of(number, first if line is None else line, line is None)

    def spanned(self) -> tuple[array[int], array[int], array[int]]:
        """Hash, first and last line of each run of a native log; of no other log's."""
        if NATIVE not in self._runs:
            return array("q"), array("q"), array("q")
        first, last = self.spans.first, self.spans.last
        rest = [run for run in last if (NATIVE, run) not in self._open]
        return (
            self.hashes + array("q", [run_hash(NATIVE, run) for run in rest]),
            self.first + array("q", [first[run] for run in rest]),
            self.last + array("q", [last[run] for run in rest]),
        )
