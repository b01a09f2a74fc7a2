"""Which records of a forked Codex rollout are the parent's: every proof, and no cut without one.

No forked rollout may be shipped, so the logs here are built from the described shapes.
"""

from __future__ import annotations

from pathlib import Path

from loopscan.formats import Scan
from loopscan.formats._codex_replay import born
from tests.formats.rollouts import (
    OWN,
    START,
    Record,
    at,
    calls,
    count,
    done,
    event,
    gives,
    item,
    meta,
    read,
    says,
    spent,
    thread,
    tokens,
    turns,
    user,
)

PARENT = thread(-600, 9)
SPAWN = {"source": {"subagent": {"thread_spawn": {"parent_thread_id": PARENT, "agent_role": "explorer"}}}}


def names(path: Path, log: list[Record]) -> list[str | None]:
    return [c.id for t in turns(read(path / "r.jsonl", log)) for c in t.calls]


def work(seconds: float, call: str, turn: str) -> list[Record]:
    return [
        event(seconds, "task_started", turn_id=turn),
        calls(seconds, call, metadata={"turn_id": turn}),
        gives(seconds, call),
        count(seconds, tokens(100), tokens(100)),
    ]


def test_a_uuid_of_version_7_tells_its_time() -> None:
    assert born(OWN) == START.timestamp()
    assert born("0c0ffee0-0000-4000-8000-000000000000") is None
    assert born("zzzzzzzz-zzzz-7zzz-8zzz-zzzzzzzzzzzz") is None
    assert born("turn-1") is None
    assert born(None) is None


def test_turn_ids_older_than_the_thread_are_the_parents(tmp_path: Path) -> None:
    """No second header, one count only, and the own work begins at once."""
    log = [meta(**SPAWN), *work(0.01, "old", thread(-300, 1)), *work(0.2, "new", thread(0.1, 2))]
    assert names(tmp_path, log) == ["new"]


def test_own_turn_ids_end_a_prefix_without_a_pause(tmp_path: Path) -> None:
    log = [meta(forked_from_id=PARENT), meta(0.01, PARENT), *work(0.01, "old", "1"), *work(0.5, "new", thread(0.4, 2))]
    assert names(tmp_path, log) == ["new"]


def test_a_pause_ends_a_prefix_without_turn_ids(tmp_path: Path) -> None:
    log = [meta(forked_from_id=PARENT), meta(0.01, PARENT), *work(0.9, "old", "1"), *work(1.8, "older", "2")]
    assert names(tmp_path, [*log, *work(3.5, "new", "3")]) == ["new"]


def test_records_with_the_parents_own_times(tmp_path: Path) -> None:
    log = [meta(**SPAWN), *work(-500, "old", "1"), *work(-400, "older", "2"), *work(2, "new", "3")]
    assert names(tmp_path, log) == ["new"]


def test_the_ordinal_where_the_own_history_starts(tmp_path: Path) -> None:
    """It is written as text; records without an ordinal are counted."""
    for start in (5, "5"):
        log = [meta(subagent_history_start_ordinal=start, **SPAWN), *work(3, "old", thread(2, 1)), *work(3, "new", "x")]
        assert names(tmp_path, log) == ["new"]
        numbered = [{**r, "ordinal": i} for i, r in enumerate(log)]
        assert names(tmp_path, numbered) == ["new"]


def test_exact_reading_drops_nothing(tmp_path: Path) -> None:
    log = [meta(**SPAWN), *work(0.01, "old", thread(-300, 1)), *work(0.2, "new", thread(0.1, 2))]
    assert len(turns(read(tmp_path / "r.jsonl", log, Scan(exact=True)))) == 2


def test_the_inherited_counter_is_where_the_own_one_goes_on(tmp_path: Path) -> None:
    log = [
        meta(forked_from_id=PARENT),
        meta(0.01, PARENT),
        count(0.02, tokens(9000), tokens(9000)),
        user(30),
        says(31, "x"),
        count(32, tokens(9500)),
    ]
    assert spent(read(tmp_path / "r.jsonl", log)) == [(500, 0, 0)]


def test_without_a_proof_nothing_is_cut(tmp_path: Path) -> None:
    """A fork by reference holds only its own records; so may a quick sub-agent."""
    log = [meta(forked_from_id=PARENT), user(0.1), *work(0.5, "a", "1"), *work(9, "b", "2")]
    assert names(tmp_path, log) == ["a", "b"]
    assert names(tmp_path, log[:4]) == ["a"]


def test_records_without_times_are_not_held_back_for_ever(tmp_path: Path) -> None:
    log = [meta(**SPAWN)] + [r for i in range(200) for r in (calls(0, f"c{i}"), gives(0, f"c{i}"))]
    for record in log:
        record["timestamp"] = "?"
    assert len(names(tmp_path, log)) == 200


def test_a_header_in_the_middle_cuts_nothing(tmp_path: Path) -> None:
    log = [meta(), user(1), *work(2, "a", "1"), meta(30, PARENT), *work(30.1, "b", "2")]
    assert names(tmp_path, log) == ["a", "b"]


def test_an_unmarked_file_with_two_headers(tmp_path: Path) -> None:
    log = [meta(), meta(0.01, PARENT), *work(0.02, "old", "1"), *work(40, "new", "2")]
    assert names(tmp_path, log) == ["new"]


def test_a_sub_agent_is_one_run_with_its_parent(tmp_path: Path) -> None:
    log = [
        meta(session_id=PARENT, **SPAWN),
        event(0.1, "task_started", turn_id=thread(0.1, 3)),
        at(0.2, "turn_context", {"model": "gpt-5.6-luna"}),
        done(0.2, type="UserMessage", content=[]),
        calls(3, "a"),
        gives(4, "a"),
        event(5, "task_complete"),
        event(60, "task_started", turn_id=thread(60, 4)),
        item(61, "agent_message", author="/root", recipient="/root/explorer", content=[]),
        says(62, "b"),
    ]
    found = turns(read(tmp_path / "r.jsonl", log))
    assert {(t.run, t.parent, t.session, t.prompt) for t in found} == {(OWN, PARENT, PARENT, None)}
    assert found[0].labels == {"agent": "explorer"}
    assert [t.model for t in found] == ["gpt-5.6-luna"] * 2


def test_a_review_has_no_known_parent(tmp_path: Path) -> None:
    log = [meta(source={"subagent": "review"}), event(0.1, "task_started"), says(3, "fine")]
    (turn,) = turns(read(tmp_path / "r.jsonl", log))
    assert (turn.parent, turn.prompt) == (None, None)
