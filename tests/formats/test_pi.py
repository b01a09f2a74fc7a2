"""pi sessions: aborted and retried sends, steering, forks, recorded dollars."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from loopscan.formats import Scan
from loopscan.model import MISSING, Usage
from tests.formats.sessions import calls, ends, lines, prompts, read, turns

T0 = 1_790_000_000_000
HEADER = {"type": "session", "version": 3, "id": "s1", "timestamp": "2026-09-21T14:13:20Z", "cwd": "/w"}
USAGE = {"input": 10, "output": 5, "cacheRead": 100, "cacheWrite": 20, "cost": {"total": 0.25}}


def entry(at: int, role: str, content: Any, **more: Any) -> dict[str, Any]:
    message = {"role": role, "content": content, "timestamp": T0 + at * 1000, **more}
    return {"type": "message", "id": f"e{at}", "parentId": f"e{at - 1}", "message": message}


def user(at: int, text: str = "do it") -> dict[str, Any]:
    return entry(at, "user", [{"type": "text", "text": text}])


def model(at: int, *content: dict[str, Any], stop: str = "toolUse", **more: Any) -> dict[str, Any]:
    return entry(at, "assistant", list(content), model="m", usage=USAGE, stopReason=stop, **more)


def call(key: str, name: str = "bash", **args: Any) -> dict[str, Any]:
    return {"type": "toolCall", "id": key, "name": name, "arguments": args}


def back(at: int, key: str, text: str, error: bool = False) -> dict[str, Any]:
    content = [{"type": "text", "text": text}]
    return entry(at, "toolResult", content, toolCallId=key, toolName="bash", isError=error)


def say(text: str) -> dict[str, Any]:
    return {"type": "text", "text": text}


def test_turns_results_and_usage(tmp_path: Path) -> None:
    log = [
        HEADER,
        user(1),
        model(2, say("Look."), call("a"), call("b", "read")),
        back(3, "b", "B"),
        back(4, "a", "A", True),
    ]
    found = read(lines(tmp_path / "x.jsonl", *log, model(5, say("Done."), stop="stop")), "pi")
    first, last = turns(found)
    assert calls(found) == [[("bash", "A"), ("read", "B")], []]
    assert (first.calls[0].error, first.text, last.text) == (True, "Look.", "Done.")
    assert first.usage == Usage(130, 5, 100, 20, None, 0.25)
    assert (first.run, first.model, first.line, first.time) == ("s1", "m", 3, T0 / 1000 + 2)
    assert ends(found) == [("done", "stopReason stop")]


def test_a_cost_of_zero_is_an_unknown_price(tmp_path: Path) -> None:
    answer = entry(2, "assistant", [say("hi")], usage=USAGE | {"cost": {"total": 0}})
    (turn,) = turns(read(lines(tmp_path / "x.jsonl", HEADER, user(1), answer), "pi"))
    assert turn.usage is not None
    assert turn.usage.usd is None


@pytest.mark.parametrize(
    ("answer", "failed", "state"),
    [
        (model(2, stop="aborted", errorMessage="Request was aborted."), True, "aborted"),
        (model(2, say("half"), stop="aborted"), False, "aborted"),
        (model(2, stop="error", errorMessage="529 overloaded"), True, "error"),
        (model(2, stop="error", errorMessage="prompt is too long: 201000 tokens"), True, "context_full"),
        (model(2, call("a"), stop="error", errorMessage="terminated"), False, "error"),
        (model(2, say("long"), stop="length"), False, "cut"),
    ],
)
def test_how_a_send_ends(tmp_path: Path, answer: dict[str, Any], failed: bool, state: str) -> None:
    found = read(lines(tmp_path / "x.jsonl", HEADER, user(1), answer, user(3), model(4, say("ok"), stop="stop")), "pi")
    assert [t.failed for t in turns(found)] == [failed, False]
    assert [s for s, _ in ends(found)] == [state, "done"]
    assert prompts(found) == ["e1", "e3"]


def test_an_aborted_empty_send_equals_nothing(tmp_path: Path) -> None:
    (turn,) = turns(
        read(lines(tmp_path / "x.jsonl", HEADER, user(1), model(2, stop="aborted", errorMessage="x")), "pi")
    )
    assert turn.failed
    assert turn.fault is MISSING


def test_an_error_that_the_client_retries_ends_nothing(tmp_path: Path) -> None:
    log = [HEADER, user(1), model(2, stop="error", errorMessage="529"), model(3, say("ok"), stop="stop")]
    found = read(lines(tmp_path / "x.jsonl", *log), "pi")
    assert ends(found) == [("done", "stopReason stop")]
    assert len(turns(found)) == 2


def test_a_message_between_answered_calls_steers(tmp_path: Path) -> None:
    log = [
        HEADER,
        user(1),
        model(2, call("a")),
        back(3, "a", "A"),
        user(4, "only src"),
        model(5, say("ok"), stop="stop"),
    ]
    assert prompts(read(lines(tmp_path / "x.jsonl", *log), "pi")) == ["e1", "e1"]


def test_an_unanswered_call_stays_so(tmp_path: Path) -> None:
    log = [HEADER, user(1), model(2, call("a")), user(4), model(5, say("ok"), stop="stop")]
    found = read(lines(tmp_path / "x.jsonl", *log), "pi")
    assert calls(found) == [[("bash", ...)], []]
    assert prompts(found) == ["e1", "e4"]


def test_what_a_fork_copied_is_no_turn(tmp_path: Path) -> None:
    old = [user(1), model(2, say("old"), stop="stop")]
    fork = HEADER | {"id": "s2", "timestamp": (T0 // 1000 + 10), "parentSession": "/x/s1.jsonl"}
    scan = Scan()
    found = read(lines(tmp_path / "x.jsonl", fork, *old, user(20), model(21, say("new"), stop="stop")), "pi", scan)
    assert [t.text for t in turns(found)] == ["new"]
    assert scan.skips.copies == 1
    assert len(turns(read(tmp_path / "x.jsonl", "pi", Scan(exact=True)))) == 2


def test_a_session_kept_twice_counts_once(tmp_path: Path) -> None:
    log = [HEADER, user(1), model(2, call("a")), back(3, "a", "A"), model(4, say("ok"), stop="stop")]
    scan = Scan()
    first = read(lines(tmp_path / "x.jsonl", *log), "pi", scan)
    again = read(lines(tmp_path / "y.jsonl", *log), "pi", scan)
    assert (len(turns(first)), again) == (2, [])


def test_compaction_and_records_that_are_no_turns(tmp_path: Path) -> None:
    log: list[Any] = [HEADER, user(1), model(2, say("a"), stop="stop"), {"type": "compaction", "summary": "s"}, user(3)]
    log += [entry(4, "bashExecution", None, command="ls"), {"type": "label", "id": "l"}, {"type": "hologram"}]
    scan = Scan()
    found = read(lines(tmp_path / "x.jsonl", *log, "7", model(5, say("b"), stop="stop")), "pi", scan)
    assert [t.compacted for t in turns(found)] == [False, True]
    assert scan.skips.unknown == {"pi:hologram": 1}
    assert scan.skips.total == 1


def test_several_sessions_in_one_input(tmp_path: Path) -> None:
    one = [HEADER, user(1), model(2, say("a"), stop="stop")]
    two = [HEADER | {"id": "s2"}, user(11), model(12, say("b"), stop="stop")]
    assert [t.run for t in turns(read(lines(tmp_path / "x.jsonl", *one, *two), "pi"))] == ["s1", "s2"]


def test_without_a_header_the_file_names_the_run(tmp_path: Path) -> None:
    name = "2026-09-21_0199b3c2-5a10-7c41-9d52-6f1f0a2be770.jsonl"
    (turn,) = turns(read(lines(tmp_path / name, '{"type":"sess', user(1), model(2, call("a"))), "pi"))
    assert turn.run == "0199b3c2-5a10-7c41-9d52-6f1f0a2be770"
