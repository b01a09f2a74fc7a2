"""`loopscan cost PATH`: records, totals by model and exit, the fit, the cache's effect, outputs."""

from __future__ import annotations

import csv
import io
import json
import os
from pathlib import Path
from typing import Any

import pytest

from loopscan import audit
from loopscan.bill import CLASSES
from loopscan.cost_records import cost_document, cost_record, exit_totals, fitted
from loopscan.prices import from_options
from loopscan.render import COST_RENDERERS, Options, load
from tests.conftest import ROOT, SAMPLES, loopscan, native

GOLDEN = ROOT / "tests" / "golden"
FILES = ("loopscan/deployment.jsonl", "loopscan/poll-that-ends.jsonl", "loopscan/three-call-cycle.jsonl",
         "claude-code/5d0c7f52-1111-4222-8333-944445555666.jsonl")  # fmt: skip


def sends(run: str, inputs: list[int], **more: Any) -> list[dict[str, Any]]:
    return [
        {"run_id": run, "name": "t", "args": {"n": n}, "result": n, "input_tokens": tokens, "output_tokens": 10, **more}
        for n, tokens in enumerate(inputs)
    ]


def test_dollars_by_class_add_up_and_show_what_the_cache_saved(tmp_path: Path) -> None:
    cache = {"cache_read_tokens": 60_000, "cache_write_tokens": 30_000, "cache_write_1h_tokens": 10_000}
    log = native(tmp_path / "t.jsonl", *sends("r", [100_000, 100_000], model="claude-opus-4-5", **cache))
    (run,) = audit(log, prices=from_options()).runs
    cost = cost_record(run)["cost"]
    assert {name: cost["classes"][name]["tokens"] for name in CLASSES} == {
        "input": 20_000, "cache_read": 120_000, "cache_write": 40_000, "cache_write_1h": 20_000, "output": 20,
    }  # fmt: skip
    assert sum(cost["classes"][name]["usd"] for name in CLASSES) == pytest.approx(cost["usd"])
    assert cost["uncached_usd"] == (200_000 * 5 + 20 * 25) / 1e6


def test_the_cache_effect_keeps_the_tier_of_each_send(tmp_path: Path) -> None:
    more = {"model": "gemini-2.5-pro", "cache_read_tokens": 100_000}
    (run,) = audit(native(tmp_path / "t.jsonl", *sends("r", [200_000, 300_000], **more)), prices=from_options()).runs
    assert cost_record(run)["cost"]["uncached_usd"] == (200_000 * 1.25 + 300_000 * 2.5 + 10 * 10 + 10 * 15) / 1e6


def test_totals_by_model_name_what_was_matched(tmp_path: Path) -> None:
    lines = [*sends("a", [1000], model="claude-opus-4-5-20251101"), *sends("b", [1000], model="claude-opus-9")]
    lines += sends("c", [1000, 1000], model="gpt-5-mini-2025-08-07")
    document = cost_document(audit(native(tmp_path / "t.jsonl", *lines), prices=from_options()))
    shown = [(m["model"], m["priced_as"], m["sends"], m["unpriced_sends"], m["usd"]) for m in document["models"]]
    assert shown == [
        ("claude-opus-4-5-20251101", "claude-opus-4-5", 1, 0, 0.00525),
        ("gpt-5-mini-2025-08-07", "gpt-5-mini", 2, 0, 0.00054),
        ("claude-opus-9", None, 1, 1, None),
    ]
    assert document["totals"]["usd"] == 0.00579
    assert document["totals"]["unpriced_sends"] == 1


@pytest.mark.parametrize(
    ("inputs", "want"),
    [
        ([3000 + 500 * n for n in range(20)], (3000, 500, 1.0, [])),
        ([3000 + 500 * n for n in range(20)] + [4000 + 500 * n for n in range(20)], (3000, 500, 1.0, [21])),
        ([3000, 3500, 4000], None),
        ([], None),
    ],
    ids=["a line", "a compaction", "too few", "nothing"],
)
def test_the_fit(tmp_path: Path, inputs: list[int], want: tuple[int, int, float, list[int]] | None) -> None:
    lines = sends("r", inputs) or [{"run_id": "r", "text": "hello"}]
    (run,) = audit(native(tmp_path / "t.jsonl", *lines)).runs
    fit = cost_record(run)["fit"]
    assert (fit and (fit["base"], fit["growth"], fit["r2"], fit["breaks"])) == want


def test_a_fit_never_touches_the_money(tmp_path: Path) -> None:
    inputs = [5000, 90, 77_000, 12, 40_000, 3]
    (run,) = audit(native(tmp_path / "t.jsonl", *sends("r", inputs)), prices=from_options(1, 0)).runs
    found = fitted(run)
    assert found is not None
    assert cost_record(run)["cost"]["usd"] == sum(inputs) / 1e6


def test_estimates_are_not_fitted(tmp_path: Path) -> None:
    lines = [{"run_id": "r", "name": "t", "args": {"n": n}, "result": "x" * 400, "model": "gpt-5"} for n in range(9)]
    (run,) = audit(native(tmp_path / "t.jsonl", *lines)).runs
    assert fitted(run) is None


def test_exits_over_all_runs_save_nothing_on_healthy_ones() -> None:
    report = audit(str(SAMPLES / "loopscan"), prices=from_options(3, 15))
    (line,) = [e for e in exit_totals(report) if e.exit == "no_progress"]
    fired = [f for r in report.runs for f in r.exits if f.exit == "no_progress"]
    assert (line.fired, line.healthy) == (len(fired), sum(f.false_stop for f in fired))
    assert line.saved == sum(f.saved_usd for f in fired if not f.false_stop)


def rendered(name: str, width: int | None = None) -> str:
    report = audit([str(SAMPLES / name) for name in FILES], prices=from_options(3, 15))
    out = io.StringIO()
    load(name, COST_RENDERERS).render(report, out, Options(width=width, detail=1))
    return out.getvalue()


WIDTHS = {"piped": None, "80": 80, "140": 140}


@pytest.mark.parametrize("name", WIDTHS)
def test_table(name: str) -> None:
    got = rendered("table", WIDTHS[name])
    golden = GOLDEN / f"cost-{name}.txt"
    if os.environ.get("UPDATE_GOLDEN"):
        golden.write_text(got)
    assert got == golden.read_text()
    if width := WIDTHS[name]:
        tables = got.split("\n\n")[:-1]
        assert max(len(line) for table in tables for line in table.splitlines()) <= width


def test_outputs_for_programs_agree() -> None:
    lines = [json.loads(line) for line in rendered("jsonl").splitlines()]
    document = json.loads(rendered("json"))
    rows = list(csv.DictReader(io.StringIO(rendered("csv"))))
    assert document["runs"] == lines
    assert all(next(iter(line)) == "state" for line in lines)
    assert [float(row["usd"]) for row in rows] == [line["cost"]["usd"] for line in lines]
    assert [row["saved_usd_no_progress"] for row in rows if row["run"] == "deploy-0412"] == ["119.646"]
    assert document["totals"]["usd"] == pytest.approx(sum(line["cost"]["usd"] for line in lines))


def test_the_command(tmp_path: Path) -> None:
    own = tmp_path / "p.json"
    own.write_text(json.dumps({"models": {"claude-*": {"in": 1, "out": 2}}}))
    log = native(tmp_path / "t.jsonl", *sends("r", [1_000_000] * 2, model="claude-opus-9"))
    done = loopscan("cost", str(log), "--prices", str(own), "-f", "json")
    document = json.loads(done.stdout)
    assert (done.returncode, document["totals"]["usd"], document["runs"][0]["cost"]["price"]) == (
        0,
        2.00004,
        "file:p.json",
    )
    table = loopscan("cost", str(log)).stdout
    assert "unpriced sends: 2 of claude-opus-9 (--prices FILE or --p-in and --p-out price them)" in table
    assert loopscan("cost", str(log), "--prices", str(tmp_path / "none.toml")).returncode == 3
    assert loopscan("cost", str(log), "--price-date", "soon").returncode == 2
    assert loopscan("cost", str(log), "--chars-per-token", "0").returncode == 2


def test_footers_say_what_the_dollars_are(tmp_path: Path) -> None:
    known = {"model": "gpt-5-mini", "usd": 0.5}
    lines = [*sends("a", [1_000_000], **known), *sends("b", [10], model="claude-opus-9"), *sends("c", [10])]
    lines += [{"run_id": "d", "name": "t", "args": {}, "result": "x" * 999, "model": "gpt-5"}] * 3
    lines += [{**line, "parent": "a"} for line in sends("e", [2_000_000], model="gpt-5-mini")]
    out = loopscan("audit", str(native(tmp_path / "t.jsonl", *lines)), "--price-date", "2026-11-30").stdout
    for words in (
        "prices: builtin:",
        " as of 2026-11-30; fees for web searches and other services are not in the sums",
        "check: the logs state $0.50 for 1 send, computed $0.25: 50.0% less; 1 run over 1% apart, see notes",
        "for 3 sends estimated from text; 3 of them without the base, a lower bound (give --base)",
        "unpriced sends: 1 of claude-opus-9, 1 without a model name",
        "sub-agents: $0.50 of it in 1 run that others started",
        "$0.25 + $0.50 in 1 sub-agent",
    ):
        assert words in out
