"""One Copilot CLI session while it is read: the session's own run and those of its sub-agents."""

from __future__ import annotations

from collections import OrderedDict
from dataclasses import dataclass, field
from pathlib import PurePath
from typing import Final

from loopscan.blob import Blob
from loopscan.decode import canonical, word
from loopscan.formats import Scan
from loopscan.formats._assembly import Assembly
from loopscan.formats._copilot_events import is_noise, outcome_of, usage_of
from loopscan.formats._fields import count, identity, items, mapping, text_or_none, when
from loopscan.model import JSON, Call, End, Event, Turn, Usage

_KEPT: Final = 64


@dataclass(slots=True)
class _Chain:
    """One run of the file while it is read: its prompt, what it is told, and an end that may still be taken back."""

    run: str
    parent: str | None = None
    prompt: str | None = None
    compacted: bool = False
    turns: int = 0
    ending: End | None = None
    sends: OrderedDict[str, Turn] = field(default_factory=OrderedDict)


class Log:
    """One session file while it is read; `ready` holds what can be passed on."""

    def __init__(self, blob: Blob, scan: Scan) -> None:
        path = PurePath(blob.name)
        self.scan = scan
        self.ready: list[Event] = []
        self.session = path.parent.name if path.stem == "events" and path.parent.name else path.stem
        self.model: str | None = None
        self.window: int | None = None
        self.assembly = Assembly()
        self.chains: dict[str, _Chain] = {}
        self.agents: dict[str, str] = {}
        self.usage: OrderedDict[str, tuple[Usage, int | None]] = OrderedDict()

    def event(self, event: dict[str, JSON], data: dict[str, JSON], number: int) -> None:
        """Take an event."""
        kind = word(event.get("type"))
        handle = _HANDLERS.get(kind)
        if handle is not None:
            handle(self, event, data, number)
        elif not is_noise(kind):
            self.scan.skips.unknown_type("copilot-cli", kind)

    def _chain(self, event: dict[str, JSON], data: dict[str, JSON]) -> _Chain:
        """The run of an event: the session, or the sub-agent that it names."""
        agent, task = identity(event.get("agentId")), identity(data.get("parentToolCallId"))
        if task is not None:
            agent = self.agents.setdefault(task, agent or task)
        run = self.session if agent is None else f"sub:{agent}"
        chain = self.chains.get(run)
        if chain is None:
            main = agent is None
            chain = self.chains[run] = _Chain(run, None if main else self.session, "" if main else None)
        return chain

    def _start(self, event: dict[str, JSON], data: dict[str, JSON], _number: int) -> None:
        self._settle()
        self.session = identity(data.get("sessionId")) or self.session
        self.model = identity(data.get("selectedModel")) or self.model

    def _model_change(self, event: dict[str, JSON], data: dict[str, JSON], _number: int) -> None:
        self.model = identity(data.get("newModel")) or self.model

    def _prompt(self, event: dict[str, JSON], data: dict[str, JSON], number: int) -> None:
        chain, source = self._chain(event, data), data.get("source") or "user"
        if chain.prompt is None or data.get("isAutopilotContinuation") is True:
            return
        if not isinstance(source, str) or not (source == "user" or source.startswith("schedule")):
            return
        if (text_or_none(data.get("content")) or "").lstrip().startswith("<system_notification>"):
            return
        if data.get("delivery") == "steering" and chain.turns:
            return
        self._settle(chain)
        chain.prompt, chain.turns = f"{number}", 0

    def _message(self, event: dict[str, JSON], data: dict[str, JSON], number: int) -> None:
        chain, send = self._chain(event, data), identity(data.get("apiCallId"))
        requests, text = items(data.get("toolRequests")), text_or_none(data.get("content")) or ""
        thought = text_or_none(data.get("reasoningText")) or ""
        turn = self._held(chain, send)
        if turn is None:
            if not (requests or text or thought or data.get("outputTokens")):
                return  # a placeholder of a stream
            names = (event.get("id"), event.get("timestamp"), send, data.get("turnId"))
            if self.scan.copy_of("copilot-cli", chain.run, *map(str, names)):
                return
            turn = self._open(chain, number, when(event.get("timestamp")))
            turn.model = identity(data.get("model")) or self.model
            if send is not None:
                chain.sends[send] = turn
                _trim(chain.sends)
                turn.usage, window = self.usage.pop(send, (None, None))
                turn.window = window or turn.window
        turn.text = f"{turn.text}\n{text}" if turn.text and text else turn.text or text
        turn.written = (turn.written or 0) + len(text) + len(thought)
        for request in requests:
            self._call(turn, mapping(request))

    def _held(self, chain: _Chain, send: str | None) -> Turn | None:
        """The turn of a send, unless it was passed on: then it stays as it is."""
        turn = chain.sends.get(send or "")
        return turn if turn is not None and self.assembly.holds(turn) else None

    def _open(self, chain: _Chain, number: int, time: float | None) -> Turn:
        chain.ending = None
        turn = Turn(chain.run, line=number, time=time, prompt=chain.prompt, session=self.session)
        turn.parent, turn.window, turn.model = chain.parent, self.window, self.model
        turn.compacted, chain.compacted = chain.compacted, False
        chain.turns += 1
        self.ready += self.assembly.open(turn)
        return turn

    def _call(self, turn: Turn, request: dict[str, JSON]) -> None:
        call = Call(text_or_none(request.get("name")) or "tool", request.get("arguments"))
        call.id = identity(request.get("toolCallId"))
        if call.id is not None and any(c.id == call.id for c in turn.calls):
            return
        turn.calls.append(call)
        self.assembly.expect(turn.run, call)
        size = len(call.args) if isinstance(call.args, str) else len(canonical(call.args))
        turn.written = (turn.written or 0) + len(call.name) + size

    def _result(self, event: dict[str, JSON], data: dict[str, JSON], _number: int) -> None:
        value, bad = outcome_of(data)
        run = self._chain(event, data).run
        self.assembly.result(run, identity(data.get("toolCallId")), value, bad)

    def _usage(self, event: dict[str, JSON], data: dict[str, JSON], _number: int) -> None:
        record = mapping(data.get("usage")) or data
        send = identity(record.get("apiCallId")) or identity(data.get("apiCallId"))
        usage = usage_of(record)
        if send is None or usage.input is None:
            return
        window = count(record.get("maxPromptTokens")) or None
        turn = next((t for c in self.chains.values() if (t := self._held(c, send))), None)
        if turn is None:
            self.usage[send] = usage, window
            _trim(self.usage)
            return
        turn.usage, turn.window = usage, window or turn.window
        turn.model = identity(record.get("model")) or turn.model

    def _error(self, event: dict[str, JSON], data: dict[str, JSON], number: int) -> None:
        chain = self._chain(event, data)
        if chain.prompt == "":
            return  # before the first prompt no run is at work
        kind, message = text_or_none(data.get("errorType")), text_or_none(data.get("message"))
        fault = ": ".join(p for p in (kind, message) if p) or "session.error"
        turn = self._open(chain, number, when(event.get("timestamp")))
        turn.failed, turn.fault = True, fault
        state = "context_full" if kind == "context_limit" else "error"
        chain.ending = End(chain.run, state, fault[:200], number, time=turn.time, prompt=chain.prompt)

    def _stop(self, event: dict[str, JSON], data: dict[str, JSON], number: int) -> None:
        kind, chain = event.get("type"), self._chain(event, data)
        if kind == "abort":
            state, note = "aborted", text_or_none(data.get("reason")) or "abort"
        elif kind == "session.task_complete":
            if data.get("success") is False or data.get("outcome") not in (None, "completed"):
                return
            state, note = "done", "task_complete"
        else:
            self._settle()
            if data.get("shutdownType") != "error" or not chain.turns:
                return
            state, note = "error", "shutdown: error"
        chain.ending = End(chain.run, state, note, number, time=when(event.get("timestamp")), prompt=chain.prompt)
        self._settle(chain)

    def _shrunk(self, event: dict[str, JSON], data: dict[str, JSON], _number: int) -> None:
        self.window = count(data.get("tokenLimit")) or self.window
        if data.get("success") is True or data.get("tokensRemovedDuringTruncation"):
            self._chain(event, data).compacted = True

    def _settle(self, only: _Chain | None = None) -> None:
        """Pass on the ends that nothing took back."""
        for chain in [only] if only is not None else list(self.chains.values()):
            if chain.ending is not None:
                self.ready += self.assembly.end(chain.ending)
                chain.ending, chain.turns = None, 0

    def finish(self) -> None:
        """End of the input."""
        self._settle()
        self.ready += self.assembly.flush()


_HANDLERS: Final = {
    "session.start": Log._start,
    "session.resume": Log._start,
    "session.model_change": Log._model_change,
    "user.message": Log._prompt,
    "assistant.message": Log._message,
    "tool.execution_complete": Log._result,
    "session.usage_record": Log._usage,
    "assistant.usage": Log._usage,
    "session.error": Log._error,
    "abort": Log._stop,
    "session.task_complete": Log._stop,
    "session.shutdown": Log._stop,
    "session.compaction_start": Log._shrunk,
    "session.compaction_complete": Log._shrunk,
    "session.truncation": Log._shrunk,
}


def _trim(kept: OrderedDict[str, Turn] | OrderedDict[str, tuple[Usage, int | None]]) -> None:
    if len(kept) > _KEPT:
        kept.popitem(last=False)
