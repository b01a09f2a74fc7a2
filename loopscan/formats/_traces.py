"""The buffer that every log of spans needs: open traces, each held until it is known to be whole.

Spans of a trace come in any order and traces interleave. Where a log is written in the order of ends, a root says
that all below it is there; elsewhere (exports come unsorted) only the end of the input does.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from loopscan.formats._trace import Span, Trace, ancestors
from loopscan.formats._trace_runs import runs_of

if TYPE_CHECKING:
    from collections.abc import Iterator

    from loopscan.formats import Scan
    from loopscan.model import Event

HELD: Final = 20_000
"""How many spans are held before the traces that were quiet the longest are read as they are."""


class Traces:
    """The open traces of one input.

    `states_success`: whether a root that ended without an error is the log's word that the run is done.
    """

    def __init__(self, name: str, scan: Scan, states_success: bool = True) -> None:
        self._format, self._scan, self._states_success = name, scan, states_success
        self._open: dict[str, Trace] = {}
        self._released: set[int] = set()
        self._held = 0

    def trace(self, trace_id: str) -> Trace:
        """The open trace of this id."""
        trace = self._open.pop(trace_id, None)
        if trace is None:
            trace = Trace(trace_id)
            if hash(trace_id) in self._released:
                self._scan.skips.reopened += 1
        self._open[trace_id] = trace
        return trace

    def add(self, trace_id: str, span: Span) -> Iterator[Event]:
        """Hold a span; yields the turns of traces that have to make room."""
        trace = self.trace(trace_id)
        self._held += span.id not in trace.spans
        trace.add(span)
        while self._held > HELD or len(self._open) > HELD:
            yield from self.release(next(iter(self._open)))

    def release(self, trace_id: str) -> Iterator[Event]:
        """All of a trace, which is then forgotten."""
        trace = self._open.pop(trace_id, None)
        if trace is not None:
            self._released.add(hash(trace_id))
            yield from self._read(trace, list(trace.spans.values()))

    def release_under(self, trace_id: str, root: Span) -> Iterator[Event]:
        """What stands under a root that has ended; the trace stays open for further roots."""
        trace = self.trace(trace_id)
        spans = trace.spans
        yield from self._read(trace, [s for s in spans.values() if s is root or root in ancestors(s, spans)])

    def flush(self) -> Iterator[Event]:
        """The input is over: all that is held."""
        while self._open:
            yield from self.release(next(iter(self._open)))

    def _read(self, trace: Trace, spans: list[Span]) -> Iterator[Event]:
        fresh = [s for s in spans if not self._scan.copy_of(self._format, trace.id, s.id)]
        yield from runs_of(trace, fresh, self._states_success)
        for span in spans:
            del trace.spans[span.id]
        self._held -= len(spans)
        trace.newest = None
