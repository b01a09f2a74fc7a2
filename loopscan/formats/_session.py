"""One interactive session read in order: which prompt is open, how it ended, which turns wait for results."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import PurePath
from typing import Final

from loopscan.formats._assembly import Assembly
from loopscan.formats._endings import NOTE
from loopscan.model import MISSING, Call, End, Event, Turn

_UUID: Final = re.compile(r"[0-9a-f]{8}-(?:[0-9a-f]{4}-){3}[0-9a-f]{12}")


class Session:
    """The turns of one session, told apart by the user prompt they answer.

    An end that the log states holds only if no further turn answers the same prompt (clients retry on their
    own), so it is released at the next prompt or at the end of the input. `prompts` is false for a sub-agent:
    its whole session is one run.
    """

    def __init__(self, run: str, parent: str | None = None, prompts: bool = True) -> None:
        self.run, self.parent = run, parent
        self.prompt: str | int | None = "" if prompts else None
        self.compacted = False
        self._assembly = Assembly()
        self._end: End | None = None

    def ask(self, prompt: str | int) -> list[Event]:
        """A user prompt begins: what is ready of the run before it."""
        if self.prompt is None:
            return []
        ready = self._close()
        self.prompt = prompt
        return ready

    def answer(self, turn: Turn) -> list[Event]:
        """The next turn of the open prompt; returns earlier turns that are now complete."""
        self._end = None
        turn.prompt, turn.parent = self.prompt, self.parent
        turn.compacted, self.compacted = self.compacted, False
        return self._assembly.open(turn)

    def expect(self, call: Call) -> None:
        """Wait for the result of a call that was added to an open turn."""
        self._assembly.expect(self.run, call)

    def result(self, call_id: str | None, result: object, error: bool = False) -> bool:
        """Join a result to its call; False if no held call waits for it."""
        return self._assembly.result(self.run, call_id, result, error)

    def ends(self, state: str, note: str, line: int, time: float | None = None) -> None:
        """The log says that the open prompt ended here, in these words; nothing if no turn answered it."""
        turn = self.latest
        if turn is not None and turn.prompt == self.prompt:
            self._end = End(self.run, state, note[:NOTE], line, time=time, prompt=self.prompt)

    def reopen(self) -> None:
        """The end stated before does not hold."""
        self._end = None

    @property
    def ended(self) -> str | None:
        """The state in which the open prompt ended, as far as the log says."""
        return self._end.state if self._end is not None else None

    @property
    def latest(self) -> Turn | None:
        """The newest turn."""
        return self._assembly.latest(self.run)

    def holds(self, turn: Turn) -> bool:
        """Whether a turn was not passed on yet: after that it stays as it is."""
        return self._assembly.holds(turn)

    @property
    def between_turns(self) -> bool:
        """Whether the newest turn made calls, all of them answered, and was not said to be the last."""
        turn = self.latest
        return (
            turn is not None
            and self._end is None
            and bool(turn.calls)
            and all(c.result is not MISSING for c in turn.calls)
        )

    def flush(self) -> Iterator[Event]:
        """The input is over: the rest."""
        yield from self._close()
        yield from self._assembly.flush()

    def _close(self) -> list[Event]:
        end, self._end = self._end, None
        return self._assembly.end(end) if end is not None else []


def run_of_file(name: str) -> str:
    """The run id of a log that states none: the last UUID in the file's name, else the name as shown."""
    found = _UUID.findall(PurePath(name).name.lower())
    return found[-1] if found else name
