"""Which run each span of a trace belongs to: that of its nearest agent span, else the trace's own.

Some agent spans are no loop of their own: a node of a graph that happens to be called "agent" holds one model call,
and its tools run outside of it; agents that hand the conversation over to each other take turns in one loop.
Both belong to the run around them.
"""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Iterator
from dataclasses import dataclass, field
from itertools import chain
from typing import Final

from loopscan.formats._otel_span import Span

_HANDS_OVER: Final = re.compile(r"transfer|hand_?off")
_NO_WORD: Final = re.compile(r"[^a-z0-9]+")


@dataclass(slots=True)
class SpanRun:
    """One run of a trace. `agent` None: what no agent span owns. `stages`: agent spans that were taken in."""

    id: str
    agent: Span | None
    models: list[Span] = field(default_factory=list)
    tools: list[Span] = field(default_factory=list)
    stages: list[Span] = field(default_factory=list)
    parent: str | None = None

    @property
    def began(self) -> tuple[float, int]:
        """Its first span, for the order of runs."""
        return min((s.start, s.order) for s in (*self.models, *self.tools))


class Tree:
    """The spans of one trace by id, with the ways up from each."""

    def __init__(self, spans: dict[str, Span]) -> None:
        self.spans = spans
        self._around: dict[str, tuple[Span | None, bool]] = {}

    def above(self, span: Span) -> Iterator[Span]:
        """The ancestors of a span, the parent first; a circle of parents ends where it closes."""
        seen = {span.id}
        while span.parent is not None and span.parent not in seen:
            parent = self.spans.get(span.parent)
            if parent is None:
                return
            seen.add(parent.id)
            yield parent
            span = parent

    def agent(self, span: Span) -> Span | None:
        """The nearest agent span above."""
        return self._known(span)[0]

    def under_tool(self, span: Span) -> bool:
        """Whether a tool stands between the span and that agent: then a tool started it."""
        return self._known(span)[1]

    def _known(self, span: Span) -> tuple[Span | None, bool]:
        way: list[Span] = []
        for above in chain((span,), self.above(span)):
            if above.id in self._around:
                break
            way.append(above)
        for below in reversed(way):
            parent = self.spans.get(below.parent or "")
            self._around[below.id] = self._seen_from_below(parent) if parent else (None, False)
        return self._around[span.id]

    def _seen_from_below(self, parent: Span) -> tuple[Span | None, bool]:
        agent, under_tool = self._around.get(parent.id, (None, False))
        if parent.kind == "agent" or (parent.kind == "operation" and under_tool):
            return parent, False
        return agent, under_tool or parent.kind == "tool"


def runs_of(trace: str, tree: Tree, begun: bool = False) -> list[SpanRun]:
    """The runs of a trace that hold a model or tool span, in the order they began.

    `begun`: earlier turns of the trace were read under its plain name, before its agent spans were.
    """
    runs: dict[str | None, SpanRun] = {}
    taken_in = _taken_in(tree)
    for span in tree.spans.values():
        if span.kind in ("model", "tool"):
            agent = tree.agent(span)
            stages = []
            while agent is not None and agent.id in taken_in:
                stages.append(agent)
                agent = tree.agent(agent)
            run = runs.setdefault(agent.id if agent else None, SpanRun(trace, agent))
            (run.models if span.kind == "model" else run.tools).append(span)
            run.stages += [s for s in stages if s not in run.stages]
    _name(trace, tree, runs, begun)
    return sorted(runs.values(), key=lambda r: r.began)


def _name(trace: str, tree: Tree, runs: dict[str | None, SpanRun], begun: bool) -> None:
    """A run is called after its trace; where the trace holds several, also after its agent span."""
    outer: dict[str | None, SpanRun | None] = {}
    for key, run in runs.items():
        agent = tree.agent(run.agent) if run.agent else None
        while agent is not None and agent.id not in runs:
            agent = tree.agent(agent)
        outer[key] = runs.get(_id(agent)) if run.agent else None
    outermost = [key for key, run in outer.items() if run is None]
    for key, run in runs.items():
        only = len(runs) == 1 or (begun and outermost == [key])
        run.id = trace if key is None or only else f"{trace}/{key}"
    for key, above in outer.items():
        runs[key].parent = above.id if above else None


def _taken_in(tree: Tree) -> set[str]:
    """The agent spans that belong to the run around them."""
    owned: dict[str | None, list[Span]] = defaultdict(list)
    for span in tree.spans.values():
        if span.kind in ("model", "tool"):
            owned[_id(tree.agent(span))].append(span)
    groups: dict[str | None, list[Span]] = defaultdict(list)
    for span in tree.spans.values():
        if span.kind == "agent" and span.id in owned and not tree.under_tool(span):
            groups[span.parent].append(span)
    agents = {_plain(s.agent) for s in tree.spans.values() if s.kind == "agent" and s.agent}
    taken: set[str] = set()
    for group in groups.values():
        around = owned[_id(tree.agent(group[0]))]
        steps = any(s.kind == "tool" for s in around) and any(_is_step(owned[a.id]) for a in group)
        relay = len(group) > 1 and any(_hands_over(owned[a.id], agents) for a in group)
        if steps or relay or _hands_over(around, agents):
            taken |= {a.id for a in group}
    return taken


def _id(span: Span | None) -> str | None:
    return span.id if span else None


def _is_step(spans: list[Span]) -> bool:
    """One that asks for tools and runs none."""
    return any(s.calls for s in spans) and all(s.kind == "model" for s in spans)


def _hands_over(spans: list[Span], agents: set[str]) -> bool:
    """Whether one of the calls passes the conversation to another agent of the trace, by name."""
    calls = (c for s in spans for c in s.calls if _HANDS_OVER.match(_plain(c.name)))
    return any(agent in _plain(f"{c.name} {c.args}") for c in calls for agent in agents)


def _plain(name: str) -> str:
    return _NO_WORD.sub("_", name.lower())
