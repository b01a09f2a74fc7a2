"""AgentLab summaries: no turns, a state, and totals that are told."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from loopscan.formats import Scan
from loopscan.model import End
from tests.formats.logs import read_log

NAME = "agentlab"


def summary(**more: Any) -> dict[str, Any]:
    return {"n_steps": 7, "cum_reward": 0.0, "err_msg": None, "terminated": False, "truncated": False, **more}


@pytest.mark.parametrize(
    ("more", "state", "note"),
    [
        ({"err_msg": "it broke", "truncated": True}, "error", "it broke; 7 steps"),
        ({"truncated": True}, "turn_cap", "truncated; 7 steps"),
        ({"terminated": True}, "done", "terminated; 7 steps"),
        ({}, "cut", "neither terminated nor truncated; 7 steps"),
        (
            {"terminated": True, "stats.cum_input_tokens": 900, "stats.cum_output_tokens": 20, "stats.cum_cost": 0.5},
            "done",
            "terminated; 7 steps; totals in the log: 900 input and 20 output tokens, $0.5",
        ),
        (
            {"terminated": True, "stats.cum_openai_prompt_tokens": 9, "stats.max_cost": 1, "stats.cum_n_token_url": 3},
            "done",
            "terminated; 7 steps; totals in the log: 9 input and 0 output tokens",
        ),
    ],
)
def test_a_summary_is_told_and_no_run(tmp_path: Path, more: dict[str, Any], state: str, note: str) -> None:
    lines: list[str] = []
    scan = Scan()
    scan.skips.report = lines.append
    (end,) = read_log(tmp_path / "summary_info.json", NAME, summary(**more), scan=scan)
    assert isinstance(end, End)
    assert (end.state, end.note, end.final) == (state, note, False)
    assert note in lines[0]
    assert scan.skips.total == 0
    assert dict(scan.skips.unknown) == {"agentlab:steps are pickles": 1}


def test_messages_are_limited(tmp_path: Path) -> None:
    lines: list[str] = []
    scan = Scan()
    scan.skips.report = lines.append
    read_log(tmp_path / "x.json", NAME, *[summary()] * 30, 3, scan=scan)
    assert len(lines) == scan.skips.limit + 1
    assert scan.skips.unknown["agentlab:steps are pickles"] == 30
