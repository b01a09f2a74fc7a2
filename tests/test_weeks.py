"""The weeks of a store: where they begin, what counts in them, how they are shown."""

from __future__ import annotations

import csv
import io
import json
import os
from datetime import UTC, datetime, tzinfo
from itertools import pairwise
from pathlib import Path
from zoneinfo import ZoneInfo

import pytest
from hypothesis import given
from hypothesis import strategies as st

from loopscan import audit
from loopscan.errors import UsageError
from loopscan.history import Store, open_store
from loopscan.prices import from_options
from loopscan.render import Options
from loopscan.render._spark import spark
from loopscan.render.history import render
from loopscan.stored import stored
from loopscan.weeks import History, history, weeks_until
from tests.bench import month
from tests.conftest import ROOT, loopscan
from tests.test_history import bare

GOLDEN = ROOT / "tests" / "golden"
BERLIN = ZoneInfo("Europe/Berlin")
NOW = month.END + 9 * 3600
"""Monday morning after the month."""


def epoch(*when: int, zone: tzinfo = UTC) -> float:
    return datetime(*when, tzinfo=zone).timestamp()  # type: ignore[misc, arg-type]


@pytest.fixture(scope="module")
def store(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("month")
    month.write(folder / "logs")
    report = audit([folder / "logs"], prices=from_options(3, 15))
    with open_store(str(folder / "s.db")) as opened:
        opened.save(map(stored, report.runs), NOW)
    return folder / "s.db"


def weeks(store: Path, count: int = 8, by: str | None = None, now: float = NOW, zone: tzinfo = UTC) -> History:
    with open_store(str(store), reading=True) as opened:
        return history(opened, count, by, zone, now)


def of(path: Path, *ends: float | None) -> Store:
    opened = open_store(str(path / "s.db"))
    opened.save([bare(str(i), ended=end) for i, end in enumerate(ends)], NOW)
    return opened


NAMES = {
    "a Monday, midnight": (epoch(2026, 11, 23), UTC, "2026-W48"),
    "the second before": (epoch(2026, 11, 23) - 1, UTC, "2026-W47"),
    "a year of 53 weeks": (epoch(2026, 12, 31), UTC, "2026-W53"),
    "its last days are next year's": (epoch(2027, 1, 3), UTC, "2026-W53"),
    "already Monday in Berlin": (epoch(2026, 11, 22, 23, 30), BERLIN, "2026-W48"),
    "still Sunday in London": (epoch(2026, 11, 22, 23, 30), UTC, "2026-W47"),
    "the first week there is": (0.0, UTC, "1970-W01"),
}


@pytest.mark.parametrize(("moment", "zone", "name"), NAMES.values(), ids=NAMES)
def test_the_week_of_a_moment(moment: float, zone: tzinfo, name: str) -> None:
    last = weeks_until(moment, 3, zone)[-1]
    assert (last.name, last.start <= moment < last.end) == (name, True)


@given(st.integers(0, 4_000_000_000), st.sampled_from(["UTC", "Europe/Berlin", "America/Sao_Paulo", "Asia/Kolkata"]))
def test_weeks_leave_no_gap(moment: int, zone: str) -> None:
    found = weeks_until(moment, 9, ZoneInfo(zone))
    assert all(one.end == next_.start for one, next_ in pairwise(found))
    assert len({w.name for w in found}) == len(found)
    assert found[-1].start <= moment < found[-1].end


def test_the_week_of_a_clock_change_is_an_hour_longer() -> None:
    (week,) = weeks_until(epoch(2026, 10, 24), 1, BERLIN)
    assert week.end - week.start == 7 * 86400 + 3600


def test_a_run_counts_where_it_ended(store: Path) -> None:
    found = weeks(store)
    assert [w.name for w in found.weeks] == ["2026-W45", "2026-W46", "2026-W47", "2026-W48"]
    runs = audit([store.parent / "logs"], prices=from_options(3, 15)).runs
    for week, tally in zip(found.weeks, found.whole, strict=True):
        mine = [r for r in runs if r.ended is not None and week.start <= r.ended < week.end]
        assert tally.runs == len(mine)
        assert tally.states == {s: sum(r.state == s for r in mine) for s in {r.state for r in mine}}
        assert tally.verdicts["stuck"] == sum(r.verdict == "stuck" for r in mine)
        assert tally.usd == sum(r.usd for r in mine)
        assert tally.wasted_usd == sum(r.wasted.usd for r in mine)
    assert sum(t.runs for t in found.whole) == len(runs)


@pytest.mark.parametrize("by", ["agent", "model", "format", "label:team"])
def test_groups_add_up(store: Path, by: str) -> None:
    found = weeks(store, by=by)
    for i, whole in enumerate(found.whole):
        for figure in ("runs", "usd", "wasted_turns", "tokens"):
            assert sum(getattr(g[i], figure) for g in found.groups.values()) == getattr(whole, figure)


def test_groups_by_label_and_tool(store: Path) -> None:
    assert set(weeks(store, by="label:team").groups) == {"care", "platform", "growth"}
    assert set(weeks(store, by="label:colour").groups) == {"-"}
    tools = weeks(store, by="tool")
    assert set(tools.groups) == {tool for agent in month.AGENTS for tool in agent.tools}
    assert all(t.runs <= tools.whole[i].runs for g in tools.groups.values() for i, t in enumerate(g))


def test_an_unknown_group(store: Path) -> None:
    for by in ("colour", "label:", "labels"):
        with pytest.raises(UsageError, match="agent, model, tool, format or label:NAME"):
            weeks(store, by=by)


def test_the_week_that_goes_on_is_not_compared(tmp_path: Path) -> None:
    now = epoch(2026, 11, 25)
    with of(tmp_path, now - 3600, now - 7 * 86400, now - 8 * 86400, now - 14 * 86400) as opened:
        found = history(opened, 8, None, UTC, now)
    assert [t.runs for t in found.whole] == [1, 2, 1]
    assert (found.current, found.last) == (2, 1)
    out = io.StringIO()
    render(found, "UTC", "table", out, Options())
    assert "change: 2026-W47 against 2026-W46" in out.getvalue()
    assert "2026-W48 goes on (*)" in out.getvalue()


def test_a_clock_that_was_wrong_does_not_hide_the_weeks(tmp_path: Path) -> None:
    with of(tmp_path, NOW - 86400, epoch(2999, 1, 1), 249_999_999_999.0) as opened:
        found = history(opened, 8, None, UTC, NOW)
        assert ([w.name for w in found.weeks], found.outside) == (["2026-W48"], 2)
        assert history(opened, 1, None, UTC, 0.0).weeks[0].name.startswith("9892")


def test_runs_without_times_count_when_they_were_first_seen(tmp_path: Path) -> None:
    with of(tmp_path, None, None, NOW - 9 * 86400) as opened:
        found = history(opened, 8, None, UTC, NOW)
    assert ([t.runs for t in found.whole], found.untimed) == ([1, 0, 2], 2)


def test_an_empty_store(tmp_path: Path) -> None:
    open_store(str(tmp_path / "s.db")).close()
    assert loopscan("history", "--store", str(tmp_path / "s.db")).stdout == "no run in the store yet\n"
    assert json.loads(loopscan("history", "--store", str(tmp_path / "s.db"), "-f", "json").stdout)["weeks"] == []


@pytest.mark.parametrize(
    ("values", "blocks"),
    [([0, 1, 7], "▁▂█"), ([0, 0], "▁▁"), ([], ""), ([5], "█"), ([1, 10**30], "▂█"), ([3, 3], "██")],
)
def test_sparklines(values: list[int], blocks: str) -> None:
    assert spark(values) == blocks


SHOWN = {
    "piped": (None, None),
    "80": (80, None),
    "agents-piped": (None, "agent"),
    "agents-80": (80, "agent"),
    "tools-120": (120, "tool"),
}


@pytest.mark.parametrize("name", SHOWN)
def test_the_table(store: Path, name: str) -> None:
    width, by = SHOWN[name]
    out = io.StringIO()
    render(weeks(store, by=by), "UTC", "table", out, Options(width=width))
    golden = GOLDEN / f"history-{name}.txt"
    if os.environ.get("UPDATE_GOLDEN"):
        golden.write_text(out.getvalue())
    assert out.getvalue() == golden.read_text()
    assert width is None or max(map(len, out.getvalue().splitlines())) <= width


def test_narrow_terminals_show_the_newest_weeks(store: Path) -> None:
    for width in (20, 45, 60):
        out = io.StringIO()
        render(weeks(store), "UTC", "table", out, Options(width=width))
        titles = out.getvalue().splitlines()[2].split()
        assert titles[-3:] == ["W48", "change", "course"]
        assert len(titles) >= 4


def test_json_and_csv_hold_the_same(store: Path) -> None:
    args = ("history", "--store", str(store), "--by", "agent")
    document = json.loads(loopscan(*args, "-f", "json").stdout)
    lines = list(csv.DictReader(io.StringIO(loopscan(*args, "-f", "csv").stdout)))
    assert len(lines) == len(document["weeks"]) == 4 * (1 + len(month.AGENTS))
    for row, line in zip(document["weeks"], lines, strict=True):
        assert (line["week"], line["group"], int(line["runs"])) == (row["week"], row["group"] or "", row["runs"])
        assert int(line["done"]) == row["states"].get("done", 0)
        assert float(line["usd"]) == row["usd"]
        assert line["change_runs"] == ("" if row["change"] is None else str(row["change"]["runs"]))


def test_hostile_names_do_no_harm(tmp_path: Path) -> None:
    evil = "=cmd\x1b[31m\u202e"
    with open_store(str(tmp_path / "s.db")) as opened:
        opened.save([bare("r", ended=NOW, agent=evil)], NOW)
    for form in ("table", "csv"):
        out = loopscan("history", "--store", str(tmp_path / "s.db"), "--by", "agent", "-f", form).stdout
        assert not set(out) & set("\x1b\u202e")
        assert form == "table" or ",'=cmd" in out


def test_an_absurd_sum_is_still_exact(tmp_path: Path) -> None:
    most = (1 << 63) - 1
    with open_store(str(tmp_path / "s.db")) as opened:
        opened.save([bare(str(i), ended=NOW, usd=most, tokens=most) for i in range(3)], NOW)
        assert history(opened, 1, None, UTC, NOW).whole[0].usd == 3 * most
