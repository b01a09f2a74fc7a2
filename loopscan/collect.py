"""The turns of one run picked out of a second pass over the inputs; only what is shown of them is kept, as text."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import Final

from loopscan.blob import Blob
from loopscan.episodes import Episode
from loopscan.formats import Reader, Scan, held_back
from loopscan.key import Action, Keyer
from loopscan.model import MISSING, End, Event, Turn
from loopscan.recall import Recall, Said
from loopscan.settings import Settings
from loopscan.view import Step, View

_CALLS: Final = 8
"""Different calls of one turn that are shown."""


@dataclass(slots=True)
class Target:
    """The run to pick: its format, its id as reported, and how many runs of that name came before it."""

    format: str
    run: str
    number: int
    turns: int


@dataclass(slots=True)
class Collector:
    """Fills `view.steps`. `wanted` None: every turn. Tells runs apart as the engine does (`loopscan.engine.Audit`)."""

    target: Target
    view: View
    wanted: set[int] | None
    settings: Settings
    scan: Scan
    hide: bool = False
    _reader: Reader | None = None
    _keyer: Keyer = field(default_factory=Keyer)
    _recall: Recall = field(init=False)
    _headline: Episode | None = field(init=False)
    _open: dict[str, tuple[str | int | None, bool]] = field(default_factory=dict)
    """Run id of the log -> the prompt it is at, and whether this is the run to pick."""
    _prompts: dict[str, int] = field(default_factory=dict)
    _turn: int = 0

    def __post_init__(self) -> None:
        self._recall = Recall(self._keyer, self.hide)
        self._headline = self.view.run.headline

    def read(self, blob: Blob, format_name: str, reader: Reader) -> None:
        """Take a whole input; one of another format cannot hold the run."""
        if format_name != self.target.format:
            return
        if self._reader is None:
            exact, tools = self.settings.exact, self.settings.tools
            self._reader = reader
            self._keyer = Keyer(exact, reader.COSMETIC_ARGS, reader.clean_result, tools)
            self._recall = Recall(self._keyer, self.hide)
        self._take(reader.read(blob, self.scan))

    def finish(self) -> None:
        """Take what the reader held back to the end."""
        if self._reader is not None:
            self._take(held_back(self._reader, self.scan))

    def _take(self, events: Iterable[Event]) -> None:
        split = self.settings.per == "prompt"
        for event in events:
            known = self._open.get(event.run)
            if isinstance(event, End):
                if event.final and known is None:
                    self._start(event.run, None)
                continue
            if known is None or (split and event.prompt != known[0]):
                known = self._start(event.run, event.prompt if split else None)
            if known[1] and self._turn < self.target.turns:
                self._turn += 1
                self._push(event)

    def _start(self, run: str, prompt: str | int | None) -> tuple[str | int | None, bool]:
        name = run
        if prompt is not None:
            number = self._prompts[run] = self._prompts.get(run, 0) + 1
            name = f"{run}#{number}"
        mine = name == self.target.run and self.target.number == 0
        self.target.number -= name == self.target.run
        self._open[run] = prompt, mine
        return prompt, mine

    def _push(self, turn: Turn) -> None:
        action = self._keyer.action(turn)
        said, more = self._said(turn, action)
        changes = self._changes(action)
        if changes:
            self.view.changed_at = self._turn
        if changes or self.wanted is None or self._turn in self.wanted:
            self.view.steps.append(Step(self._turn, turn.line, turn.time, said, action.idents, more))

    def _said(self, turn: Turn, action: Action) -> tuple[list[Said], int]:
        """What a turn says, equal calls once; how many further calls there are."""
        if not turn.calls:
            ident = action.idents[0]
            if turn.failed:
                return [self._recall.fault(self._turn, ident, turn.fault)], 0
            return [self._recall.words(self._turn, ident, turn.text)], 0
        found: dict[tuple[int, str | None], Said] = {}
        more = 0
        for ident, call in zip(action.idents, turn.calls, strict=False):
            args = action.args if len(turn.calls) == 1 else self._keyer.action(Turn("", [call])).args
            said = self._recall.call(self._turn, ident, call, args)
            known = found.get((ident, said.result))
            if known is not None:
                known.times += 1
            elif len(found) < _CALLS:
                found[ident, said.result] = said
            else:
                more += 1
        return list(found.values()), more

    def _changes(self, action: Action) -> bool:
        """Whether this turn is the first after the headline at which one of its calls returned something new."""
        head = self._headline
        if head is None or self.view.changed_at is not None or self._turn <= head.last:
            return False
        for ident, call in zip(action.idents, action.calls, strict=False):
            if call.result is MISSING or (call.error and not head.outcomes):
                continue
            before = head.outcomes.get(ident)
            if before is not None and self._keyer.call_outcome(ident, call) not in before:
                return True
            if not head.outcomes and self._turn == head.left_at and ident in head.idents:
                return True
        return False
