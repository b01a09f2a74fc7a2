"""The worked model: its rows, the cached and the compacted curve, and its outputs."""

from __future__ import annotations

import csv
import io
import json
from typing import Any

import pytest

from loopscan.cost import Loop, send_input
from loopscan.cost_variants import cached_cost, compaction_cost
from loopscan.price import dollars, picodollars
from loopscan.render import Options
from loopscan.render.worked import render
from loopscan.worked import Case, curve, endless, worked
from tests.conftest import loopscan
from tests.cost_strategies import SEED, SONNET

PRICES = ("--p-in", "3", "--p-out", "15")
CODER = Loop(41_000, 1_200)


def test_each_row_has_its_closing_call() -> None:
    rows = {row.exit: row for row in worked(Case(SEED, SONNET, 200_000))}
    assert rows["no_progress"].closing == 4_500 * 3_000_000 + 500 * 15_000_000
    assert rows["turn_cap"].closing == SONNET.cost(send_input(SEED, 16), output=500)
    assert rows["context_full"].closing is None


def test_cached_rows_and_curve() -> None:
    case = Case(SEED, SONNET, 200_000, cache=True)
    rows = {row.exit: row for row in worked(case)}
    assert [round(dollars(rows[e].cached or 0), 4) for e in ("no_progress", "context_full")] == [
        dollars(picodollars("0.01695")).quantize(dollars(picodollars("0.0001"))),
        dollars(picodollars("12.6560")),
    ]
    assert [costs[1] for _, costs in curve(case, 394)] == [cached_cost(SEED, SONNET, n) for n, _ in curve(case, 394)]
    assert {costs[2] for _, costs in curve(case, 394)} == {None}


def test_the_compacted_loop_never_ends_by_itself() -> None:
    case = Case(
        CODER, SONNET, 200_000, token_cap=20_000_000, cost_cap=picodollars(50), compact_at=155_000, summary=2_400
    )
    forever = endless(case)
    assert forever is not None
    assert (forever.shape.first, forever.shape.later) == (95, 93)
    assert round(float(dollars(round(forever.per_turn))), 2) == 0.30
    for turn, cap in ((forever.cost_turn, picodollars(50)),):
        assert turn is not None
        spent = [compaction_cost(CODER, SONNET, n, 155_000, 2_400) for n in (turn - 1, turn)]
        assert spent[0] < cap <= spent[1]
    assert forever.token_turn is not None
    assert forever.token_turn > 133, "the uncompacted loop is over by then"
    assert endless(Case(SEED, SONNET, 200_000)) is None


def test_what_the_command_prints() -> None:
    out = loopscan("cost", *PRICES, "--cache", "--compact-at", "155000", "--summary", "2400").stdout
    lines = {line.split()[0]: " ".join(line.split()) for line in out.splitlines() if line.strip()}
    assert lines["exit"] == "exit turn paid tokens cost cached compacted would have saved closing"
    assert lines["context_full"].startswith("context_full 395 394 39,892,500 $119.68 $12.66 ")
    assert "With a cache that stays warm it costs $12.66." in out
    assert "Compacted at 155,000 tokens to 2,400: after 304 turns, then every 300;" in out
    assert "for ever, the window never fills: no_progress and the caps end it (turn_cap at turn 15" in out
    assert "cached at $0.3 to read, $3.75 to write (assumed)" in out


def test_outputs_for_programs() -> None:
    document = json.loads(loopscan("cost", *PRICES, "--cache", "-f", "json").stdout)
    assert [row["exit"] for row in document["exits"]] == ["no_progress", "turn_cap", "token_cap", "context_full"]
    assert document["exits"][-1] | {"curve": 0} == {
        "exit": "context_full", "turn": 395, "paid_sends": 394, "tokens": 39_892_500, "usd": 119.6775,
        "cached_usd": 12.656025, "compacted_usd": None, "closing_usd": None, "curve": 0,
    }  # fmt: skip
    assert document["curve"][-1]["usd"] == 119.6775
    lines = [json.loads(line) for line in loopscan("cost", *PRICES, "-f", "jsonl").stdout.splitlines()]
    rows = list(csv.DictReader(io.StringIO(loopscan("cost", *PRICES, "-f", "csv").stdout)))
    assert (
        [r["usd"] for r in rows]
        == [str(line["usd"]) for line in lines]
        == ["0.0315", "0.2925", "0.324", "119.6775", "0.0765"]
    )


@pytest.mark.parametrize(
    ("args", "message"),
    [
        (("--compact-at", "4000"), "no room to compact"),
        (("--compact-at", "200000"), "below the context window"),
        (("--compact-at", "100000", "--growth", "0"), "the loop must grow"),
    ],
)
def test_a_compaction_that_cannot_be(args: tuple[str, ...], message: str) -> None:
    done = loopscan("cost", *PRICES, *args)
    assert (done.returncode, message in done.stderr) == (2, True)


def test_without_prices_nothing_can_be_worked_out() -> None:
    assert loopscan("cost", "--base", "5").returncode == 2


@pytest.mark.parametrize("more", [{}, {"cache": True}, {"cache": True, "compact_at": 100_000}], ids=str)
def test_no_line_is_wider_than_the_terminal(more: dict[str, Any]) -> None:
    out = io.StringIO()
    render(Case(SEED, SONNET, 200_000, **more), out, Options(width=80))
    assert max(map(len, out.getvalue().splitlines())) <= 80
