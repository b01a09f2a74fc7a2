"""What turns after an episode change, and what they never change."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from loopscan import Settings, audit
from loopscan.rules import RULES
from tests.cases import CASES
from tests.conftest import SHARED
from tests.eval.cases import audited

CLOSINGS: dict[str, list[dict[str, Any]]] = {
    "a closing text": [{"turn": 999, "text": "I could not do it."}],
    "a closing text and done": [{"turn": 999, "text": "I could not do it.", "state": "done"}],
    "a turn cap": [{"state": "turn_cap"}],
    "a full context": [{"state": "context_full"}],
}
STUCK = {c.id: c.turns for c in CASES.values() if c.label == "stuck"}


@pytest.mark.parametrize("closing", CLOSINGS)
def test_a_closing_text_or_a_cap_excuses_nothing(closing: str) -> None:
    plain = audited(STUCK)
    closed = audited({name: [*lines, *CLOSINGS[closing]] for name, lines in STUCK.items()})
    for name, run in plain.items():
        copies = max(e.copies for e in run.episodes if e.verdict == run.verdict)
        if copies >= 4:
            assert closed[name].verdict == run.verdict, name


ORDER = [
    {"name": "get_order", "args": {"id": 1}, "result": {"status": "shipped"}},
    {"name": "get_shipment", "args": {"id": 1}, "result": {"eta": "Friday"}},
]
TRIED = {"name": "get_carrier", "args": {"id": 1}, "result": {"phone": 7}}


@pytest.mark.parametrize(
    ("copies", "after", "want"),
    [(2, [], "recovered"), (3, [], "recovered"), (4, [], "stuck"), (9, [], "stuck"), (4, [TRIED], "recovered")],
    ids=["two copies", "three", "four", "nine", "four, then another call"],
)
@pytest.mark.parametrize("text", ["Could not tell.", "It arrives on Friday.", "Liegt am Freitag im Briefkasten."])
def test_a_closing_text_counts_for_what_was_done_before_it(copies: int, after: list[Any], want: str, text: str) -> None:
    """What a text says is not weighed, and neither is the log's own `done`: a run that asks for the same two things
    four times over and then writes something was going round, and nothing it did since shows otherwise."""
    run = audited({"r": [*ORDER * copies, *after, {"turn": 999, "text": text, "state": "done"}]})["r"]
    assert (run.state, run.verdict) == ("done", want)


def test_no_run_of_the_shared_traces_that_succeeded_is_stuck() -> None:
    """The one that its log calls done and that is stuck asked for the same two things four times over and ends with
    the words "Could not tell."."""
    folder = Path(SHARED) / "traces"
    if not folder.is_dir():
        pytest.skip("../shared/traces is not there")
    found = {(Path(r.source).name, r.turns) for r in audit(folder).runs if (r.state, r.verdict) == ("done", "stuck")}
    assert found == {("pydantic_ai_nested_subagent.jsonl", 9)}


def _call(letter: str) -> dict[str, Any]:
    name, result = ("read", "ls", "bash", "edit")[ord(letter) % 4], "x" * (ord(letter) % 3)
    args = {"path": letter, "command": f"make {letter}", "old": letter, "new": letter.upper()}
    return {"name": name, "args": args, "result": result, "error": letter == "e"}


LETTERS = st.lists(st.sampled_from("abcdefg"), max_size=40)


@settings(max_examples=60, deadline=None)
@given(LETTERS, LETTERS)
def test_later_turns_change_only_the_verdict(before: list[str], after: list[str]) -> None:
    runs = audited({"short": [_call(c) for c in before] or [{"text": "x"}], "long": [_call(c) for c in before + after]
                    or [{"text": "x"}]})  # fmt: skip
    short, long = runs["short"], runs["long"]
    assert long.fired == short.fired or (short.fired is None and (long.fired or 0) > len(before))
    told = {(e.turn, e.period) for e in long.episodes if e.rule == "period"}
    assert {(e.turn, e.period) for e in short.episodes if e.rule == "period"} <= told


@settings(max_examples=40, deadline=None)
@given(LETTERS, LETTERS)
def test_a_verdict_does_not_depend_on_other_runs(one: list[str], other: list[str]) -> None:
    mine, its = [_call(c) for c in one] or [{"text": "x"}], [_call(c) for c in other] or [{"text": "y"}]
    alone = audited({"one": mine})["one"]
    first, last = audited({"one": mine, "other": its})["one"], audited({"other": its, "one": mine})["one"]
    told = [[(e.rule, e.turn, e.first, e.last, e.copies, e.verdict) for e in r.episodes] for r in (alone, first, last)]
    assert told[0] == told[1] == told[2]


def test_rules_never_move_no_progress() -> None:
    with_rules, without = audited(STUCK), audited(STUCK, Settings(rules=()))
    assert {n: r.fired for n, r in with_rules.items()} == {n: r.fired for n, r in without.items()}
    assert {e.rule for r in without.values() for e in r.episodes} == {"period"}


def test_a_rule_can_be_switched_off() -> None:
    for rule in RULES:
        runs = audited(STUCK, Settings(rules=tuple(r for r in RULES if r != rule)))
        assert all(e.rule != rule for r in runs.values() for e in r.episodes)


def test_exact_runs_know_the_period_rule_only() -> None:
    assert {e.rule for r in audited(STUCK, Settings(exact=True)).values() for e in r.episodes} == {"period"}


def test_other_work_between_copies_is_no_way_out_but_silence_is() -> None:
    fails = {"name": "fetch", "args": {"u": 1}, "result": "bad gateway", "error": True}
    reads = [{"name": "read", "args": {"path": f"f{n}"}, "result": f"line {n} of it"} for n in range(12)]
    loop = [turn for n in range(6) for turn in (fails, reads[n])]
    runs = audited({"on": loop, "out": [*loop, *reads[6:]]})
    assert (runs["on"].verdict, runs["out"].verdict) == ("stuck", "recovered")
