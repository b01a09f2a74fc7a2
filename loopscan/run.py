"""One open run: what the engine keeps of it while its turns come in."""

from __future__ import annotations

from copy import copy
from dataclasses import replace
from typing import Final

import msgspec

from loopscan.asleep import Nap
from loopscan.decode import word
from loopscan.key import Action, Keyer
from loopscan.ledger import Ledger
from loopscan.model import MISSING, End, Turn
from loopscan.money import PriceBook
from loopscan.progress import Progress
from loopscan.rules import rulebook
from loopscan.series import PART, Tally
from loopscan.settings import Settings
from loopscan.spill import Spill

OVERFLOW_WORDS = (
    "context length",
    "context_length",
    "context_limit",
    "context window",
    "prompt is too long",
    "maximum context",
    "too many tokens",
)


class Last(msgspec.Struct, gc=False):
    """The newest turn of a run: number of calls, how many of them (or the text) were not recorded."""

    calls: int
    unseen: int
    failed: bool
    overflow: bool


USUAL: Final = Last(1, 0, False, False)
"""One call with its result."""


class Run(msgspec.Struct, gc=False):
    """One run, turn by turn. Memory: the window, and a few numbers per turn."""

    id: str
    format: str
    source: str
    session: str | None
    settings: Settings
    progress: Progress
    ledger: Ledger
    others: list[Progress] = []
    """Detectors of other settings, one for each of `Settings.watched`."""
    prompt: str | int | None = None
    parent: str | None = None
    labels: dict[str, str] = {}
    models: dict[str, int] = {}
    started: float | None = None
    ended: float | None = None
    gap: tuple[float, int] = (0.0, 0)
    turns: int = 0
    full: int | None = None
    compactions: int = 0
    state: str | None = None
    notes: list[str] = []
    last: Last | None = None
    unseen: int = 0
    """Calls and texts whose content was never recorded."""
    over: bool = False
    """The log said that the run is over."""
    _more: int = 0
    _silent: int = 0
    """Calls beyond the first of a turn; turns without a call."""
    model_now: str | None = None
    _since: int = 0
    """The turn before the first one in a row of the present model."""
    limit: int | None = None
    """The context window of the present model in tokens, or the one that was set."""
    quick: bool = False
    """Whether `loopscan.stretch` may take its usual turns."""
    nap: Nap | None = None
    """What is put away of it while it is asleep."""

    def push(self, turn: Turn, prices: PriceBook) -> None:
        """Take the run's next turn.

        Every line here runs once a turn: what a usual turn does not need is left to other functions.
        """
        self.turns = number = self.turns + 1
        self.state = None
        time, calls = turn.time, turn.calls
        elapsed = 0.0
        if time is not None:
            started, ended = self.started, self.ended
            if started is not None:
                elapsed = time - started
                if ended is not None and time - ended > self.gap[0]:
                    self.gap = (time - ended, number)
            else:
                self.started = time
            if not ended or time > ended:
                self.ended = time
        if turn.model != self.model_now:
            self._new_model(turn.model, prices)
        if turn.parent is not None or turn.session is not None or turn.labels or turn.compacted:
            self._describe(turn)
        progress = self.progress
        action = progress.keyer.action(turn)
        if self.others:
            self._show_others(action, turn)
        progress.push(action)
        sent = self.ledger.pay(turn, prices, elapsed)
        if not number % PART:
            self.ledger.pack()
        if self.full is None:
            window = self.settings.context_window or turn.window or self.limit
            if (window is not None and sent is not None and sent >= window) or (turn.failed and overflows(turn.fault)):
                self.full = number
        if len(calls) == 1 and calls[0].answered:
            self.last = USUAL
        else:
            self._unusual(turn)

    def prepare(self, turn: Turn, prices: PriceBook) -> None:
        """Look up what the first turn needs, before it is pushed."""
        self._set_model(turn.model, prices)
        self.ledger.look_up(turn, prices)

    def _new_model(self, model: str | None, prices: PriceBook) -> None:
        self._count_models(self.turns - 1)
        self._set_model(model, prices)

    def _set_model(self, model: str | None, prices: PriceBook) -> None:
        self.model_now, self.limit = model, self.settings.context_window or prices.window(model)

    def _count_models(self, until: int) -> None:
        """Count the turns of the present model up to turn `until`."""
        if self.model_now and until > self._since:
            self.models[self.model_now] = self.models.get(self.model_now, 0) + until - self._since
        self._since = until

    def _describe(self, turn: Turn) -> None:
        self.parent = self.parent or turn.parent
        self.session = self.session or turn.session
        if turn.labels:
            self.labels = {**turn.labels, **self.labels}
        self.compactions += turn.compacted

    def _show_others(self, action: Action, turn: Turn) -> None:
        keyer = self.progress.keyer
        for other in self.others:
            other.push(copy(action) if other.keyer is keyer else other.keyer.action(turn))

    def _unusual(self, turn: Turn) -> None:
        """Take note of a turn that is not one call with its result."""
        calls = turn.calls
        if calls:
            unseen = sum(c.result is MISSING for c in calls)
            self._more += len(calls) - 1
        else:
            unseen = int(turn.text is None and not turn.failed)
            self._silent += 1
        self.unseen += unseen
        self.last = Last(len(calls), unseen, turn.failed, turn.failed and overflows(turn.fault))

    @property
    def calls(self) -> int:
        """Calls so far."""
        return self.turns + self._more - self._silent

    @property
    def model(self) -> str | None:
        """The model of most turns."""
        self._count_models(self.turns)
        return max(self.models, key=self.models.__getitem__, default=None)

    def end(self, end: End) -> None:
        """Take the log's own word on how the run ended."""
        self.state = end.state
        if end.note and end.note != end.state:
            self.notes.append(f"ended: {end.note}")
        if end.time is not None:
            self.ended = max(end.time, self.ended or end.time)

    def ended_as(self) -> tuple[str, str]:
        """State and its source: what the log says, else what the last turn shows."""
        if self.state is not None:
            return self.state, "recorded"
        last = self.last
        if last is None:
            return "cut", "inferred"
        if last.failed:
            return ("context_full" if last.overflow else "error"), "inferred"
        return ("done" if not last.calls and not last.unseen else "cut"), "inferred"

    def rejected(self) -> int | None:
        """The send that did not fit, where the log says that the run ended so: its failed last turn, else the next."""
        if self.state != "context_full":
            return None
        return self.turns if self.last is not None and self.last.failed else self.turns + 1

    @property
    def blind(self) -> bool:
        """Whether most of the run's calls hold no recorded content (an open last turn apart)."""
        unseen, whole, last = self.unseen, self.turns + self._more, self.last
        if last is not None and last.calls:
            unseen, whole = unseen - last.unseen, whole - last.calls
        return 2 * unseen > whole


def overflows(fault: object) -> bool:
    """Whether an error says that the prompt did not fit the context window."""
    text = word(fault).lower()
    return any(words in text for words in OVERFLOW_WORDS)


def new_run(
    turn: Turn, run_id: str, format_name: str, source: str, keyer: Keyer, settings: Settings, spill: Spill
) -> Run:
    """A run that starts with `turn` (which is not pushed yet)."""
    rules = rulebook(settings.rules)
    progress = Progress(
        keyer, settings.window, settings.copies, settings.repeat_limit, None if settings.exact else rules
    )
    others = [
        Progress(
            keyer if w.exact == keyer.exact else replace(keyer, exact=w.exact),
            w.window,
            w.copies,
            w.repeat_limit,
            None if w.exact else rules,
        )
        for w in settings.watched
    ]
    run = Run(
        run_id, format_name, source, turn.session, settings, progress, Ledger(settings, tally=Tally(spill=spill)),
        others, turn.prompt,
    )  # fmt: skip
    run.quick = not (others or keyer.tools or settings.repeat_limit or settings.exact)
    return run
