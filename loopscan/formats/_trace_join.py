"""Joining the tool spans of a run to the sends that asked for them."""

from __future__ import annotations

from bisect import bisect_right
from typing import TYPE_CHECKING, Final

from loopscan.decode import canonical
from loopscan.formats._reply import decoded, results_in
from loopscan.formats._trace import OTHER, Span
from loopscan.model import MISSING, Call

if TYPE_CHECKING:
    from collections.abc import Callable

_LOOK_BACK: Final = 64
"""How many sends before a tool span may have asked for it."""
_ROUNDING: Final = 0.002
"""Seconds by which a rounded start may come before its cause (JavaScript clocks count milliseconds)."""


class Join:
    """The sends of one run, in order, waiting for the spans of their calls.

    A call is found by its id; else among the sends that share a parent with the tool span (a step) or are its
    parent; else among all sends that began before it: there the newest unanswered call of the same name and
    arguments, then of the same name. A tool span that no recorded call fits belongs to the newest of those sends.
    """

    def __init__(self, sends: list[Span]) -> None:
        self._sends = sends
        self._by_call: dict[str, Call] = {}
        self._by_span = {s.id: s for s in sends}
        self._by_parent: dict[str, list[Span]] = {}
        for send in sends:
            if send.parent is not None:
                self._by_parent.setdefault(send.parent, []).append(send)
            for call in _calls(send):
                if call.id is not None:
                    self._by_call[call.id] = call

    def take(self, tool: Span) -> None:
        """Give the call of a tool span to the send that asked for it."""
        call = tool.call
        if call is None:
            return
        asked = self._by_call.get(call.id) if call.id is not None else None
        near = self._near(tool)
        if asked is None:
            asked = _newest(near, lambda c: _same_call(c, call) and _same_args(c, call))
        if asked is None:
            asked = _newest(near, lambda c: _same_call(c, call))
        if asked is not None:
            asked.result, asked.error = call.result, call.error
        elif near and tool.kind != OTHER:
            turn = near[-1].turn
            if turn is not None:
                turn.calls.append(call)

    def _near(self, tool: Span) -> list[Span]:
        if tool.parent is not None:
            if tool.parent in self._by_span:
                return [self._by_span[tool.parent]]
            siblings = self._by_parent.get(tool.parent, [])
            if len(siblings) == 1 and tool.start is not None and siblings[0].order[0] <= tool.start + _ROUNDING:
                return siblings
            if before := _before(siblings, tool):
                return before
        return _before(self._sends, tool)

    def recall(self) -> None:
        """Take results that only the input of a later send shows (tools that were not traced)."""
        newest = next((s for s in reversed(self._sends) if s.history is not None), None)
        if newest is None or all(c.result is not MISSING for c in self._by_call.values()):
            return
        for call_id, result, error in results_in(newest.history):
            call = self._by_call.get(call_id)
            if call is not None and call.result is MISSING:
                call.result, call.error = result, error


def _calls(send: Span) -> list[Call]:
    return send.turn.calls if send.turn is not None else []


def _before(sends: list[Span], tool: Span) -> list[Span]:
    if tool.start is None:
        return sends[-_LOOK_BACK:]
    end = bisect_right(sends, tool.start, key=lambda s: s.order[0])
    return sends[max(0, end - _LOOK_BACK) : end]


def _newest(sends: list[Span], fits: Callable[[Call], bool]) -> Call | None:
    for send in reversed(sends):
        for call in _calls(send):
            if call.result is MISSING and fits(call):
                return call
    return None


def _same_call(asked: Call, made: Call) -> bool:
    return asked.name == made.name and (asked.id is None or made.id is None or asked.id == made.id)


def _same_args(asked: Call, made: Call) -> bool:
    return canonical(decoded(asked.args)) == canonical(decoded(made.args))
