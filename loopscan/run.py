"""One open run: what the engine keeps of it while its turns come in."""

from __future__ import annotations

from dataclasses import replace

import msgspec

from loopscan.decode import word
from loopscan.key import Keyer
from loopscan.ledger import Ledger
from loopscan.model import MISSING, End, Turn
from loopscan.money import PriceBook
from loopscan.progress import Progress
from loopscan.rules import rulebook
from loopscan.settings import Settings

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
    calls: int = 0
    unseen: int = 0
    """Calls and texts whose content was never recorded, but for those of the last turn."""
    seen: int = 0
    full: int | None = None
    compactions: int = 0
    state: str | None = None
    notes: list[str] = []
    last: Last | None = None

    def push(self, turn: Turn, prices: PriceBook) -> None:
        """Take the run's next turn."""
        self.turns += 1
        self.calls += len(turn.calls)
        self.state = None
        if self.last is not None:
            self.unseen += self.last.unseen
            self.seen += max(self.last.calls, 1) - self.last.unseen
        self._clock(turn)
        self._describe(turn)
        self._watch(turn)
        self._pay(turn, prices)
        unseen = (
            sum(c.result is MISSING for c in turn.calls) if turn.calls else int(turn.text is None and not turn.failed)
        )
        self.last = Last(len(turn.calls), unseen, turn.failed, turn.failed and overflows(turn.fault))

    def _watch(self, turn: Turn) -> None:
        keyer = self.progress.keyer
        action = keyer.action(turn)
        self.progress.push(action)
        for other in self.others:
            other.push(action if other.keyer is keyer else other.keyer.action(turn))

    def _clock(self, turn: Turn) -> None:
        if turn.time is None:
            return
        if self.started is None:
            self.started = turn.time
        elif self.ended is not None and turn.time - self.ended > self.gap[0]:
            self.gap = (turn.time - self.ended, self.turns)
        self.ended = max(turn.time, self.ended or turn.time)

    def _describe(self, turn: Turn) -> None:
        if turn.model:
            self.models[turn.model] = self.models.get(turn.model, 0) + 1
        self.parent = self.parent or turn.parent
        self.session = self.session or turn.session
        if turn.labels:
            self.labels = {**turn.labels, **self.labels}
        self.compactions += turn.compacted

    def _pay(self, turn: Turn, prices: PriceBook) -> None:
        elapsed = turn.time - self.started if turn.time is not None and self.started is not None else 0.0
        sent = self.ledger.pay(turn, prices, elapsed)
        if self.full is None:
            window = self.settings.context_window or turn.window or prices.window(turn.model)
            refused = turn.failed and overflows(turn.fault)
            if refused or (window is not None and sent is not None and sent >= window):
                self.full = self.turns

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

    @property
    def blind(self) -> bool:
        """Whether most of the run's calls hold no recorded content (an open last turn apart)."""
        unseen, seen, last = self.unseen, self.seen, self.last
        if last is not None and not last.calls:
            unseen, seen = unseen + last.unseen, seen + 1 - last.unseen
        return unseen > seen


def overflows(fault: object) -> bool:
    """Whether an error says that the prompt did not fit the context window."""
    text = word(fault).lower()
    return any(words in text for words in OVERFLOW_WORDS)


def new_run(turn: Turn, run_id: str, format_name: str, source: str, keyer: Keyer, settings: Settings) -> Run:
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
    return Run(run_id, format_name, source, turn.session, settings, progress, Ledger(settings), others, turn.prompt)
