"""The turns of one sample of an Inspect log: from its events, or from its messages where it has none."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Final

from loopscan.decode import word
from loopscan.formats import Scan
from loopscan.formats._assembly import Assembly
from loopscan.formats._fields import count, dollars, identity, items, mapping, result_of_blocks, text_of_blocks, when
from loopscan.formats._harness import answer, calls_of, spoken
from loopscan.model import JSON, MISSING, Event, Turn, Usage

_ATTACHMENT: Final = "attachment://"
_DEPTH: Final = 50
_OTHER_EVENTS: Final = frozenset(
    "sample_init sample_limit state store sandbox input info log logger error score score_edit approval interrupt "
    "compaction checkpoint branch anchor".split()
)


@dataclass(slots=True, frozen=True)
class _Span:
    """Where events of a span belong: `run` None = nowhere (scoring); `inside`: within an agent or a tool."""

    run: str | None
    parent: str | None
    kind: str
    outer: str | None
    inside: bool


class Sample:
    """One sample while it is read."""

    def __init__(self, run: str, number: int, sample: dict[str, JSON], scan: Scan) -> None:
        self.run, self.number, self.sample, self.scan = run, number, sample, scan
        self.attachments = mapping(sample.get("attachments"))
        self.assembly = Assembly()
        self.spans: dict[str, _Span] = {}
        self.scoring = 0
        self.compacted: set[str] = set()

    def turns(self) -> Iterator[Turn]:
        """All turns, those of sub-agents among them."""
        events = items(self.sample.get("events"))
        if not events:
            yield from self._from_messages()
            return
        for ready in self._feed(events, _Span(self.run, None, "", self.run, False)):
            if isinstance(ready, Turn):
                yield ready
        for ready in self.assembly.flush():
            if isinstance(ready, Turn):
                yield ready

    def _feed(self, events: list[JSON], root: _Span, depth: int = 0) -> Iterator[Event]:
        for event in map(mapping, events):
            kind, span = word(event.get("event")), self.spans.get(identity(event.get("span_id")) or "", root)
            if kind == "span_begin":
                self._begin(event, root)
            elif kind == "step":
                self.scoring += event.get("type") == "scorer" and {"begin": 1, "end": -1}.get(
                    word(event.get("action")), 0
                )
            elif kind == "model" and span.run is not None and not self.scoring and event.get("role") != "grader":
                yield from self.assembly.open(self._turn(event, span, span.run))
            elif kind == "tool":
                self._result(event, span.outer if span.kind == "tool" else span.run)
            elif kind == "compaction" and span.run is not None:
                self.compacted.add(span.run)
            elif kind not in ("span_end", "subtask", "model") and kind not in _OTHER_EVENTS:
                self.scan.skips.unknown_type("inspect", kind)
            nested = items(event.get("events")) if kind in ("tool", "subtask") and depth < _DEPTH else []
            if nested:  # logs of 2024 keep what a tool did inside its event
                run = f"{self.run}/{identity(event.get('id')) or event.get('name')}"
                yield from self._feed(nested, _Span(run, root.run, "", run, True), depth + 1)

    def _begin(self, event: dict[str, JSON], root: _Span) -> None:
        """A span begins: an agent inside another agent or a tool, or model calls of a tool, are runs of their own."""
        own, kind = identity(event.get("id")), word(event.get("type") or "")
        if own is None:
            return
        above = self.spans.get(identity(event.get("parent_id")) or "", root)
        run, parent, inside = above.run, above.parent, above.inside
        if kind == "scorer" or run is None:
            run = None
        elif kind == "tool" or (kind == "agent" and inside):
            run, parent, inside = f"{self.run}/{own}", above.run if above.kind != "tool" else above.outer, True
        elif kind == "agent":
            inside = True
        outer = above.outer if above.kind == "tool" and kind == "tool" else above.run
        self.spans[own] = _Span(run, parent, kind, outer, inside)

    def _turn(self, event: dict[str, JSON], span: _Span, run: str) -> Turn:
        output = mapping(event.get("output"))
        message = mapping(mapping(next(iter(items(output.get("choices"))), None)).get("message"))
        turn = Turn(run, parent=span.parent, line=self.number, time=when(event.get("timestamp")))
        turn.model = identity(event.get("model"))
        turn.usage = _usage(mapping(output.get("usage")))
        turn.compacted = run in self.compacted
        self.compacted.discard(run)
        if event.get("cache") == "read":
            turn.usage = Usage(0, 0, usd=0.0)
        fault = event.get("error") or output.get("error")
        if fault or not message:
            turn.failed, turn.fault = True, self._resolved(fault) if fault else MISSING
            return turn
        self._fill(turn, message)
        return turn

    def _fill(self, turn: Turn, message: dict[str, JSON]) -> None:
        content = self._resolved(message.get("content"))
        turn.calls = calls_of(message)
        for call in turn.calls:
            call.args = self._resolved(call.args)
        turn.text = text_of_blocks(content)
        thoughts = [mapping(b).get("reasoning") for b in items(content)]
        turn.written = spoken(turn.calls, turn.text, *thoughts)

    def _result(self, event: dict[str, JSON], run: str | None) -> None:
        """Join the result of a tool event to its call."""
        if run is None or event.get("pending") is True:
            return
        error = mapping(event.get("error"))
        result = result_of_blocks(self._resolved(event.get("result")))
        if error and result in (None, ""):
            result = self._resolved(error.get("message"))
        call_id = identity(event.get("id"))
        self.assembly.result(run, call_id, result, bool(error) or event.get("failed") is True)

    def _from_messages(self) -> Iterator[Turn]:
        turn: Turn | None = None
        for message in map(mapping, items(self.sample.get("messages"))):
            role = message.get("role")
            if role == "assistant" and message.get("source") != "input":
                if turn is not None:
                    yield turn
                turn = Turn(self.run, line=self.number, model=identity(message.get("model")))
                self._fill(turn, message)
            elif role == "tool":
                error = mapping(message.get("error"))
                result = result_of_blocks(self._resolved(message.get("content")))
                result = error.get("message") if error and result in (None, "") else result
                answer(turn, identity(message.get("tool_call_id")), result, bool(error))
        if turn is not None:
            yield turn

    def _resolved(self, value: JSON, depth: int = 0) -> JSON:
        """A value with its references to attachments replaced by their texts."""
        if isinstance(value, str):
            return self.attachments.get(value[len(_ATTACHMENT) :], value) if value.startswith(_ATTACHMENT) else value
        if depth < _DEPTH and isinstance(value, dict):
            return {k: self._resolved(v, depth + 1) for k, v in value.items()}
        if depth < _DEPTH and isinstance(value, list):
            return [self._resolved(v, depth + 1) for v in value]
        return value


def _usage(usage: dict[str, JSON]) -> Usage | None:
    """Input with all cached tokens: older logs count them inside `input_tokens`, newer ones apart."""
    fresh, output = count(usage.get("input_tokens")), count(usage.get("output_tokens"))
    if fresh is None and output is None:
        return None
    read, write = count(usage.get("input_tokens_cache_read")), count(usage.get("input_tokens_cache_write"))
    cached, total = (read or 0) + (write or 0), count(usage.get("total_tokens"))
    inside = total is not None and cached <= (fresh or 0) and total == (fresh or 0) + (output or 0)
    given = (fresh or 0) + (0 if inside else cached)
    return Usage(given, output, read, write, usd=dollars(usage.get("total_cost")) or None)
