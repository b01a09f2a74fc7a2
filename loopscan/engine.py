"""The engine: turns of any format in, run reports out.

`loopscan.opened` keeps the open runs, `loopscan.concluded` works out what needs the whole scan.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import Any, Final

from loopscan.blob import Blob
from loopscan.calm import calm
from loopscan.concluded import concluded
from loopscan.formats import Reader, held_back
from loopscan.formats._fields import when
from loopscan.key import Keyer
from loopscan.late import Source
from loopscan.model import End, Event, Further, Rows, Several, Turn
from loopscan.opened import Opened
from loopscan.quiets import Quiets
from loopscan.report import Report, RunReport
from loopscan.row import turn_of
from loopscan.rules import REACH
from loopscan.run import Run
from loopscan.settle import settle
from loopscan.stretch import take
from loopscan.wake import take_further, take_rows
from loopscan.whole import Whole

STRETCH: Final = 64
"""Turns of one run, in a row, that are taken at once."""
_AT_ONCE: Final = 128
"""The same where they come so."""


@dataclass(slots=True)
class Audit(Opened):
    """One scan over any number of inputs."""

    _readers: dict[str, Reader] = field(default_factory=dict)
    loose: set[tuple[str, str]] = field(default_factory=set)
    """Ends of runs that no turn was seen of: they might belong to a run of another scan."""

    def read(self, blob: Blob, format_name: str, reader: Reader) -> None:
        """Take a whole input of a known format."""
        if format_name not in self._keyers:
            exact, tools = self.settings.exact, self.settings.tools
            self._keyers[format_name] = Keyer(exact, reader.COSMETIC_ARGS, reader.clean_result, tools)
        self._readers[format_name] = reader
        if self.settings.idle is None and getattr(reader, "FINAL", False):
            self._final.add(format_name)
        self.scan.rows = format_name in self._final and not (
            self.settings.watched or self.settings.repeat_limit or self.settings.tools or self.settings.exact
        )
        plain = self.scan.rows and not self._keyers[format_name].special
        self.scan.reach = max(self.settings.window, REACH) if plain else 0
        if self.scan.rows and format_name not in self._quiets:
            self._quiets[format_name] = Quiets(self, format_name)
        self.scan.quiets = self._quiets.get(format_name)
        self.take(reader.read(blob, self.scan), format_name, blob.name)

    def take(self, events: Iterable[Event | Several | Rows | Whole | Further], format_name: str, source: str) -> None:
        """Take the events of one input."""
        if format_name not in self._keyers:
            self._keyers[format_name] = Keyer(self.settings.exact, tools=self.settings.tools)
        runs, prices, idle = self._runs.setdefault(format_name, {}), self.prices, self.settings.idle
        most = STRETCH if format_name in self._final else 1
        stretch: list[Turn] = []
        current: Run | None = None
        for event in events:
            if isinstance(event, Turn):
                run = runs.get(event.run)
                if run is not current or current is None or len(stretch) >= most or event.prompt != current.prompt:
                    if stretch and current is not None:
                        take(current, stretch, prices)
                        stretch = []
                    if run is None or event.prompt != run.prompt or run.over or idle is not None:
                        run = self._run_of(event, run, format_name, source)
                    current = run
                stretch.append(event)
                continue
            if stretch and current is not None:
                take(current, stretch, prices)
                stretch = []
            current = None
            if isinstance(event, Several):
                self._several(event.turns, format_name, source)
            elif isinstance(event, End):
                self._end(event, format_name, source)
            elif isinstance(event, Whole):
                self._turns_of(event, format_name, source)
            elif isinstance(event, Rows):
                self._rows(event, format_name, source)
            else:
                going = runs.get(event.run)
                if going is not None and not going.over and going.prompt is None:
                    take_further(going, event)
        if stretch and current is not None:
            take(current, stretch, prices)

    def _rows(self, event: Rows, format_name: str, source: str) -> None:
        """Take turns of one run that is not quiet."""
        run = self._runs[format_name].get(event.run)
        if run is None or run.over or run.prompt is not None:
            first = event.rows[0]
            run = self._run_of(turn_of(first, event.run, when(first.ts)), run, format_name, source)
        take_rows(run, event.rows, event.source, self.prices)

    def _turns_of(self, event: Whole, format_name: str, source: str) -> None:
        """Take the turns of a whole run."""
        identity = (format_name, event.run)
        if identity not in self._open and event.end is None:
            keyer, prices = self._keyers[format_name], self.prices
            report = calm(event, source, format_name, keyer, self.settings, prices, self.spill)
            if report is not None:
                self._close_whole()
                self._open[identity] = report
                return
        self._several(event.turns(), format_name, source)
        if event.end is not None:
            self._end(event.end, format_name, source)

    def _several(self, turns: list[Turn], format_name: str, source: str) -> None:
        """Take turns of one run that answer one prompt."""
        first = turns[0]
        run = self._runs[format_name].get(first.run)
        if run is None or first.prompt != run.prompt or run.over:
            run = self._run_of(first, run, format_name, source)
        for start in range(0, len(turns), _AT_ONCE):
            take(run, turns[start : start + _AT_ONCE] if start or len(turns) > _AT_ONCE else turns, self.prices)

    def _end(self, end: End, format_name: str, source: str) -> None:
        identity = (format_name, end.run)
        run = self._runs.get(format_name, {}).get(end.run)
        if run is None:
            if not end.final:
                self.loose.add(identity)
                return
            run = self._start(Turn(end.run), identity, source)
        if end.prompt is not None and end.prompt != run.prompt:
            return
        if run.nap is not None:
            self._naps.wake(run)
        run.end(end)
        if end.final:
            run.over = True

    def release(self) -> None:
        """Take what the readers kept until the end."""
        for name, reader in self._readers.items():
            self.take(held_back(reader, self.scan), name, "")

    def over(self) -> list[Any]:
        """The reports of `begun`, quiet runs as they are among them; none of them is open afterwards."""
        for quiets in self._quiets.values():
            quiets.end()
        closed = self._finished()
        self._naps.close()
        Source.close_all()
        return closed

    def close(self) -> list[RunReport]:
        """The reports of `begun`; none of them is afterwards."""
        closed = self.over()
        settle(closed, self.spill)  # last: there is more room then
        return closed

    def finish(self) -> Report:
        """The report of everything read: runs closed, caps resolved, exits evaluated."""
        self.release()
        self.scan.memory.clear()  # nothing more is read
        self.reports += self.close()
        return concluded(self.reports, self.scan.skips, self.settings)
