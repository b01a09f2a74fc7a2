"""LiteLLM payloads: with a session, and without one as is the rule."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from loopscan import Report, audit
from loopscan.formats import Scan
from loopscan.model import MISSING, Usage
from tests.conftest import SAMPLES
from tests.formats.logs import read_log, told, turns

NAME = "litellm"
ASK = [{"role": "system", "content": "s"}, {"role": "user", "content": "do it"}]
counter = iter(range(10_000))


def asks(call_id: str) -> dict[str, Any]:
    return {"role": "assistant", "tool_calls": [{"id": call_id, "function": {"name": "f", "arguments": "{}"}}]}


def gives(call_id: str, content: str) -> dict[str, Any]:
    return {"role": "tool", "tool_call_id": call_id, "content": content}


SAYS = {"role": "assistant", "content": "end"}


def payload(messages: Any, reply: dict[str, Any] | None, trace: str | None = None, **more: Any) -> dict[str, Any]:
    number = next(counter)
    usage = {"prompt_tokens": 100, "completion_tokens": 7, "prompt_tokens_details": {"cached_tokens": 60}}
    reason = "tool_calls" if reply and reply.get("tool_calls") else "stop"
    return {
        "id": f"chatcmpl-{number}",
        "litellm_call_id": f"call-{number}",
        "trace_id": trace or f"{number:08x}-0000-4000-8000-000000000000",
        "call_type": "acompletion",
        "status": "success" if reply else "failure",
        "startTime": 1790000000.5 + number,
        "model": "gpt",
        "prompt_tokens": 100 if reply else 0,
        "completion_tokens": 7 if reply else 0,
        "response_cost": 0.01 if reply else 0.0,
        "messages": messages,
        "response": {"choices": [{"finish_reason": reason, "message": reply}], "usage": usage} if reply else {},
        "error_str": None if reply else "RateLimitError: 429",
        **more,
    }


SECOND = [*ASK, asks("1"), gives("1", "r")]
THIRD = [*SECOND, asks("2"), gives("2", "r2")]
WANT = [[("f", "{}", "r")], [("f", "{}", "r2")], "end", "done"]


def test_a_session_named_by_the_caller(tmp_path: Path) -> None:
    """Equal messages in two sessions stay two runs; a history carried into a new session is no part of the old."""
    log = [
        payload(ASK, asks("1"), "conv-a"),
        payload(ASK, asks("1"), "conv-b"),
        payload(SECOND, asks("2"), "conv-a"),
        payload(SECOND, SAYS, "conv-c"),
        payload(THIRD, SAYS, "conv-a"),
    ]
    assert told(read_log(tmp_path / "x.jsonl", NAME, *log)) == {
        "conv-a": WANT,
        "conv-b": [[("f", "{}", "MISSING")]],
        "conv-c": ["end", "done"],
    }


def test_no_session(tmp_path: Path) -> None:
    log = [payload(ASK, asks("1")), payload(SECOND, asks("2")), payload(THIRD, SAYS)]
    events = read_log(tmp_path / "x.jsonl", NAME, *log)
    assert told(events) == {log[0]["trace_id"]: WANT}
    assert turns(events)[0].usage == Usage(100, 7, 60, usd=0.01)


def test_a_generated_trace_id_that_later_lines_repeat_is_the_run(tmp_path: Path) -> None:
    one, two = "aaaaaaaa-0000-4000-8000-000000000000", "bbbbbbbb-0000-4000-8000-000000000000"
    log = [payload(ASK, asks("1"), one), payload(SECOND, asks("2"), one), payload(THIRD, SAYS, two)]
    assert list(told(read_log(tmp_path / "x.jsonl", NAME, *log))) == [one, two]


def test_a_failure_and_its_retries(tmp_path: Path) -> None:
    log = [payload(ASK, asks("1")), payload(SECOND, None), payload(SECOND, None), payload(SECOND, SAYS)]
    fault = {"fault": "RateLimitError: 429"}
    events = read_log(tmp_path / "x.jsonl", NAME, *log)
    assert told(events) == {log[0]["trace_id"]: [[("f", "{}", "r")], fault, fault, "end", "done"]}
    assert [t.usage is None for t in turns(events)] == [False, True, True, False]


def test_a_run_that_never_got_an_answer_ends_in_its_fault(tmp_path: Path) -> None:
    last = turns(read_log(tmp_path / "x.jsonl", NAME, payload(ASK, None, error_str=None)))[-1]
    assert (last.failed, last.fault is MISSING, last.text) == (True, True, None)


def test_redacted_content_is_not_captured(tmp_path: Path) -> None:
    hidden = [{"role": "user", "content": "redacted-by-litellm"}]
    log = [payload(hidden, {"role": "assistant", "content": "redacted-by-litellm"}) for _ in range(3)]
    found = turns(read_log(tmp_path / "x.jsonl", NAME, *log))
    assert [t.text for t in found] == [None] * 3
    assert len({t.run for t in found}) == 3


def test_what_was_not_sent_is_not_paid(tmp_path: Path) -> None:
    log = [
        payload(ASK, SAYS, cache_hit=True, response_cost=0.0),
        payload(ASK, SAYS, call_type="aembedding"),
        {
            "standard_logging_object": payload(
                ASK, SAYS, request_tags=["a", "b"], metadata={"user_api_key_team_alias": "t"}
            )
        },
    ]
    log.append(log[2])
    scan = Scan()
    found = turns(read_log(tmp_path / "x.jsonl", NAME, *log, scan=scan))
    assert [t.usage for t in found] == [Usage(0, 0, usd=0.0), Usage(100, 7, 60, usd=0.01)]
    assert found[1].labels == {"tags": "a,b", "team": "t"}
    assert scan.skips.copies == 1


@pytest.mark.parametrize("messages", [None, "text", {}, [None, 3], [{"role": {}}]])
def test_odd_messages(messages: Any, tmp_path: Path) -> None:
    assert len(turns(read_log(tmp_path / "x.jsonl", NAME, payload(messages, SAYS), {"x": 1}))) == 1


def test_a_store_with_a_file_per_call_gives_the_same_runs(tmp_path: Path) -> None:
    lines = (SAMPLES / "litellm" / "calls.jsonl").read_bytes().splitlines()
    for i, line in enumerate(lines):
        (tmp_path / f"{i:03}.json").write_bytes(line + b"\n")

    def figures(report: Report) -> set[tuple[object, ...]]:
        return {(r.run, r.turns, r.calls, r.state, r.verdict, r.fired, r.usd) for r in report.runs}

    parts, whole = audit(tmp_path), audit(SAMPLES / "litellm" / "calls.jsonl")
    assert figures(parts) == figures(whole)
    assert all(r.source for r in parts.runs)
