"""The stream of `cursor-agent`: the head and end of Claude's, tool calls as lines of their own, no usage per send.

https://cursor.com/docs/cli/reference/output-format. A call is one `tool_call` line when it starts and one, with the
same `call_id`, when it is completed. Calls of one model call share `model_call_id`; where that is not written, what
starts before an earlier call is completed belongs together.
"""

from __future__ import annotations

from typing import Final

from loopscan.decode import canonical, word
from loopscan.formats._assembly import Assembly
from loopscan.formats._fields import identity, mapping, text_of_blocks
from loopscan.model import JSON, MISSING, Call, Event, Turn

_CLOCKS: Final = frozenset({"executionTime", "localExecutionTimeMs", "terminalId", "shellId", "fileLocation"})


class CursorTurns:
    """The turn of a stream that is open, and which of its calls are."""

    def __init__(self, assembly: Assembly) -> None:
        self.assembly = assembly
        self.turn: Turn | None = None
        self.batch: str | None = None
        self.running: set[str] = set()

    def said(self, line: dict[str, JSON], fresh: Turn) -> list[Event]:
        """Words of the model: pieces, then perhaps the whole again."""
        words = text_of_blocks(mapping(line.get("message")).get("content"))
        ready: list[Event] = []
        if self.turn is None or self.turn.calls:
            ready = self._open(fresh)
        turn = self.turn or fresh
        before = turn.text or ""
        turn.text = words if before and words.startswith(before) else before + words
        turn.written = len(turn.text)
        return ready

    def tool(self, line: dict[str, JSON], fresh: Turn) -> list[Event]:
        """A call that starts or is completed."""
        call_id, batch = identity(line.get("call_id")), identity(line.get("model_call_id"))
        name, args, result, error = _told(mapping(line.get("tool_call")))
        ready: list[Event] = []
        known = call_id is not None and call_id in self.running
        if not known:
            if self.turn is None or not self._belongs(batch):
                ready = self._open(fresh)
            turn = self.turn or fresh
            self.batch = batch
            call = Call(name, args, id=call_id)
            turn.calls.append(call)
            turn.written = (turn.written or 0) + len(name) + len(canonical(args))
            self.assembly.expect(turn.run, call)
            if call_id is not None:
                self.running.add(call_id)
        if line.get("subtype") == "completed":
            if result is not MISSING:
                self.assembly.result(fresh.run, call_id, result, error)
            self.running.discard(call_id or "")
        return ready

    def _belongs(self, batch: str | None) -> bool:
        if self.turn is None or not self.turn.calls:
            return True
        return batch == self.batch if batch is not None else bool(self.running)

    def _open(self, fresh: Turn) -> list[Event]:
        self.turn, self.batch = fresh, None
        self.running.clear()
        return self.assembly.open(fresh)


def _told(payload: dict[str, JSON]) -> tuple[str, JSON, JSON, bool]:
    """Name, arguments, result and failure of `{"<name>ToolCall": {args, result}}` or `{"function": {...}}`."""
    key = next((k for k, v in payload.items() if isinstance(v, dict)), "")
    body = mapping(payload.get(key))
    name, args = key.removesuffix("ToolCall"), body.get("args")
    if key == "function":
        name, args = word(body.get("name")), body.get("arguments")
    elif key == "mcpToolCall":
        name = word(mapping(args).get("toolName") or mapping(args).get("name") or name)
        args = mapping(args).get("args")
    if "result" not in body:
        return name, args, MISSING, False
    result = body["result"]
    if isinstance(result, dict) and len(result) == 1:
        outcome, value = next(iter(result.items()))
        failed = outcome != "success" or mapping(value).get("exitCode") not in (None, 0)
        return name, args, value, failed
    return name, args, result, False


def without_clocks(result: JSON) -> JSON:
    """A result without what only says how long it took and where it ran."""
    if isinstance(result, dict):
        return {k: v for k, v in result.items() if k not in _CLOCKS}
    return result
