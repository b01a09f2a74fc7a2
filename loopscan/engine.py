"""The engine: turns of any format in, run reports out.

`Audit` keeps the open runs and splits sessions at user prompts; `loopscan.concluded` works out what needs the whole
scan.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, KeysView
from dataclasses import dataclass, field
from typing import Final

from loopscan.asleep import Naps
from loopscan.blob import Blob
from loopscan.calm import calm
from loopscan.concluded import concluded
from loopscan.finished import finished
from loopscan.formats import Reader, Scan, held_back
from loopscan.formats._fields import when
from loopscan.key import Keyer
from loopscan.late import Source
from loopscan.model import End, Event, Rows, Turn, Whole
from loopscan.money import PriceBook, Unpriced
from loopscan.quiet import Quiet
from loopscan.quiets import Quiets
from loopscan.report import Report, RunReport
from loopscan.row import turn_of
from loopscan.run import Run, new_run
from loopscan.settings import Settings
from loopscan.settle import settled
from loopscan.spill import Spill
from loopscan.stretch import take
from loopscan.wake import take_rows, woken

STRETCH: Final = 16
"""Turns of one run, in a row, that are taken at once."""
_AT_ONCE: Final = 128
"""The same of a whole run."""


@dataclass(slots=True)
class Audit:
    """One scan over any number of inputs."""

    settings: Settings = field(default_factory=Settings)
    prices: PriceBook = field(default_factory=Unpriced)
    scan: Scan = field(default_factory=Scan)
    reports: list[RunReport] = field(default_factory=list)
    _open: dict[tuple[str, str], Run | Quiet | RunReport] = field(default_factory=dict)
    """The open runs by format and id, in the order in which they began, and the reports of whole ones among them."""
    _runs: dict[str, dict[str, Run]] = field(default_factory=dict)
    """The open ones, by format."""
    _quiets: dict[str, Quiets] = field(default_factory=dict)
    """Those that are quiet, by format."""
    _whole: tuple[str, str] | None = None
    """The newest run, where nothing of it comes once another begins."""
    _numbers: dict[tuple[str, str], int] = field(default_factory=dict)
    _keyers: dict[str, Keyer] = field(default_factory=dict)
    _readers: dict[str, Reader] = field(default_factory=dict)
    _final: set[str] = field(default_factory=set)
    """Formats whose turns may be taken several at once."""
    spill: Spill = field(default_factory=Spill)
    _naps: Naps = field(default_factory=Naps)
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
        if self.scan.rows and format_name not in self._quiets:
            self._quiets[format_name] = Quiets(self, format_name)
        self.scan.quiets = self._quiets.get(format_name)
        self.take(reader.read(blob, self.scan), format_name, blob.name)

    def take(self, events: Iterable[Event | Rows | Whole], format_name: str, source: str) -> None:
        """Take the events of one input."""
        if format_name not in self._keyers:
            self._keyers[format_name] = Keyer(self.settings.exact, tools=self.settings.tools)
        runs, prices, idle = self._runs.setdefault(format_name, {}), self.prices, self.settings.idle
        most = STRETCH if format_name in self._final else 1
        stretch: list[Turn] = []
        current: Run | None = None
        for event in events:
            if type(event) is Rows or type(event) is Whole:
                if stretch and current is not None:
                    take(current, stretch, prices)
                    stretch = []
                current = None
                if isinstance(event, Whole):
                    self._turns_of(event, format_name, source)
                else:
                    self._rows(event, format_name, source)
            elif isinstance(event, Turn):
                run = runs.get(event.run)
                if run is not current or current is None or len(stretch) >= most or event.prompt != current.prompt:
                    if stretch and current is not None:
                        take(current, stretch, prices)
                        stretch = []
                    if run is None or event.prompt != run.prompt or run.over or idle is not None:
                        run = self._run_of(event, run, format_name, source)
                    current = run
                stretch.append(event)
            elif isinstance(event, End):
                if stretch and current is not None:
                    take(current, stretch, prices)
                    stretch = []
                current = None
                self._end(event, format_name, source)
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
        first, turns, identity = event.turns[0], event.turns, (format_name, event.run)
        run = self._runs[format_name].get(event.run)
        if identity not in self._open and event.end is None:
            keyer, prices = self._keyers[format_name], self.prices
            report = calm(turns, source, format_name, keyer, self.settings, prices, self.spill)
            if report is not None:
                self._close_whole()
                self._open[identity] = report
                return
        if run is None or first.prompt != run.prompt or run.over:
            run = self._run_of(first, run, format_name, source)
        for start in range(0, len(turns), _AT_ONCE):
            take(run, turns[start : start + _AT_ONCE] if start or len(turns) > _AT_ONCE else turns, self.prices)
        if event.end is not None:
            self._end(event.end, format_name, source)

    def wants(self, run: str, format_name: str) -> bool:
        """Whether a run is asked for: all are, but for those that are more than quiet."""
        return run not in self._runs[format_name]

    def starts(self, state: Quiet, format_name: str, line: int | None) -> None:
        """Take note of a quiet run that begins."""
        self._open[format_name, state.run] = state

    def wakes(self, state: Quiet, format_name: str) -> None:
        """Make a full run of a quiet one."""
        run = woken(state, format_name, self._keyers[format_name], self.settings, self.prices, self.spill)
        self._open[format_name, state.run] = self._runs[format_name][state.run] = run

    def _run_of(self, turn: Turn, run: Run | None, format_name: str, source: str) -> Run:
        """The run that a turn belongs to, where that is not simply the open one of its id."""
        identity = (format_name, turn.run)
        before: Run | None = None
        if run is not None and run.nap is not None:
            self._naps.wake(run)
        if run is not None and self.settings.per == "prompt" and turn.prompt != run.prompt:
            self._naps.forget(run)
            self.reports.append(finished(run))
            run, before = None, run
        if run is None:
            run = self._start(turn, identity, source)
            if before is not None:
                run.ledger.follow(before.ledger)
                run.over = before.over
        elif run.over or self._idle(run, turn):
            run.over = False
            self.scan.skips.reopened += 1
        run.prompt = turn.prompt
        return run

    def _idle(self, run: Run, turn: Turn) -> bool:
        """Whether the run had counted as over (`idle`) when this turn came."""
        idle = self.settings.idle
        return idle is not None and turn.time is not None and run.ended is not None and turn.time - run.ended > idle

    def _start(self, turn: Turn, identity: tuple[str, str], source: str) -> Run:
        format_name, run_id = identity
        self._close_whole()
        if isinstance(told := self._open.get(identity), RunReport):
            self.reports.append(told)
        session = turn.session
        if turn.prompt is not None and self.settings.per == "prompt":
            number = self._numbers[identity] = self._numbers.get(identity, 0) + 1
            session, run_id = session or run_id, f"{run_id}#{number}"
        run = new_run(
            turn, run_id, format_name, turn.source or source, self._keyers[format_name], self.settings, self.spill
        )
        run.session = session
        run.prepare(turn, self.prices)
        self._open[identity] = self._runs.setdefault(format_name, {})[identity[1]] = run
        if turn.whole:
            self._whole = identity
        elif format_name in self._final and not run.others:
            self._naps.begin(run)
        return run

    def _close_whole(self) -> None:
        """Work out the report of the run before, where it was a whole one: its window is not held to the end."""
        if self._whole is not None:
            run = self._runs[self._whole[0]].pop(self._whole[1])
            self._open[self._whole], self._whole = _finished(run), None

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

    @property
    def quiet(self) -> list[Quiet]:
        """The runs that are quiet."""
        return [state for quiets in self._quiets.values() for state in quiets.states.values()]

    @property
    def begun(self) -> KeysView[tuple[str, str]]:
        """Format and id of the runs that are open, or whole, in the order in which they began."""
        return self._open.keys()

    def release(self) -> None:
        """Take what the readers kept until the end."""
        for name, reader in self._readers.items():
            self.take(held_back(reader, self.scan), name, "")

    def close(self) -> list[RunReport]:
        """The reports of `begun`; none of them is afterwards."""
        closed = list(self._finished())
        self._naps.close()
        Source.close_all()
        return closed

    def finish(self) -> Report:
        """The report of everything read: runs closed, caps resolved, exits evaluated."""
        self.release()
        self.scan.memory.clear()  # nothing more is read
        self.reports += self.close()
        return concluded(self.reports, self.scan.skips, self.settings)

    def _finished(self) -> Iterator[RunReport]:
        """The reports of the open runs, which are released one by one."""
        still_open, self._open = self._open, {}
        for format_name, run_id in list(still_open):
            run = still_open.pop((format_name, run_id))
            if isinstance(run, Quiet):
                del self._quiets[format_name].states[run_id]
                yield settled(run, format_name, self.spill)
                continue
            self._runs[format_name].pop(run_id, None)
            if isinstance(run, Run):
                self._naps.forget(run)
            yield run if isinstance(run, RunReport) else _finished(run)


def _finished(run: Run) -> RunReport:
    """The report of a run that is over, and whose detector is released."""
    report = finished(run)
    for progress in (run.progress, *run.others):
        progress.tracker.watch = None  # else a cycle
    return report
