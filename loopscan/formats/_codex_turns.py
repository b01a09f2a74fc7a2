"""Turns of one Codex thread, put together from reply items, results and token counts.

A token count closes the model call whose items stand before it; in versions to 0.40 it stands before them and opens
it. Without counts, a reply item after a result begins the next call. An end that the log states takes effect with
whatever begins next, because reply items of an aborted call may follow it.
"""

from __future__ import annotations

from collections import OrderedDict
from dataclasses import dataclass
from typing import Final

from loopscan.formats._assembly import Assembly
from loopscan.formats._codex_items import characters
from loopscan.model import JSON, MISSING, Call, End, Event, Turn, Usage

SCRIPT: Final = "exec"
"""The tool whose argument is a program that makes the real calls."""
_KEPT: Final = 64


@dataclass(slots=True)
class Thread:
    """What holds for every turn of a thread until the log says otherwise."""

    run: str
    session: str | None = None
    parent: str | None = None
    labels: dict[str, str] | None = None
    prompt: str | int | None = ""
    model: str | None = None
    window: int | None = None


class Turns:
    """The turn that is being written and those that wait for results; `ready` holds what can be passed on."""

    def __init__(self, thread: Thread) -> None:
        self.thread = thread
        self.ready: list[Event] = []
        self._assembly = Assembly()
        self._turn: Turn | None = None
        self._lone = False  # known by its token count only, not yet in the assembly
        self._sealed = False
        self._counted_first = False
        self._answered = False
        self._counts_follow = False
        self._compacted = False
        self._task = False
        self._since_prompt = 0
        self._since_end = 0
        self._ending: End | None = None
        self._scripts: OrderedDict[str, tuple[Turn, Call]] = OrderedDict()
        self._said: OrderedDict[str, tuple[bool, JSON]] = OrderedDict()

    # what the model writes

    def reply(self, number: int, time: float | None) -> Turn:
        """The turn that a reply item belongs to."""
        turn = self._turn
        if turn is None or self._sealed or (self._answered and not self._counted_first):
            turn = self._open(number, time)
            self._admit()
        elif self._lone:
            self._admit()
        turn.text = turn.text or ""
        return turn

    def call(self, turn: Turn, call: Call, script: bool) -> None:
        """Add a call to its turn."""
        turn.calls.append(call)
        turn.written = (turn.written or 0) + characters(call)
        said = self._said.pop(call.id or "", None)
        if said is not None:
            call.error = call.error or said[0]
            call.result = said[1] if call.result is MISSING else call.result
        self._assembly.expect(turn.run, call)
        if script and call.id is not None:
            self._scripts[call.id] = turn, call
            _trim(self._scripts)

    def done_inside(self, call: Call) -> bool:
        """Put a call that a script made in the script's place; False if no script is running."""
        turn, script = next((s for s in self._scripts.values() if self._assembly.holds(s[0])), (None, None))
        if turn is None:
            return False
        place = next((i for i, c in enumerate(turn.calls) if c is script), None)
        if place is None:
            turn.calls.append(call)
        else:
            turn.calls[place] = call
        return True

    def result(self, call_id: str | None, result: JSON, error: bool) -> None:
        """Join a result to its call."""
        said = self._said.pop(call_id or "", None)
        error = error or (said is not None and said[0])
        self._answered = self._answered or self._turn is not None
        turn, script = self._scripts.pop(call_id or "", (None, None))
        broke = turn is not None and script is not None and error and all(c is not script for c in turn.calls)
        if turn is not None and script is not None and broke and self._assembly.holds(turn):
            turn.calls.append(script)  # the script itself broke, after what it had done
        call = self._assembly.call(self.thread.run, call_id)
        self._assembly.result(self.thread.run, call_id, result, error)
        if call is not None and result is MISSING:
            call.id = None  # no use waiting for it

    def remark(self, call_id: str | None, error: bool, result: JSON) -> None:
        """An end event beside the result proper: it may come before the call, before its result or after it."""
        if call_id is None:
            return
        for turn in self._assembly.held(self.thread.run):
            for call in turn.calls:
                if call.id == call_id:
                    call.error = call.error or error
                    if result is not MISSING and call.result is MISSING:
                        self._assembly.result(self.thread.run, call_id, result, error)
                        return
        self._said[call_id] = error, result
        _trim(self._said)

    # what it cost

    def counted(self, usage: Usage, number: int, time: float | None) -> None:
        """A model call has ended: its usage goes to the turn before, or to the one that follows."""
        turn = self._turn
        if turn is not None and turn.usage is None and not turn.failed:
            turn.usage, turn.window = usage, self.thread.window
            self._sealed = self._counts_follow = True
            return
        turn = self._open(number, time)
        turn.text, turn.usage = None, usage
        self._counted_first, self._sealed = True, self._counts_follow

    @property
    def uncounted(self) -> bool:
        """Whether a turn waits for its usage."""
        return self._turn is not None and self._turn.usage is None and not self._turn.failed and not self._sealed

    def already_counted(self, usage: Usage) -> bool:
        """Whether the newest turn is closed and has just this usage (the same response counted by another record)."""
        return self._turn is not None and self._sealed and self._turn.usage == usage

    def use_model(self, model: str | None) -> None:
        """The model that answered the newest turn."""
        if self._turn is not None and model:
            self._turn.model = model

    # what begins and ends

    def paragraph(self) -> None:
        """A record that stands between model calls where counts come first."""
        self._sealed = self._sealed or (self._counted_first and not self._lone)

    def prompted(self, identity: int) -> None:
        """A user message: it starts a run, unless the model is at work on the one before (then it steers)."""
        if self._task and self._since_prompt:
            return
        self._begin(identity)

    def task_started(self, number: int) -> None:
        """A task begins, with or without a user message of its own."""
        self._flush_end()
        if self._since_prompt or self._lone:
            self._begin(number)
        self._task = True

    def ended(self, state: str, note: str | None, number: int, time: float | None) -> None:
        """The log says how the task ended."""
        self._task = False
        pending = self._ending is None or self._ending.state == "aborted"  # an abort that did not hold
        if pending and (self._since_end or self._lone):
            self._ending = End(self.thread.run, state, note, number, time=time, prompt=self.thread.prompt)

    def failed(self, fault: str, state: str, number: int, time: float | None) -> None:
        """A model call failed for good."""
        if self.thread.prompt == "" or (self._turn is not None and self._turn.failed and self._ending is not None):
            return
        turn = self._turn if self._ending is None else None
        if turn is None or self._sealed or self._answered or turn.usage is not None or turn.calls:
            turn = self._open(number, time)
            self._admit()
        turn.failed, turn.fault, turn.text = True, fault, turn.text or ""
        self._sealed = True
        self.ended(state, fault[:200], number, time)

    def compacted(self) -> None:
        """The context was summarised: a send that has no reply of its own was the one that did it."""
        if self._lone:
            self._turn, self._lone = None, False
        self._compacted = True

    def finish(self) -> None:
        """End of the input."""
        self._flush_end()
        self._close()
        self.ready += self._assembly.flush()

    def _begin(self, prompt: int) -> None:
        self._flush_end()
        self._close()
        if self.thread.prompt is not None:
            self.thread.prompt = prompt
        self._since_prompt = 0

    def _open(self, number: int, time: float | None) -> Turn:
        self._close()
        self._flush_end()
        thread = self.thread
        turn = Turn(thread.run, line=number, time=time, model=thread.model, prompt=thread.prompt)
        turn.session, turn.parent, turn.labels, turn.window = (
            thread.session, thread.parent, thread.labels, thread.window,
        )  # fmt: skip
        turn.compacted, self._compacted = self._compacted, False
        self._turn, self._lone = turn, True
        self._sealed = self._answered = self._counted_first = False
        return turn

    def _admit(self) -> None:
        if self._lone and self._turn is not None:
            self.ready += self._assembly.open(self._turn)
            self._lone = False
            self._since_prompt += 1
            self._since_end += 1

    def _close(self) -> None:
        self._admit()
        self._turn = None
        self._sealed = self._answered = self._counted_first = False

    def _flush_end(self) -> None:
        if self._ending is None:
            return
        ending, self._ending = self._ending, None
        self._close()
        self._since_end = 0
        self.ready += self._assembly.end(ending)


def _trim(kept: OrderedDict[str, tuple[bool, JSON]] | OrderedDict[str, tuple[Turn, Call]]) -> None:
    if len(kept) > _KEPT:
        kept.popitem(last=False)
