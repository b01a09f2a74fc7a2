"""Qwen Code sessions, `~/.qwen/projects/<project>/chats/<session>.jsonl` (and `subagents/**/agent-*.jsonl`).

One line = one record of a message, a tool result or a system event. One turn = one `assistant` record; results
join by call id. One run = one user prompt of a session (`session#k`); a sub-agent (`agentId`) is one run with a
parent. Records that a branched session copied (`forkedFrom`) are no turns. Usage = `usageMetadata`, whose prompt
count includes the cached part; `ui_telemetry` repeats it and is read for failed model calls only. Format:
https://github.com/QwenLM/qwen-code/blob/main/packages/core/src/services/chatRecordingService.ts
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Final

from loopscan.blob import Blob, Head
from loopscan.decode import word
from loopscan.formats import Scan
from loopscan.formats import _genai_parts as genai
from loopscan.formats._endings import state_of
from loopscan.formats._fields import count, identity, mapping, text_or_none, when
from loopscan.formats._session import Session, run_of_file
from loopscan.model import JSON, MISSING, Event, Turn

TITLE = "Qwen Code sessions"
WHERE: tuple[str, ...] = ("$QWEN_HOME/projects", "~/.qwen/projects")
LACKS = "recorded dollars"
COSMETIC_ARGS: Mapping[str, frozenset[str]] = {
    "run_shell_command": frozenset({"description", "timeout"}),
    "task": frozenset({"description"}),
    "agent": frozenset({"description"}),
}

_TYPES: Final = ("user", "assistant", "tool_result", "system")
_STARTS: Final = (None, "cron")
"""Subtypes of user records that start a run; others add to the open one."""
_INJECTED: Final = ("<qwen:", "<session_context>", "<system-reminder>", "<task-notification>")
_STATES: Final = {"completed": "done", "cancelled": "aborted"}
_STOPS: Final = {"max_turn_requests": "turn_cap", "max_tokens": "cut"}


def sniff(head: Head) -> bool:
    """Records with a uuid whose messages are made of parts, or with the fields that only Qwen Code writes."""
    return not head.document and any(_is_record(v) for v in head.objects)


def _is_record(value: dict[str, JSON]) -> bool:
    if value.get("type") not in _TYPES or "uuid" not in value or "sessionId" not in value:
        return False
    return (
        isinstance(mapping(value.get("message")).get("parts"), list)
        or "systemPayload" in value
        or "toolCallResult" in value
    )


def read(blob: Blob, scan: Scan) -> Iterator[Event]:
    """The turns and ends of a session."""
    log = _Log(blob.name, scan)
    for number, record in blob.values(scan.skips):
        if isinstance(record, dict):
            yield from log.record(record, number)
        else:
            scan.skips.add(blob.name, number, "not an object: a session record is a JSON object")
    for run in log.runs.values():
        yield from run.settle()
        yield from run.flush()


class _Run(Session):
    """A run's session and the failed model call that nothing has followed yet.

    `owed`: the model is to answer next. Only then does a failed call belong to the run and not to a side query.
    """

    owed = False
    failed: Turn | None = None

    def settle(self) -> list[Event]:
        """A failed call that was not retried is a turn."""
        turn, self.failed = self.failed, None
        if turn is None:
            return []
        ready = self.answer(turn)
        self.ends(state_of(word(turn.fault)), word(turn.fault), turn.line, turn.time)
        return ready


class _Log:
    """One session file while it is read."""

    def __init__(self, name: str, scan: Scan) -> None:
        self.name, self.scan = name, scan
        self.runs: dict[str, _Run] = {}

    def record(self, record: dict[str, JSON], number: int) -> list[Event]:
        kind = record.get("type")
        if record.get("forkedFrom") and not self.scan.exact:
            self.scan.skips.copies += kind == "assistant"
            return []
        run = self._run(record)
        if kind == "assistant":
            return self._assistant(run, record, number)
        if kind == "tool_result":
            self._results(run, record, number)
        elif kind == "user":
            return self._user(run, record, number)
        elif kind == "system":
            self._system(run, record, number)
        else:
            self.scan.skips.unknown_type("qwen", kind)
        return []

    def _run(self, record: dict[str, JSON]) -> _Run:
        session, agent = identity(record.get("sessionId")) or run_of_file(self.name), identity(record.get("agentId"))
        key = session if agent is None else f"{session}/{agent}"
        if key not in self.runs:
            self.runs[key] = _Run(key, None if agent is None else session, prompts=agent is None)
        return self.runs[key]

    def _user(self, run: _Run, record: dict[str, JSON], number: int) -> list[Event]:
        content = mapping(record.get("message")).get("parts")
        self._join(run, content)
        run.owed = True
        if record.get("subtype") in _STARTS and genai.says(content, _INJECTED):
            return [*run.settle(), *run.ask(identity(record.get("uuid")) or number)]
        return []

    def _results(self, run: _Run, record: dict[str, JSON], number: int) -> None:
        rich = mapping(record.get("toolCallResult"))
        bad = rich.get("status") in ("error", "cancelled")
        joined = self._join(run, mapping(record.get("message")).get("parts"), bad)
        call_id, display = identity(rich.get("callId")), rich.get("resultDisplay")
        if not joined and call_id and isinstance(display, str):
            run.result(call_id, display, bad)
        run.owed = True
        if rich.get("status") == "cancelled":
            run.ends("aborted", "toolCallResult status: cancelled", number, when(record.get("timestamp")))

    def _join(self, run: _Run, content: JSON, bad: bool = False) -> bool:
        results = genai.results_of(content)
        for call_id, result, error in results:
            run.result(call_id, result, error or bad)
        return bool(results)

    def _assistant(self, run: _Run, record: dict[str, JSON], number: int) -> list[Event]:
        uuid, stamp = identity(record.get("uuid")), when(record.get("timestamp"))
        if uuid is not None and self.scan.copy_of("qwen", uuid, stamp):
            return []
        content = mapping(record.get("message")).get("parts")
        usage = mapping(record.get("usageMetadata"))
        names = ("promptTokenCount", "candidatesTokenCount", "thoughtsTokenCount", "cachedContentTokenCount")
        counts = (*(usage.get(n) for n in names), None, usage.get("totalTokenCount"))
        turn = Turn(run.run, genai.calls_of(content), line=number, time=stamp, usage=genai.usage_of(*counts))
        turn.model, turn.window = text_or_none(record.get("model")), count(record.get("contextWindowSize")) or None
        text = genai.text_of(content)
        turn.text = text or ("" if turn.calls else None)
        turn.written = genai.written(text, genai.text_of(content, True), turn.calls)
        run.owed, run.failed = bool(turn.calls), None
        return run.answer(turn)

    def _system(self, run: _Run, record: dict[str, JSON], number: int) -> None:
        subtype, payload = record.get("subtype"), mapping(record.get("systemPayload"))
        if subtype == "chat_compression":
            run.compacted = True
        elif subtype == "turn_result":
            self._turn_result(run, payload, number, when(payload.get("endedAt")) or when(record.get("timestamp")))
        elif subtype == "ui_telemetry" and run.owed:
            event = mapping(payload.get("uiEvent"))
            fault = event.get("error_message", event.get("error", MISSING))
            # side queries (titles, suggestions) have prompt ids of another form
            if word(event.get("event.name")).endswith("api_error") and "########" in word(event.get("prompt_id")):
                stamp, model = when(record.get("timestamp")), text_or_none(event.get("model"))
                run.failed = Turn(run.run, failed=True, fault=fault, line=number, time=stamp, model=model)

    def _turn_result(self, run: _Run, payload: dict[str, JSON], number: int, time: float | None) -> None:
        state, stop = word(payload.get("state")), word(payload.get("stopReason"))
        fault = text_or_none(mapping(payload.get("error")).get("message"))
        ours = _STOPS.get(stop) or _STATES.get(state) or state_of(fault or stop)
        if run.failed is None:
            run.ends(ours, f"turn_result {state}: {fault or stop}", number, time)


def clean_result(name: str, result: JSON) -> JSON:
    """Shell results without process ids."""
    return genai.without_process_ids(result)
