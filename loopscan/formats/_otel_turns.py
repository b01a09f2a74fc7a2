"""The turns of one run of spans: each tool span joined to the model span that asked for it.

By call id; else by the nearest span above both; else by time. A run without model spans has one turn per tool span.
"""

from __future__ import annotations

from bisect import bisect_right
from collections import defaultdict
from collections.abc import Iterator
from itertools import islice

from loopscan.formats._otel_ends import state_of
from loopscan.formats._otel_runs import SpanRun, Tree
from loopscan.formats._otel_span import Span
from loopscan.model import MISSING, Call, End, Event, Turn

_NEAR = 50
"""How many spans up a common parent is looked for."""
_ANSWER_TOOL = "final_result"
"""pydantic-ai: the tool through which a run returns a structured answer."""


def events_of(run: SpanRun, tree: Tree) -> Iterator[Event]:
    """The turns of a run in the order they began, and its end if the log holds it."""
    join = _Join(run, tree)
    turns = join.turns()
    for turn in turns:
        turn.run, turn.parent = run.id, run.parent
        turn.session, turn.labels = join.session, join.labels
    yield from turns
    end = _end(run, tree, join)
    if end is not None:
        yield end


def late_end(trace: str, tree: Tree) -> Iterator[End]:
    """The end of a run whose turns were released before the failure of its agent or root span was read."""
    failed = [s for s in tree.spans.values() if s.failed and (s.kind == "agent" or s.parent is None)]
    if failed:
        span = min(failed, key=_place)
        yield End(trace, state_of(span.error), span.error[:200] or None, span.line, final=True, time=span.ended)


def _place(span: Span) -> tuple[float, int]:
    return span.start, span.order


class _Join:
    """The models of a run with their calls, while the tool spans find their place."""

    def __init__(self, run: SpanRun, tree: Tree) -> None:
        self.run, self.tree = run, tree
        self.instead: dict[str, Span] = {}
        self.models = sorted(self._outermost(sorted(run.models, key=_place)), key=_place)
        self.places = [_place(m) for m in self.models]
        self.waiting: dict[str, list[Call]] = defaultdict(list)
        self.taken: set[int] = set()
        self.below: dict[str, list[Span]] = defaultdict(list)
        self.alone: list[tuple[Span, list[Call]]] = []
        spans = [s for s in (run.agent, *self.models, *run.tools, *run.stages) if s]
        root = next(iter([*tree.above(spans[0])][-1:]), None)
        spans += [root] if root else []
        self.session = next((s.session for s in spans if s.session), None)
        labels = {
            "agent": next((s.agent for s in spans if s.agent), None),
            "service": next((s.service for s in spans if s.service), None),
        }
        self.labels = {k: v for k, v in labels.items() if v} or None

    def _outermost(self, models: list[Span]) -> list[Span]:
        """One span per send: two instrumentations of one client record it twice, one inside the other."""
        inside: dict[str, list[Span]] = defaultdict(list)
        for model in models:
            outer = self._model_above(model)
            if outer is not None:
                inside[outer.id].append(model)
        kept = {m.id: m for m in models}
        for outer in reversed(models):
            inner = inside[outer.id]
            if len(inner) == 1:
                _fill(outer, inner[0])
                self.instead[inner[0].id] = outer
                del kept[inner[0].id]
            elif inner:
                del kept[outer.id]
        return list(kept.values())

    def _model_above(self, span: Span) -> Span | None:
        for parent in islice(self.tree.above(span), _NEAR):
            if parent.kind in ("tool", "agent"):
                return None
            if parent.kind == "model":
                return parent
        return None

    def turns(self) -> list[Turn]:
        """All turns of the run."""
        for model in self.models:
            for call in model.calls:
                if call.id is not None:
                    self.waiting[call.id].append(call)
            for parent in islice(self.tree.above(model), _NEAR):
                if parent is self.run.agent:
                    break
                self.below[parent.id].append(model)
        for tool in sorted(self.run.tools, key=_place):
            self._tool(tool)
        self._answers()
        turns = [(_place(m), _turn(m, m.calls)) for m in self.models]
        turns += [(_place(tool), _turn(tool, calls)) for tool, calls in self.alone]
        return [turn for _, turn in sorted(turns, key=lambda t: t[0])]

    def _tool(self, tool: Span) -> None:
        """Give the call of a tool span its place in a turn."""
        ran = tool.calls[0]
        asked = self._by_id(ran)
        if asked is None and self.tree.under_tool(tool):
            return  # the inside of another tool: no model asked for it
        if asked is None:
            model = self._by_parent(tool) or self._by_time(tool)
            if model is None:
                self.alone.append((tool, [ran]))
                return
            asked = _unanswered(model, ran)
            if asked is None:
                model.calls.append(ran)
                return
        asked.result, asked.error = ran.result, ran.error
        if asked.args is None:
            asked.args = ran.args

    def _by_id(self, ran: Call) -> Call | None:
        for call in self.waiting.get(ran.id or "", ()):
            if id(call) not in self.taken:
                self.taken.add(id(call))
                return call
        return None

    def _by_parent(self, tool: Span) -> Span | None:
        for parent in islice(self.tree.above(tool), _NEAR):
            if parent is self.run.agent:
                return None
            if parent.kind == "model":
                return self.instead.get(parent.id, parent)
            near = self.below.get(parent.id)
            if near:
                return next((m for m in reversed(near) if _place(m) < _place(tool)), near[0])
        return None

    def _by_time(self, tool: Span) -> Span | None:
        i = bisect_right(self.places, _place(tool))
        return next((m for m in reversed(self.models[:i]) if not m.failed), None)

    def _answers(self) -> None:
        """Results that no tool span holds, from what the next model call was sent."""
        before: Span | None = None
        for model in self.models:
            for answer in model.answers:
                calls = [*(before.calls if before else ()), *self.waiting.get(answer.id or "", ())]
                asked = next((c for c in calls if c.result is MISSING and answer.id in (None, c.id)), None)
                if asked is not None:
                    asked.result, asked.error = answer.result, answer.error
            before = model


def _unanswered(model: Span, ran: Call) -> Call | None:
    """The call of a model that a tool span without an id answers."""
    calls = [c for c in model.calls if c.result is MISSING and c.name == ran.name]
    return next((c for c in calls if c.args == ran.args), calls[0] if calls else None)


def _fill(outer: Span, inner: Span) -> None:
    """Add to a model span what only the span inside it says."""
    outer.calls = outer.calls or ([] if outer.failed else inner.calls)
    outer.answers = outer.answers or inner.answers
    outer.text = outer.text if outer.text is not None else inner.text
    outer.usage = outer.usage or inner.usage
    outer.model = outer.model or inner.model
    outer.asked = outer.asked or inner.asked


def _turn(span: Span, calls: list[Call]) -> Turn:
    failed = span.kind == "model" and span.failed and not calls
    text = span.text if span.kind == "model" else ""
    turn = Turn("", calls, None if failed else text, failed, usage=span.usage, model=span.model, line=span.line)
    turn.time, turn.written = span.start or None, span.written
    if failed and span.error:
        turn.fault = span.error
    return turn


def _end(run: SpanRun, tree: Tree, join: _Join) -> End | None:
    """How the run ended: what its agent span says, else the root of the trace; None if neither is there."""
    spans = [run.agent] if run.agent else [s for s in tree.spans.values() if s.parent is None]
    closing = max((s for s in spans if s.ended is not None), key=lambda s: s.ended or 0.0, default=None)
    last = join.models[-1] if join.models else None
    if closing is None:
        open_call = last is not None and last.ended is None
        return End(run.id, "cut", "the log ends during a model call", last.line) if last and open_call else None
    stage = max(run.stages, key=_place, default=closing)
    failed = next((s for s in (closing, stage) if s.failed), None)
    end = End(run.id, "done", None, closing.line, final=True, time=closing.ended)
    if failed is not None:
        end.state, end.note = state_of(failed.error), failed.error[:200] or None
    elif last is not None and last.failed and not last.calls:
        end.state, end.note = state_of(last.error), last.error[:200] or None
    elif last is not None and (last.calls or last.asked) and not _answered(closing, last):
        end.state, end.note = "cut", "the last model call asked for tools and nothing follows"
    return end


def _answered(closing: Span, last: Span) -> bool:
    return (closing.kind == "agent" and closing.final) or any(c.name.startswith(_ANSWER_TOOL) for c in last.calls)
