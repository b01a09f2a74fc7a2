"""One trace of spans, reduced to the parts that turns are made of."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Final

from loopscan.formats._reply import reply_of
from loopscan.model import Turn

if TYPE_CHECKING:
    from collections.abc import Iterator

    from loopscan.model import JSON, Call

MODEL: Final = "model"
TOOL: Final = "tool"
AGENT: Final = "agent"
TASK: Final = "task"
JUDGE: Final = "judge"
OTHER: Final = "other"


@dataclass(slots=True, eq=False)
class Span:
    """One span.

    `kind`: `MODEL` is a send (`turn` holds it, with the calls the model asked for); `TOOL` a call (`call` holds
    it); `AGENT` a span whose error is its run's; `TASK` a root where an agent loop begins; `JUDGE` a scorer or
    guardrail, whose sends are no turns of the run around it; `OTHER` the rest (with a `call` where it may be that
    of a tool which the model asked for by this name). `start`, `end`: epoch seconds. `fault`: the error's words.
    `history`: the recorded input of a send.
    """

    id: str
    parent: str | None
    kind: str
    line: int
    start: float | None = None
    end: float | None = None
    fault: str | None = None
    turn: Turn | None = None
    call: Call | None = None
    history: JSON = None

    @property
    def order(self) -> tuple[float, int]:
        """Spans of a trace are read in the order they began, whatever the order of the log."""
        return (float("inf") if self.start is None else self.start, self.line)


@dataclass(slots=True, eq=False)
class Trace:
    """The held spans of one trace and what is known of all its runs.

    Only the newest send keeps its history: it repeats that of the sends before it.
    """

    id: str
    spans: dict[str, Span] = field(default_factory=dict)
    session: str | None = None
    labels: dict[str, str] = field(default_factory=dict)
    newest: Span | None = None
    first_task: str | None = None

    def add(self, span: Span) -> None:
        """Hold a span; the same id again replaces it."""
        self.spans[span.id] = span
        if span.history is None:
            return
        old = self.newest
        if old is None or old.id == span.id or old.order <= span.order:
            self.newest = span
        loser = old if self.newest is span else span
        if loser is not None and loser is not self.newest:
            loser.history = None


def sent(span: Span, output: JSON) -> Turn:
    """The turn of a send: its answer, and a failed one where the span has a fault and asked for nothing."""
    reply = reply_of(output)
    turn = Turn("", reply.calls, reply.text, line=span.line, time=span.start)
    turn.written = None if reply.text is None else reply.written
    if span.fault is not None and not turn.calls:
        turn.failed, turn.fault = True, span.fault
    return turn


def ancestors(span: Span, spans: dict[str, Span]) -> Iterator[Span]:
    """The known spans above a span, nearest first; a circle of parents ends it."""
    seen = {span.id}
    while span.parent is not None and span.parent not in seen and span.parent in spans:
        span = spans[span.parent]
        seen.add(span.id)
        yield span
