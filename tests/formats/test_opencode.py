"""OpenCode: databases of 1.x and 2.x, the file store, exports and streams."""

from __future__ import annotations

import json
import sqlite3
from pathlib import Path
from typing import Any

import pytest

from loopscan.blob import Blob
from loopscan.formats import Scan, detect, load
from loopscan.model import MISSING, End, Event, Turn, Usage

FIRST = """
CREATE TABLE `session` (`id` text PRIMARY KEY, `parent_id` text, `title` text, `time_created` integer);
CREATE TABLE `message` (`id` text PRIMARY KEY, `session_id` text, `time_created` integer, `data` text);
CREATE TABLE `part` (`id` text PRIMARY KEY, `message_id` text, `session_id` text, `time_created` integer, `data` text);
"""
SECOND = """
CREATE TABLE `session_v2` (`id` text PRIMARY KEY, `parent_id` text, `fork_session_id` text, `time_created` integer);
CREATE TABLE `session_message` (`id` text PRIMARY KEY, `session_id` text, `type` text, `seq` integer,
  `time_created` integer, `data` text);
"""
T0 = 1_790_000_000_000


def events(path: Path, scan: Scan | None = None) -> list[Event]:
    blob = Blob(str(path), path)
    try:
        assert detect(blob.head) == "opencode"
        return list(load("opencode").read(blob, scan or Scan()))
    finally:
        blob.close()


def turns(found: list[Event]) -> list[Turn]:
    return [e for e in found if isinstance(e, Turn)]


def ends(found: list[Event]) -> list[tuple[str, str | None]]:
    return [(e.state, e.note) for e in found if isinstance(e, End)]


def user(name: str, at: int = 0, *parts: dict[str, Any], **extra: Any) -> tuple[dict[str, Any], list[dict[str, Any]]]:
    info = {"id": name, "role": "user", "time": {"created": T0 + at}, "agent": "build", **extra}
    return info, list(parts) or [{"type": "text", "text": "do it"}]


def reply(name: str, at: int = 0, *parts: dict[str, Any], **extra: Any) -> tuple[dict[str, Any], list[dict[str, Any]]]:
    info = {"id": name, "role": "assistant", "time": {"created": T0 + at, "completed": T0 + at + 9}, "modelID": "m1"}
    tokens = {"input": 100, "output": 10, "reasoning": 0, "cache": {"read": 50, "write": 5}}
    return {**info, "cost": 0.02, "tokens": tokens, "finish": "stop", **extra}, list(parts)


def tool(command: str, output: str | None, call: str = "c", status: str = "completed", **state: Any) -> dict[str, Any]:
    given = {"status": status, "input": {"command": command}, **state}
    if output is not None:
        given["output"] = output
    return {"type": "tool", "tool": "bash", "callID": call, "state": given}


def text(words: str, **extra: Any) -> dict[str, Any]:
    return {"type": "text", "text": words, **extra}


START = {"type": "step-start"}


def finish(input_: int = 100, output: int = 10, reason: str = "tool-calls", **tokens: Any) -> dict[str, Any]:
    counted = {"input": input_, "output": output, "cache": {"read": 0, "write": 0}, **tokens}
    return {"type": "step-finish", "reason": reason, "tokens": counted, "cost": 0.01}


def export(tmp_path: Path, *messages: tuple[dict[str, Any], list[dict[str, Any]]], **info: Any) -> Path:
    about = {"id": "ses_1", "directory": "/w", "time": {"created": T0 - 5, "updated": T0}, **info}
    document = {"info": about, "messages": [{"info": i, "parts": p} for i, p in messages]}
    path = tmp_path / "export.json"
    path.write_text(json.dumps(document, indent=1))
    return path


def first_database(path: Path, *sessions: tuple[str, str | None, list[Any]]) -> Path:
    with sqlite3.connect(path) as db:
        db.executescript(FIRST)
        for run, parent, messages in sessions:
            db.execute("INSERT INTO session VALUES (?, ?, 't', ?)", (run, parent, T0 - 5))
            for number, (info, parts) in enumerate(messages):
                data = {k: v for k, v in info.items() if k != "id"}
                row = (info["id"], run, T0 + number, json.dumps(data))
                db.execute("INSERT INTO message VALUES (?, ?, ?, ?)", row)
                for k, part in enumerate(parts):
                    place = (f"prt_{info['id']}_{k}", info["id"], run, T0 + k, json.dumps(part))
                    db.execute("INSERT INTO part VALUES (?, ?, ?, ?, ?)", place)
    db.close()
    return path


def second_database(path: Path, *sessions: tuple[str, str | None, list[tuple[str, dict[str, Any]]]]) -> Path:
    with sqlite3.connect(path) as db:
        db.executescript(SECOND)
        for run, parent, rows in sessions:
            db.execute("INSERT INTO session_v2 VALUES (?, ?, NULL, ?)", (run, parent, T0 - 5))
            for seq, (kind, data) in enumerate(rows):
                data = {"time": {"created": T0 + seq}, **data}
                row = (f"msg_{run}_{seq}", run, kind, seq, T0 + seq, json.dumps(data))
                db.execute("INSERT INTO session_message VALUES (?, ?, ?, ?, ?, ?)", row)
    db.close()
    return path


def answer(*content: dict[str, Any], **extra: Any) -> tuple[str, dict[str, Any]]:
    tokens = {"input": 20, "output": 3, "reasoning": 4, "cache": {"read": 7, "write": 0}}
    return "assistant", {"model": {"id": "m2"}, "content": list(content), "tokens": tokens, "finish": "stop", **extra}


def shell(command: str, output: str, **metadata: Any) -> dict[str, Any]:
    content = [{"type": "text", "text": output}]
    state = {"status": "completed", "input": {"command": command}, "content": content, "metadata": metadata}
    return {"type": "tool", "id": "c", "name": "shell", "state": state}


def test_one_message_with_two_steps_is_two_turns(tmp_path: Path) -> None:
    message = reply("m2", 1, START, tool("ls", "a"), finish(100), START, text("done"), finish(120, reason="stop"))
    found = events(export(tmp_path, user("m1"), message))
    assert [(t.usage.input, len(t.calls), t.text) for t in turns(found) if t.usage] == [(100, 1, ""), (120, 0, "done")]
    assert ends(found) == [("done", "stop")]


def test_content_before_the_first_step_start_belongs_to_the_first_step(tmp_path: Path) -> None:
    found = events(export(tmp_path, user("m1"), reply("m2", 1, tool("ls", "a"), START, finish(), text("x"))))
    assert [(len(t.calls), t.text) for t in turns(found)] == [(1, "x")]


def test_usage_of_the_step_counts_once_and_classes_are_disjoint(tmp_path: Path) -> None:
    step = finish(100, 10, reasoning=4, cache={"read": 50, "write": 5})
    found = events(export(tmp_path, user("m1"), reply("m2", 1, START, text("x"), step)))
    assert turns(found)[0].usage == Usage(155, 14, 50, 5, usd=0.01)


@pytest.mark.parametrize(("total", "output"), [(None, 14), (114, 14), (110, 10)])
def test_total_tells_whether_reasoning_is_part_of_output(tmp_path: Path, total: int | None, output: int) -> None:
    step = finish(100, 10, reasoning=4, total=total)
    found = events(export(tmp_path, user("m1"), reply("m2", 1, START, text("x"), step)))
    assert turns(found)[0].usage == Usage(100, output, 0, 0, usd=0.01)


def test_a_cost_of_nothing_beside_tokens_is_no_price(tmp_path: Path) -> None:
    found = events(export(tmp_path, user("m1"), reply("m2", 1, text("x"), cost=0)))
    usage = turns(found)[0].usage
    assert usage is not None
    assert (usage.input, usage.usd) == (155, None)


def test_a_retried_attempt_is_no_turn(tmp_path: Path) -> None:
    message = reply("m2", 1, START, {"type": "retry", "attempt": 1}, START, text("x"), finish())
    assert len(turns(events(export(tmp_path, user("m1"), message)))) == 1


@pytest.mark.parametrize(
    ("part", "result", "error"),
    [
        (tool("x", "out"), "out", False),
        (tool("x", "boom", metadata={"exit": 1}), "boom", True),
        (tool("x", None, status="error", error="no file"), "no file", True),
        (tool("x", None, status="running"), MISSING, False),
        (tool("x", None, status="error", error="Tool execution aborted"), MISSING, False),
        (tool("x", None, status="error", error="stop", metadata={"interrupted": True}), MISSING, False),
    ],
)
def test_what_a_tool_part_returned(tmp_path: Path, part: dict[str, Any], result: Any, error: bool) -> None:
    call = turns(events(export(tmp_path, user("m1"), reply("m2", 1, START, part))))[0].calls[0]
    assert (call.name, call.args, call.error) == ("bash", {"command": "x"}, error)
    assert call.result is result if result is MISSING else call.result == result


def test_prompts_steering_and_synthetic_words(tmp_path: Path) -> None:
    going = reply("m2", 1, START, tool("ls", "a"), finish(), finish="tool-calls")
    denied = tool("rm", None, status="error", error="The user rejected permission to use this specific tool call.")
    found = events(
        export(
            tmp_path,
            user("m1"),
            going,
            user("m3", 2),  # sent while the agent worked
            reply("m4", 3, START, text("ok"), finish()),
            user("m5", 4, text("hook says", synthetic=True)),
            reply("m6", 5, START, text("ok"), finish()),
            user("m7", 6),
            reply("m8", 7, START, denied, finish(), finish="tool-calls"),
            user("m9", 8),  # a refusal ended the run before
            reply("m10", 9, START, text("ok"), finish()),
        )
    )
    assert [t.prompt for t in turns(found)] == ["m1", "m1", "m1", "m7", "m9"]


def test_compaction_is_no_turn_and_its_replayed_prompt_starts_no_run(tmp_path: Path) -> None:
    request = {"type": "compaction", "auto": True, "overflow": True}
    found = events(
        export(
            tmp_path,
            user("m1"),
            reply("m2", 1, error={"name": "ContextOverflowError", "data": {"message": "too long"}}),
            user("m3", 2, request),
            reply("m4", 3, text("summary"), summary=True, mode="compaction"),
            user("m5", 4),
            reply("m6", 5, START, text("ok"), finish()),
        )
    )
    assert [(t.prompt, t.compacted, t.failed) for t in turns(found)] == [("m1", False, True), ("m1", True, False)]
    assert ends(found) == [("context_full", "ContextOverflowError: too long"), ("done", "stop")]


@pytest.mark.parametrize(
    ("name", "parts", "state", "failed"),
    [
        ("APIError", [], "error", [True]),
        ("APIError", [text("half")], "error", [False]),
        ("MessageAbortedError", [], "aborted", []),
        ("MessageAbortedError", [text("half")], "aborted", [False]),
    ],
)
def test_errors(tmp_path: Path, name: str, parts: list[Any], state: str, failed: list[bool]) -> None:
    error = {"name": name, "data": {"message": "why"}}
    kept = [reply("m2", 1, text("before")), reply("m3", 2, *parts, error=error, tokens={}, cost=0)]
    found = events(export(tmp_path, user("m1"), *kept))
    assert [t.failed for t in turns(found)[1:]] == failed
    assert ends(found)[-1] == (state, f"{name}: why")


def test_what_a_person_ran_is_no_turn(tmp_path: Path) -> None:
    zero = {"input": 0, "output": 0, "reasoning": 0, "cache": {"read": 0, "write": 0}}
    by_hand = reply("m2", 1, tool("ls", "a"), tokens=zero, cost=0, finish=None)
    assert turns(events(export(tmp_path, user("m1"), by_hand))) == []


def test_a_fork_holds_copies(tmp_path: Path) -> None:
    path = export(
        tmp_path,
        user("m1", -900),
        reply("m2", -800, text("old")),
        user("m3", 1),
        reply("m4", 2, text("new")),
        time={"created": T0, "updated": T0},
    )
    scan = Scan()
    assert [t.text for t in turns(events(path, scan))] == ["new"]
    assert scan.skips.copies == 1
    assert [t.text for t in turns(events(path, Scan(exact=True)))] == ["old", "new"]


def test_first_database(tmp_path: Path) -> None:
    path = first_database(
        tmp_path / "opencode.db",
        ("ses_a", None, [user("m1"), reply("m2", 1, START, tool("ls", "a"), finish())]),
        ("ses_b", "ses_a", [user("m3"), reply("m4", 1, START, text("found"), finish())]),
    )
    found = turns(events(path))
    assert [(t.run, t.parent, t.prompt, t.model) for t in found] == [
        ("ses_a", None, "m1", "m1"),
        ("ses_b", "ses_a", None, "m1"),
    ]
    assert sorted(p.name for p in tmp_path.iterdir()) == ["opencode.db"]


def test_second_database(tmp_path: Path) -> None:
    rows = [
        ("user", {"text": "go"}),
        answer({"type": "reasoning", "text": "hm"}, shell("ls", "a\n", exit=0), finish="tool-calls"),
        ("user", {"text": "and quickly"}),
        ("synthetic", {"text": "reminder"}),
        answer(shell("make", "bad\n", exit=2), finish="tool-calls"),
        answer({"type": "text", "text": "done"}),
        ("idle", {"outcome": "succeeded"}),
        ("compaction", {"status": "completed", "tokens": {"input": 5}}),
        ("user", {"text": "more"}),
        answer(error={"type": "provider.overloaded", "message": "busy"}, finish="error", tokens=None),
        ("idle", {"outcome": "failed"}),
        ("user", {"text": "more"}),
        answer({"type": "text", "text": "ha"}, finish=None),
        ("idle", {"outcome": "interrupted"}),
        ("hologram", {}),
    ]
    scan = Scan()
    found = events(second_database(tmp_path / "opencode.db", ("ses_a", None, rows)), scan)
    told = [(t.prompt, t.text, len(t.calls), t.failed, t.compacted) for t in turns(found)]
    assert told == [
        ("msg_ses_a_0", "", 1, False, False),
        ("msg_ses_a_0", "", 1, False, False),
        ("msg_ses_a_0", "done", 0, False, False),
        ("msg_ses_a_8", "", 0, True, True),
        ("msg_ses_a_11", "ha", 0, False, False),
    ]
    assert turns(found)[0].usage == Usage(27, 7, 7, 0)
    assert [c.error for t in turns(found) for c in t.calls] == [False, True]
    assert ends(found) == [
        ("done", "succeeded"),
        ("error", "provider.overloaded: busy"),
        ("aborted", "interrupted"),
    ]
    assert dict(scan.skips.unknown) == {"opencode:hologram": 1}


def test_a_session_taken_over_by_the_second_generation_counts_once(tmp_path: Path) -> None:
    path = tmp_path / "opencode.db"
    second_database(path, ("ses_a", None, [("user", {"text": "go"}), answer({"type": "text", "text": "new rows"})]))
    old = reply("old2", 1, text("old rows"))
    first_database(path, ("ses_a", None, [user("old1"), old]), ("ses_b", None, [user("m1"), reply("m2", 1, text("b"))]))
    assert [t.text for t in turns(events(path))] == ["new rows", "b"]


def store(folder: Path, *messages: tuple[dict[str, Any], list[dict[str, Any]]]) -> Path:
    session = folder / "session" / "p1" / "ses_a.json"
    session.parent.mkdir(parents=True)
    session.write_text(json.dumps({"id": "ses_a", "directory": "/w", "time": {"created": T0 - 5, "updated": T0}}))
    for info, parts in messages:
        place = folder / "message" / "ses_a" / f"{info['id']}.json"
        place.parent.mkdir(parents=True, exist_ok=True)
        place.write_text(json.dumps({"sessionID": "ses_a", **info}))
        for k, part in enumerate(parts):
            place = folder / "part" / info["id"] / f"prt_{k}.json"
            place.parent.mkdir(parents=True, exist_ok=True)
            place.write_text(json.dumps({"id": f"p{k}", "sessionID": "ses_a", "messageID": info["id"], **part}))
    return session


def test_the_session_file_drives_the_store_and_a_database_repeats_it(tmp_path: Path) -> None:
    messages = [user("m1"), reply("m2", 1, START, tool("ls", "a"), finish())]
    session = store(tmp_path / "storage", *messages)
    scan = Scan()
    assert len(turns(events(session, scan))) == 1
    for path in sorted((tmp_path / "storage").rglob("*.json")):
        if path != session:
            assert events(path, scan) == []
    assert events(first_database(tmp_path / "opencode.db", ("ses_a", None, messages)), scan) == []
    assert (scan.skips.total, scan.skips.copies) == (0, 1)


def test_damage_in_the_store_is_a_located_skip(tmp_path: Path) -> None:
    session = store(tmp_path, user("m1"), reply("m2", 1, START, text("a"), finish()), reply("m3", 2, text("b")))
    (tmp_path / "message" / "ses_a" / "m3.json").write_bytes(b'{"id": "m3", "ro')
    (tmp_path / "part" / "m2" / "prt_1.json").write_text("[]")
    scan = Scan()
    assert len(turns(events(session, scan))) == 1
    assert scan.skips.total == 2


def test_a_session_file_alone_says_what_is_missing(tmp_path: Path) -> None:
    session = store(tmp_path)
    scan = Scan()
    assert events(session, scan) == []
    assert list(scan.skips.by_reason) == ["session without its messages"]


def test_ids_do_not_lead_out_of_the_store(tmp_path: Path) -> None:
    session = store(tmp_path / "storage", user("m1"))
    about = json.loads(session.read_text())
    session.write_text(json.dumps({**about, "id": "../../secret"}))
    (tmp_path / "secret").mkdir()
    (tmp_path / "secret" / "m.json").write_text(json.dumps(reply("m2", 1, text("x"))[0]))
    assert turns(events(session)) == []


def test_stream_of_run_format_json(tmp_path: Path) -> None:
    def line(kind: str, message: str, part: dict[str, Any], at: int) -> dict[str, Any]:
        return {
            "type": kind,
            "timestamp": T0 + at,
            "sessionID": "ses_a",
            "part": {"id": f"p{at}", "sessionID": "ses_a", "messageID": message, **part},
        }

    lines = [
        line("step_start", "m1", START, 1),
        line("tool_use", "m1", tool("ls", "a"), 2),
        line("step_finish", "m1", finish(), 3),
        line("step_start", "m2", START, 4),
        line("text", "m2", text("done"), 5),
        line("step_finish", "m2", finish(reason="stop"), 6),
    ]
    path = tmp_path / "out.jsonl"
    path.write_text("\n".join(json.dumps(x) for x in lines))
    found = events(path)
    assert [(t.run, t.prompt, len(t.calls), t.text) for t in turns(found)] == [
        ("ses_a", None, 1, ""),
        ("ses_a", None, 0, "done"),
    ]
    assert ends(found) == [("done", "stop")]


def test_export_of_the_second_generation(tmp_path: Path) -> None:
    kind, data = answer({"type": "text", "text": "hi"})
    message = {"id": "msg_1", "type": kind, "time": {"created": T0}, **data}
    about = {"id": "ses_1", "time": {"created": T0 - 5, "updated": T0}}
    path = tmp_path / "export.json"
    path.write_text(json.dumps({"info": about, "messages": [message]}, indent=1))
    assert [(t.run, t.text, t.model) for t in turns(events(path))] == [("ses_1", "hi", "m2")]


def test_a_database_that_is_no_database_is_a_skip(tmp_path: Path) -> None:
    path = first_database(tmp_path / "opencode.db", ("ses_a", None, [user("m1")]))
    broken = tmp_path / "broken.db"
    broken.write_bytes(path.read_bytes()[:5000])
    scan = Scan()
    assert events(broken, scan) == []
    assert scan.skips.total >= 1


def test_rows_still_in_the_write_ahead_log_are_read_and_nothing_is_written(tmp_path: Path) -> None:
    live = tmp_path / "live.db"
    db = sqlite3.connect(live)
    db.execute("PRAGMA journal_mode = WAL")
    db.executescript(FIRST)
    db.execute("PRAGMA wal_checkpoint(TRUNCATE)")
    db.execute("INSERT INTO session VALUES ('ses_a', NULL, 't', ?)", (T0,))
    info, parts = reply("m1", 1, text("late"))
    db.execute("INSERT INTO message VALUES ('m1', 'ses_a', ?, ?)", (T0, json.dumps(info)))
    db.execute("INSERT INTO part VALUES ('p1', 'm1', 'ses_a', ?, ?)", (T0, json.dumps(parts[0])))
    db.commit()
    copy = tmp_path / "copy"
    copy.mkdir()
    for name in ("live.db", "live.db-wal"):
        (copy / name).write_bytes((tmp_path / name).read_bytes())
    before = sorted(p.name for p in copy.iterdir())
    assert [t.text for t in turns(events(live))] == ["late"]
    db.close()
    assert [t.text for t in turns(events(copy / "live.db"))] == ["late"]
    assert sorted(p.name for p in copy.iterdir()) == before


def test_clean_result_drops_what_is_fresh_each_time() -> None:
    clean = load("opencode").clean_result
    assert clean("task", "x <task_metadata>\nsession_id: ses_1\n</task_metadata>") == "x "
    assert clean("read", "a<system-reminder>r</system-reminder>") == "a"
    assert clean("bash", "saved to /d/tool-output/tool_9fA") == clean("bash", "saved to /d/tool-output/tool_77")


def test_shared_store(tmp_path: Path) -> None:
    path = Path(__file__).parents[3] / "shared/traces/opencode/storage_v2/session/proj_test/ses_s_stage0_large.json"
    if not path.exists():
        pytest.skip("no shared traces here")
    found = events(path)
    assert [(len(t.calls), t.prompt) for t in turns(found)] == [(1, "m_user_large_1"), (0, "m_user_large_2")]
    assert ends(found)[0][0] == "aborted"
