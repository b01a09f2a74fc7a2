"""The messages of one Cline task or session while they are read: turns, results, prompts."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

from loopscan.decode import canonical, word
from loopscan.formats import Scan
from loopscan.formats._cline_text import calls_in, failed, results_in, texts_of, words_of_user
from loopscan.formats._cline_ui import Panel, Request
from loopscan.formats._fields import count, dollars, identity, items, mapping, result_of_blocks, when
from loopscan.model import JSON, MISSING, Call, End, Event, Turn, Usage

_EMPTY: Final = "Failure: I did not provide a response."
_UNDONE: Final = "Task was interrupted before this tool call could be completed"
_BROKEN: Final = {"[Response interrupted by user]": "aborted", "[Response interrupted by API Error]": "error"}


class Talk:
    """The messages of one task or session while they are read."""

    def __init__(self, run: str, scan: Scan) -> None:
        self.run, self.scan = run, scan
        self.parent: str | None = None
        self.prompt: str | int | None = ""
        self.model: str | None = None
        self.turn: Turn | None = None
        self.compacted = False
        self.answered: Request | None = None

    def message(self, message: dict[str, JSON], index: int, requests: list[Request]) -> Iterator[Event]:
        role, kind = message.get("role"), identity(mapping(message.get("metadata")).get("kind")) or ""
        if message.get("isSummary") is True or "compact" in kind:
            self.compacted = True
        elif role == "user":
            self._user(message, index)
        elif role == "assistant":
            yield from self._close()
            for failure in requests[:-1]:
                yield self._failure(failure)
            self.answered = requests[-1] if requests else None
            self.turn = self._assistant(message, index, self.answered)
        else:
            self.scan.skips.unknown_type("cline", role)

    def finish(self, panel: Panel) -> Iterator[Event]:
        """The last turn, and how the task ended: the panel's word before the model's."""
        events = list(self._close())
        yield from (e for e in events if isinstance(e, Turn) or panel.state is None)
        last = panel.requests[-1] if panel.requests else None
        if last is not None and last.fault is not None and last is not self.answered:
            yield self._failure(last)
        yield from panel.end(self.run, self.prompt)

    def _close(self) -> Iterator[Event]:
        """The open turn; a model that declares its task complete ends the run, unless it goes on."""
        turn, self.turn = self.turn, None
        if turn is None:
            return
        yield turn
        if any(c.name == "attempt_completion" for c in turn.calls):
            yield End(self.run, "done", "attempt_completion", turn.line, prompt=turn.prompt)
        for mark, state in _BROKEN.items():
            if (turn.text or "").endswith(mark):
                yield End(self.run, state, mark, turn.line, prompt=turn.prompt)

    def _new(self, line: int, time: float | None) -> Turn:
        session = self.run if self.prompt is not None else None
        turn = Turn(self.run, line=line, prompt=self.prompt, parent=self.parent, session=session, written=0, time=time)
        turn.compacted, self.compacted = self.compacted, False
        return turn

    def _failure(self, request: Request) -> Turn:
        turn = self._new(request.line, request.time)
        turn.failed, turn.fault = True, request.fault or "cancelled"
        turn.usage, turn.model = request.usage, request.model or self.model
        return turn

    def _assistant(self, message: dict[str, JSON], index: int, request: Request | None) -> Turn:
        turn = self._new(index + 1, when(message.get("ts")) or (request.time if request else None))
        info = mapping(message.get("modelInfo"))
        turn.model = (
            identity(info.get("modelId") or info.get("id")) or (request.model if request else None) or self.model
        )
        turn.usage = (request.usage if request else None) or _usage(mapping(message.get("metrics")))
        turn.compacted = turn.compacted or (request is not None and request.compacted)
        words = "\n".join(texts_of(message.get("content")))
        turn.written = len(words)
        for block in map(mapping, items(message.get("content"))):
            if block.get("type") == "tool_use":
                turn.calls.append(Call(word(block.get("name")), block.get("input"), id=identity(block.get("id"))))
                turn.written += len(turn.calls[-1].name) + len(canonical(turn.calls[-1].args))
            elif block.get("type") in ("thinking", "reasoning"):
                turn.written += len(word(block.get("thinking") or block.get("text") or ""))
        turn.text = words
        if not turn.calls:
            turn.calls, turn.text = calls_in(words)
        if words.strip() == _EMPTY:
            turn.failed, turn.fault = True, words
        return turn

    def _user(self, message: dict[str, JSON], index: int) -> None:
        texts = texts_of(message.get("content"))
        calls = self.turn.calls if self.turn is not None else []
        by_id = [mapping(b) for b in items(message.get("content")) if mapping(b).get("type") == "tool_result"]
        for block in by_id:
            result = result_of_blocks(block.get("content"))
            name = identity(block.get("tool_use_id"))
            call = next((c for c in calls if c.id == name and c.result is MISSING), None)
            _answer(call, result, block.get("is_error") is True)
        answered = list(results_in(texts))
        for name, result in answered:
            waiting = [c for c in calls if c.result is MISSING]
            call = next((c for c in waiting if c.name == name), waiting[0] if waiting else None)
            _answer(call, result, False)
        words = words_of_user(texts)
        over = not calls or any(c.name == "attempt_completion" for c in calls)
        beside = (answered or by_id) and not over
        if words is not None and not beside and self.prompt is not None:
            self.prompt = f"message {index + 1}"


def _answer(call: Call | None, result: JSON, error: bool) -> None:
    """Give a call its result, unless the result says that there is none."""
    if call is not None and not (isinstance(result, str) and result.startswith(_UNDONE)):
        call.result, call.error = result, error or failed(result)


def _usage(metrics: dict[str, JSON]) -> Usage | None:
    """Figures on the message: the extension's (cached tokens apart, in one sum) or the CLI's (cached inside)."""
    usd = dollars(metrics.get("cost")) or None
    tokens = mapping(metrics.get("tokens"))
    if tokens:
        fresh, cached = count(tokens.get("prompt")), count(tokens.get("cached"))
        return Usage((fresh or 0) + (cached or 0), count(tokens.get("completion")), cached, usd=usd)
    sent, output = count(metrics.get("inputTokens")), count(metrics.get("outputTokens"))
    read, write = count(metrics.get("cacheReadTokens")), count(metrics.get("cacheWriteTokens"))
    if not sent and not output:
        return None
    cached = (read or 0) + (write or 0)
    return Usage(sent if (sent or 0) >= cached else (sent or 0) + cached, output, read, write, usd=usd)
