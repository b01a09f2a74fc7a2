"""What makes other tools' bills wrong by a factor: each trap of Claude Code and Codex logs, to the dollar."""

from __future__ import annotations

import itertools
import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from loopscan import audit, record
from loopscan.price import dollars
from loopscan.prices import from_options
from loopscan.report import Report
from tests.formats import rollouts as codex

Line = dict[str, Any]
SESSION = "aaaaaaaa-1111-4222-8333-bbbbbbbbbbbb"
MODEL = "claude-opus-4-5-20251101"
WORDS = "Let me look at the shipment and at the order that belongs to it."
_ids = itertools.count()


def line(kind: str, **more: Any) -> Line:
    return {"type": kind, "uuid": f"u-{next(_ids)}", "sessionId": SESSION, "timestamp": "2026-11-02T10:00:00Z", **more}


def usage(output: int, fresh: int = 10, read: int = 20_000, write: int = 1_000, hour: int | None = 0) -> Line:
    split = {"ephemeral_5m_input_tokens": write - (hour or 0), "ephemeral_1h_input_tokens": hour}
    return {"input_tokens": fresh, "cache_read_input_tokens": read, "cache_creation_input_tokens": write,
            "output_tokens": output, **({} if hour is None else {"cache_creation": split})}  # fmt: skip


def says(message: str, spent: Line, text: str = WORDS, model: str | None = MODEL, **more: Any) -> Line:
    body = {"id": message, "role": "assistant", "content": [{"type": "text", "text": text}], "usage": spent}
    return line("assistant", message=body | ({} if model is None else {"model": model}), **more)


def asks(text: str = "Where is my parcel?") -> Line:
    return line("user", message={"role": "user", "content": text})


def bill(report: Report) -> float:
    assert report.totals()["unpriced_sends"] == 0
    return float(report.totals()["usd"])


def claude(folder: Path, *files: list[Line], dump: Callable[[Line], str] = json.dumps) -> Report:
    for number, lines in enumerate(files):
        (folder / f"{number}.jsonl").write_text("".join(dump(x) + "\n" for x in lines))
    return audit(folder, prices=from_options())


ONE = (10 * 5 + 20_000 * 0.5 + 1_000 * 6.25 + 100 * 25) / 1e6
"""A send of `usage(100)`."""


def test_lines_of_a_message_are_paid_once_and_its_output_is_the_last(tmp_path: Path) -> None:
    """Counted by line it would be three times as much; by the first line the output would be lost."""
    lines = [asks(), *[says("m1", usage(output), f"{WORDS} {output}") for output in (1, 40, 100)]]
    assert bill(claude(tmp_path, lines)) == pytest.approx(ONE)


def test_writes_for_an_hour_cost_more(tmp_path: Path) -> None:
    report = claude(tmp_path, [asks(), says("m1", usage(100, hour=1_000))])
    assert bill(report) == pytest.approx(ONE + 1_000 * 3.75 / 1e6)


def test_logs_without_the_split_have_writes_for_5_minutes(tmp_path: Path) -> None:
    assert bill(claude(tmp_path, [asks(), says("m1", usage(100, hour=None))])) == pytest.approx(ONE)


def test_a_side_file_that_repeats_a_message_under_another_request_is_paid_once(tmp_path: Path) -> None:
    main = [asks(), says("m1", usage(100), requestId="req_1")]
    side = [says("m1", usage(100), requestId="req_2", isSidechain=True, agentId="7")]
    assert bill(
        claude(tmp_path, main, [*side, says("m2", usage(100), isSidechain=True, agentId="7")])
    ) == pytest.approx(2 * ONE)


def test_a_gateway_without_request_ids_is_paid_once(tmp_path: Path) -> None:
    lines = [asks(), says("m1", usage(1), requestId=None), says("m1", usage(100), requestId=None)]
    assert bill(claude(tmp_path, lines)) == pytest.approx(ONE)


def test_sends_of_a_sub_agent_in_progress_records_are_paid(tmp_path: Path) -> None:
    inner = [asks("Look it up"), says("a1", usage(100)), says("a2", usage(100))]
    progress = [line("progress", data={"type": "agent_progress", "agentId": "7", "message": m}) for m in inner]
    report = claude(tmp_path, [asks(), says("m1", usage(100)), *progress])
    assert bill(report) == pytest.approx(3 * ONE)
    cost = record(next(r for r in report.runs if r.parent is None))["cost"]
    assert [cost[k] for k in ("usd", "children_usd", "total_usd")] == pytest.approx([ONE, 2 * ONE, 3 * ONE])


def test_sends_copied_into_another_session_are_paid_once(tmp_path: Path) -> None:
    old = [asks(), says("m1", usage(100)), says("m2", usage(100))]
    other = SESSION.replace("a", "c")
    resumed = [{**x, "sessionId": other} for x in old] + [{**says("m3", usage(100)), "sessionId": other}]
    assert bill(claude(tmp_path, old, resumed)) == pytest.approx(3 * ONE)


def spaced(value: Line) -> str:
    return json.dumps(value, separators=(" , ", " : "))


def tight(value: Line) -> str:
    return json.dumps(value, separators=(",", ":"))


@pytest.mark.parametrize("dump", [spaced, tight])
def test_spaces_after_separators_change_nothing(tmp_path: Path, dump: Callable[[Line], str]) -> None:
    assert bill(claude(tmp_path, [asks(), says("m1", usage(100))], dump=dump)) == pytest.approx(ONE)


def test_two_objects_on_a_line_are_both_paid(tmp_path: Path) -> None:
    lines = [asks(), says("m1", usage(100)), says("m2", usage(100))]
    (tmp_path / "s.jsonl").write_text(json.dumps(lines[0]) + "\n" + json.dumps(lines[1]) + json.dumps(lines[2]) + "\n")
    assert bill(audit(tmp_path, prices=from_options())) == pytest.approx(2 * ONE)


def test_synthetic_lines_are_no_sends(tmp_path: Path) -> None:
    nothing = usage(0, 0, 0, 0)
    report = claude(tmp_path, [asks(), says("m1", usage(100)), says("m2", nothing, model="<synthetic>")])
    assert (report.totals()["sends"], bill(report)) == (1, pytest.approx(ONE))


def test_a_missing_model_is_neither_free_nor_an_opus(tmp_path: Path) -> None:
    report = claude(tmp_path, [asks(), says("m1", usage(100), model=None)])
    assert (report.totals()["usd"], report.totals()["unpriced_sends"]) == (None, 1)


def test_an_output_placeholder_is_estimated_beside_what_is_recorded(tmp_path: Path) -> None:
    long = WORDS * 100
    report = claude(tmp_path, [asks(), says("m1", usage(3), long), says("m2", usage(2_000), long + "!")])
    got = record(report.runs[0])
    estimated = -(-len(long) // 3)
    assert got["usage"]["placeholder_sends"] == 1
    assert got["usage"]["output_tokens"] == 2_003
    assert got["usage"]["estimated_output_tokens"] == 2_000 + estimated
    assert got["cost"]["source"] == "recorded"
    assert got["cost"]["estimated_usd"] - got["cost"]["usd"] == pytest.approx((estimated - 3) * 25 / 1e6)
    assert "recorded output of 1 send is a placeholder" in got["notes"]


def test_a_pause_between_two_prompts_leaves_the_cache_cold(tmp_path: Path) -> None:
    lines = [asks(), says("m1", usage(100, write=50_000, read=0)), asks("And the other one?"),
             says("m2", usage(100, write=51_000, read=0), timestamp="2026-11-02T10:20:00Z")]  # fmt: skip
    first, second = claude(tmp_path, lines).runs
    assert (first.money.cold.sends, second.money.cold.sends, second.money.cold.after_pause) == (0, 1, 1)
    assert float(dollars(second.money.cold.usd)) == pytest.approx(50_010 * 5.75 / 1e6, rel=1e-3)


# Codex: gpt-5-codex costs 1.25, cached 0.125, output 10.


def rollout(tmp_path: Path, *records: Line, model: str | None = "gpt-5-codex") -> Report:
    head = [codex.meta(), *([codex.at(0.5, "turn_context", {"model": model})] if model else []), codex.user(1)]
    codex.write(tmp_path / "rollout.jsonl", [*head, *records])
    return audit(tmp_path, prices=from_options())


def step(seconds: float, call: str, total: Line, last: Line | None = None) -> list[Line]:
    return [codex.calls(seconds, call), codex.gives(seconds + 1, call), codex.count(seconds + 1, total, last)]


def due(fresh: int, cached: int, output: int) -> float:
    return (fresh * 1.25 + cached * 0.125 + output * 10) / 1e6


def test_codex_input_holds_the_cached_tokens_and_output_the_reasoning(tmp_path: Path) -> None:
    total = codex.tokens(9_000, cached=6_400, output=300)
    assert bill(rollout(tmp_path, *step(2, "a", total, total))) == pytest.approx(due(2_600, 6_400, 300))


def test_codex_counts_written_again_are_not_paid_again(tmp_path: Path) -> None:
    one, two = codex.tokens(5_000, output=100), codex.tokens(11_000, output=150)
    last = codex.tokens(6_000, output=50)
    again = [codex.count(9, two, last), codex.count(10, two, last), codex.count(11, None)]
    report = rollout(tmp_path, *step(2, "a", one, one), *step(5, "b", two, last), *again)
    assert bill(report) == pytest.approx(due(11_000, 0, 150))


def test_a_codex_counter_that_restarts_loses_nothing(tmp_path: Path) -> None:
    before, after = codex.tokens(22_000, 20_480, 800), codex.tokens(9_000, 2_432, 300)
    report = rollout(tmp_path, *step(2, "a", before, before), codex.user(300), codex.says(305, "b"),
                     codex.count(306, after))  # fmt: skip
    assert bill(report) == pytest.approx(due(1_520 + 6_568, 22_912, 1_100))


def test_a_codex_fork_pays_its_own_sends_only(tmp_path: Path) -> None:
    parent = codex.thread(-600, 9)
    one, two = codex.tokens(40_000, output=400), codex.tokens(90_000, output=900)
    old = [codex.user(0.01), codex.calls(0.01, "p1"), codex.gives(0.01, "p1"), codex.count(0.01, one, one)]
    old += [codex.calls(0.02, "p2"), codex.gives(0.02, "p2")]
    old += [codex.count(0.02, two, codex.tokens(50_000, output=500))]
    own = [codex.at(19, "turn_context", {"model": "gpt-5-codex"}), codex.user(20),
           *step(23, "c", codex.tokens(141_000, output=980), codex.tokens(51_000, output=80))]  # fmt: skip
    head = [codex.meta(forked_from_id=parent), codex.meta(0.01, parent)]
    codex.write(tmp_path / "rollout.jsonl", [*head, *old, *own])
    assert bill(audit(tmp_path, prices=from_options())) == pytest.approx(due(51_000, 0, 80))


def test_codex_without_a_model_is_unpriced_and_not_a_gpt_5(tmp_path: Path) -> None:
    total = codex.tokens(9_000, output=300)
    report = rollout(tmp_path, *step(2, "a", total, total), model=None)
    assert (report.totals()["usd"], report.totals()["unpriced_sends"]) == (None, 1)


def test_codex_cache_writes_are_no_plain_input(tmp_path: Path) -> None:
    """From gpt-5.6 on they cost 1.25 times as much."""
    total = codex.tokens(9_000, cached=6_400, output=300, write=2_048)
    report = rollout(tmp_path, *step(2, "a", total, total), model="gpt-5.6-sol")
    (run,) = report.runs
    price = run.money.bills[0].price
    assert price is not None
    assert price.cache_write * 4 == price.input * 5
    assert bill(report) == float(dollars(price.cost(9_000, 6_400, 2_048, output=300)))
