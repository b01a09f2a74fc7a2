"""The runs of one trace: which spans form an agent loop, its turns and how it ended."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from loopscan.formats._endings import NOTE, state_of
from loopscan.formats._trace import AGENT, JUDGE, MODEL, OTHER, TASK, TOOL, Span, Trace, ancestors
from loopscan.formats._trace_join import Join
from loopscan.model import MISSING, End, Event, Turn

if TYPE_CHECKING:
    from collections.abc import Iterator


@dataclass(slots=True)
class _Loop:
    """The spans of one run. `roots`: where it begins."""

    run: str
    parent: str | None
    spans: list[Span] = field(default_factory=list)
    roots: list[Span] = field(default_factory=list)


def runs_of(trace: Trace, spans: list[Span], states_success: bool) -> Iterator[Event]:
    """The turns and ends of the runs that `spans` (of `trace`) hold, run by run.

    What runs inside a tool call is a run of its own (`trace/span`) whose parent is the run that made the call; so
    is a second root task of a trace. Where nothing but tools was traced each of them is a turn. `states_success`:
    a root that ended without an error is the log's word that the run is done.
    """
    index = {s.id: s for s in spans}
    loops: dict[str, _Loop] = {}
    for span in sorted(spans, key=lambda s: s.order):
        root = _root(span, index)
        run = _run_id(trace, root)
        if run not in loops:
            loops[run] = _Loop(run, _parent_run(trace, root, index))
        loops[run].spans.append(span)
        if span is root or (root is None and span.parent is None):
            loops[run].roots.append(span)
        elif root is not None and root not in loops[run].roots:
            loops[run].roots.append(root)
    only_tools = all(s.turn is None for s in spans)
    for loop in loops.values():
        yield from _read(loop, trace, states_success, only_tools)


def _root(span: Span, index: dict[str, Span]) -> Span | None:
    """The span under which the run of `span` begins; None for the run of the trace itself."""
    below = span
    for above in ancestors(span, index):
        if above.kind in (TOOL, JUDGE):
            return above if below.kind in (MODEL, TOOL) else below
        below = above
    return below if below.kind == TASK and below.parent is None else None


def _run_id(trace: Trace, root: Span | None) -> str:
    if root is not None and root.kind == TASK and root.parent is None:
        trace.first_task = trace.first_task or root.id
        if trace.first_task == root.id:
            return trace.id
    return trace.id if root is None else f"{trace.id}/{root.id}"


def _parent_run(trace: Trace, root: Span | None, index: dict[str, Span]) -> str | None:
    if root is None or root.parent is None:
        return None
    caller = root if root.kind in (TOOL, JUDGE) else index.get(root.parent)
    return None if caller is None else _run_id(trace, _root(caller, index))


def _read(loop: _Loop, trace: Trace, states_success: bool, only_tools: bool) -> Iterator[Event]:
    wrappers = {id(w) for s in loop.spans if (w := _wrapper(s, trace.spans)) is not None}
    sends = [s for s in loop.spans if s.turn is not None and id(s) not in wrappers]
    tools = [s for s in loop.spans if s.call is not None]
    if sends:
        join = Join(sends)
        for tool in sorted(tools, key=lambda s: s.kind == OTHER):
            join.take(tool)
        join.recall()
        turns = [s.turn for s in sends if s.turn is not None]
    elif only_tools:
        turns = [Turn(loop.run, [t.call], time=t.start, line=t.line) for t in tools if t.call and t.kind == TOOL]
    else:
        turns = []
    if not turns:
        return
    end = _end(loop, turns, wrappers, states_success)
    for turn in turns:
        turn.run, turn.parent, turn.session = loop.run, loop.parent, trace.session
        turn.labels = trace.labels or None
        yield turn
    if end is not None:
        yield end


def _wrapper(span: Span, spans: dict[str, Span]) -> Span | None:
    """The send that only wraps this one (its calls, text and tokens are this one's again)."""
    if span.turn is None:
        return None
    above = next((a for a in ancestors(span, spans) if a.kind != OTHER), None)
    return above if above is not None and above.kind == MODEL else None


def _end(loop: _Loop, turns: list[Turn], wrappers: set[int], states_success: bool) -> End | None:
    last, newest = turns[-1], max((t.time for t in turns if t.time is not None), default=None)
    faults: list[tuple[str, Span]] = []
    for span in loop.spans:
        speaks = span in loop.roots or span.kind in (AGENT, TASK) or id(span) in wrappers
        went_on = newest is not None and span.end is not None and newest > span.end
        if speaks and span.fault and not went_on:
            faults.append((state_of(span.fault), span))
    if faults:
        state, span = next((f for f in faults if f[0] != "error"), faults[0])
        words = span.fault or state
        bare = last.text is None and not last.calls and last.usage is None and not last.failed
        if bare and state == "error":
            last.failed, last.fault = True, words  # the send left nothing but the run's error
        return End(loop.run, state, words[:NOTE], span.line, final=True, time=span.end)
    root = next((r for r in loop.roots if r.end is not None), None)
    if root is None or last.failed:
        return None
    if last.calls and _is_answer(turns):
        note = f"the call of {last.calls[-1].name} was taken as the answer"
        return End(loop.run, "done", note, root.line, final=True, time=root.end)
    if last.calls or not states_success:
        return None
    return End(loop.run, "done", None, root.line, final=True, time=root.end)


def _is_answer(turns: list[Turn]) -> bool:
    """Whether the last turn's calls are no tool calls but the output (structured output is asked for as a call)."""
    last = turns[-1]
    if any(c.result is not MISSING for c in last.calls):
        return False
    return last.calls[-1].name.startswith("final_result") or any(
        c.result is not MISSING for t in turns[:-1] for c in t.calls
    )
