"""Google ADK sessions, one object per session: `Session.model_dump_json()`, camelCase or snake_case.

One turn = one event with content of the model (or its usage); parallel calls stand in one event, their results in
the next, joined by id. One run = one session; where a session answered several invocations each of them is a
prompt's run, and events of a `branch` (agents at work side by side) are a run of their own. Usage =
`usageMetadata`: prompt tokens hold the cached ones, thoughts count as output. A run that ended badly closes with
an event of an `errorCode`. A result is kept as the whole function response, whose id is the call's: unwrapped
before it is compared. https://google.github.io/adk-docs/sessions/session/
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

TITLE = "Google ADK sessions"
WHERE: tuple[str, ...] = ()
LACKS = "recorded dollars, cache writes"
COSMETIC_ARGS: Mapping[str, frozenset[str]] = {}

_CAMEL: Final = {
    "app_name": "appName",
    "invocation_id": "invocationId",
    "usage_metadata": "usageMetadata",
    "error_code": "errorCode",
    "error_message": "errorMessage",
    "model_version": "modelVersion",
    "function_call": "functionCall",
    "function_response": "functionResponse",
    "prompt_token_count": "promptTokenCount",
    "tool_use_prompt_token_count": "toolUsePromptTokenCount",
    "cached_content_token_count": "cachedContentTokenCount",
    "candidates_token_count": "candidatesTokenCount",
    "thoughts_token_count": "thoughtsTokenCount",
}
"""Our names are the snake_case ones; a dump by alias has the others."""


def _get(value: JSON, name: str) -> JSON:
    """A field of an object under either of its names."""
    fields = mapping(value)
    found = fields.get(name)
    return fields.get(_CAMEL.get(name, name)) if found is None else found


def sniff(head: Head) -> bool:
    """A session: an app's name and a list of events."""
    return any(_is_session(s) for v in head.values for s in (v if isinstance(v, list) else [v]))


def _is_session(value: JSON) -> bool:
    return isinstance(_get(value, "app_name"), str) and isinstance(_get(value, "events"), list)


def read(blob: Blob, scan: Scan) -> Iterator[Event]:
    """The turns and ends of the sessions."""
    for number, value in blob.values(scan.skips):
        for session in value if isinstance(value, list) else [value]:
            if not _is_session(session):
                scan.skips.add(blob.name, number, "no session: an object needs appName and events")
                continue
            yield from _Session(session, number, blob.name, scan).events()


class _Session:
    """One session while it is read."""

    def __init__(self, session: dict[str, JSON], number: int, name: str, scan: Scan) -> None:
        self.id = identity(session.get("id")) or f"{name}:{number}"
        self.line, self.scan = number, scan
        self.labels = {"app": word(_get(session, "app_name"))}
        self.log = [e for e in items(session.get("events")) if isinstance(e, dict) and e.get("partial") is not True]
        asked = {identity(_get(e, "invocation_id")) for e in self.log if _is_turn(e) or _failed(e)}
        self.prompts = len(asked) > 1
        self.assembly = Assembly()
        self.ends: dict[str, End] = {}
        self.compacted = False

    def events(self) -> Iterator[Event]:
        """The turns in order; an error ends a run only if no turn of the same invocation follows it."""
        for event in self.log:
            event_id = identity(event.get("id"))
            if event_id is not None and self.scan.copy_of("adk-sessions", self.id, event_id):
                continue
            self.compacted |= bool(mapping(event.get("actions")).get("compaction"))
            for part in items(mapping(event.get("content")).get("parts")):
                self._result(event, _get(part, "function_response"))
            if _is_turn(event):
                yield from self._turn(event)
            elif _failed(event):
                yield from self._end(event, identity(_get(event, "invocation_id")))
        for run in list(self.ends):
            yield from self.assembly.end(self.ends[run])
        yield from self.assembly.flush()

    def _run(self, event: dict[str, JSON]) -> str:
        branch = identity(event.get("branch"))
        return self.id if branch is None else f"{self.id}/{branch}"

    def _result(self, event: dict[str, JSON], response: JSON) -> None:
        if isinstance(response, dict):
            inner = mapping(response.get("response"))
            failed = inner.get("status") == "error" or bool(inner.get("error"))
            self.assembly.result(self._run(event), identity(response.get("id")), response, failed)

    def _turn(self, event: dict[str, JSON]) -> Iterator[Event]:
        run, invocation = self._run(event), identity(_get(event, "invocation_id"))
        end = self.ends.pop(run, None)
        if end is not None and end.prompt != (invocation if self.prompts else None):
            yield from self.assembly.end(end)
        turn = Turn(run, line=self.line, text=None, time=when(event.get("timestamp")), written=0)
        turn.session, turn.labels = self.id, self.labels
        turn.parent = self.id if run != self.id else None
        turn.prompt = (invocation or "") if self.prompts else None
        turn.model = identity(_get(event, "model_version"))
        turn.usage = _usage(_get(event, "usage_metadata"))
        turn.compacted, self.compacted = self.compacted, False
        for part in items(mapping(event.get("content")).get("parts")):
            _add_part(turn, mapping(part))
        if _failed(event) and not turn.calls and not turn.text:
            turn.failed, turn.fault = True, _fault(event)
            self.ends[run] = self._ended(event, turn.prompt)
        yield from self.assembly.open(turn)

    def _end(self, event: dict[str, JSON], invocation: str | None) -> Iterator[Event]:
        """An error event without content: a cap, or a model call that failed."""
        prompt = (invocation or "") if self.prompts else None
        end = self._ended(event, prompt)
        if not end.state.endswith("_cap"):
            yield from self._turn({**event, "content": None})
        self.ends[end.run] = end

    def _ended(self, event: dict[str, JSON], prompt: str | int | None) -> End:
        words = _fault(event)
        state, time = state_of(words), when(event.get("timestamp"))
        return End(self._run(event), state, words[:NOTE], self.line, time=time, prompt=prompt)


def _is_turn(event: dict[str, JSON]) -> bool:
    """Whether an event is an answer of a model: its usage, or content in the model's role."""
    if event.get("author") == "user":
        return False
    return isinstance(_get(event, "usage_metadata"), dict) or mapping(event.get("content")).get("role") == "model"


def _failed(event: dict[str, JSON]) -> bool:
    return _get(event, "error_code") is not None


def _fault(event: dict[str, JSON]) -> str:
    words = (_get(event, "error_code"), _get(event, "error_message"))
    return ": ".join(w if isinstance(w, str) else canonical(w).decode(errors="replace") for w in words if w)


def _add_part(turn: Turn, part: dict[str, JSON]) -> None:
    call, text = _get(part, "function_call"), part.get("text")
    if isinstance(call, dict) and isinstance(name := call.get("name"), str):
        turn.calls.append(Call(name, call.get("args"), id=identity(call.get("id"))))
        turn.text = turn.text or ""
        turn.written = (turn.written or 0) + len(name) + len(canonical(call.get("args")))
    elif isinstance(text, str):
        turn.written = (turn.written or 0) + len(text)
        if part.get("thought") is not True:
            turn.text = f"{turn.text}\n{text}" if turn.text else text


def _usage(usage: JSON) -> Usage | None:
    given = [count(_get(usage, k)) for k in ("prompt_token_count", "tool_use_prompt_token_count")]
    made = [count(_get(usage, k)) for k in ("candidates_token_count", "thoughts_token_count")]
    tokens = Usage(
        None if given[0] is None else sum(n for n in given if n is not None),
        None if made == [None, None] else sum(n for n in made if n is not None),
        count(_get(usage, "cached_content_token_count")),
    )
    return None if tokens == Usage() else tokens


def clean_result(name: str, result: JSON) -> JSON:
    """The response inside a function response."""
    return result["response"] if isinstance(result, dict) and "response" in result and "name" in result else result
