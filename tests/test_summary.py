"""The summary that every audit ends with: suggested caps, stuck tools, what is not in the sums."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

import pytest

from loopscan import Settings, audit
from loopscan.prices import from_options
from loopscan.render._summary import summary
from loopscan.report import Report
from loopscan.settings import CapSettings
from loopscan.summary import Suggested, figures, stuck_tools, suggested
from tests.conftest import SAMPLES, loopscan, native


def healthy(name: str, turns: int, tokens: int = 1000) -> list[dict[str, Any]]:
    lines = [{"run_id": name, "name": "t", "args": {"i": i}, "result": i, "input_tokens": tokens} for i in range(turns)]
    return [*lines, {"run_id": name, "state": "done"}]


def stuck(name: str, turns: int, *tools: str, **more: Any) -> list[dict[str, Any]]:
    return [{"run_id": name, "name": tools[i % len(tools)], "args": {}, "result": 1, "input_tokens": 1000, **more}
            for i in range(turns)]  # fmt: skip


def scan(tmp_path: Path, *runs: list[dict[str, Any]], **settings: Any) -> Report:
    log = native(tmp_path / "t.jsonl", *[line for run in runs for line in run])
    return audit(log, Settings(**settings), prices=from_options(1, 1))


def test_suggested_caps_and_the_healthy_runs_they_stop(tmp_path: Path) -> None:
    """20 runs of 5 turns set the 95th percentile; the one of 30 turns is what a cap of 10 would have hit."""
    runs = [healthy(f"r{i}", 5) for i in range(20)]
    report = scan(tmp_path, *runs, healthy("long", 30), stuck("loop", 400, "t"))
    assert suggested(report) == [
        Suggested("turn_cap", 10, 1, 21),
        Suggested("token_cap", 10_000, 1, 21),
        Suggested("cost_cap", 10 * 10**9, 1, 21),
    ]
    (line,) = [line for line in summary(report) if line.startswith("caps suggested")]
    assert line == (
        "caps suggested by 21 healthy done runs (2 x p95): turn_cap 10 (would stop 1), "
        "token_cap 10,000 (would stop 1), cost_cap $0.01 (would stop 1)"
    )


def test_suggestions_do_not_depend_on_the_caps_in_force(tmp_path: Path) -> None:
    runs = [healthy(f"r{i}", 5) for i in range(20)]
    off = CapSettings(None, None, None, None)
    assert suggested(scan(tmp_path, *runs, caps=off)) == suggested(scan(tmp_path, *runs))


def test_stuck_runs_set_no_cap_and_too_few_runs_none(tmp_path: Path) -> None:
    few = [healthy(f"r{i}", 5) for i in range(19)]
    report = scan(tmp_path, *few, *[stuck(f"s{i}", 40, "t") for i in range(30)])
    assert suggested(report) == []
    assert "caps suggested: none yet, 20 healthy done runs are needed, there are 19" in summary(report)
    enough = scan(tmp_path, *few, healthy("r19", 5), *[stuck(f"s{i}", 40, "t") for i in range(30)])
    assert [s.cap for s in suggested(enough)][:2] == [10, 10_000]


def test_unpriced_runs_suggest_no_dollars(tmp_path: Path) -> None:
    log = native(tmp_path / "t.jsonl", *[line for i in range(20) for line in healthy(f"r{i}", 5)])
    assert [s.exit for s in suggested(audit(log))] == ["turn_cap", "token_cap"]


def test_tools_of_stuck_blocks(tmp_path: Path) -> None:
    report = scan(
        tmp_path, stuck("a", 9, "poll"), stuck("b", 12, "read", "write"), stuck("c", 8, "poll"),
        stuck("suspect", 2, "other"), healthy("d", 3),
    )  # fmt: skip
    tools = stuck_tools(report.runs)
    assert [(t.name, t.runs, t.turns) for t in tools] == [("poll", 2, 13), ("read", 1, 8), ("write", 1, 8)]
    assert "tools in stuck blocks: poll (2 runs, 13 turns, $0.01), read (1 run, 8 turns, $0.008)" in " ".join(
        line.replace(", write (1 run, 8 turns, $0.008)", "") for line in summary(report)
    )
    silent = [{"run_id": "e", "text": "I am on it."} for _ in range(6)]
    assert [t.name for t in stuck_tools(scan(tmp_path, silent).runs)] == ["(text only)"]


def test_every_audit_ends_with_it(tmp_path: Path) -> None:
    log = native(
        tmp_path / "t.jsonl", *stuck("a", 9, "poll", model="none-9"), "{broken",
        *[{"run_id": "b", "name": "t", "args": {"i": i}} for i in range(3)],
    )  # fmt: skip
    for format_ in ("table", "markdown", "junit"):
        out = loopscan("audit", str(log), "-f", format_).stdout
        assert "1 blind, 12 unpriced sends, 1 skipped record" in out
        assert "first exit: 1 no_progress; none in 1" in out
    totals = json.loads(loopscan("audit", str(log), "-f", "json").stdout)["totals"]
    assert totals["stuck_tools"] == [{"name": "poll", "runs": 1, "wasted_turns": 7, "wasted_usd": None}]
    assert (totals["without_exit"], totals["unpriced_runs"], totals["skipped_records"], totals["blind"]) == (1, 2, 1, 1)


def test_figures_add_keys_and_rename_none() -> None:
    report = audit(SAMPLES / "loopscan", prices=from_options(3, 15))
    assert not set(figures(report)) & set(report.totals())


SPIN = {
    "run_id": "spin",
    "model": "claude-sonnet-4-5",
    "name": "poll",
    "args": {"job": 7},
    "result": "still running " * 9,
}


@pytest.mark.parametrize("form", ["table", "markdown"])
@pytest.mark.parametrize("prices", [("--p-in", "3", "--p-out", "15"), ()], ids=["flags", "table"])
def test_every_figure_that_is_an_estimate_is_marked(tmp_path: Path, form: str, prices: tuple[str, ...]) -> None:
    log = native(tmp_path / "t.jsonl", *[SPIN] * 6)
    text = loopscan("audit", str(log), *prices, "-f", form).stdout
    figures = re.findall(r"(?<![\w,])(.?)\$\d", text.replace("\\~", "~"))
    assert len(figures) > 8
    assert set(figures) == {"~"}


def test_tokens_that_are_estimates_are_marked_and_add_up(tmp_path: Path) -> None:
    log = native(tmp_path / "t.jsonl", *[SPIN | {"model": "nobody-knows"}] * 6)
    row, total = re.findall(r"(\S+) tokens", loopscan("audit", str(log)).stdout)
    assert row == total
    assert row.startswith("~")


def test_no_exit_fired_anywhere(tmp_path: Path) -> None:
    log = native(tmp_path / "t.jsonl", {"run_id": "a", "text": "hello"})
    assert "\nfirst exit: none in 1\n" in loopscan("audit", str(log)).stdout
