"""`ui_messages.json` of a Cline, Roo or Kilo task: what the panel showed, and the only record of cost per request.

Figures stand as JSON text in `api_req_started`: `tokensIn, tokensOut, cacheWrites, cacheReads, cost`. Cline counts
cached tokens apart, Roo and Kilo (which name the `apiProtocol`) inside `tokensIn`.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Final

from loopscan.decode import canonical, embedded, word
from loopscan.formats._cline_text import without_details
from loopscan.formats._endings import NOTE, state_of
from loopscan.formats._fields import count, dollars, identity, mapping, when
from loopscan.model import JSON, MISSING, Call, End, Event, Turn, Usage

_STATES: Final = {
    "completion_result": "done",
    "resume_completed_task": "done",
    "mistake_limit_reached": "error",
    "api_req_failed": "error",
    "auto_approval_max_req_reached": "turn_cap",
    "resume_task": "cut",
}
_COMPACTED: Final = frozenset({"condense_context", "sliding_window_truncation"})
_RESULTS: Final = frozenset({"command_output", "mcp_server_response", "browser_action_result"})


@dataclass(slots=True)
class Request:
    """One `api_req_started`: its figures, when, what went wrong, which message of the history it sent."""

    line: int
    time: float | None
    usage: Usage | None
    model: str | None
    fault: str | None = None
    cancelled: bool = False
    index: int | None = None
    compacted: bool = False


@dataclass(slots=True)
class Panel:
    """What the panel of a task says: its requests in order, and how the task stands."""

    requests: list[Request] = field(default_factory=list)
    state: str | None = None
    note: str | None = None

    def end(self, run: str, prompt: str | int | None) -> list[End]:
        """How the task ended, if it says so."""
        return [End(run, self.state, self.note, prompt=prompt)] if self.state else []


def kind_of(row: dict[str, JSON]) -> str:
    """What a row shows."""
    return word(row.get(word(row.get("type"))))


def panel_of(rows: list[JSON]) -> Panel:
    """Read the rows of a panel."""
    panel, compacted = Panel(), False
    for line, row in enumerate(map(mapping, rows), 1):
        kind = kind_of(row)
        if kind == "api_req_started":
            request = _request(row, line)
            request.compacted, compacted = compacted, False
            panel.requests.append(request)
            panel.state = panel.note = None
            if request.cancelled:
                panel.state, panel.note = "aborted", "user_cancelled"
        elif kind in _COMPACTED:
            compacted = True
        elif kind in _STATES and (kind != "resume_task" or panel.state is None):
            panel.state, panel.note = _STATES[kind], kind
            if kind == "api_req_failed":
                words = identity(row.get("text")) or kind
                panel.state, panel.note = state_of(words), words[:NOTE]
    return panel


def _request(row: dict[str, JSON], line: int) -> Request:
    info = mapping(embedded(word(row.get("text"))))
    model = identity(mapping(row.get("modelInfo")).get("modelId"))
    request = Request(line, when(row.get("ts")), _usage(info), model)
    reason, words = identity(info.get("cancelReason")), identity(info.get("streamingFailedMessage"))
    request.cancelled = reason == "user_cancelled"
    request.fault = None if request.cancelled else words or reason
    index = row.get("conversationHistoryIndex")
    request.index = index if isinstance(index, int) else None
    return request


def _usage(info: dict[str, JSON]) -> Usage | None:
    given = [count(info.get(k)) for k in ("tokensIn", "tokensOut", "cacheReads", "cacheWrites")]
    sent, output, read, write = given
    if not any(given):
        return None
    cached = (read or 0) + (write or 0)
    inside = ("apiProtocol" in info or "inferenceProvider" in info) and (sent or 0) >= cached
    total = sent if inside else (sent or 0) + cached
    return Usage(total, output, read, write, usd=dollars(info.get("cost")) or None)


def turns_of(rows: list[JSON], run: str) -> Iterator[Event]:
    """The turns of a task whose history is not there: calls as the panel named them, few results."""
    panel = panel_of(rows)
    starts = {r.line: r for r in panel.requests}
    turn: Turn | None = None
    prompt: str | int = 1
    for line, row in enumerate(map(mapping, rows), 1):
        kind = kind_of(row)
        if line in starts:
            if turn is not None:
                yield turn
            turn = _turn(starts[line], run, prompt)
        elif kind == "user_feedback" and (turn is None or any(c.name == "attempt_completion" for c in turn.calls)):
            prompt = line
        elif turn is not None and row.get("partial") is not True:
            _show(turn, kind, row.get("text"))
    if turn is not None:
        yield turn
        yield from panel.end(run, turn.prompt)


def _turn(request: Request, run: str, prompt: str | int) -> Turn:
    turn = Turn(run, line=request.line, prompt=prompt, session=run, written=0)
    turn.usage, turn.time, turn.model = request.usage, request.time, request.model
    turn.compacted = request.compacted
    if request.fault is not None:
        turn.failed, turn.fault = True, request.fault
    return turn


def _show(turn: Turn, kind: str, text: JSON) -> None:
    """Add a row to the request it followed."""
    words = text if isinstance(text, str) else ""
    inner = mapping(embedded(words))
    call: Call | None = None
    if kind == "text":
        turn.text = f"{turn.text}\n{words}" if turn.text else words
        turn.written = (turn.written or 0) + len(words)
    elif kind == "tool" and inner:
        call = Call(word(inner.pop("tool", kind)), inner)
    elif kind == "command":
        call = Call("execute_command", {"command": words})
    elif kind in ("use_mcp_server", "browser_action"):
        call = Call(word(inner.get("toolName") or kind), inner or words)
    elif kind == "completion_result" and words:
        call = Call("attempt_completion", {"result": words})
    elif kind in _RESULTS and turn.calls:
        last = turn.calls[-1]
        before = last.result if isinstance(last.result, str) else ""
        last.result = before + without_details(words)
    if call is not None:
        turn.calls.append(call)
        turn.written = (turn.written or 0) + len(call.name) + len(canonical(call.args))
        turn.failed, turn.fault = False, MISSING
