"""`codex exec --json` output saved to a file, JSON Lines of thread, turn and item events.

Event and item types: https://github.com/openai/codex/blob/main/codex-rs/exec/src/exec_events.rs. One turn = one model
call, told from the order of its items: what comes after the results of a call is the next one. One run = one user
prompt (`turn.started` to `turn.completed` or `turn.failed`) of a thread. Usage is written once per prompt, for all
its calls together (and counts on over the thread), so no turn has one; the note of the run's end repeats it.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from pathlib import PurePath
from typing import Final

from loopscan.blob import Blob, Head
from loopscan.decode import word
from loopscan.formats import Scan
from loopscan.formats._assembly import Assembly
from loopscan.formats._codex_items import characters
from loopscan.formats._fields import count, identity, items, mapping, result_of_blocks, text_or_none
from loopscan.model import JSON, MISSING, Call, End, Event, Turn

TITLE = "codex exec --json output"
WHERE: tuple[str, ...] = ()
LACKS = "usage per model call, times, models"
COSMETIC_ARGS: Mapping[str, frozenset[str]] = {}

_ITEM_EVENTS: Final = ("item.started", "item.updated", "item.completed")
_CALLS: Final = frozenset("command_execution file_change mcp_tool_call collab_tool_call web_search todo_list".split())
_WORDS: Final = frozenset("reasoning agent_message plan error".split())
_OTHER: Final = ("item.plan.delta", "request_user_input")


def sniff(head: Head) -> bool:
    """A thread that starts, or the item events of one whose first line is lost."""
    return any(_is_event(line) for line in head.objects)


def _is_event(line: dict[str, JSON]) -> bool:
    if line.get("type") == "thread.started":
        return isinstance(line.get("thread_id"), str)
    item = mapping(line.get("item"))
    return line.get("type") in _ITEM_EVENTS and "id" in item and word(item.get("type")) in _CALLS | _WORDS


def read(blob: Blob, scan: Scan) -> Iterator[Event]:
    """The turns and ends of an event stream."""
    log = _Stream(blob, scan)
    for number, event in blob.values(scan.skips):
        if isinstance(event, dict):
            yield from log.event(event, number)
        else:
            scan.skips.add(blob.name, number, "not an object: an event is a JSON object")
    yield from log.finish()


class _Stream:
    """One event stream while it is read."""

    def __init__(self, blob: Blob, scan: Scan) -> None:
        self.scan = scan
        self.run = PurePath(blob.name).stem
        self.prompt: int | str = ""
        self.assembly = Assembly()
        self.turn: Turn | None = None
        self.answered = False
        self.error: tuple[str, int] | None = None

    def event(self, event: dict[str, JSON], number: int) -> list[Event]:
        kind = event.get("type")
        if kind in _ITEM_EVENTS:
            return self._item(word(kind), mapping(event.get("item")), number)
        if kind == "thread.started":
            ready = self.finish()
            self.run, self.prompt = identity(event.get("thread_id")) or self.run, ""
            return ready
        if kind == "turn.started":
            self.turn, self.prompt, self.error = None, number, None
        elif kind == "turn.completed":
            return self._end("done", _spent(mapping(event.get("usage"))), number)
        elif kind == "turn.failed":
            return self._failed(_message(mapping(event.get("error"))), number)
        elif kind == "error":
            self.error = _message(event), number  # a retry, unless nothing follows
        elif kind not in _OTHER:
            self.scan.skips.unknown_type("codex-exec", kind)
        return []

    def finish(self) -> list[Event]:
        """The end of the stream; an error that nothing followed was the end of the run."""
        ready = self._failed(*self.error) if self.error is not None else []
        self.turn = None
        return [*ready, *self.assembly.flush()]

    def _item(self, event: str, item: dict[str, JSON], number: int) -> list[Event]:
        kind = word(item.get("type"))
        if kind in ("reasoning", "agent_message", "plan"):
            self.error = None
            ready, turn = self._reply(number)
            text = text_or_none(item.get("text")) or ""
            turn.written = (turn.written or 0) + len(text)
            if kind == "agent_message" and event == "item.completed":
                turn.text = f"{turn.text}\n{text}" if turn.text else text
            return ready
        if kind in _CALLS:
            self.error = None
            return self._call(event, item, number)
        if kind not in _WORDS:
            self.scan.skips.unknown_type("codex-exec", f"item/{kind}")
        return []

    def _reply(self, number: int) -> tuple[list[Event], Turn]:
        """The turn that an item of the model belongs to, and what is ready when a new one begins."""
        if self.turn is not None and not (self.answered and not self._open_calls(self.turn)):
            return [], self.turn
        self.turn = Turn(self.run, line=number, prompt=self.prompt, session=self.run, written=0)
        self.answered = False
        return self.assembly.open(self.turn), self.turn

    def _open_calls(self, turn: Turn) -> bool:
        return any(c.result is MISSING and c.id is not None for c in turn.calls)

    def _call(self, event: str, item: dict[str, JSON], number: int) -> list[Event]:
        call_id = identity(item.get("id"))
        done = event == "item.completed"
        if item.get("type") == "todo_list":
            return [] if done else self._plan(item, number)  # completed when the prompt is, not by a call
        if event == "item.updated":
            return []
        known = self.assembly.call(self.run, call_id) if call_id is not None else None
        ready: list[Event] = []
        if known is None:
            ready, turn = self._reply(number)
            known = Call(*_asked(item), id=call_id)
            turn.calls.append(known)
            turn.written = (turn.written or 0) + characters(known)
            self.assembly.expect(turn.run, known)
        if done:
            self.answered = True
            known.args = _asked(item)[1]
            result, error = _outcome(item)
            self.assembly.result(self.run, call_id, result, error)
            if result is MISSING:
                known.id = None  # no use waiting for it
        return ready

    def _plan(self, item: dict[str, JSON], number: int) -> list[Event]:
        ready, turn = self._reply(number)
        turn.calls.append(Call("update_plan", item.get("items")))
        self.answered = True
        return ready

    def _failed(self, fault: str, number: int) -> list[Event]:
        turn = Turn(self.run, failed=True, fault=fault, line=number, prompt=self.prompt, session=self.run)
        self.error = None
        if "interrupted" in fault:
            return self._end("aborted", fault, number)
        state = "context_full" if "context window" in fault.lower() else "error"
        return [*self.assembly.open(turn), *self._end(state, fault[:200], number)]

    def _end(self, state: str, note: str, number: int) -> list[Event]:
        self.turn, self.error = None, None
        return self.assembly.end(End(self.run, state, note, number, prompt=self.prompt))


def _asked(item: dict[str, JSON]) -> tuple[str, JSON]:
    """Name and arguments of a call item."""
    kind = item.get("type")
    if kind == "command_execution":
        return "shell", {"command": item.get("command")}
    if kind == "file_change":
        return "apply_patch", {"changes": item.get("changes")}
    if kind == "mcp_tool_call":
        return f"mcp__{item.get('server')}__{item.get('tool')}", item.get("arguments")
    if kind == "collab_tool_call":
        args = {k: item.get(k) for k in ("prompt", "receiver_thread_ids")}
        return text_or_none(item.get("tool")) or "collab", args
    return "web_search", {k: item[k] for k in ("query", "action") if k in item}


def _outcome(item: dict[str, JSON]) -> tuple[JSON, bool]:
    """Result of a completed call item, and whether it failed; MISSING where only its status was written."""
    kind, status = item.get("type"), item.get("status")
    error = status in ("failed", "declined") or item.get("error") is not None
    if kind == "command_execution":
        code = item.get("exit_code")
        result = {"output": item.get("aggregated_output"), "exit_code": code}
        return (MISSING if status == "in_progress" else result), error or code not in (0, None)
    if kind == "mcp_tool_call":
        answer = item.get("error") if item.get("error") is not None else item.get("result")
        return (MISSING if answer is None else result_of_blocks(mapping(answer).get("content", answer))), error
    if kind == "file_change":
        # without the diffs two edits of one file would look the same
        seen = all("diff" in mapping(c) for c in items(item.get("changes")))
        return ({"status": status} if seen else MISSING), error
    if kind == "collab_tool_call":
        return item.get("agents_states", MISSING), error
    return MISSING, error


def _message(error: dict[str, JSON]) -> str:
    return text_or_none(error.get("message")) or "error"


def _spent(usage: dict[str, JSON]) -> str:
    """The usage of all sends of a prompt, in words."""
    parts = [("input", "input_tokens"), ("cached", "cached_input_tokens"), ("output", "output_tokens")]
    known = [f"{n:,} {word}" for word, key in parts if (n := count(usage.get(key))) is not None]
    return f"turn.completed, thread total {', '.join(known)} tokens" if known else "turn.completed"


def clean_result(name: str, result: JSON) -> JSON:
    """Results have no wrapper."""
    return result
