"""The engine on small native logs: keys, runs, states, cost, exits, records."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from loopscan import Settings, audit, record
from loopscan.engine import Audit
from loopscan.errors import InputError
from loopscan.model import Turn
from loopscan.prices import from_options
from loopscan.settings import CapSettings
from tests.conftest import SAMPLES, native

OFF = CapSettings(None, None, None, None)


def run_of(path: Path, settings: Settings | None = None, run: str | None = None, **prices: str) -> dict[str, Any]:
    report = audit(path, settings, prices=from_options(**prices) if prices else None)
    records = {r.run: record(r) for r in report.runs}
    return records[run] if run else next(iter(records.values()))


def call(result: Any = "same", name: str = "t", args: Any = None, **more: Any) -> dict[str, Any]:
    return {"run_id": "r", "name": name, "args": args if args is not None else {}, "result": result, **more}


PAIRS: dict[str, tuple[Any, Any, bool]] = {
    "1 and 1.0": (1, 1.0, False),
    "1 and true": (1, True, False),
    "1 and '1'": (1, "1", False),
    "0 and -0.0": (0, -0.0, False),
    "null and null": (None, None, True),
    "null and 'null'": (None, "null", False),
    "key order": ({"a": 1, "b": [1, {"c": 2}]}, {"b": [1, {"c": 2}], "a": 1}, True),
    "huge integers": (123456789012345678901, 123456789012345678902, False),
    "the same huge integer": (123456789012345678901, 123456789012345678901, True),
    "request ids": ({"ok": 1, "request_id": "r-1"}, {"ok": 1, "request_id": "r-2"}, True),
    "uuids in text": (
        "job 1b4e28ba-2fa1-11d2-883f-0016d3cca427 queued",
        "job 6ba7b810-9dad-11d1-80b4-00c04fd430c8 queued",
        True,
    ),
    "times in text": ("2026-11-30T10:00:00Z queued", "2026-11-30T10:00:07.5Z queued", True),
    "temp paths": ("wrote /tmp/abc123/out.txt", "wrote /tmp/zzz999/out.txt", True),
    "json in text": ('{"n":1,"duration_ms":12}', '{"duration_ms":99,"n":1}', True),
    "progress counters": ("step 1 of 9", "step 2 of 9", False),
    "ticket numbers": ({"id": 1}, {"id": 2}, False),
    "characters omitted": ("12 characters omitted", "13 characters omitted", False),
}


@pytest.mark.parametrize(("first", "second", "same"), PAIRS.values(), ids=PAIRS)
def test_which_results_are_the_same(tmp_path: Path, first: Any, second: Any, same: bool) -> None:
    got = run_of(native(tmp_path / "t.jsonl", call(first), call(second)))
    assert (got["no_progress"] is not None) == same


@pytest.mark.parametrize(
    ("first", "second", "same"),
    [
        ('{"a":1,"b":2}', '{"b":2, "a":1}', True),
        ('{"a":1}', {"a": 1}, True),
        ("not json", "not json ", False),
        ("1", 1, False),
    ],
)
def test_arguments_as_text(tmp_path: Path, first: Any, second: Any, same: bool) -> None:
    log = native(tmp_path / "t.jsonl", call(args=first), call(args=second))
    assert (run_of(log)["no_progress"] is not None) == same
    assert (run_of(log, Settings(exact=True))["no_progress"] is not None) == (first == second)


def test_unrecorded_results_equal_nothing(tmp_path: Path) -> None:
    line = {"run_id": "r", "name": "t", "args": {}}
    got = run_of(native(tmp_path / "t.jsonl", *[line] * 5))
    assert got["no_progress"] is None
    assert got["blind"] is True
    assert got["verdict"] is None


def test_runs_interleave(tmp_path: Path) -> None:
    lines = [call(i, run_id=run) for i in range(3) for run in ("a", "b", 7)] + [call(2, run_id="b")]
    report = audit(native(tmp_path / "t.jsonl", *lines))
    assert {r.run: (r.turns, r.fired) for r in report.runs} == {"a": (3, None), "b": (4, 4), "7": (3, None)}


def test_a_file_without_run_ids_is_one_run(tmp_path: Path) -> None:
    lines = [{"name": "t", "args": {}, "result": 1}] * 2
    got = run_of(native(tmp_path / "t.jsonl", *lines))
    assert (got["run"], got["turns"], got["no_progress"]["turn"]) == (str(tmp_path / "t.jsonl"), 2, 2)


def test_a_run_goes_on_in_another_file(tmp_path: Path) -> None:
    native(tmp_path / "a.jsonl", call())
    native(tmp_path / "b.jsonl", call())
    got = run_of(tmp_path)
    assert (got["turns"], got["no_progress"]["turn"]) == (2, 2)


BAD = {
    "NaN": (b'{"run_id":"r","name":"t","args":{},"result":NaN}', 0, 3),
    "lone surrogate": (rb'{"run_id":"r","name":"t","args":{},"result":"\ud83d"}', 0, 3),
    "truncated": (b'{"run_id":"r","name":"t","args":{"x', 1, 2),
    "byte order mark": (b'\xef\xbb\xbf{"run_id":"r","name":"t","args":{},"result":5}', 0, 3),
    "not an object": (b"[1,2]", 1, 2),
    "two values on a line": (b'{"run_id":"r","name":"t","result":1}{"run_id":"r","name":"t","result":2}', 0, 4),
    "bad utf-8": (b'{"run_id":"r","name":"t","args":{},"result":"\xff\xfe"}', 0, 3),
    "nested too deeply": (b"[" * 5000 + b"]" * 5000, 1, 2),
    "carriage returns": (b'{"run_id":"r","name":"t","args":{},"result":5}\r', 0, 3),
}


@pytest.mark.parametrize(("line", "skipped", "turns"), BAD.values(), ids=BAD)
@pytest.mark.parametrize("place", ["first", "middle", "last"])
def test_a_bad_line_loses_nothing_else(tmp_path: Path, line: bytes, skipped: int, turns: int, place: str) -> None:
    good: list[Any] = [call(1), call(2)]
    good.insert({"first": 0, "middle": 1, "last": 2}[place], line)
    report = audit(native(tmp_path / "t.jsonl", *good))
    assert report.runs[0].turns == turns
    assert report.skipped.total == skipped


def test_an_empty_file_holds_no_run(tmp_path: Path) -> None:
    (tmp_path / "e.jsonl").write_bytes(b"")
    assert audit(tmp_path / "e.jsonl").runs == []


def test_a_folder_of_a_thousand_files(tmp_path: Path) -> None:
    for i in range(1000):
        native(tmp_path / f"{i:04}.jsonl", call(1, run_id=f"r{i}"), {"run_id": f"r{i}", "text": "done"})
    (tmp_path / "notes.txt").write_text("no log")
    report = audit(tmp_path)
    assert len(report.runs) == 1000
    assert report.totals()["states"] == {"done": 1000}
    assert len(report.not_logs) == 1


def test_an_unknown_input_names_its_first_keys(tmp_path: Path) -> None:
    log = native(tmp_path / "t.jsonl", {"colour": 1, "shape": 2})
    with pytest.raises(InputError, match=r"no known log format: its first keys are colour, shape"):
        audit(log)


STATES: dict[str, tuple[list[dict[str, Any]], tuple[str, str]]] = {
    "text only": ([call(), {"run_id": "r", "text": "ok"}], ("done", "inferred")),
    "ends with a call": ([call()], ("cut", "inferred")),
    "failed model call": ([call(), {"run_id": "r", "error": True, "result": "500"}], ("error", "inferred")),
    "context overflow": (
        [call(), {"run_id": "r", "error": True, "result": "maximum context length is 8192"}],
        ("context_full", "inferred"),
    ),
    "stated on the last line": ([call(state="turn_cap")], ("turn_cap", "recorded")),
    "stated on a line of its own": ([call(), {"run_id": "r", "state": "aborted"}], ("aborted", "recorded")),
    "goes on after it": ([call(state="done"), call(2)], ("cut", "inferred")),
}


@pytest.mark.parametrize(("lines", "want"), STATES.values(), ids=STATES)
def test_state(tmp_path: Path, lines: list[dict[str, Any]], want: tuple[str, str]) -> None:
    got = run_of(native(tmp_path / "t.jsonl", *lines))
    assert (got["state"], got["state_source"]) == want


def test_the_deployment_run_to_the_cent() -> None:
    settings = Settings(caps=CapSettings(15, 100_000, None, None))
    got = run_of(SAMPLES / "loopscan" / "deployment.jsonl", settings, p_in="3", p_out="15")
    assert next(iter(got)) == "state"
    assert (got["state"], got["turns"], got["verdict"]) == ("context_full", 395, "stuck")
    np = got["no_progress"]
    assert (np["turn"], np["first"], np["last"], np["copies"], np["left_at"]) == (3, 2, 394, 393, None)
    assert got["usage"]["input_tokens"] == 39_892_500
    assert got["cost"]["usd"] == 119.6775
    assert got["wasted"] == {
        "turns": 391, "input_tokens": 39_882_000, "output_tokens": 0, "usd": 119.646,
        "history_tokens": 391 * 4_500, "own_growth_tokens": 38_122_500,
    }  # fmt: skip
    exits = [(e["exit"], e["turn"], e["paid_sends"], e["usd"], e["saved_turns"]) for e in got["exits"]]
    assert exits == [
        ("no_progress", 3, 3, 0.0315, 391),
        ("turn_cap", 15, 15, 0.2925, 379),
        ("token_cap", 16, 16, 0.324, 378),
        ("context_full", 395, 394, 119.6775, 0),
    ]
    assert got["first_exit"] == got["exits"][0]


def test_times_normal_is_against_the_median_of_done_runs() -> None:
    report = audit([str(SAMPLES / "loopscan" / f"{n}.jsonl") for n in ("deployment", "done")], None,
                   prices=from_options("3", "0"))  # fmt: skip
    deploy = next(r for r in report.runs if r.run == "deploy-0412")
    normal = sorted(r.usd for r in report.runs if r.state == "done")[1]
    assert deploy.times_normal == round(deploy.usd / normal, 1)


def test_unpriced_is_null_never_zero(tmp_path: Path) -> None:
    got = run_of(native(tmp_path / "t.jsonl", call(input_tokens=5), call(input_tokens=5)))
    cost = {k: got["cost"][k] for k in ("usd", "price", "source", "unpriced_sends", "total_usd", "cold_usd")}
    assert cost == {
        "usd": None, "price": None, "source": "recorded", "unpriced_sends": 2, "total_usd": None, "cold_usd": None,
    }  # fmt: skip
    assert got["wasted"]["usd"] is None
    assert got["first_exit"]["usd"] is None


def test_tokens_that_no_run_recorded_are_null_never_zero(tmp_path: Path) -> None:
    def totals(*lines: dict[str, Any]) -> list[int | None]:
        found = audit(native(tmp_path / "t.jsonl", *lines)).totals()
        return [found["input_tokens"], found["output_tokens"]]

    assert totals(call(1), call(2, run_id="s")) == [None, None]
    assert totals(call(1), call(2, run_id="s", input_tokens=0)) == [0, None]
    assert totals(call(1, output_tokens=3), call(2, run_id="s", input_tokens=5)) == [5, 3]


REJECTED = {
    "by a failed turn in its words": ([{"error": True, "result": "prompt is too long"}], None, (3, 2)),
    "by a failed turn in other words": ([{"error": True, "result": "400"}], "context_full", (3, 2)),
    "by the state alone": ([], "context_full", (3, 2)),
    "before any turn": (None, "context_full", (1, 0)),
    "and it went on": ([call(7), {"text": "done"}], "done", None),
}


@pytest.mark.parametrize(("lines", "state", "want"), REJECTED.values(), ids=REJECTED)
def test_a_send_that_did_not_fit_is_an_exit_whether_or_not_it_is_a_turn(
    tmp_path: Path, lines: list[dict[str, Any]] | None, state: str | None, want: tuple[int, int] | None
) -> None:
    turns = [] if lines is None else [call(1), call(2), *({"run_id": "r", **line} for line in lines)]
    end = [{"run_id": "r", "state": state}] if state else []
    got = run_of(native(tmp_path / "t.jsonl", *turns, *end))
    assert got["state"] == (state or "context_full")
    assert got["turns"] == len(turns)
    found = [(e["turn"], e["paid_sends"]) for e in got["exits"] if e["exit"] == "context_full"]
    assert found == ([] if want is None else [want])
    assert all(e["saved_turns"] == 0 for e in got["exits"] if e["exit"] == "context_full")


def test_auto_caps_come_from_healthy_runs_and_stuck_runs_never_move_them(tmp_path: Path) -> None:
    def healthy(i: int) -> list[dict[str, Any]]:
        work = [call(k, run_id=f"ok{i}", input_tokens=100) for k in range(3 + i % 4)]
        return [*work, {"run_id": f"ok{i}", "text": "done", "input_tokens": 100}]

    lines = [line for i in range(20) for line in healthy(i)]
    few = audit(native(tmp_path / "few.jsonl", *lines[:-5])).caps
    assert (few.turns, few.tokens) == (25, None)
    caps = audit(native(tmp_path / "a.jsonl", *lines)).caps
    assert (caps.turns, caps.tokens) == (14, 1400)
    stuck = [call("x", run_id="bad", input_tokens=100) for _ in range(300)]
    assert audit(native(tmp_path / "b.jsonl", *lines, *stuck)).caps == caps


def test_an_exit_does_not_fire_on_the_closing_turn_of_a_done_run(tmp_path: Path) -> None:
    lines = [call(1), call(2), {"run_id": "r", "text": "done"}]
    settings = Settings(caps=CapSettings(3, None, None, None))
    assert run_of(native(tmp_path / "t.jsonl", *lines), settings)["exits"] == []
    cut = run_of(native(tmp_path / "u.jsonl", *lines[:2], call(3)), settings)
    assert [(e["exit"], e["turn"], e["saved_turns"]) for e in cut["exits"]] == [("turn_cap", 3, 0)]


def test_ties_go_by_the_order_of_the_exits(tmp_path: Path) -> None:
    lines = [call(i, input_tokens=100) for i in range(5)]
    settings = Settings(caps=CapSettings(2, 200, None, None))
    assert [e["exit"] for e in run_of(native(tmp_path / "t.jsonl", *lines), settings)["exits"]] == [
        "turn_cap", "token_cap",
    ]  # fmt: skip


def test_missing_usage_is_modelled_only_when_asked(tmp_path: Path) -> None:
    log = native(tmp_path / "t.jsonl", call(1), call(2), {"run_id": "r", "error": True, "result": "refused"})
    plain = run_of(log, p_in="3", p_out="15")
    assert (plain["cost"]["source"], plain["usage"]["input_tokens"], plain["usage"]["sends"]) == ("estimated", None, 2)
    got = run_of(log, Settings(base=3000, growth=500, out=10), p_in="3", p_out="15")
    assert got["usage"] | {} == {
        "sends": 2, "input_tokens": 6500, "cache_read_tokens": None, "cache_write_tokens": None,
        "cache_write_1h_tokens": None, "output_tokens": 20, "source": "modelled",
        "estimated_input_tokens": None, "estimated_output_tokens": None, "placeholder_sends": 0,
    }  # fmt: skip
    assert got["cost"]["usd"] == 0.0198


def test_waste_is_counted_once_and_apart_from_waiting(tmp_path: Path) -> None:
    waiting = [call("pending", name="poll", input_tokens=1)] * 4 + [call("ready", name="poll", input_tokens=1)]
    looping = [call("x", name="loop", input_tokens=1)] * 4
    got = run_of(native(tmp_path / "t.jsonl", *waiting, *looping), p_in="1", p_out="1")
    assert got["verdict"] == "stuck"
    assert [e["verdict"] for e in got["episodes"]] == ["waited", "stuck"]
    assert (got["waiting"]["turns"], got["wasted"]["turns"]) == (2, 2)


def test_log_copies_are_dropped_but_not_under_exact(tmp_path: Path) -> None:
    def line(turn: int, result: int, ts: str = "") -> dict[str, Any]:
        return call(result, turn=turn, ts=ts or f"2026-11-30T10:00:0{turn}Z")

    lines = [line(1, 1), line(2, 2), line(1, 1), line(2, 2), line(3, 3)]
    report = audit(native(tmp_path / "t.jsonl", *lines))
    assert (report.runs[0].turns, report.skipped.copies) == (3, 2)
    assert audit(native(tmp_path / "t.jsonl", *lines), Settings(exact=True)).runs[0].turns == 5
    other = [line(1, 1), line(2, 2), line(1, 9), line(3, 3)]
    assert audit(native(tmp_path / "u.jsonl", *other)).runs[0].turns == 4, "a lower number that is no copy"


def test_a_child_run_is_linked_to_the_prompt_that_started_it(shared: Path) -> None:
    report = audit(shared / "traces" / "claude-code" / "viewer-fe5e1c67-cut.jsonl")
    parents = {r.run: r.parent for r in report.runs}
    assert parents["sidechain@60dade70"] == "fe5e1c67-53e7-4862-81ae-d0e013e3270b#1"


def test_the_longest_gap_is_noted(tmp_path: Path) -> None:
    lines = [call(i, ts=1_764_000_000 + s) for i, s in enumerate((0, 5, 725, 730))]
    assert run_of(native(tmp_path / "t.jsonl", *lines))["notes"] == ["longest gap: 12m00s before turn 3"]


def test_absurd_numbers_are_no_times_and_no_counts(tmp_path: Path) -> None:
    huge = "1" + "0" * 400
    line = f'{{"run_id":"r","name":"t","args":{{}},"result":1,"ts":{huge},"input_tokens":{huge},"usd":{huge}}}'
    got = run_of(native(tmp_path / "t.jsonl", line))
    assert (got["turns"], got["started"], got["usage"]["input_tokens"], got["cost"]["usd"]) == (1, None, None, None)


def test_a_whole_run_is_closed_when_the_next_one_begins() -> None:
    engine = Audit()
    whole = [Turn(name, text=name, whole=i == 0) for name in ("a", "b", "c") for i in range(2)]
    engine.take([*whole, Turn("d"), Turn("a", text="more")], "messages", "x.jsonl")
    assert set(engine._runs["messages"]) == {"d", "a"}
    report = engine.finish()
    assert [(r.run, r.turns) for r in report.runs] == [("a", 2), ("a", 1), ("b", 2), ("c", 2), ("d", 1)]
