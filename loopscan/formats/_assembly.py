"""Holding turns until their results have arrived: the part every reader of joined logs needs."""

from __future__ import annotations

from collections import deque
from collections.abc import Iterator
from itertools import chain
from typing import Final

from loopscan.model import MISSING, Call, End, Event, LateCall, Turn

HOLD: Final = 16
"""How many later turns of its run a turn may wait for a result; then the call counts as unanswered."""
_SETTLED: Final = 1000
"""Lines of other runs after which a run that is answered counts as over for now."""
_LOOKS: Final = 3


class Held:
    """The turns of one run that are not given out yet, and the calls that wait for a result, by id.

    What runs for every turn is written out here: it costs less than the calls of functions would.
    """

    __slots__ = ("begun", "turns", "waiting")

    def __init__(self) -> None:
        self.begun = False
        """Whether a turn was given out."""
        self.turns: list[Turn] = []
        self.waiting: dict[str, Call] = {}

    def open(self, turn: Turn) -> list[Event]:
        """Add a turn; returns earlier turns that are now complete."""
        ready = self.complete() if self.turns else []
        self.turns.append(turn)
        for call in turn.calls:
            if call.id is not None and not call.answered:
                self.waiting[call.id] = call
        return ready

    def complete(self) -> list[Event]:
        """The turns that are complete when another is about to be added."""
        turns, waiting = self.turns, self.waiting
        ready: list[Event] = []
        while turns:
            if len(turns) <= HOLD:
                for call in turns[0].calls:
                    if call.id is not None and (
                        (call.raw or call.result if type(call) is LateCall else call.result) is MISSING
                    ):
                        break
                else:
                    ready.append(self._release() if waiting else turns.pop(0))
                    continue
                break
            ready.append(self._release())
        if ready:
            self.begun = True
        return ready

    def call(self, call_id: str | None) -> Call | None:
        """The call that waits under this id; without an id the only unanswered call."""
        if call_id is not None:
            return self.waiting.get(call_id)
        unanswered = [c for t in self.turns for c in t.calls if not c.answered]
        return unanswered[0] if len(unanswered) == 1 else None

    def result(self, call_id: str | None, result: object, error: bool = False) -> bool:
        """Join a result to its call; False if no held call waits for it."""
        call = self.waiting.pop(call_id, None) if call_id is not None else self.call(None)
        if call is None:
            return False
        call.result, call.error = result, error
        if call_id is None and call.id is not None:
            self.waiting.pop(call.id, None)
        return True

    def _release(self) -> Turn:
        self.begun = True
        turn = self.turns.pop(0)
        for call in turn.calls:
            if call.id is not None:
                self.waiting.pop(call.id, None)
        return turn

    def answered(self) -> bool:
        """Whether no call waits for a result."""
        return not any(c.id is not None and not c.answered for t in self.turns for c in t.calls)

    def drop(self) -> list[Event]:
        """All turns, which are then forgotten."""
        return [self._release() for _ in range(len(self.turns))]


class Assembly:
    """The turns of the open runs of one input, released in log order per run.

    `open` starts a turn, `result` joins a result to its call by id (or, without an id, to the run's only
    unanswered call), `end` closes a run. `open` and `end` return what is ready; `flush` returns the rest.
    """

    def __init__(self) -> None:
        self._runs: dict[str, Held] = {}
        """In the order in which the first turn was held that is."""
        self._aging: deque[tuple[str, Held]] = deque()

    def open(self, turn: Turn) -> list[Event]:
        """Add a turn to its run; returns earlier turns that are now complete."""
        held = self._runs.get(turn.run)
        if held is None or not held.turns:
            held = held or Held()
            self.begin(turn.run, held)
        return held.open(turn)

    def begin(self, run: str, held: Held) -> None:
        """Take note of a run that holds no turn, but is about to."""
        self._runs.pop(run, None)
        self._runs[run] = held

    def settled(self, run: str, held: Held, line: int) -> list[Event]:
        """The held turns of some runs that were given no turn for long, where every call has its result.

        Asked whenever a run is about to hold a turn, which may be among them later. They could go on; but what was
        left so long ago need not wait for the end of a file of many sessions. A run that gave out no turn yet waits:
        runs begin in the order in which `flush` gives them out.
        """
        ready: list[Event] = []
        for _ in range(min(_LOOKS, len(self._aging))):
            name, other = self._aging.popleft()
            if other.turns and (not other.begun or line - other.turns[-1].line < _SETTLED or not other.answered()):
                self._aging.append((name, other))
            elif other.turns:
                ready += self.drop(name)
        self._aging.append((run, held))
        return ready

    def expect(self, run: str, call: Call) -> None:
        """Wait for the result of a call that was added to an open turn."""
        if call.id is not None and call.result is MISSING:
            held = self._runs.get(run)
            if held is None:
                held = self._runs[run] = Held()
            held.waiting[call.id] = call

    def latest(self, run: str) -> Turn | None:
        """The newest turn of a run that is still held."""
        held = self._runs.get(run)
        return held.turns[-1] if held is not None and held.turns else None

    def held(self, run: str) -> Iterator[Turn]:
        """The held turns of a run, newest first."""
        held = self._runs.get(run)
        return reversed(held.turns if held is not None else [])

    def holds(self, turn: Turn) -> bool:
        """Whether a turn is still held: once given out it stays as it is."""
        return any(t is turn for t in self.held(turn.run))

    def call(self, run: str, call_id: str | None) -> Call | None:
        """The held call of a run that waits under this id; without an id its only unanswered call."""
        held = self._runs.get(run)
        return held.call(call_id) if held is not None else None

    def result(self, run: str, call_id: str | None, result: object, error: bool = False) -> bool:
        """Join a result to its call; False if no held call waits for it."""
        held = self._runs.get(run)
        return held is not None and held.result(call_id, result, error)

    def end(self, end: End) -> list[Event]:
        """Close a run: its held turns as they are, then its end."""
        return [*self.drop(end.run), end]

    def drop(self, run: str) -> list[Event]:
        """The held turns of a run, which is then forgotten."""
        held = self._runs.get(run)
        if held is None:
            return []
        ready = held.drop()
        if not held.waiting:
            del self._runs[run]
        return ready

    def flush(self) -> Iterator[Event]:
        """The held turns of every run, at the end of the input."""
        return chain.from_iterable(self.drop(run) for run in list(self._runs))
