"""Holding turns until their results have arrived: the part every reader of joined logs needs."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Iterator
from itertools import chain
from typing import Final

from loopscan.model import JSON, MISSING, Call, End, Event, LateCall, Turn

HOLD: Final = 16
"""How many later turns of its run a turn may wait for a result; then the call counts as unanswered."""


Decode = Callable[[bytes], JSON]


class Assembly:
    """The turns of the open runs of one input, released in log order per run.

    `open` starts a turn, `result` joins a result to its call by id (or, without an id, to the run's only
    unanswered call), `end` closes a run. `open` and `end` return what is ready; `flush` returns the rest.
    """

    def __init__(self, hold: int = HOLD) -> None:
        self._hold = hold
        self._runs: dict[str, deque[Turn]] = {}
        self._waiting: dict[tuple[str, str], Call] = {}

    def open(self, turn: Turn) -> list[Event]:
        """Add a turn to its run; returns earlier turns that are now complete."""
        held = self._runs.setdefault(turn.run, deque())
        ready: list[Event] = []
        while held and (len(held) > self._hold or not self._unanswered(held[0])):
            ready.append(self._release(held))
        held.append(turn)
        for call in turn.calls:
            self.expect(turn.run, call)
        return ready

    def expect(self, run: str, call: Call) -> None:
        """Wait for the result of a call that was added to an open turn."""
        if call.id is not None and call.result is MISSING:
            self._waiting[run, call.id] = call

    def latest(self, run: str) -> Turn | None:
        """The newest turn of a run that is still held."""
        held = self._runs.get(run)
        return held[-1] if held else None

    def held(self, run: str) -> Iterator[Turn]:
        """The held turns of a run, newest first."""
        return reversed(self._runs.get(run, deque()))

    def holds(self, turn: Turn) -> bool:
        """Whether a turn is still held."""
        return any(t is turn for t in self.held(turn.run))

    def call(self, run: str, call_id: str | None) -> Call | None:
        """The held call of a run that waits under this id; without an id its only unanswered call."""
        if call_id is not None:
            return self._waiting.get((run, call_id))
        unanswered = [c for t in self._runs.get(run, ()) for c in t.calls if c.result is MISSING]
        return unanswered[0] if len(unanswered) == 1 else None

    def result(self, run: str, call_id: str | None, result: object, error: bool = False) -> bool:
        """Join a result to its call; False if no held call waits for it."""
        call = self.call(run, call_id)
        if call is None:
            return False
        call.result, call.error = result, error
        if call.id is not None:
            self._waiting.pop((run, call.id), None)
        return True

    def late_result(self, run: str, call_id: str | None, raw: bytes, decode: Decode, error: bool = False) -> bool:
        """Join a result that is left as JSON to its call; False if no held call waits for it."""
        call = self.call(run, call_id)
        if call is None:
            return False
        late = LateCall(call.name, call.args, None, error, call.id, raw, decode)
        for turn in self.held(run):
            if any(c is call for c in turn.calls):
                turn.calls[:] = [late if c is call else c for c in turn.calls]
                break
        if call.id is not None:
            self._waiting.pop((run, call.id), None)
        return True

    def end(self, end: End) -> list[Event]:
        """Close a run: its held turns as they are, then its end."""
        return [*self.drop(end.run), end]

    def drop(self, run: str) -> list[Event]:
        """The held turns of a run, which is then forgotten."""
        held = self._runs.pop(run, deque())
        return [self._release(held) for _ in range(len(held))]

    def flush(self) -> Iterator[Event]:
        """The held turns of every run, at the end of the input."""
        return chain.from_iterable(self.drop(run) for run in list(self._runs))

    def _unanswered(self, turn: Turn) -> bool:
        return any(c.id is not None and type(c) is Call and c.result is MISSING for c in turn.calls)

    def _release(self, held: deque[Turn]) -> Turn:
        turn = held.popleft()
        for call in turn.calls:
            if call.id is not None:
                self._waiting.pop((turn.run, call.id), None)
        return turn
