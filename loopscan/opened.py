"""The open runs of a scan: which one a turn belongs to, when one begins, what becomes of all in the end."""

from __future__ import annotations

from collections.abc import Iterable, KeysView
from dataclasses import dataclass, field
from typing import Any

from loopscan.asleep import Naps
from loopscan.finished import finished
from loopscan.formats import Scan
from loopscan.going import Going, going, went_on
from loopscan.key import Keyer
from loopscan.late import Late, Source
from loopscan.model import Turn
from loopscan.money import PriceBook, Unpriced
from loopscan.quiet import Quiet
from loopscan.quiets import Quiets
from loopscan.report import RunReport
from loopscan.run import Run, new_run
from loopscan.settings import Settings
from loopscan.spill import Spill
from loopscan.wake import woken


@dataclass(slots=True)
class Opened:
    """The open runs of any formats; sessions are split at user prompts."""

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
    _final: set[str] = field(default_factory=set)
    """Formats whose turns may be taken several at once."""
    spill: Spill = field(default_factory=Spill)
    _naps: Naps = field(default_factory=Naps)

    @property
    def quiet(self) -> list[Quiet]:
        """The runs that are quiet."""
        return [state for quiets in self._quiets.values() for state in quiets.states.values()]

    @property
    def begun(self) -> KeysView[tuple[str, str]]:
        """Format and id of the runs that are open, or whole, in the order in which they began."""
        return self._open.keys()

    def full(self, format_name: str) -> dict[str, Run] | None:
        """The open runs of a format that are more than quiet."""
        return self._runs.setdefault(format_name, {})

    def wants(self, run: str, format_name: str) -> bool:
        """Whether a run is asked for: all are, but for those."""
        return run not in self._runs[format_name]

    def start(self, begun: Iterable[Quiet], format_name: str) -> None:
        """Take note of quiet runs that begin."""
        for state in begun:
            self._open[format_name, state.run] = state

    def wakes(self, state: Quiet, format_name: str) -> None:
        """Make a full run of a quiet one."""
        run = woken(state, format_name, self._keyers[format_name], self.settings, self.prices, self.spill)
        self._open[format_name, state.run] = self._runs[format_name][state.run] = run

    def repeats(self, run: str, format_name: str, source: Source, highest: float) -> Going | None:
        """A run in an episode, where its next turns may only be noted."""
        found = self._runs[format_name].get(run)
        return None if found is None else going(found, source, highest)

    def held_at(self, run: str, format_name: str, source: Source) -> list[int]:
        """Where the lines of what the window of a run holds are in that log."""
        found = self._runs[format_name].get(run)
        if found is None:
            return []
        tracker = found.progress.tracker
        held: list[Any] = [*tracker.detector.ring, *(() if tracker.watch is None else tracker.watch.trails.values())]
        return [late.place for late in held if type(late) is Late and late.source is source and late.made is None]

    def repeated(self, run: str, format_name: str, noted: Going, count: int) -> None:
        """Take turns that were noted."""
        found = self._runs[format_name][run]
        if found.nap is not None:
            self._naps.wake(found)
        went_on(found, noted, count)

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

    def _finished(self) -> list[Any]:
        """The reports of the open runs, which are released one by one; those that are quiet as they are."""
        identities = list(self._open)
        runs: list[Any] = list(self._open.values())
        self._open = {}
        for quiets in self._quiets.values():
            quiets.states.clear()
        for number, run in enumerate(runs):
            if not isinstance(run, Quiet):
                format_name, run_id = identities[number]
                self._runs[format_name].pop(run_id, None)
                if isinstance(run, Run):
                    self._naps.forget(run)
                    runs[number] = _finished(run)
        return runs


def _finished(run: Run) -> RunReport:
    """The report of a run that is over, and whose detector is released."""
    report = finished(run)
    for progress in (run.progress, *run.others):
        progress.tracker.watch = None  # else a cycle
    return report
