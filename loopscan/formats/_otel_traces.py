"""The traces of one input while their spans arrive: roots come last, runs interleave, spans repeat."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from typing import Final

from loopscan.formats import Scan
from loopscan.formats._otel_runs import Tree, runs_of
from loopscan.formats._otel_span import RawSpan, Span, extract
from loopscan.formats._otel_turns import events_of, late_end
from loopscan.model import Event

QUIET: Final = 2000
"""A trace whose root has ended is released after so many spans of other traces: late ones still find it open."""
HELD: Final = 64 << 20
"""Characters held in open traces, roughly, before the one that has been quiet longest is released."""

_STRANGE: Final = (
    "no GenAI span: {:,} span{} without attributes of a model, a tool or an agent (gen_ai.*, llm.*, ai.*); turn on the "
    "GenAI instrumentation of the agent, or name the files that its spans are in"
)


@dataclass(slots=True)
class _Trace:
    spans: dict[str, Span] = field(default_factory=dict)
    latest: int = 0
    size: int = 0
    ended: bool = False


class Traces:
    """Add spans in log order; take out the events of the traces that are complete."""

    def __init__(self, format_name: str, scan: Scan, quiet: int = QUIET, held: int = HELD) -> None:
        self._format, self._scan, self._quiet, self._held = format_name, scan, quiet, held
        self._open: dict[str, _Trace] = {}  # both in order of their latest span
        self._ended: dict[str, _Trace] = {}
        self._order = 0
        self._known = 0
        self._size = 0

    def add(self, raw: RawSpan) -> Iterator[Event]:
        """Take in a span; yields what is ready to go."""
        self._order += 1
        span = extract(raw, self._order)
        self._known += span.kind != "step"
        trace = self._open.pop(span.trace, None) or self._ended.pop(span.trace, None) or _Trace()
        known = trace.spans.get(span.id)
        if known is None or (span.ended is not None) >= (known.ended is not None):
            trace.spans[span.id] = span
            grown = span.size - (known.size if known else 0)
            trace.size += grown
            self._size += grown
        trace.latest = self._order
        trace.ended = trace.ended or (span.parent is None and span.ended is not None)
        (self._ended if trace.ended else self._open)[span.trace] = trace
        yield from self._ready()

    def _ready(self) -> Iterator[Event]:
        while self._ended and self._order - next(iter(self._ended.values())).latest > self._quiet:
            yield from self._release(self._ended)
        while self._size > self._held:
            yield from self._release(self._ended or self._open)

    def flush(self) -> Iterator[Event]:
        """The rest, at the end of the input."""
        for traces in (self._ended, self._open):
            while traces:
                yield from self._release(traces)

    def tell_strange(self, file: str) -> None:
        """Say it of an input with spans none of which is of a model, a tool or an agent."""
        if self._order and not self._known:
            self._scan.skips.nothing(file, _STRANGE.format(self._order, "" if self._order == 1 else "s"))

    def _release(self, traces: dict[str, _Trace]) -> Iterator[Event]:
        name = next(iter(traces))
        trace = traces.pop(name)
        self._size -= trace.size
        yield from released(self._format, name, trace.spans.values(), self._scan, trace.ended)


def released(format_name: str, trace: str, spans: Iterable[Span], scan: Scan, ended: bool = True) -> Iterator[Event]:
    """The events of one trace, without the spans that another file of the scan held already.

    `ended`: its root has ended. If not, the rest of it may come later, in the same file or the next.
    """
    kept = {
        s.id: s for s in spans if s.kind not in ("model", "tool") or not scan.copy_of(format_name, "span", trace, s.id)
    }
    tree, begun = Tree(kept), scan.memory.setdefault(format_name, set())
    scan.memory.setdefault(f"{format_name} ids", set()).add(trace)
    runs = runs_of(trace, tree, trace in begun)
    for run in runs:
        yield from events_of(run, tree)
    if not ended:
        begun.add(trace)
    elif not runs and trace in begun:
        yield from late_end(trace, tree)
