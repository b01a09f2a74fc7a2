"""Kimi Code wire logs, `~/.kimi-code/sessions/wd_*/<session>/agents/<agent>/wire.jsonl`.

One line = one operation. One turn = one step of the loop (`step.begin` to `step.end`), also if no reply was
recorded; a step that the client retried is none. Results join by `toolCallId`. One run = one user prompt
(`turn.prompt`) of a session (`session#k`); an agent other than `main` is one run whose parent is the session.
Usage = that of `step.end` (three disjoint input classes); `usage.record` repeats it, and its records of scope
`session` (compactions) belong to no turn. Format:
https://github.com/MoonshotAI/kimi-code/tree/main/packages/agent-core-v2/src/agent/loop
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from pathlib import PurePath
from typing import Final

from loopscan.blob import Blob, Head
from loopscan.decode import canonical, word
from loopscan.formats import Scan
from loopscan.formats._endings import fault_text, state_of
from loopscan.formats._fields import count, identity, mapping, result_of_blocks, text_or_none, when
from loopscan.formats._session import Session
from loopscan.model import JSON, Call, Event, Turn, Usage

TITLE = "Kimi Code wire logs"
WHERE: tuple[str, ...] = ("$KIMI_CODE_HOME/sessions", "~/.kimi-code/sessions")
LACKS = "recorded dollars"
COSMETIC_ARGS: Mapping[str, frozenset[str]] = {
    "Bash": frozenset({"description", "timeout"}),
    "Agent": frozenset({"description"}),
}

_BY_USER: Final = ("user", "cron_job")
_SLASH: Final = ("skill_activation", "plugin_command")
_COMPACTIONS: Final = ("context.apply_compaction", "micro_compaction.apply", "context.clear")
_FAMILIES: Final = frozenset(
    "metadata config profile tools llm mcp permission plan plan_mode plugin context turn usage full_compaction "
    "micro_compaction goal forked cron task interaction interruptionReminder prompt runtime swarm_mode tower_mode "
    "token_counting file_history staleGuard".split()
)
_REASONS: Final = {"completed": "done", "cancelled": "aborted", "aborted": "aborted", "max_steps": "turn_cap"}
_ENDS: Final = ("turn.cancel", "turn.step.interrupted", "turn.ended")
_FINISHED: Final = {"end_turn": "done", "max_tokens": "cut", "filtered": "error"}
_IDS: Final = re.compile(r"^(agent_id|task_id|pid): \S+$", re.MULTILINE)
_SAVED: Final = re.compile(r"tool-results/\S+")


def sniff(head: Head) -> bool:
    """The header of a wire log, or its operations."""
    return not head.document and any(_is_operation(v) for v in head.objects)


def _is_operation(value: dict[str, JSON]) -> bool:
    kind = value.get("type")
    if kind == "metadata":
        return "protocol_version" in value
    if kind == "context.append_loop_event":
        return isinstance(value.get("event"), dict)
    return kind == "turn.prompt" and isinstance(value.get("input"), list)


def read(blob: Blob, scan: Scan) -> Iterator[Event]:
    """The turns and ends of a wire log."""
    log = _Log(blob.name, scan)
    for number, record in blob.values(scan.skips):
        if isinstance(record, dict):
            yield from log.record(record, number)
        else:
            scan.skips.add(blob.name, number, "not an object: an operation is a JSON object")
    yield from log.begun()
    yield from log.session.flush()


class _Log:
    """One wire log while it is read.

    `step`: a step that began but shows nothing yet (it is no turn if it is retried); `turn`: the step whose parts
    are being read; `copy`: takes the parts of steps that were read before; `prompted`: whether the log uses
    `turn.prompt`.
    """

    def __init__(self, name: str, scan: Scan) -> None:
        self.scan = scan
        run, parent = _run(name)
        self.session = Session(run, parent, prompts=parent is None)
        self.model: str | None = None
        self.step: Turn | None = None
        self.turn: Turn | None = None
        self.copy = Turn(run)
        self.prompted = False

    def record(self, record: dict[str, JSON], number: int) -> list[Event]:
        kind, time = record.get("type"), when(record.get("time"))
        if self.turn is not None and self.turn is not self.copy and not self.session.holds(self.turn):
            self.turn = None
        if kind == "context.append_loop_event":
            return self._event(mapping(record.get("event")), number, time)
        if kind == "turn.prompt":
            self.prompted = True
            return self._ask(mapping(record.get("origin")), number)
        if kind == "context.append_message" and not self.prompted:
            message = mapping(record.get("message"))
            origin = mapping(message.get("origin"))
            return self._ask(origin, number) if message.get("role") == "user" else []
        if kind == "llm.request":
            self._request(record)
        elif kind == "usage.record":
            if self.turn is not None and self.turn.usage is None and record.get("usageScope") == "turn":
                self.turn.usage = _usage(mapping(record.get("usage")))
        elif kind in _COMPACTIONS:
            self.session.compacted = True
        elif isinstance(kind, str) and kind.startswith("turn."):
            return self._close(kind, record, number, time)
        elif not isinstance(kind, str) or kind.partition(".")[0] not in _FAMILIES:
            self.scan.skips.unknown_type("kimi", kind)
        return []

    def _ask(self, origin: dict[str, JSON], number: int) -> list[Event]:
        kind = origin.get("kind")
        if kind in _BY_USER or (kind in _SLASH and origin.get("trigger") == "user-slash"):
            return [*self.begun(unanswered=True), *self.session.ask(number)]
        return []

    def begun(self, unanswered: bool = False) -> list[Event]:
        """The step that began is a turn; `unanswered`: what comes next shows that no reply arrived."""
        step, self.step = self.step, None
        if step is None:
            return []
        self.turn, step.failed = step, unanswered
        return self.session.answer(step)

    def _request(self, record: dict[str, JSON]) -> None:
        if record.get("kind") == "loop":
            self.model = text_or_none(record.get("model"))
            if (turn := self.step or self.turn) is not None and turn.model is None:
                turn.model = self.model

    def _event(self, event: dict[str, JSON], number: int, time: float | None) -> list[Event]:
        kind = event.get("type")
        if kind == "step.begin":
            ready = self.begun(unanswered=True)
            uuid = identity(event.get("uuid"))
            if uuid is not None and self.scan.copy_of("kimi", uuid, time):
                self.turn = self.copy
                return ready
            self.step = Turn(self.session.run, text=None, line=number, time=time, written=0)
            return ready
        if kind == "tool.result":
            self._result(event)
            return []
        ready = self.begun()
        if self.turn is None:
            self.scan.skips.unknown_type("kimi", f"{kind} outside a step")
        elif kind == "content.part":
            _add_part(self.turn, mapping(event.get("part")))
        elif kind == "tool.call":
            self._call(self.turn, event)
        elif kind == "step.end":
            self._step_end(self.turn, event, number, time)
        else:
            self.scan.skips.unknown_type("kimi", kind)
        return ready

    def _call(self, turn: Turn, event: dict[str, JSON]) -> None:
        call_id = identity(event.get("toolCallId")) or identity(event.get("uuid"))
        call = Call(word(event.get("name")), event.get("args"), id=call_id)
        turn.calls.append(call)
        turn.text = turn.text or ""
        turn.written = (turn.written or 0) + len(call.name) + len(canonical(call.args))
        if turn is self.session.latest:
            self.session.expect(call)

    def _result(self, event: dict[str, JSON]) -> None:
        result = event.get("result")
        call_id = identity(event.get("toolCallId")) or identity(event.get("parentUuid"))
        if isinstance(result, dict) and "output" in result:
            self.session.result(call_id, result_of_blocks(result["output"]), result.get("isError") is True)
        else:
            self.session.result(call_id, result)

    def _step_end(self, turn: Turn, event: dict[str, JSON], number: int, time: float | None) -> None:
        turn.usage = _usage(mapping(event.get("usage"))) or turn.usage
        finish = event.get("finishReason")
        if isinstance(finish, str) and finish in _FINISHED and not turn.calls and turn is self.session.latest:
            self.session.ends(_FINISHED[finish], f"finishReason {finish}", number, time)

    def _close(self, kind: str, record: dict[str, JSON], number: int, time: float | None) -> list[Event]:
        """`turn.*`: how the work on a prompt was stopped or ended."""
        if kind == "turn.step.retrying":
            self.step = None
            return []
        ready = self.begun(unanswered=kind in _ENDS)
        reason, fault = word(record.get("reason")), fault_text(record.get("error")) or fault_text(record.get("message"))
        if kind == "turn.cancel" and record.get("target") != "queued":
            self.session.ends("aborted", "turn.cancel", number, time)
        elif kind == "turn.step.interrupted" or (kind == "turn.ended" and self.session.ended in (None, "done")):
            if fault is not None and self.turn is not None and not self.turn.calls:
                self.turn.failed, self.turn.fault = True, fault
            words = fault or reason
            self.session.ends(_REASONS.get(reason) or state_of(words), f"{kind} {words}", number, time)
        return ready


def _run(name: str) -> tuple[str, str | None]:
    """Run and parent from `<session>/agents/<agent>/wire.jsonl`; the name itself where the folders say nothing."""
    parts = PurePath(name).parts
    if len(parts) < 4 or parts[-3] != "agents":
        return name, None
    session, agent = parts[-4], parts[-2]
    return (session, None) if agent == "main" else (f"{session}/{agent}", session)


def _add_part(turn: Turn, part: dict[str, JSON]) -> None:
    text, thought = part.get("text"), part.get("think")
    if isinstance(text, str) and part.get("type") == "text":
        turn.text = f"{turn.text}\n{text}" if turn.text else text
    written = text if isinstance(text, str) else thought
    turn.written = (turn.written or 0) + (len(written) if isinstance(written, str) else 0)


def _usage(usage: dict[str, JSON]) -> Usage | None:
    names = ("inputOther", "inputCacheRead", "inputCacheCreation", "output")
    fresh, read_, write, output = (count(usage.get(n)) for n in names)
    if fresh is None and output is None:
        return None
    return Usage((fresh or 0) + (read_ or 0) + (write or 0), output, read_, write)


def clean_result(name: str, result: JSON) -> JSON:
    """Without the ids that a started agent or task gets anew, and without the file a long output was saved to."""
    if not isinstance(result, str):
        return result
    return (
        _SAVED.sub("tool-results/", _IDS.sub(r"\1:", result))
        if "_id: " in result or "tool-results/" in result
        else result
    )
