"""What `claude -p --output-format stream-json` prints (JSON Lines, or one array with `json --verbose`).

`system`/`init`, then `assistant` lines (one content block each; one turn = one `message.id`), `user` lines with
results, and a `result` line that ends the run. One run = one result line of a session; calls of a sub-agent carry
`parent_tool_use_id`. Usage = `message.usage`; its output is only a beginning, and dollars stand on the result line
only: both are shared out over the sends so that the run's sums are the recorded ones (not for standard input, which
cannot be read twice). `cursor-agent --output-format stream-json` has the same frame and is read too, without
usage. https://docs.claude.com/en/docs/claude-code/sdk/sdk-headless
"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import PurePath
from typing import Final

from loopscan.blob import Blob, Head
from loopscan.decode import word
from loopscan.formats import Scan
from loopscan.formats._assembly import HOLD, Assembly
from loopscan.formats._claude_bill import Bill, bills_of, final_usage, stream_lines, written_in
from loopscan.formats._cursor_stream import CursorTurns, without_clocks
from loopscan.formats._endings import NOTE, state_of
from loopscan.formats._fields import identity, items, mapping, result_of_blocks, text_of_blocks, when
from loopscan.formats._usage import usage_of
from loopscan.formats.claude_code import COSMETIC_ARGS
from loopscan.formats.claude_code import clean_result as clean_claude
from loopscan.model import JSON, Call, End, Event, Turn

TITLE = "Streams of claude -p and cursor-agent"
WHERE: tuple[str, ...] = ()
LACKS = "times; for cursor-agent also usage"

_QUIET: Final = frozenset(
    "thinking tool_progress tool_use_summary auth_status rate_limit_event prompt_suggestion "
    "control_request control_response keep_alive interaction_query connection retry".split()
)
_ENDS: Final = {"error_max_turns": "turn_cap", "error_max_budget_usd": "cost_cap"}
_INTERRUPTED: Final = "[Request interrupted by user"


def sniff(head: Head) -> bool:
    """A line of the stream's frame: its lines name the session as `session_id`."""
    return any(_is_stream_line(o) for v in head.values[:60] for o in (v if isinstance(v, list) else [v])[:60])


def _is_stream_line(line: JSON) -> bool:
    if not isinstance(line, dict) or not isinstance(line.get("session_id"), str):
        return False
    kind = line.get("type")
    if kind == "system":
        return line.get("subtype") == "init"
    if kind in ("assistant", "user"):
        return isinstance(line.get("message"), dict) and "role" in line["message"]
    return kind == "result" and isinstance(line.get("subtype"), str)


def read(blob: Blob, scan: Scan) -> Iterator[Event]:
    """The turns and ends of a stream."""
    bills = bills_of(blob)
    log = _Stream(blob, scan)
    for number, line in stream_lines(blob, scan.skips):
        if isinstance(line, dict):
            yield from log.billed(log.line(line, number), bills)
        else:
            scan.skips.add(blob.name, number, "not an object: a stream line is a JSON object")
    yield from log.billed(log.finish(), bills)


class _Stream:
    """One stream while it is read."""

    def __init__(self, blob: Blob, scan: Scan) -> None:
        self.scan = scan
        self.session = PurePath(blob.name).stem
        self.named: str | None = None
        self.assembly = Assembly()
        self.cursor = CursorTurns(self.assembly)
        self.messages: dict[str, Turn] = {}
        self.model: str | None = None
        self.restarted: dict[str, int] = {}
        self.compacted = self.stopped = False
        self.fault: str | None = None

    def billed(self, events: Iterator[Event], bills: dict[str, list[Bill]]) -> Iterator[Event]:
        """The events, each send with its share of the next bill of its session."""
        for event in events:
            if isinstance(event, Turn):
                session = event.session or self.session
                mine, at = bills.get(session, []), self.restarted.get(session, 1) - 1
                if at < len(mine):
                    mine[at].apply(event)
            yield event

    def line(self, line: dict[str, JSON], number: int) -> Iterator[Event]:
        kind = identity(line.get("type"))
        if kind == "assistant":
            return iter(self._assistant(line, number))
        if kind == "user":
            self._user(line)
        elif kind == "tool_call":
            return iter(self.cursor.tool(line, self._turn(line, number)))
        elif kind == "result":
            return self._result(line, number)
        elif kind == "system":
            self.named = identity(line.get("session_id")) or self.named
            self.session = self.named or self.session
            if line.get("subtype") == "init":
                self.model = identity(line.get("model"))
            self.compacted = self.compacted or line.get("subtype") == "compact_boundary"
        elif kind == "stream_event":
            turn, usage = self.assembly.latest(self._run(line)), final_usage(line)
            if turn is not None and turn.usage is not None and usage is not None:
                turn.usage.merge(usage)
        elif kind not in _QUIET:
            self.scan.skips.unknown_type("claude-stream", kind)
        return iter(())

    def finish(self) -> Iterator[Event]:
        """What is left at the end of the input; a stream that broke off on an error ends with it."""
        yield from self.assembly.flush()
        if self.fault is not None:
            yield End(self._run({}), state_of(self.fault), self.fault[:NOTE])

    def _run(self, line: dict[str, JSON]) -> str:
        """Run of a line: the session, `session/2` after a result, a sub-agent by the call that started it."""
        agent = identity(line.get("parent_tool_use_id"))
        if agent:
            return f"agent-{agent}"
        session = identity(line.get("session_id")) or self.session
        again = self.restarted.get(session, 1)
        return session if again == 1 else f"{session}/{again}"

    def _turn(self, line: dict[str, JSON], number: int) -> Turn:
        turn = Turn(self._run(line), line=number, written=0, session=identity(line.get("session_id")) or self.named)
        if identity(line.get("parent_tool_use_id")):
            turn.parent = self._run({**line, "parent_tool_use_id": None})
        turn.time, turn.model = when(line.get("timestamp_ms") or line.get("timestamp")), self.model
        return turn

    def _assistant(self, line: dict[str, JSON], number: int) -> list[Event]:
        message = mapping(line.get("message"))
        key, turn = identity(message.get("id")), self._turn(line, number)
        if message.get("model") == "<synthetic>":
            self.fault = text_of_blocks(message.get("content")) or None
            return []
        self.fault = None
        if key is None:
            return self.cursor.said(line, turn)
        known = self.messages.get(key)
        ready: list[Event] = []
        if known is None:
            known = self.messages[key] = turn
            if self.scan.copy_of("claude-code", key):
                return []  # the session file of the same run was read before
            turn.compacted, self.compacted = self.compacted, False
            turn.model = identity(message.get("model")) or turn.model
            ready = self.assembly.open(turn)
            if len(self.messages) > 2 * HOLD:
                del self.messages[next(iter(self.messages))]
        usage = usage_of(message.get("usage"))
        if usage is not None:
            known.usage = known.usage or usage
            known.usage.merge(usage)
        for block in items(message.get("content")):
            self._block(known, mapping(block))
        return ready

    def _block(self, turn: Turn, block: dict[str, JSON]) -> None:
        kind = block.get("type")
        if kind in ("tool_use", "server_tool_use"):
            call = Call(word(block.get("name")), block.get("input"), id=identity(block.get("id")))
            if call.id is not None and any(c.id == call.id for c in turn.calls):
                return
            turn.calls.append(call)
            self.assembly.expect(turn.run, call)
        elif kind == "text" and isinstance(text := block.get("text"), str):
            turn.text = f"{turn.text}\n{text}" if turn.text else text
        elif "tool_use_id" in block:  # a server tool answers inside the message
            self.assembly.result(turn.run, identity(block["tool_use_id"]), block.get("content"))
        turn.written = (turn.written or 0) + written_in(block)

    def _user(self, line: dict[str, JSON]) -> None:
        content = mapping(line.get("message")).get("content")
        for value in items(content):
            block = mapping(value)
            if block.get("type") == "tool_result":
                result, call_id = result_of_blocks(block.get("content")), identity(block.get("tool_use_id"))
                self.assembly.result(self._run(line), call_id, result, block.get("is_error") is True)
        self.stopped = self.stopped or text_of_blocks(content).startswith(_INTERRUPTED)

    def _result(self, line: dict[str, JSON], number: int) -> Iterator[Event]:
        subtype, words = identity(line.get("subtype")) or "", identity(line.get("result")) or ""
        failed = line.get("is_error") is True or subtype not in ("success", "")
        state = _ENDS.get(subtype) or (state_of(words) if failed else "done")
        state = "aborted" if self.stopped and failed and state == "error" else state
        note = words[:NOTE] if failed and words and subtype not in _ENDS else subtype
        run, session = self._run({**line, "parent_tool_use_id": None}), identity(line.get("session_id")) or self.session
        yield from self.assembly.flush()
        yield End(run, state, note or None, number)
        self.restarted[session] = self.restarted.get(session, 1) + 1
        self.messages.clear()
        self.cursor = CursorTurns(self.assembly)
        self.fault, self.stopped = None, False


def clean_result(name: str, result: JSON) -> JSON:
    """Without injected reminders, fresh paths of results too large to show, and clocks."""
    return without_clocks(clean_claude(name, result))


__all__ = ["COSMETIC_ARGS", "LACKS", "TITLE", "WHERE", "clean_result", "read", "sniff"]
