"""Google ADK sessions: both spellings, invocations, branches, errors that close a run, wrapped results."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from loopscan.formats import Scan
from loopscan.model import MISSING, Usage
from tests.formats.traced import calls, ends, events, turns

USED = {"promptTokenCount": 100, "cachedContentTokenCount": 60, "candidatesTokenCount": 5, "thoughtsTokenCount": 3}


def event(author: str, role: str | None, *parts: dict[str, Any], **more: Any) -> dict[str, Any]:
    content = {"content": {"role": role, "parts": list(parts)}} if role else {}
    return {"invocationId": "i1", "author": author, "timestamp": 1772359200.5, "actions": {}, **content, **more}


def user(text: str = "go", **more: Any) -> dict[str, Any]:
    return event("user", "user", {"text": text}, **more)


def model(*parts: dict[str, Any], **more: Any) -> dict[str, Any]:
    return event("bot", "model", *parts, **{"usageMetadata": USED, "modelVersion": "gemini-x", **more})


def ask(call_id: str, name: str = "look") -> dict[str, Any]:
    return {"functionCall": {"id": call_id, "name": name, "args": {"q": 1}}}


def give(*results: tuple[str, Any], **more: Any) -> dict[str, Any]:
    parts = [{"functionResponse": {"id": i, "name": "look", "response": r}} for i, r in results]
    return event("bot", "user", *parts, **more)


def session(*log: dict[str, Any], name: str = "s1") -> dict[str, Any]:
    return {"id": name, "appName": "kiosk", "userId": "u", "state": {}, "events": list(log)}


def test_parallel_calls_are_one_turn_joined_by_id(tmp_path: Path) -> None:
    fails = {"status": "error", "error_message": "down"}
    found = events(
        "adk-sessions",
        tmp_path / "a.jsonl",
        session(
            user(),
            model(ask("c1"), ask("c2")),
            give(("c2", {"a": 2}), ("c1", fails)),
            model({"text": "thinking", "thought": True}, {"text": "bye"}),
        ),
    )
    assert calls("adk-sessions", found) == [[("look", fails), ("look", {"a": 2})], []]
    first, last = turns(found)
    assert [c.error for c in first.calls] == [True, False]
    assert (first.run, first.session, first.prompt, first.parent) == ("s1", "s1", None, None)
    assert (first.usage, first.model, first.time) == (Usage(100, 8, 60), "gemini-x", 1772359200.5)
    assert (last.text, last.written) == ("bye", len("thinkingbye"))
    assert ends(found) == []


def test_the_id_inside_a_result_stays_for_exact_keys(tmp_path: Path) -> None:
    found = events("adk-sessions", tmp_path / "a.jsonl", session(model(ask("c1")), give(("c1", {"a": 2}))))
    assert turns(found)[0].calls[0].result["id"] == "c1"


def test_snake_case_dumps_and_arrays(tmp_path: Path) -> None:
    log = [
        {
            "invocation_id": "i",
            "author": "bot",
            "timestamp": 1.0,
            "model_version": "g",
            "usage_metadata": {"prompt_token_count": 9},
            "content": {
                "role": "model",
                "parts": [{"function_call": {"id": "c", "name": "look", "args": {}}, "text": None}],
            },
        },
        {
            "invocation_id": "i",
            "author": "bot",
            "content": {
                "role": "user",
                "parts": [{"function_response": {"id": "c", "name": "look", "response": {"result": "x"}}}],
            },
        },
        {
            "invocation_id": "i",
            "author": "bot",
            "error_code": "RuntimeError",
            "error_message": "503 UNAVAILABLE",
            "content": None,
        },
    ]
    found = events("adk-sessions", tmp_path / "a.json", [{"id": "s", "app_name": "kiosk", "events": log}], indent=1)
    assert calls("adk-sessions", found) == [[("look", {"result": "x"})], []]
    assert turns(found)[0].usage == Usage(9)
    assert (turns(found)[1].failed, turns(found)[1].fault) == (True, "RuntimeError: 503 UNAVAILABLE")
    assert ends(found) == [("s", "error", "RuntimeError: 503 UNAVAILABLE")]


def test_a_call_cap_is_an_end_but_no_turn(tmp_path: Path) -> None:
    cap = event(
        "bot",
        None,
        errorCode="LlmCallsLimitExceededError",
        errorMessage="Max number of llm calls limit of `1` exceeded",
    )
    found = events("adk-sessions", tmp_path / "a.jsonl", session(user(), model(ask("c")), give(("c", {})), cap))
    assert len(turns(found)) == 1
    assert [e[1] for e in ends(found)] == ["turn_cap"]


def test_an_error_that_the_run_survived_is_a_failed_turn_only(tmp_path: Path) -> None:
    broken = event("bot", None, errorCode="MALFORMED_FUNCTION_CALL", usageMetadata=USED)
    found = events("adk-sessions", tmp_path / "a.jsonl", session(user(), broken, model({"text": "ok"})))
    assert [(t.failed, t.usage == Usage(100, 8, 60)) for t in turns(found)] == [(True, True), (False, True)]
    assert ends(found) == []
    full = event("bot", None, errorCode="400", errorMessage="The input token count exceeds the maximum")
    assert [e[1] for e in ends(events("adk-sessions", tmp_path / "b.jsonl", session(user(), full)))] == ["context_full"]


def test_invocations_are_prompts_and_each_has_its_own_end(tmp_path: Path) -> None:
    fails = event("bot", None, errorCode="RuntimeError", errorMessage="x")
    second = {"invocationId": "i2"}
    found = events(
        "adk-sessions",
        tmp_path / "a.jsonl",
        session(user(), model({"text": "a"}), fails, user(**second), model({"text": "b"}, **second)),
    )
    assert [(t.prompt, t.text, t.failed) for t in turns(found)] == [
        ("i1", "a", False),
        ("i1", None, True),
        ("i2", "b", False),
    ]
    assert ends(found) == [("s1", "error", "RuntimeError: x")]
    assert [getattr(e, "state", "turn") for e in found] == ["turn", "turn", "error", "turn"]


def test_branches_are_runs_of_their_own(tmp_path: Path) -> None:
    one, two = {"branch": "team.one"}, {"branch": "team.two"}
    found = events(
        "adk-sessions",
        tmp_path / "a.jsonl",
        session(
            user(),
            model(ask("c1"), **one),
            model(ask("c2"), **two),
            give(("c2", {"n": 2}), **two),
            give(("c1", {"n": 1}), **one),
        ),
    )
    assert calls("adk-sessions", found, "s1/team.one") == [[("look", {"n": 1})]]
    assert calls("adk-sessions", found, "s1/team.two") == [[("look", {"n": 2})]]
    assert {t.parent for t in turns(found)} == {"s1"}


def test_records_that_are_no_turns(tmp_path: Path) -> None:
    compaction = event("user", None, actions={"compaction": {"compactedContent": {}}}, invocationId="i9")
    state = event("bot", None, actions={"stateDelta": {"a": 1}})
    partial = model({"text": "by"}, partial=True)
    found = events(
        "adk-sessions", tmp_path / "a.jsonl", session(user(), compaction, state, partial, model({"text": "bye"}))
    )
    assert [(t.text, t.compacted, t.prompt) for t in turns(found)] == [("bye", True, None)]


def test_grown_sessions_and_damage(tmp_path: Path) -> None:
    scan = Scan()
    first, second = model({"text": "a"}, id="e1"), model(ask("c"), id="e2")
    events("adk-sessions", tmp_path / "a.jsonl", session(first), scan=scan)
    grown = events("adk-sessions", tmp_path / "b.jsonl", session(first, second), {"id": 1}, scan=scan)
    assert [t.calls[0].result for t in turns(grown)] == [MISSING]
    assert (scan.skips.copies, scan.skips.total) == (1, 1)
