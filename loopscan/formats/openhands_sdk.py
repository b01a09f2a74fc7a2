"""OpenHands SDK ("V1") conversations: `base_state.json` and `events/event-00000-<id>.json`, or one event per line.

Each event names its `kind`. One turn = the `ActionEvent`s of one `llm_response_id`, or one agent `MessageEvent`;
results (`ObservationEvent`, `AgentErrorEvent`, `UserRejectObservation`) join by `tool_call_id`. One run = one user
message of a conversation. Usage: `base_state.json` lists it by reply id; without it the running totals in `stats`
updates are differenced, and the last difference before a turn is the turn's. A folder is read at its first event
file, in order of the event numbers.
Events: https://github.com/OpenHands/software-agent-sdk, `openhands-sdk/openhands/sdk/event/`.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Final

from loopscan.blob import Blob, Head
from loopscan.decode import word
from loopscan.formats import Scan
from loopscan.formats import _openhands_folder as folders
from loopscan.formats._fields import identity, items, mapping, text_of_blocks, when
from loopscan.formats._harness import note, spoken
from loopscan.formats._openhands import failed, outcome, stop_state
from loopscan.formats._openhands_stats import Stats
from loopscan.formats._session import Session
from loopscan.model import JSON, Call, Event, Turn

TITLE = "OpenHands SDK conversations"
WHERE: tuple[str, ...] = ("~/.openhands/conversations", "workspace/conversations")
LACKS = "usage, where neither base_state.json nor stats updates are there"
COSMETIC_ARGS: Mapping[str, frozenset[str]] = {"*": frozenset({"summary", "security_risk"})}

_OTHER_KINDS: Final = frozenset({"Condensation", "CondensationRequest", "UserRejectObservation"})
_STATUSES: Final = {"finished": "done", "stuck": "no_progress", "paused": "aborted", "error": "error"}
_SILENT: Final = frozenset(
    "SystemPromptEvent TokenEvent StreamingDeltaEvent CondensationRequest CondensationSummaryEvent HookExecutionEvent "
    "LLMCompletionLogEvent SecurityAnalysisEvent".split()
)


def sniff(head: Head) -> bool:
    """Events with `kind` and `source`, alone, in a list or one per line; or the state of a conversation."""
    values: list[JSON] = []
    for value in head.values[:5]:
        values += value[:5] if isinstance(value, list) else [value]
    return any(map(_is_event, values)) or folders.is_state(head.first)


def _is_event(value: JSON) -> bool:
    event = mapping(value)
    kind = event.get("kind")
    return isinstance(kind, str) and "source" in event and (kind.endswith("Event") or kind in _OTHER_KINDS)


def read(blob: Blob, scan: Scan) -> Iterator[Event]:
    """The turns and ends of a conversation; nothing for a file that is read with its folder."""
    folder = folders.folder_of(blob)
    if folder is None:
        log = _Log(blob.name, Stats({}))
        values = blob.values(scan.skips)
    elif folder.first != folders.name_of(blob):
        return
    else:
        log = _Log(folder.conversation, Stats(folder.state))
        values = folder.events(scan.skips)
    for number, value in values:
        for event in value if isinstance(value, list) else [value]:
            if isinstance(event, dict):
                yield from log.event(event, number, scan)
            else:
                scan.skips.add(blob.name, number, "not an object: an event is a JSON object")
    if folder is not None:
        log.status(identity(folder.state.get("execution_status")), 0, None)
    yield from log.session.flush()


class _Log:
    """One conversation while it is read."""

    def __init__(self, run: str, stats: Stats) -> None:
        self.session = Session(run, prompts=False)
        self.stats = stats
        self.reply: str | None = None
        self.open_calls: set[str] = set()

    def event(self, event: dict[str, JSON], number: int, scan: Scan) -> list[Event]:
        kind, time = word(event.get("kind")), when(event.get("timestamp"))
        own = identity(event.get("id")) if kind in ("ActionEvent", "MessageEvent") else None
        if own is not None and scan.copy_of("openhands-sdk", own):  # clients get events again when they reconnect
            return []
        if kind == "ActionEvent":
            return self._action(event, number, time)
        if kind == "MessageEvent":
            return self._message(event, number, time)
        if kind == "ACPToolCallEvent":
            return self._acp(event, number, time)
        if kind in ("ObservationEvent", "AgentErrorEvent", "UserRejectObservation"):
            result, error = _result(event)
            self.session.result(identity(event.get("tool_call_id")), result, error)
        elif kind == "ConversationStateUpdateEvent":
            self._update(event, number, time)
        elif kind == "ConversationErrorEvent":
            words = note(event.get("code"), event.get("detail")) or "error"
            self.session.ends(stop_state(words), words, number, time)
        elif kind in ("PauseEvent", "InterruptEvent"):
            self.session.ends("aborted", kind, number, time)
        elif kind == "Condensation":
            self.session.compacted = True
        elif kind not in _SILENT:
            scan.skips.unknown_type("openhands-sdk", kind)
        return []

    def _open(self, event: dict[str, JSON], number: int, time: float | None) -> list[Event]:
        """Begin the turn of a model reply."""
        self.reply = identity(event.get("llm_response_id"))
        turn = Turn(self.session.run, line=number, time=time, written=0)
        self.stats.bill(turn, self.reply)
        return self.session.answer(turn)

    def _action(self, event: dict[str, JSON], number: int, time: float | None) -> list[Event]:
        reply, ready = identity(event.get("llm_response_id")), list[Event]()
        turn = self.session.latest
        if turn is None or reply is None or reply != self.reply:
            ready = self._open(event, number, time)
            turn = self.session.latest
        assert turn is not None
        asked = mapping(event.get("tool_call"))
        args = asked.get("arguments")
        if args is None:
            args = {k: v for k, v in mapping(event.get("action")).items() if k != "kind"}
        call = Call(word(event.get("tool_name") or asked.get("name")), args, id=identity(event.get("tool_call_id")))
        turn.calls.append(call)
        self.session.expect(call)
        thought = text_of_blocks(event.get("thought"))
        turn.text = turn.text or thought
        turn.written = (turn.written or 0) + spoken([call], thought, event.get("reasoning_content"))
        if call.name == "finish":
            self.session.ends("done", "finish", number, time)
        return ready

    def _message(self, event: dict[str, JSON], number: int, time: float | None) -> list[Event]:
        message = mapping(event.get("llm_message"))
        if event.get("source") == "user":
            prompt = identity(event.get("id")) or f"line {number}"
            if self.session.prompt is None:
                self.session.prompt = ""
            return self.session.ask(prompt)
        if event.get("source") != "agent":
            return []
        ready = self._open(event, number, time)
        if (turn := self.session.latest) is not None:
            turn.text = text_of_blocks(message.get("content"))
            turn.written = spoken([], turn.text, message.get("reasoning_content"))
        return ready

    def _acp(self, event: dict[str, JSON], number: int, time: float | None) -> list[Event]:
        """A call made by another agent behind the protocol: started once, then reported until it ends."""
        call_id, ready = identity(event.get("tool_call_id")), list[Event]()
        if call_id is None or call_id not in self.open_calls:
            ready = self._open(event, number, time)
            if (turn := self.session.latest) is not None:
                call = Call(word(event.get("tool_kind") or event.get("title")), event.get("raw_input"), id=call_id)
                turn.calls.append(call)
                self.session.expect(call)
        if event.get("status") in ("completed", "failed"):
            self.open_calls.discard(call_id or "")
            output = event.get("raw_output")
            output = event.get("content") if output is None else output
            self.session.result(call_id, output, event.get("is_error") is True)
        elif call_id is not None:
            self.open_calls.add(call_id)
        return ready

    def _update(self, event: dict[str, JSON], number: int, time: float | None) -> None:
        key, value = event.get("key"), event.get("value")
        if key == "stats":
            self.stats.update(mapping(value))
        elif key == "execution_status":
            self.status(identity(value), number, time)
        elif key == "full_state":
            self.stats.update(mapping(mapping(value).get("stats")))
            self.status(identity(mapping(value).get("execution_status")), number, time)

    def status(self, status: str | None, number: int, time: float | None) -> None:
        """The conversation's status: an end, unless a more telling one is known."""
        state = _STATUSES.get(status or "")
        if state is not None and not (state == "error" and self.session.ended) and self.session.ended != state:
            self.session.ends(state, word(status), number, time)


def _result(event: dict[str, JSON]) -> tuple[JSON, bool]:
    """What a call came back with, and whether it failed."""
    if event.get("kind") == "AgentErrorEvent":
        return event.get("error"), True
    if event.get("kind") == "UserRejectObservation":
        return f"rejected: {event.get('rejection_reason')}", True
    observation = mapping(event.get("observation"))
    content = observation.get("content", observation.get("output"))
    if content is None:
        content = {k: v for k, v in observation.items() if k != "kind"}
    blocks = items(content)
    if blocks and all(isinstance(mapping(b).get("text"), str) for b in blocks):
        content = text_of_blocks(blocks)
    code = observation.get("exit_code")
    return outcome(content, code), observation.get("is_error") is True or failed(code)


def clean_result(name: str, result: JSON) -> JSON:
    """Results hold what the tool printed; nothing round it."""
    return result
