"""The buffer of traces: what is held, what makes room, what comes late."""

from __future__ import annotations

import pytest

from loopscan.formats import Scan, _traces
from loopscan.formats._trace import MODEL, OTHER, TOOL, Span
from loopscan.formats._traces import Traces
from loopscan.model import Call, Turn


def send(name: str, at: float, parent: str | None = None, history: object = None) -> Span:
    return Span(name, parent, MODEL, int(at), at, at, turn=Turn("", text=name, time=at), history=history)


def test_quiet_traces_make_room_and_late_spans_are_counted(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(_traces, "HELD", 3)
    scan = Scan()
    traces = Traces("x", scan)
    ready = [e for i in range(5) for e in traces.add(f"t{i % 2}" if i < 4 else "t2", send(f"s{i}", i))]
    assert [e.run for e in ready if isinstance(e, Turn)] == ["t0", "t0"]
    assert list(traces.add("t0", send("late", 9))) != []
    assert scan.skips.reopened == 1
    assert {e.run for e in traces.flush()} == {"t0", "t2"}


def test_the_same_span_again_replaces_what_was_known() -> None:
    traces = Traces("x", Scan())
    for text in ("old", "new"):
        span = send("s", 1)
        span.turn = Turn("", text=text)
        assert list(traces.add("t", span)) == []
    assert [e.text for e in traces.flush() if isinstance(e, Turn)] == ["new"]


def test_only_the_newest_history_is_held() -> None:
    traces = Traces("x", Scan())
    spans = [send("b", 2, history=["b"]), send("a", 1, history=["a"]), send("c", 3, history=["c"])]
    for span in spans:
        list(traces.add("t", span))
    assert [s.history for s in spans] == [None, None, ["c"]]


def test_a_tool_that_the_model_did_not_name_belongs_to_the_send_before_it() -> None:
    traces = Traces("x", Scan())
    first, second = send("a", 1), send("b", 5)
    tool = Span("t", "elsewhere", TOOL, 0, 3.0, 3.5, call=Call("f", {}, "r"))
    maybe = Span("m", "elsewhere", OTHER, 0, 3.0, 3.5, call=Call("g", {}, "r"))
    for span in (second, tool, maybe, first):
        list(traces.add("t", span))
    found = [e for e in traces.flush() if isinstance(e, Turn)]
    assert [[c.name for c in t.calls] for t in found] == [["f"], []]


def test_the_newest_unanswered_call_takes_the_result() -> None:
    traces = Traces("x", Scan())
    first, second = send("a", 1), send("b", 2)
    for span in (first, second):
        assert span.turn is not None
        span.turn.calls.append(Call("f", '{"q": 1}'))
        list(traces.add("t", span))
    list(traces.add("t", Span("t", None, TOOL, 0, 3.0, 3.5, call=Call("f", {"q": 1}, "r"))))
    results = [t.calls[0].result for t in traces.flush() if isinstance(t, Turn)]
    assert results[1] == "r"
    assert results[0] is not None
