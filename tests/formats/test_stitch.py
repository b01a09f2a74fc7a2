"""Runs out of single sends: what continues a run, what starts one, and how little is kept."""

from __future__ import annotations

from typing import Any

import pytest

from loopscan.formats import _stitch
from loopscan.formats._marks import mark, prefixes
from loopscan.formats._stitch import Send, Stitcher, looks_fresh
from loopscan.model import MISSING, Call, End, Event, Turn


def user(text: str) -> dict[str, Any]:
    return {"role": "user", "content": text}


def asks(call_id: str) -> dict[str, Any]:
    return {
        "role": "assistant",
        "content": None,
        "tool_calls": [{"id": call_id, "function": {"name": "f", "arguments": "{}"}}],
    }


def gives(call_id: str) -> dict[str, Any]:
    return {"role": "tool", "tool_call_id": call_id, "content": f"r{call_id}"}


def turn(*ids: str, failed: bool = False) -> Turn:
    return Turn("", [Call("f", {}, id=i) for i in ids], "" if ids else "end", failed)


def take(stitcher: Stitcher, *sends: Send) -> list[Event]:
    found: list[Event] = []
    for number, send in enumerate(sends, 1):
        send.line = number
        found += stitcher.take(send, f"line {number}")
    return [*found, *stitcher.flush()]


def runs(events: list[Event]) -> dict[str, list[Any]]:
    told: dict[str, list[Any]] = {}
    for event in events:
        if isinstance(event, Turn):
            what: Any = ["?" if c.result is MISSING else c.result for c in event.calls]
        else:
            what = event.state
        told.setdefault(event.run, []).append(what)
    return told


A = [user("a")]
A2 = [*A, asks("1"), gives("1")]
A3 = [*A2, asks("2"), gives("2")]


def test_the_longest_known_history_wins() -> None:
    events = take(Stitcher(), Send(A, turn("1")), Send(A2, turn("2")), Send(A, turn("x")), Send(A3, turn()))
    assert runs(events) == {"line 1": [["r1"], ["r2"], []], "line 3": [["?"]]}


def test_the_same_messages_again_are_a_retry_only_after_a_failure() -> None:
    again = take(Stitcher(), Send(A, turn(failed=True)), Send(A, turn("1")))
    assert list(runs(again)) == ["line 1"]
    other = take(Stitcher(), Send(A, turn("1")), Send(A, turn("1")))
    assert list(runs(other)) == ["line 1", "line 2"]


def test_an_unknown_history_is_no_turn() -> None:
    """A log that begins in the middle of a run: its earlier sends are not in the log."""
    assert runs(take(Stitcher(), Send(A3, turn("3")))) == {"line 1": [["?"]]}


def test_a_named_run_survives_compaction() -> None:
    short = [user("summary"), asks("2"), gives("2")]
    events = take(Stitcher(), *[Send(m, turn(n), run="r") for m, n in ((A, "1"), (A2, "2"), (short, "3"))])
    assert runs(events) == {"r": [["r1"], ["r2"], ["?"]]}
    assert [e.compacted for e in events if isinstance(e, Turn)] == [False, False, True]


def test_a_run_without_a_name_does_not() -> None:
    short = [user("summary"), asks("2"), gives("2")]
    events = take(Stitcher(), Send(A, turn("1")), Send(A2, turn("2")), Send(short, turn("3")))
    assert list(runs(events)) == ["line 1", "line 3"]


def test_runs_go_on_in_the_next_file() -> None:
    stitcher = Stitcher()
    first = take(stitcher, Send(A, turn("1"), End("", "done")))
    assert runs(first) == {"line 1": [["?"], "done"]}
    assert runs(list(stitcher.take(Send(A2, turn()), "other file"))) == {"line 1": [[]]}


def test_only_so_many_runs_stay_open(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(_stitch, "OPEN_RUNS", 2)
    stitcher = Stitcher()
    sends = [Send([user(str(i))], turn(str(i))) for i in range(4)]
    events = [e for i, s in enumerate(sends) for e in stitcher.take(s, str(i))]
    assert runs(events) == {"0": [["?"]], "1": [["?"]]}
    assert len(stitcher.threads) == len(stitcher.by_key) == len(stitcher.pending) == 2


def test_equal_prompts_by_the_thousand_stay_cheap() -> None:
    stitcher = Stitcher()
    events = take(stitcher, *[Send(A, turn()) for _ in range(5000)])
    assert len(runs(events)) == 5000
    assert [len(peers) for peers in stitcher.by_key.values()] == [_stitch.PEERS]


def test_nothing_but_hashes_is_kept_of_an_answered_run() -> None:
    stitcher = Stitcher()
    take(stitcher, Send(A, turn("1")), Send(A2, turn(), reply_id="x"))
    (thread,) = stitcher.threads.values()
    assert thread.held is None
    assert (thread.run, thread.sent, thread.reply_id) == ("line 1", 3, "x")


SAME = [
    (user("x"), {"role": "user", "content": [{"type": "text", "text": "x", "cache_control": {"type": "ephemeral"}}]}),
    (
        {"role": "tool", "tool_call_id": "1", "content": "x"},
        {"role": "tool", "tool_call_id": "1", "content": "x", "name": None},
    ),
    (
        {"role": "assistant", "content": [{"type": "thinking", "thinking": "hm"}, {"type": "text", "text": "x"}]},
        {"role": "assistant", "content": [{"type": "text", "text": "x"}]},
    ),
    (
        {"type": "function_call", "call_id": "1", "name": "f", "arguments": "{}", "status": "completed"},
        {"type": "function_call", "call_id": "1", "name": "f", "arguments": "{}", "status": None},
    ),
    (
        {
            "role": "user",
            "content": [{"type": "tool_result", "tool_use_id": "1", "content": "x"}, {"type": "text", "text": "y"}],
        },
        {
            "role": "user",
            "content": [
                {"type": "tool_result", "tool_use_id": "1", "content": [{"type": "text", "text": "x"}]},
                {"type": "text", "text": "y", "cache_control": {"type": "ephemeral"}},
            ],
        },
    ),
]
OTHER = [
    (user("x"), user("y")),
    (user("x"), {"role": "assistant", "content": "x"}),
    (asks("1"), asks("2")),
    (gives("1"), {**gives("1"), "tool_call_id": "2"}),
    (
        {"type": "function_call", "call_id": "1", "arguments": "{}"},
        {"type": "function_call", "call_id": "1", "arguments": "[]"},
    ),
]


@pytest.mark.parametrize(("one", "two"), SAME)
def test_marks_that_stay(one: Any, two: Any) -> None:
    assert mark(one) == mark(two)


@pytest.mark.parametrize(("one", "two"), OTHER)
def test_marks_that_differ(one: Any, two: Any) -> None:
    assert mark(one) != mark(two)


def test_prefixes_of_rubbish() -> None:
    assert len(prefixes([None, 3, "x", [], {}, {"role": []}, {"role": {}, "content": {"a": [1]}}])) == 8


@pytest.mark.parametrize(
    ("name", "fresh"),
    [
        ("0199e2c4-1a2b-7000-8000-000000000001", True),
        ("a" * 32, True),
        ("conv-7", False),
        ("deadbeef", False),
        ("", False),
    ],
)
def test_generated_names(name: str, fresh: bool) -> None:
    assert looks_fresh(name) is fresh
