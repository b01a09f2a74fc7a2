"""The money of runs on small native logs: prices by send, checks, estimates, cold caches, children, closing calls."""

from __future__ import annotations

from collections.abc import Callable
from fractions import Fraction
from pathlib import Path
from typing import Any

import pytest

from loopscan import Settings, audit, record
from loopscan.cost_records import cost_document
from loopscan.prices import from_options
from loopscan.report import Report
from loopscan.settings import CapSettings
from tests.conftest import native

DAY = 1_764_500_000.0
"""2025-11-30"""


def send(number: int = 0, **more: Any) -> dict[str, Any]:
    return {"run_id": "r", "name": "t", "args": {"n": number}, "result": f"result {number}", **more}


def report_of(path: Path, settings: Settings | None = None, **prices: Any) -> Report:
    return audit(path, settings, prices=from_options(**prices))


def only(path: Path, settings: Settings | None = None, **prices: Any) -> dict[str, Any]:
    (run,) = report_of(path, settings, **prices).runs
    return record(run)


# Which price: the send's own model and date.


def test_a_session_that_mixes_models_pays_each_send_at_its_own_price(tmp_path: Path) -> None:
    tokens = {"input_tokens": 1_000_000, "output_tokens": 0}
    log = native(
        tmp_path / "t.jsonl", send(1, model="claude-opus-4-5", **tokens), send(2, model="gpt-5-mini", **tokens)
    )
    got = only(log)
    assert got["cost"]["usd"] == 5 + 0.25


@pytest.mark.parametrize(
    ("model", "day", "usd"),
    [
        ("gemini-4-argon", "2026-11-30", 2),
        ("gemini-4-argon", "2026-12-01", 4),
        ("claude-opus-4-1-20250805", "2026-11-30", 15),
        ("claude-sonnet-4-20250514", "2026-11-30", 3),
        ("gpt-4-32k", "2026-11-30", 60),
    ],
    ids=["a future price is not used early", "it counts from its day", "retired", "retired too", "retired long ago"],
)
def test_prices_by_date(tmp_path: Path, model: str, day: str, usd: float) -> None:
    log = native(tmp_path / "t.jsonl", send(model=model, ts=f"{day}T12:00:00Z", input_tokens=100_000, output_tokens=0))
    assert only(log)["cost"]["usd"] == usd / 10


def test_another_day_can_be_asked_for(tmp_path: Path) -> None:
    log = native(tmp_path / "t.jsonl", send(model="gemini-4-argon", ts="2026-11-30", input_tokens=100_000))
    assert only(log, price_date="2026-12-05")["cost"]["usd"] == 0.4


@pytest.mark.parametrize(
    "model", ["claude-opus-9", "claude-opus-4-6-9", "nobody-knows", "unknown", "<synthetic>", None]
)
def test_an_unknown_model_is_never_0_dollars(tmp_path: Path, model: str | None) -> None:
    got = only(native(tmp_path / "t.jsonl", send(model=model, input_tokens=1000, output_tokens=10, usd=0)))
    assert (got["cost"]["usd"], got["cost"]["unpriced_sends"], got["cost"]["price"]) == (None, 1, None)
    assert got["usage"]["input_tokens"] == 1000


def test_a_file_of_prices_wins_over_the_table_and_flags_over_both(tmp_path: Path) -> None:
    own = tmp_path / "p.toml"
    own.write_text('[models."claude-opus-4-5"]\nin = 1\nout = 2\n')
    log = native(tmp_path / "t.jsonl", send(model="claude-opus-4-5", input_tokens=1_000_000))
    assert only(log, file=own)["cost"] | {"usd": 0} | {"price": "file:p.toml"} == only(log, file=own)["cost"] | {
        "usd": 0
    }
    assert [only(log, **p)["cost"]["usd"] for p in ({}, {"file": own}, {"file": own, "p_in": 7, "p_out": 0})] == [
        5,
        1,
        7,
    ]


@pytest.mark.parametrize(("prompt", "usd"), [(200_000, 0.25), (200_001, 0.5000025)], ids=["at the edge", "beyond"])
def test_a_long_prompt_takes_the_upper_tier_whole_cached_tokens_included(
    tmp_path: Path, prompt: int, usd: float
) -> None:
    log = native(tmp_path / "t.jsonl", send(model="gemini-2.5-pro", input_tokens=prompt, output_tokens=0))
    assert only(log)["cost"]["usd"] == usd
    cached = send(model="gemini-2.5-pro", input_tokens=prompt, cache_read_tokens=prompt, output_tokens=0)
    assert only(native(tmp_path / "u.jsonl", cached))["cost"]["usd"] == pytest.approx(usd / 10)


def test_all_classes_of_a_send_have_their_own_price(tmp_path: Path) -> None:
    usage = {"input_tokens": 1_000_000, "cache_read_tokens": 500_000, "cache_write_tokens": 400_000,
             "cache_write_1h_tokens": 100_000, "output_tokens": 1_000}  # fmt: skip
    got = only(native(tmp_path / "t.jsonl", send(model="claude-opus-4-5", **usage)))
    assert got["cost"]["usd"] == 0.1 * 5 + 0.5 * 0.5 + 0.3 * 6.25 + 0.1 * 10 + 0.001 * 25


def test_parallel_calls_are_one_send(tmp_path: Path) -> None:
    """A detector that fires on the second of two calls has paid the send that holds both."""
    lines = [send(n, turn=t, input_tokens=1000 * t) for t in (1, 2, 3) for n in (1, 2)]
    got = only(native(tmp_path / "t.jsonl", *lines), p_in=1, p_out=0)
    assert (got["usage"]["sends"], got["usage"]["input_tokens"], got["cost"]["usd"]) == (3, 6000, 0.006)
    assert [got["first_exit"][k] for k in ("turn", "paid_sends", "usd")] == [2, 2, 0.003]


# Dollars that the log states.


def test_recorded_dollars_are_a_check_and_count_when_asked_for(tmp_path: Path) -> None:
    tokens = {"model": "gpt-5-mini", "input_tokens": 10_000, "output_tokens": 500}
    log = native(tmp_path / "t.jsonl", send(1, usd=9.99, **tokens), send(2, **tokens))
    got = only(log)
    assert got["cost"]["usd"] == 2 * 0.0035
    assert [got["cost"][k] for k in ("recorded_usd", "recorded_sends", "computed_usd")] == [9.99, 1, 0.0035]
    assert got["notes"] == ["the log states $9.9900 for 1 send, computed $0.0035: 100.0% less"]
    asked = only(log, Settings(cost="recorded"))
    assert asked["cost"]["usd"] == 9.9935
    assert asked["cost"]["price"] == "recorded"


STATED = {
    "no price": ([("nobody", 0.5)], (0.5, 1, None)),
    "no price for one of them": ([("nobody", 0.5), ("gpt-5-mini", 0.25)], (0.75, 2, None)),
    "a price for all": ([("gpt-5-mini", 0.5), ("gpt-5-mini", 0.25)], (0.75, 2, 0.007)),
    "not stated for one of them": ([("gpt-5-mini", 0.5), ("gpt-5-mini", None)], (0.5, 1, 0.0035)),
    "not stated": ([("gpt-5-mini", None), ("nobody", None)], (None, 0, None)),
}


@pytest.mark.parametrize("cost", ["computed", "recorded"])
@pytest.mark.parametrize(("sends", "want"), STATED.values(), ids=STATED)
def test_what_the_log_states_is_told_wherever_the_cost_comes_from(
    tmp_path: Path, cost: str, sends: list[tuple[str, float | None]], want: tuple[float | None, int, float | None]
) -> None:
    tokens = {"input_tokens": 10_000, "output_tokens": 500}
    lines = [send(n, model=model, usd=usd, **tokens) for n, (model, usd) in enumerate(sends)]
    report = report_of(native(tmp_path / "t.jsonl", *lines), Settings(cost=cost))
    for got in (record(report.runs[0])["cost"], cost_document(report)["totals"]):
        assert tuple(got[k] for k in ("recorded_usd", "recorded_sends", "computed_usd")) == want


def test_recorded_dollars_that_agree_need_no_note(tmp_path: Path) -> None:
    log = native(tmp_path / "t.jsonl", send(model="gpt-5-mini", input_tokens=10_000, output_tokens=500, usd=0.00351))
    assert only(log)["notes"] == []


@pytest.mark.parametrize(
    ("usd", "tokens", "want"),
    [
        (0.25, {"input_tokens": 5}, 0.25),
        (0.25, {}, 0.25),
        (0, {"input_tokens": 0, "output_tokens": 0}, 0.0),
        (0, {"input_tokens": 5}, None),
        (0, {}, None),
    ],
    ids=["with tokens", "alone", "nothing was sent", "0 beside tokens means not known", "0 beside text too"],
)
def test_recorded_dollars_where_no_price_is_known(
    tmp_path: Path, usd: float, tokens: dict[str, int], want: float | None
) -> None:
    got = only(native(tmp_path / "t.jsonl", send(model="nobody-knows", usd=usd, **tokens)))
    assert got["cost"]["usd"] == want
    assert got["cost"]["price"] == ("recorded" if want is not None else None)


def test_what_a_gpt_5_mini_gateway_records(tmp_path: Path) -> None:
    """(prompt - cached) 0.25 + cached 0.025 + completion 2, per million tokens."""
    sends = [(1_804, 0, 211), (2_733, 1_792, 96), (41_127, 40_832, 1_377), (98_001, 0, 5)]
    bills = [((p - c) * 0.25 + c * 0.025 + o * 2) / 1e6 for p, c, o in sends]
    lines = [
        send(n, model="gpt-5-mini-2025-08-07", input_tokens=p, cache_read_tokens=c, output_tokens=o, usd=usd)
        for n, ((p, c, o), usd) in enumerate(zip(sends, bills, strict=True))
    ]
    got = only(native(tmp_path / "t.jsonl", *lines))
    assert got["cost"]["usd"] == pytest.approx(sum(bills), abs=1e-9)
    assert got["cost"]["recorded_usd"] == pytest.approx(got["cost"]["computed_usd"], abs=1e-9)


def test_the_recorded_cost_of_real_runs_is_met(shared: Path) -> None:
    runs = report_of(shared / "traces" / "mini-swe-agent").runs
    checked = [r.money.checked for r in runs if r.money.checked.sends]
    assert checked
    for check in checked:
        assert abs(check.recorded - check.computed) < 1_000  # 1e-9 dollars


# Sends without usage.


def chatty(number: int, **more: Any) -> dict[str, Any]:
    return send(number, text="x" * 345, result="y" * 287, model="claude-opus-4-5", **more)


def test_missing_usage_is_estimated_from_text_by_model_family(tmp_path: Path) -> None:
    got = only(native(tmp_path / "t.jsonl", chatty(1), chatty(2)))
    wrote = 345 + len("t") + len('{"n":1}')
    output, step = -(-wrote // 3), 115 + -(-wrote * 100 // 345) + 100
    assert (got["usage"]["source"], got["cost"]["source"]) == ("estimated", "estimated")
    assert (got["usage"]["input_tokens"], got["usage"]["output_tokens"]) == (None, None)
    assert got["usage"]["estimated_input_tokens"] == step
    assert got["usage"]["estimated_output_tokens"] == 2 * output
    assert got["cost"]["usd"] == pytest.approx((step * 5 + 2 * output * 25) / 1e6)
    (note,) = got["notes"]
    assert note.startswith("input of 2 sends estimated from text without the base")


def test_an_estimate_goes_on_from_the_last_measured_send(tmp_path: Path) -> None:
    got = only(native(tmp_path / "t.jsonl", chatty(1, input_tokens=20_000, output_tokens=100), chatty(2)))
    assert got["usage"]["input_tokens"] == 20_000
    assert got["usage"]["estimated_input_tokens"] == 20_000 + 115 + -(-(345 + 8) * 100 // 345) + 100
    assert got["usage"]["source"] == "estimated"
    assert got["notes"] == []


@pytest.mark.parametrize(
    ("more", "settings", "prices", "source"),
    [
        ({}, Settings(), {}, None),
        ({}, Settings(), {"p_in": 3, "p_out": 15}, "estimated"),
        ({}, Settings(chars_per_token=Fraction(4)), {}, "estimated"),
        ({"model": "gpt-5"}, Settings(), {}, "estimated"),
        ({"model": "gpt-5"}, Settings(base=3000), {}, "modelled"),
        ({"model": "gpt-5", "input_tokens": 7}, Settings(base=3000), {}, "recorded"),
    ],
    ids=[
        "neither model nor price",
        "flags",
        "characters as told",
        "a model",
        "--base comes first",
        "usage comes first",
    ],
)
def test_where_tokens_come_from(
    tmp_path: Path, more: dict[str, Any], settings: Settings, prices: dict[str, Any], source: str | None
) -> None:
    got = only(native(tmp_path / "t.jsonl", send(1, **more), send(2, **more)), settings, **prices)
    assert got["usage"]["source"] == source
    assert (got["cost"]["usd"] is None) == (source is None or not (more or prices))


def test_a_recorded_input_without_output_is_not_made_up(tmp_path: Path) -> None:
    got = only(native(tmp_path / "t.jsonl", chatty(1, input_tokens=1000)))
    assert (got["usage"]["output_tokens"], got["usage"]["source"], got["cost"]["usd"]) == (None, "recorded", 0.005)


def test_content_that_was_not_captured_is_not_estimated(tmp_path: Path) -> None:
    line = {"run_id": "r", "name": "t", "model": "gpt-5", "text": None}
    got = only(native(tmp_path / "t.jsonl", line, line))
    assert (got["usage"]["source"], got["cost"]["usd"], got["cost"]["unpriced_sends"]) == (None, None, 2)


def test_an_estimate_fills_no_window(tmp_path: Path) -> None:
    log = native(tmp_path / "t.jsonl", *[send(n, model="gpt-5", result="z" * 100_000) for n in range(3)])
    assert "context_full" not in [e["exit"] for e in only(log, Settings(context_window=10_000))["exits"]]


# The cache.


def cached(number: int, prompt: int, read: int, at: float, **more: Any) -> dict[str, Any]:
    return send(number, model="claude-opus-4-5", input_tokens=prompt, cache_read_tokens=read,
                cache_write_tokens=prompt - read, output_tokens=0, ts=DAY + at, **more)  # fmt: skip


def test_cold_sends_are_counted_with_what_they_cost_more(tmp_path: Path) -> None:
    log = native(
        tmp_path / "t.jsonl",
        cached(1, 100_000, 0, 0),
        cached(2, 101_000, 100_000, 60),
        cached(3, 102_000, 0, 1000),
        cached(4, 103_000, 102_000, 1010),
        cached(5, 104_000, 20_000, 1020),
    )
    (run,) = report_of(log).runs
    cold = run.money.cold
    assert (cold.sends, cold.after_pause, cold.after_compaction) == (2, 1, 0)
    assert cold.usd == (101_000 + 83_000) * (6_250_000 - 500_000)
    assert record(run)["cost"]["cold_sends"] == 2
    assert record(run)["cost"]["cold_usd"] == 184_000 * 5.75 / 1e6


def test_a_compaction_makes_a_cold_send(tmp_path: Path) -> None:
    log = native(tmp_path / "t.jsonl", cached(1, 100_000, 0, 0), cached(2, 40_000, 5_000, 10))
    (run,) = report_of(log).runs
    assert (run.money.cold.sends, run.money.cold.after_compaction) == (1, 1)
    assert run.money.cold.usd == 35_000 * 5_750_000


def test_uncached_input_sent_again_is_cold_too(tmp_path: Path) -> None:
    """Automatic caching reports reads only."""
    sizes = [(2000, 0), (3000, 1920), (4000, 0)]
    lines = [
        send(n, model="gpt-5", input_tokens=size, cache_read_tokens=read, output_tokens=0)
        for n, (size, read) in enumerate(sizes)
    ]
    (run,) = report_of(native(tmp_path / "t.jsonl", *lines)).runs
    assert (run.money.cold.sends, run.money.cold.usd) == (1, 3000 * (1_250_000 - 125_000))


@pytest.mark.parametrize(
    "lines",
    [
        [cached(1, 100_000, 0, 0), cached(2, 101_000, 60_000, 10)],
        [cached(1, 900, 0, 0), cached(2, 901, 0, 10)],
        [cached(1, 100_000, 0, 0), {**cached(2, 101_000, 0, 10), "model": "claude-haiku-4-5"}],
        [send(n, model="gpt-5", input_tokens=5000) for n in range(3)],
        [send(n, model="gpt-5", input_tokens=5000, cache_read_tokens=0) for n in range(3)],
    ],
    ids=["half of it was read", "too short to cache", "another model", "reads not recorded", "never cached at all"],
)
def test_what_is_no_cold_send(tmp_path: Path, lines: list[dict[str, Any]]) -> None:
    (run,) = report_of(native(tmp_path / "t.jsonl", *lines)).runs
    assert run.money.cold.sends == 0


# Children, waste, closing calls.


def child(run: str, parent: str | None, tokens: int, **more: Any) -> dict[str, Any]:
    return {"run_id": run, "parent": parent, "name": "t", "args": {}, "result": 1, "input_tokens": tokens, **more}


def test_money_of_children_is_apart_and_in_the_total(tmp_path: Path) -> None:
    lines = [child("top", None, 1), child("mid", "top", 10), child("low", "mid", 100), child("other", None, 1000)]
    report = report_of(native(tmp_path / "t.jsonl", *lines), p_in=1, p_out=1)
    cost = {r.run: record(r)["cost"] for r in report.runs}
    figures = {
        run: [c[k] and round(c[k] * 1e6) for k in ("usd", "children_usd", "total_usd")] for run, c in cost.items()
    }
    assert figures == {
        "top": [1, 110, 111],
        "mid": [10, 100, 110],
        "low": [100, None, 100],
        "other": [1000, None, 1000],
    }
    assert report.totals()["usd"] == 0.001111


def test_an_unpriced_parent_still_shows_its_childrens_money(tmp_path: Path) -> None:
    lines = [child("top", None, 1, model="nobody-knows"), child("mid", "top", 1_000_000, model="claude-opus-4-5")]
    runs = {r.run: record(r)["cost"] for r in report_of(native(tmp_path / "t.jsonl", *lines)).runs}
    assert [runs["top"][k] for k in ("usd", "children_usd", "total_usd")] == [None, 5, 5]


def test_runs_that_are_each_others_parents_end(tmp_path: Path) -> None:
    lines = [child("a", "b", 1), child("b", "a", 1), child("c", "c", 1)]
    runs = report_of(native(tmp_path / "t.jsonl", *lines), p_in=1, p_out=1).runs
    assert {r.run: r.children and r.children.runs for r in runs} == {"a": 1, "b": 1, "c": None}


def growing(turns: int, base: int = 3000, growth: int = 500) -> list[dict[str, Any]]:
    return [{**send(0), "input_tokens": base + growth * n} for n in range(turns)]


def test_waste_is_split_into_history_and_own_growth(tmp_path: Path) -> None:
    got = only(native(tmp_path / "t.jsonl", *growing(40)), p_in=3, p_out=15)
    wasted, left = got["wasted"], 38
    assert got["first_exit"]["turn"] == 2
    assert (wasted["turns"], wasted["history_tokens"]) == (left, left * (3000 + 500 * 2))
    assert wasted["own_growth_tokens"] == 500 * left * (left - 1) // 2
    assert wasted["history_tokens"] + wasted["own_growth_tokens"] == wasted["input_tokens"]


def test_a_compaction_inside_the_waste_is_no_negative_growth(tmp_path: Path) -> None:
    lines = [*growing(6, 9000), *growing(6, 1000, 0)]
    wasted = only(native(tmp_path / "t.jsonl", *lines), p_in=3, p_out=15)["wasted"]
    assert wasted["history_tokens"] == 4 * 10_000 + 6 * 1000
    assert wasted["own_growth_tokens"] == 500 + 1000 + 1500


def test_each_exit_has_the_price_of_a_closing_call(tmp_path: Path) -> None:
    lines = [{**line, "output_tokens": 70} for line in growing(10)]
    settings = Settings(caps=CapSettings(10, None, None, None))
    exits = only(native(tmp_path / "t.jsonl", *lines), settings, p_in=3, p_out=15)["exits"]
    closing = {e["exit"]: e["closing_usd"] for e in exits}
    assert closing == {"no_progress": (4000 * 3 + 500 * 15) / 1e6, "turn_cap": None}


def test_a_closing_call_reads_the_cache_like_the_send_in_its_place(tmp_path: Path) -> None:
    lines = [{**cached(0, 50_000 + n, 50_000 if n else 0, n), "args": {}, "result": 1} for n in range(4)]
    (first,) = [e for e in only(native(tmp_path / "t.jsonl", *lines))["exits"] if e["exit"] == "no_progress"]
    assert first["closing_usd"] == (50_000 * 0.5 + 2 * 6.25 + 500 * 25) / 1e6


@pytest.mark.parametrize(
    ("lines", "prices"),
    [
        ([{**s, "model": "nobody-knows"} for s in growing(5)], {}),
        ([*growing(2), *[{**s, "model": "nobody-knows"} for s in growing(3)]], {}),
    ],
    ids=["no price", "no price for the next send"],
)
def test_a_closing_call_that_cannot_be_priced(
    tmp_path: Path, lines: list[dict[str, Any]], prices: dict[str, Any]
) -> None:
    exits = only(native(tmp_path / "t.jsonl", *lines), **prices)["exits"]
    assert [e["closing_usd"] for e in exits if e["exit"] == "no_progress"] == [None]


SUMS: dict[str, Callable[[dict[str, Any]], Any]] = {
    "usd": lambda r: r["cost"]["usd"],
    "input_tokens": lambda r: r["usage"]["input_tokens"],
}


@pytest.mark.parametrize("name", SUMS)
def test_totals_are_the_sums_of_the_records(tmp_path: Path, name: str) -> None:
    lines = [{**send(n, run_id=f"r{n % 7}"), "input_tokens": 1234 + n, "output_tokens": n} for n in range(100)]
    report = report_of(native(tmp_path / "t.jsonl", *lines), p_in="0.123", p_out="4.567")
    assert report.totals()[name] == pytest.approx(sum(SUMS[name](record(r)) for r in report.runs), abs=1e-12)
