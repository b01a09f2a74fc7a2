"""A month audited week by week from cron, with overlaps, is the month audited once."""

from __future__ import annotations

import sqlite3
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest

from loopscan import audit
from loopscan.history import open_store
from loopscan.prices import from_options
from loopscan.stored import stored
from tests.bench import month
from tests.conftest import loopscan

WEEK = 7 * month.DAY
FIGURES = (
    "run, format, state, verdict, started, ended, seconds, turns, calls, tokens, usd, unpriced_sends, "
    "wasted_turns, wasted_usd, waiting_turns, waiting_usd, model, agent, labels"
)
"""All but the first exit (which `auto` caps move), the file that was read first, and when."""
REPEATS = "run, tool, verdict, wasted_turns, wasted_usd, waiting_turns, waiting_usd"


def held(store: Path) -> tuple[list[Any], list[Any]]:
    db = sqlite3.connect(store)
    found = [
        db.execute(f"SELECT {columns} FROM {table} ORDER BY run, format").fetchall()
        for columns, table in ((FIGURES, "runs"), (f"{REPEATS}, format", "repeats"))
    ]
    db.close()
    return found[0], found[1]


@pytest.fixture(scope="module")
def whole(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("whole")
    month.write(folder / "logs")
    loopscan("audit", str(folder / "logs"), "--store", str(folder / "s.db"))
    return folder / "s.db"


def test_the_month_holds_what_it_is_for(whole: Path) -> None:
    runs, repeats = held(whole)
    assert {state for _, _, state, *_ in runs} == {"done", "cut", "error", "aborted"}
    assert {run[3] for run in runs} >= {"clean", "stuck", "recovered", "waited"}
    assert len(repeats) > 50
    nights = [r for r in runs if r[4] // month.DAY != r[5] // month.DAY]
    assert any((r[5] // month.DAY - month.START // month.DAY) % 7 == 0 for r in nights), "a run over Sunday midnight"
    assert all(run[10] for run in runs), "a price for every run"


@pytest.mark.parametrize("overlap", [1, 3])
def test_weekly_audits_are_one_scan(tmp_path: Path, whole: Path, overlap: int) -> None:
    """Every Monday at 07:00 over logs that grew, each looking back a week and some days."""
    store = tmp_path / "s.db"
    for week in range(1, month.DAYS // 7 + 1):
        now = month.START + week * WEEK + 7 * 3600
        month.write(tmp_path / "logs", until=now)
        since = datetime.fromtimestamp(now - WEEK - overlap * month.DAY, UTC).isoformat()
        done = loopscan(
            "audit", str(tmp_path / "logs"), "--since", since, "--store", str(store), "--tz", "Europe/Berlin"
        )
        assert done.returncode == 0, done.stderr
    assert held(store) == held(whole)


def test_daily_audits_of_the_newest_files_are_one_scan(tmp_path: Path, whole: Path) -> None:
    """Each day only the files written to since two days ago: a run over midnight is also seen by its end alone."""
    store = tmp_path / "s.db"
    for day in range(1, month.DAYS + 1):
        now = month.START + day * month.DAY + 3600
        month.write(tmp_path / "logs", until=now)
        files = [f for f in (tmp_path / "logs").rglob("*.jsonl") if f.stat().st_mtime >= now - 1.5 * month.DAY]
        with open_store(str(store)) as opened:
            opened.save(map(stored, audit(sorted(files), prices=from_options()).runs), now)
    assert held(store) == held(whole)
