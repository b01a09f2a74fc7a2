"""Tokens of Codex rollouts: each case is a way in which a sum of the recorded figures comes out wrong.

Forked and restarted logs of this kind are built here from the described shapes; no whole real one may be shipped.
"""

from __future__ import annotations

from pathlib import Path

import pytest

from loopscan.formats import Scan
from loopscan.formats._codex_usage import Meter, usage_of
from loopscan.model import Usage
from tests.formats.rollouts import (
    OWN,
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
    used,
    user,
)  # fmt: skip

PARENT = thread(-600, 9)


def send(seconds: float, call: str, total: Record, last: Record | None) -> list[Record]:
    """A model call that asks for one command, its result, its count."""
    return [calls(seconds, call), gives(seconds + 1, call), count(seconds + 1, total, last)]


def test_input_holds_cached_and_written_tokens_and_output_the_reasoning(tmp_path: Path) -> None:
    total = tokens(9000, cached=6400, output=300, write=1024)
    turn = turns(read(tmp_path / "r.jsonl", [meta(), user(1), *send(2, "a", total, total)]))[0]
    assert turn.usage == Usage(9000, 300, 6400, 1024)
    assert turn.window == 258400


def test_a_class_that_was_not_recorded_is_none() -> None:
    assert usage_of({"input_tokens": 5, "output_tokens": 1}) == Usage(5, 1, None, None)
    assert usage_of({"total_tokens": 6}) is None
    assert usage_of([1]) is None


def test_counts_written_again_are_no_sends(tmp_path: Path) -> None:
    one, two = tokens(5000, output=100), tokens(11000, output=150)
    log = [
        meta(), user(1), count(1, one, one), count(1.1, one, one), says(2, "a"),
        user(3), calls(4, "c"), gives(5, "c"), count(5, two, tokens(6000, output=50)),
        count(6, two, tokens(6000, output=50)), count(7, one, one), count(8, two, tokens(6000, output=50)),
        count(9, None), event(9, "token_count", info=None),
    ]  # fmt: skip
    assert spent(read(tmp_path / "r.jsonl", log)) == [(5000, 0, 100), (6000, 0, 50)]


def test_the_change_of_the_total_counts_not_the_last_usage(tmp_path: Path) -> None:
    """What a response was billed can differ from the context it left (a search on the server re-reads it)."""
    log = [
        meta(), user(1), *send(2, "a", tokens(100, output=10), tokens(100, output=10)),
        *send(5, "b", tokens(5100, output=60), tokens(400, output=20)),
    ]  # fmt: skip
    assert spent(read(tmp_path / "r.jsonl", log)) == [(100, 0, 10), (5000, 0, 50)]


@pytest.mark.parametrize(
    ("last", "want"),
    [(tokens(7000, 2432, 300), (7000, 2432, 300)), (None, (9000, 2432, 300)), (tokens(0), None)],
    ids=["last known", "total is itself the usage", "nothing sent yet"],
)
def test_a_counter_that_restarts_is_a_resumed_process(
    tmp_path: Path, last: Record | None, want: tuple[int, int, int] | None
) -> None:
    before = tokens(22000, 20000, 800)
    log = [
        meta(), user(1), *send(2, "a", before, before), user(300), says(305, "b"),
        count(306, tokens(9000, 2432, 300), last),
    ]  # fmt: skip
    assert spent(read(tmp_path / "r.jsonl", log)) == [(22000, 20000, 800), want]


def test_totals_without_last_usage_are_subtracted(tmp_path: Path) -> None:
    log = [meta(), user(1), *send(2, "a", tokens(100), None), *send(5, "b", tokens(350), None)]
    assert [u and u[0] for u in spent(read(tmp_path / "r.jsonl", log))] == [100, 250]


def test_a_log_cut_at_its_head_charges_no_send_for_what_was_cut(tmp_path: Path) -> None:
    log = [user(1), says(2, "a"), count(3, tokens(90000, output=900), tokens(4000, output=40))]
    assert spent(read(tmp_path / "r.jsonl", log)) == [(4000, 0, 40)]


def test_last_usage_alone() -> None:
    meter = Meter()
    info = {"last_token_usage": tokens(10, output=1)}
    assert meter.spent(info) == Usage(10, 1, 0)
    assert meter.spent(info) is None


@pytest.mark.parametrize("marked", [True, False], ids=["parent's header follows", "counts in a burst"])
def test_fork_that_repeats_the_parents_events_under_new_times(tmp_path: Path, marked: bool) -> None:
    """Shape a: the parent's turns and counts were paid for in the parent's own file."""
    one, two = tokens(40000, output=400), tokens(90000, output=900)
    old = [
        user(0.01), calls(0.01, "p1"), gives(0.01, "p1"), count(0.01, one, one),
        calls(0.02, "p2"), gives(0.02, "p2"), count(0.02, two, tokens(50000, output=500)),
    ]  # fmt: skip
    own = [user(20), calls(23, "c"), gives(24, "c"), count(24, tokens(141000, output=980), tokens(51000, output=80))]
    head = [meta(forked_from_id=PARENT), *([meta(0.01, PARENT)] if marked else [])]
    events = read(tmp_path / "r.jsonl", [*head, *old, *own])
    assert spent(events) == [(51000, 0, 80)]
    assert [c.id for t in turns(events) for c in t.calls] == ["c"]


def test_fork_that_carries_the_parents_counter_on(tmp_path: Path) -> None:
    """Shape b: the first count is the parent's total, nothing was sent for it."""
    log = [
        meta(forked_from_id=PARENT), count(0.1, tokens(90000, output=900), tokens(0)), user(20),
        *send(23, "c", tokens(141000, output=980), tokens(51000, output=80)),
    ]  # fmt: skip
    assert spent(read(tmp_path / "r.jsonl", log)) == [(51000, 0, 80)]


def test_fork_whose_counter_starts_from_nothing(tmp_path: Path) -> None:
    """Shape c: nothing may be subtracted."""
    log = [meta(forked_from_id=PARENT), user(20), *send(23, "c", tokens(51000, output=80), tokens(51000, output=80))]
    assert spent(read(tmp_path / "r.jsonl", log)) == [(51000, 0, 80)]


def test_a_missing_model_stays_unknown(tmp_path: Path) -> None:
    log = [meta(), user(1), *send(2, "a", tokens(10), tokens(10)), at(5, "turn_context", {"model": "gpt-5.6-sol"})]
    log += [user(6), says(7, "b"), count(8, tokens(30), tokens(20))]
    assert [t.model for t in turns(read(tmp_path / "r.jsonl", log))] == [None, "gpt-5.6-sol"]


def test_a_response_that_is_recorded_twice_counts_once(tmp_path: Path) -> None:
    """From 0.149 on each response has a record of its own beside the count."""
    one, two = tokens(100, output=10), tokens(250, output=30)
    log = [
        meta(), user(1), says(2, "x"), calls(2, "a"), used(3, "r1", one, model="gpt-5.6-luna"), gives(4, "a"),
        count(4, one, one), says(6, "y"), used(7, "r2", tokens(150, output=20)), used(7, "r2", tokens(150, output=20)),
        count(8, two, tokens(150, output=20)),
    ]  # fmt: skip
    events = read(tmp_path / "r.jsonl", log)
    assert spent(events) == [(100, 0, 10), (150, 0, 20)]
    assert turns(events)[0].model == "gpt-5.6-luna"


def test_a_count_that_stands_before_the_record_of_its_response(tmp_path: Path) -> None:
    one = tokens(100, output=10)
    log = [meta(), user(1), says(2, "x"), count(3, one, one), used(3, "r1", one), user(5), says(6, "y")]
    log += [used(7, "r2", tokens(9, output=1))]
    assert spent(read(tmp_path / "r.jsonl", log)) == [(100, 0, 10), (9, 0, 1)]


def test_a_response_without_a_record_is_counted_all_the_same(tmp_path: Path) -> None:
    """A thread that an older version resumed has counts only."""
    log = [meta(), user(1), says(2, "x"), used(3, "r1", tokens(10)), count(3, tokens(10), tokens(10))]
    log += [user(5), says(6, "y"), count(7, tokens(25), tokens(15)), user(8), says(9, "z"), count(9, tokens(65))]
    log += [used(10, "r3", tokens(40))]
    assert [u and u[0] for u in spent(read(tmp_path / "r.jsonl", log))] == [10, 15, 40]


def test_a_compactions_own_send_is_no_turn(tmp_path: Path) -> None:
    one, two = tokens(200000, output=10), tokens(400100, output=900)
    log = [
        meta(), user(1), *send(2, "a", one, one), count(9, two, tokens(200100, output=890)),
        at(9, "compacted", {"message": ""}), event(9, "context_compacted"),
        count(9.1, two, {"total_tokens": 9000}), says(12, "b"), count(13, tokens(409100, output=950)),
    ]  # fmt: skip
    events = read(tmp_path / "r.jsonl", log)
    assert spent(events) == [(200000, 0, 10), (9000, 0, 50)]
    assert [t.compacted for t in turns(events)] == [False, True]


def test_a_compaction_with_a_record(tmp_path: Path) -> None:
    log = [
        meta(), user(1), says(2, "a"), used(3, "r1", tokens(10)), used(5, "r2", tokens(99)),
        done(6, type="ContextCompaction", id="x"), at(6, "compacted", {"compaction_response_id": "r2"}),
        says(7, "b"), used(8, "r3", tokens(20)),
    ]  # fmt: skip
    assert [u and u[0] for u in spent(read(tmp_path / "r.jsonl", log))] == [10, 20]


def test_usage_of_other_threads_in_the_file(tmp_path: Path) -> None:
    """A review without a rollout of its own is a run of its own; a copied record of the parent is nothing."""
    helper = thread(30, 5)
    log = [
        meta(), user(1), says(2, "a"), used(3, "r1", tokens(10)), used(4, "p", tokens(999), PARENT),
        used(5, "h", tokens(70), helper, parent_thread_id=OWN, model="codex-auto-review"),
    ]  # fmt: skip
    found = {t.run: t for t in turns(read(tmp_path / "r.jsonl", log))}
    assert set(found) == {OWN, helper}
    assert (found[helper].parent, found[helper].text, found[helper].model) == (OWN, None, "codex-auto-review")


def test_the_same_rollout_in_two_folders_counts_once(tmp_path: Path) -> None:
    log = [meta(), user(1), *send(2, "a", tokens(10), tokens(10)), says(4, "b"), event(5, "task_complete")]
    scan = Scan()
    assert len(turns(read(tmp_path / "a.jsonl", log, scan))) == 2
    assert read(tmp_path / "b.jsonl", log, scan) == []
    assert scan.skips.copies == 2
    assert len(turns(read(tmp_path / "b.jsonl", log, Scan(exact=True)))) == 2


def test_reply_items_after_their_count_belong_to_it(tmp_path: Path) -> None:
    """To 0.40 the count stands before the items, results of parallel calls between them."""
    one, two = tokens(100), tokens(300)
    log = [
        meta(), user(1), event(2, "agent_reasoning", text="hm"), count(3, one, one), item(3, "reasoning", summary=[]),
        calls(3, "a"), gives(3, "a"), calls(3, "b"), gives(3, "b"), at(3, "turn_context", {"model": "gpt-5-codex"}),
        count(6, two, tokens(200)), event(6, "turn_aborted", reason="interrupted"), calls(6, "c"), gives(6, "c"),
    ]  # fmt: skip
    events = read(tmp_path / "r.jsonl", log)
    assert [[c.id for c in t.calls] for t in turns(events)] == [["a", "b"], ["c"]]
    assert [u and u[0] for u in spent(events)] == [100, 200]
