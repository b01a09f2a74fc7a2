"""AutoGen AgentChat: dumps of a TaskResult, streamed messages, and saved states of agents and teams.

A TaskResult is `{"messages": [...], "stop_reason": ...}`, one per line or file, often with a run id beside it; the
messages of `run_stream` may also stand one per line, closed by their TaskResult, which repeats them. One turn = a
message with `models_usage` (a ToolCallRequestEvent with its calls, or words of an agent); summaries of tool results,
thoughts and messages of users are none. One run = one TaskResult, whoever of the team speaks. In a state
(`save_state()`) each agent's model context is a run, without usage. The event log of `autogen_core` names no run and
is declined. https://microsoft.github.io/autogen/stable/reference/python/autogen_agentchat.messages.html
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from loopscan.decode import canonical, word
from loopscan.formats._assembly import Assembly
from loopscan.formats._endings import NOTE, state_of
from loopscan.formats._fields import count, identity, items, mapping, when
from loopscan.model import JSON, Call, End, Event, Turn, Usage

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from loopscan.blob import Blob, Head
    from loopscan.formats import Scan

TITLE = "AutoGen task results and saved states"
WHERE: tuple[str, ...] = ()
LACKS = "cached tokens, recorded dollars, the model's name; in states usage and times too"
COSMETIC_ARGS: Mapping[str, frozenset[str]] = {}

_WORDS: Final = frozenset(
    {
        "TextMessage",
        "MultiModalMessage",
        "StopMessage",
        "HandoffMessage",
        "ToolCallSummaryMessage",
        "CodeGenerationEvent",
        "SelectorEvent",
        "AssistantMessage",
    }
)
_ASKS: Final = frozenset({"ToolCallRequestEvent", "ToolCallMessage"})
_RESULTS: Final = frozenset({"ToolCallExecutionEvent", "ToolCallResultMessage", "FunctionExecutionResultMessage"})
_SILENT: Final = frozenset(
    {
        "UserInputRequestedEvent",
        "MemoryQueryEvent",
        "ModelClientStreamingChunkEvent",
        "SelectSpeakerEvent",
        "CodeExecutionEvent",
        "UserMessage",
        "SystemMessage",
    }
)
_EVENT_LOG: Final = frozenset({"ToolCall", "LLMCall", "LLMStreamStart", "LLMStreamEnd"})
_RUN_IDS: Final = ("run_id", "id", "task_id", "session_id")
_DEEP: Final = 8
_DECLINED: Final = "AutoGen event log: it names no run in its lines, dump the TaskResult or use OpenTelemetry instead"


def sniff(head: Head) -> bool:
    """Messages of AutoGen's types, an agent's or team's state, or the event log."""
    return any(_is_result(v) or _is_message(v) or _is_state(v) or _is_event_log(v) for v in head.values)


def _kind(value: JSON) -> str:
    """The type of a message; `StructuredMessage[Answer]` counts as words."""
    kind = word(mapping(value).get("type"))
    return "TextMessage" if kind.startswith("StructuredMessage") else kind


def _is_message(value: JSON) -> bool:
    kind = _kind(value)
    known = kind in _WORDS or kind in _ASKS or kind in _RESULTS or kind in _SILENT or kind == "ThoughtEvent"
    return known and "source" in mapping(value) and "content" in mapping(value)


def _is_result(value: JSON) -> bool:
    messages = items(value) or items(mapping(value).get("messages"))
    return any(_is_message(m) for m in messages[:5])


def _is_state(value: JSON) -> bool:
    fields = mapping(value)
    return ("llm_context" in fields and _kind(value) == "AssistantAgentState") or isinstance(
        fields.get("agent_states"), dict
    )


def _is_event_log(value: JSON) -> bool:
    return _kind(value) in _EVENT_LOG and "agent_id" in mapping(value)


def read(blob: Blob, scan: Scan) -> Iterator[Event]:
    """The turns and ends of the runs."""
    if any(_is_event_log(v) for v in blob.head.values):
        scan.skips.add(blob.name, None, _DECLINED)
        return
    stream: _Run | None = None
    for number, value in blob.values(scan.skips):
        if _is_state(value):
            yield from _state(value, blob.name, number, scan)
        elif _is_result(value):
            messages = items(value) or items(mapping(value).get("messages"))
            if stream is not None and not stream.repeated_in(messages):
                yield from stream.close(None, 0)
                stream = None
            if stream is None:
                run = _Run(_run_id(mapping(value), blob.name, number), number, scan, messages)
                for message in messages:
                    yield from run.message(mapping(message), number)
            else:
                run, stream = stream, None  # it repeats the messages that were streamed before it
            yield from run.close(mapping(value).get("stop_reason"), number)
        elif isinstance(value, dict) and "type" in value and "source" in value:
            stream = stream or _Run(blob.name, number, scan, [])
            yield from stream.message(value, number)
        else:
            scan.skips.add(blob.name, number, "no TaskResult: an object needs messages with type and source")
    if stream is not None:
        yield from stream.close(None, 0)


def _run_id(result: dict[str, JSON], name: str, number: int) -> str:
    return next((i for k in _RUN_IDS if (i := identity(result.get(k)))), name if number == 1 else f"{name}:{number}")


def _state(value: JSON, path: str, number: int, scan: Scan, depth: int = 0) -> Iterator[Event]:
    """The model contexts of the agents in a state, each a run named by the file and the agent."""
    fields = mapping(value)
    if "llm_context" in fields:
        messages = items(mapping(fields["llm_context"]).get("messages"))
        run = _Run(path, number, scan, messages)
        for message in messages:
            yield from run.message(mapping(message), number)
        yield from run.close(None, number)
    for name, agent in mapping(fields.get("agent_states")).items() if depth < _DEEP else ():
        inner, place = mapping(agent), f"{path}/{name.partition('/')[0]}"
        yield from _state(inner.get("agent_state", inner), place, number, scan, depth + 1)


class _Run:
    """One run while its messages are read."""

    def __init__(self, run: str, line: int, scan: Scan, messages: list[JSON]) -> None:
        self.run, self.line, self.scan = run, line, scan
        self.assembly = Assembly()
        self.counted = any(isinstance(mapping(m).get("models_usage"), dict) for m in messages)
        users = [m for m in messages if _kind(m) == "UserMessage" and mapping(m).get("source") == "user"]
        self.prompt: int | None = 0 if len(users) > 1 else None
        self.thought = 0
        self.ids: set[str] = set()

    def repeated_in(self, messages: list[JSON]) -> bool:
        """Whether a result holds the messages of this run again; where neither has ids, it does."""
        ids = {i for m in messages if (i := identity(mapping(m).get("id")))}
        return not ids.isdisjoint(self.ids) if ids or self.ids else True

    def message(self, message: dict[str, JSON], number: int) -> Iterator[Event]:
        kind, usage, content = _kind(message), message.get("models_usage"), message.get("content")
        message_id = identity(message.get("id"))
        self.ids |= {message_id} if message_id else set()
        if message_id is not None and self.scan.copy_of("autogen", message_id):
            return
        if kind in _RESULTS:
            for result in map(mapping, items(content)):
                call_id, failed = identity(result.get("call_id")), result.get("is_error") is True
                self.assembly.result(self.run, call_id, result.get("content"), failed)
        elif kind == "ThoughtEvent":
            self.thought += len(content) if isinstance(content, str) else 0
        elif kind == "UserMessage":
            if self.prompt is not None and message.get("source") == "user":
                self.prompt += 1
        elif kind in _ASKS or kind == "AssistantMessage" or isinstance(usage, dict) or self._speaks(kind, message):
            self.counted |= isinstance(usage, dict)
            yield from self.assembly.open(self._turn(message, number))
        elif kind not in _WORDS and kind not in _SILENT:
            self.scan.skips.unknown_type("autogen", kind)

    def _speaks(self, kind: str, message: dict[str, JSON]) -> bool:
        """Whether words without usage are a model's: only where the client counted nothing at all."""
        return not self.counted and kind == "TextMessage" and message.get("source") != "user"

    def _turn(self, message: dict[str, JSON], number: int) -> Turn:
        content, usage = message.get("content"), mapping(message.get("models_usage"))
        turn = Turn(self.run, line=number, time=when(message.get("created_at")), prompt=self.prompt)
        calls = [mapping(c) for c in items(content) if "arguments" in mapping(c)]
        for call in calls:
            turn.calls.append(Call(word(call.get("name")), call["arguments"], id=identity(call.get("id"))))
        if not calls:
            turn.text = _text(content)
        tokens = Usage(count(usage.get("prompt_tokens")), count(usage.get("completion_tokens")))
        turn.usage = None if tokens == Usage() or tokens == Usage(0, 0) else tokens
        thought = message.get("thought")
        turn.written = self.thought + len(turn.text or "") + sum(len(c.name) + len(word(c.args)) for c in turn.calls)
        turn.written += len(thought) if isinstance(thought, str) else 0
        self.thought = 0
        if isinstance(source := message.get("source"), str):
            turn.labels = {"agent": source}
        return turn

    def close(self, reason: JSON, number: int) -> Iterator[Event]:
        """The end of the run: stop conditions are goals but for those that name a cap."""
        if isinstance(reason, str) and reason:
            state = state_of(reason)
            end = End(self.run, "done" if state == "error" else state, reason[:NOTE], number, final=True)
            yield from self.assembly.end(end)
        yield from self.assembly.flush()


def _text(content: JSON) -> str | None:
    """Words of a message: text, the texts among images, or a structured answer as JSON."""
    if isinstance(content, list):
        return "\n".join(c for c in content if isinstance(c, str))
    if content is None or isinstance(content, str):
        return content
    return canonical(content).decode(errors="replace")


def clean_result(name: str, result: JSON) -> JSON:
    """Results have no wrapper."""
    return result
