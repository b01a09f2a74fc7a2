"""Policies over the same logs: their figures are the audit's own, and they can be checked by hand."""

from __future__ import annotations

import csv
import io
import json
import os
from dataclasses import replace
from fractions import Fraction
from hashlib import sha256
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from loopscan import Settings, audit
from loopscan.best_cap import BestCap, best_caps
from loopscan.exits import Caps
from loopscan.policy import Policy, policies
from loopscan.prices import from_options
from loopscan.render import Options
from loopscan.render.replay import render
from loopscan.replay import Replay, flips, overlaps, play, replay, watched
from loopscan.report import Report
from loopscan.settings import CapSettings, Detection
from tests.bench import month
from tests.conftest import ROOT, loopscan, native

GOLDEN = ROOT / "tests" / "golden"
SAMPLES = "sample_traces/loopscan"
PRICES = {"p_in": "3", "p_out": "15"}
OFF = CapSettings(None, None, None, None)


def played(
    paths: Any, texts: list[str], base: Settings | None = None, solved: dict[str, bool] | None = None
) -> tuple[Replay, Report]:
    wanted = policies(texts)
    asked = watched(base or Settings(), wanted)
    report = audit(paths, asked, prices=from_options(**PRICES))
    return replay(report, asked, wanted, solved), report


def run(name: str, results: list[Any], end: str | None = "done", tokens: int = 1000, step: float = 10) -> list[Any]:
    """A run of calls; its result decides whether a turn is the same as another."""
    lines: list[Any] = [
        {"run_id": name, "ts": 1e9 + step * i, "name": "t", "args": {}, "result": r, "input_tokens": tokens}
        for i, r in enumerate(results)
    ]
    return [*lines, {"run_id": name, "state": end}] if end else lines


LOGS = st.lists(
    st.tuples(
        st.lists(st.sampled_from("aaaabbc"), min_size=1, max_size=14),
        st.sampled_from(["done", "done", "done", "cut", "error", None]),
        st.integers(1, 5000),
        st.sampled_from([0.5, 20.0, 90.0]),
    ),
    min_size=1,
    max_size=25,
)
POLICIES = st.builds(
    Policy,
    st.just("p"),
    st.builds(Detection, st.integers(1, 9), st.integers(2, 3), st.sampled_from([0, 2, 3]), st.booleans()),
    st.builds(
        CapSettings,
        st.sampled_from([None, "auto", 0, 3, 7]),
        st.sampled_from([None, "auto", 0, 5000]),
        st.sampled_from([None, "auto", 10**10]),
        st.sampled_from([None, "auto", 60.0]),
    ),
)


@settings(max_examples=60, deadline=None)
@given(LOGS, POLICIES, st.booleans())
def test_a_replay_gives_the_figures_of_the_audit(logs: Any, policy: Policy, alone: bool) -> None:
    """The policy that a log was audited with, alone or beside others in the same pass."""
    watch = policy.detection
    assert watch is not None
    of_audit = Settings(watch.window, watch.copies, watch.exact, watch.repeat_limit, policy.caps)
    others = [] if alone else policies(["seed", "controller", "window=4,copies=3"])
    with TemporaryDirectory() as folder:
        log = native(Path(folder) / "t.jsonl", *[x for i, how in enumerate(logs) for x in run(f"r{i}", *how)])
        report = audit(log, of_audit, prices=from_options(**PRICES))
        asked = watched(Settings(exact=watch.exact), [*others, policy])
        again = audit(log, asked, prices=from_options(**PRICES))
    found = replay(again, asked, [*others, policy]).played[-1]
    assert found.caps == report.caps
    assert [r.verdict for r in found.seen] == [r.verdict for r in report.runs]
    assert [r.fired for r in found.seen] == [r.fired for r in report.runs]
    assert found.first == [r.first_exit for r in report.runs]
    own = [next((e for e in r.exits if e.exit != "context_full"), None) for r in report.runs]
    assert found.stops == own


@settings(max_examples=40, deadline=None)
@given(LOGS, st.integers(1, 30))
def test_stuck_runs_move_no_auto_cap(logs: Any, more: int) -> None:
    """Neither under a policy that sees them repeat, nor under one that has the period rule off."""
    texts = ["audit", "turn_cap=auto,token_cap=auto,cost_cap=auto,time_cap=auto,name=caps", "window=6,turn_cap=auto"]
    good = [x for i in range(25) for x in run(f"g{i}", [f"{i}.{k}" for k in range(2 + i % 9)])]
    lines = good + [x for i, how in enumerate(logs) for x in run(f"r{i}", *how)]
    stuck = [x for i in range(more) for x in run(f"s{i}", ["same"] * 60, "done", 9000, 100)]
    with TemporaryDirectory() as folder:
        before, _ = played(native(Path(folder) / "a.jsonl", *lines), texts)
        after, _ = played(native(Path(folder) / "b.jsonl", *lines, *stuck), texts)
    assert [p.caps for p in before.played] == [p.caps for p in after.played]


def test_one_pass_serves_every_detector(tmp_path: Path) -> None:
    """Each policy sees the runs as an audit of its own would."""
    month.write(tmp_path / "logs")
    texts = ["window=20,copies=2", "window=6,copies=2", "window=20,copies=3", "window=12,copies=4", "repeat_limit=3"]
    found, _ = played(tmp_path / "logs", texts)
    for one in found.played:
        watch = one.policy.detection
        assert watch is not None
        alone = audit(tmp_path / "logs", Settings(watch.window, watch.copies, False, watch.repeat_limit))
        assert [(r.fired, r.rule, r.verdict) for r in one.seen] == [(r.fired, r.rule, r.verdict) for r in alone.runs]


def example(tmp_path: Path) -> Path:
    """A failed loop, a healthy retry, a long healthy run, a short one."""
    return native(
        tmp_path / "t.jsonl",
        *run("loop", ["x"] * 10, "cut"),
        *run("retry", ["x", "x", "y", "z"]),
        *run("long", list(range(12))),
        *run("short", [1, 2]),
    )


def test_what_a_policy_saves_and_stops(tmp_path: Path) -> None:
    found, _ = played(example(tmp_path), ["window=6,copies=2", "turn_cap=5", "turn_cap=11"])
    assert ([found.runs[i].run for i in found.failed], len(found.healthy)) == (["loop"], 3)
    rule, five, eleven = found.played
    assert [rule.saving(found.failed).turns, five.saving(found.failed).turns] == [8, 5]
    assert rule.saving(found.failed).usd == 8 * 3 * 10**9
    assert [found.runs[i].run for i in rule.stopped(found.healthy)] == ["retry"]
    assert [found.runs[i].run for i in five.stopped(found.healthy)] == ["long"]
    assert [found.runs[i].run for i in eleven.stopped(found.healthy)] == ["long"]
    assert eleven.saving(found.failed).runs == 0


def test_a_done_run_is_not_stopped_on_its_last_turn(tmp_path: Path) -> None:
    found, _ = played(native(tmp_path / "t.jsonl", *run("a", [1, 2, 3]), *run("b", [1, 2, 3], "cut")), ["turn_cap=3"])
    assert found.played[0].stops[0] is None
    assert (found.played[0].stops[1] is not None, found.played[0].saving(found.failed).turns) == (True, 0)


def test_overlap(tmp_path: Path) -> None:
    found, _ = played(example(tmp_path), ["window=6,copies=2", "turn_cap=5"])
    (pair,) = overlaps(found)
    assert (pair.failed, pair.healthy) == ((1, 0, 0), (0, 1, 1))
    assert (pair.together.runs, pair.together.turns) == (1, 8)


def test_context_full_is_no_policy(tmp_path: Path) -> None:
    """The run would have ended there anyhow: nothing is credited to a policy that has no exit of its own."""
    found, _ = played(native(tmp_path / "t.jsonl", *run("a", list(range(9)), "cut")), ["turn_cap=8"], Settings(
        context_window=1000))  # fmt: skip
    assert (found.played[0].first[0] or found.played[0].stops[0]).exit == "context_full"  # type: ignore[union-attr]
    assert found.played[0].saving(found.failed).turns == 1


def test_verdicts_that_flip(tmp_path: Path) -> None:
    """A cycle of four calls does not fit into half of a window of six."""
    log = native(tmp_path / "t.jsonl", *run("cycle", [1, 2, 3, 4] * 6, "cut"), *run("loop", [1] * 9, "cut"))
    found, _ = played(log, ["window=6,exact=true,name=six", "window=20,exact=true,name=twenty", "turn_cap=5"])
    assert [(f.run.run, f.one, f.other, f.verdicts) for f in flips(found)] == [
        ("cycle", "six", "twenty", ("clean", "stuck"))
    ]


def test_outcomes_take_the_place_of_done(tmp_path: Path) -> None:
    log = native(tmp_path / "t.jsonl", *run("a", [1, 2, 3]), *run("b", [1, 2, 3], "cut"), *run("c", [1] * 9))
    found, _ = played(log, ["turn_cap=2"], solved={"a": False, "b": True, "nobody": True})
    assert [found.runs[i].run for i in found.healthy] == ["b"]
    assert [found.runs[i].run for i in found.failed] == ["a", "c"]
    assert found.outcomes == 2


def test_unsolved_runs_set_no_cap(tmp_path: Path) -> None:
    good = [x for i in range(20) for x in run(f"g{i}", list(range(4)))]
    bad = [x for i in range(20) for x in run(f"b{i}", [sha256(f"{i} {k}".encode()).hexdigest() for k in range(40)])]
    for line in bad:
        line["args"] = line.get("result")
    log = native(tmp_path / "t.jsonl", *good, *bad)
    assert played(log, ["turn_cap=auto"])[0].played[0].caps.turns == 80
    known = {f"b{i}": False for i in range(20)}
    assert played(log, ["turn_cap=auto"], solved=known)[0].played[0].caps.turns == 8


SHARES = st.sampled_from([Fraction(0), Fraction(1, 100), Fraction(1, 10), Fraction(1, 3), Fraction(99, 100)])


@settings(max_examples=60, deadline=None)
@given(LOGS, SHARES)
def test_the_best_cap_is_the_smallest(logs: Any, share: Fraction) -> None:
    with TemporaryDirectory() as folder:
        log = native(Path(folder) / "t.jsonl", *[x for i, how in enumerate(logs) for x in run(f"r{i}", *how)])
        found, _ = played(log, ["turn_cap=1"])
    units = {"turn_cap": 1, "token_cap": 1, "cost_cap": 10**10, "time_cap": 1}
    for cap in best_caps(found, share):
        assert cap.hits <= share * len(found.healthy)
        assert cap.hits == hits(found, cap, cap.value)
        smaller = cap.value - units[cap.exit]
        assert smaller <= 0 or hits(found, cap, smaller) > share * len(found.healthy)


def hits(found: Replay, cap: BestCap, value: int) -> int:
    names = {"turn_cap": "turns", "token_cap": "tokens", "cost_cap": "usd", "time_cap": "seconds"}
    seen = [replace(r, fired=None) for r in found.runs]
    return len(play(Policy("", None, OFF), Caps(**{names[cap.exit]: value}), seen).stopped(found.healthy))


def test_no_healthy_run_means_no_best_cap(tmp_path: Path) -> None:
    found, _ = played(native(tmp_path / "t.jsonl", *run("a", [1, 2], "cut")), ["seed"])
    assert best_caps(found, Fraction(1, 100)) == []


@pytest.fixture(scope="module")
def logs(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("replay") / "logs"
    month.write(folder, until=month.START + 7 * month.DAY)
    return folder


@pytest.mark.parametrize(("name", "width"), [("piped", None), ("80", 80), ("140", 140)])
def test_the_table(logs: Path, name: str, width: int | None) -> None:
    texts = ["audit", "seed", "controller", "coding", "window=6,exact=true,name=six", "turn_cap=auto"]
    found, report = played(logs, texts)
    out = io.StringIO()
    render(found, Fraction(1, 100), report, out, Options(limit=0 if width is None else 5, width=width))
    golden = GOLDEN / f"replay-{name}.txt"
    if os.environ.get("UPDATE_GOLDEN"):
        golden.write_text(out.getvalue())
    assert out.getvalue() == golden.read_text()
    assert width is None or max(map(len, out.getvalue().splitlines())) <= width


def test_json_and_csv(logs: Path) -> None:
    args = ("replay", str(logs), "--policy", "seed", "--policy", "turn_cap=auto", "--p-in", "3", "--p-out", "15")
    document = json.loads(loopscan(*args, "-f", "json").stdout)
    lines = list(csv.DictReader(io.StringIO(loopscan(*args, "-f", "csv").stdout)))
    assert [p["policy"] for p in document["policies"]] == ["seed", "turn_cap=auto"] == [x["policy"] for x in lines]
    for policy, line in zip(document["policies"], lines, strict=True):
        stopped = [s for s in policy["stopped"] if not s["healthy"]]
        assert len(stopped) == policy["failed_stopped"] == int(line["failed_stopped"])
        assert sum(s["saved_turns"] for s in stopped) == policy["saved_turns"] == int(line["saved_turns"])
        assert sum(s["saved_usd"] for s in stopped) == pytest.approx(policy["saved_usd"], rel=1e-12)
        names = [s["run"] for s in policy["stopped"] if s["healthy"]]
        assert names == [n for n in line["healthy_names"].split("; ") if n]
    assert document["policies"][1]["auto"] == ["turn_cap"]
    assert document["healthy"] + document["failed"] == document["runs"]


def test_the_audit_of_a_preset_has_its_figures(logs: Path) -> None:
    """The same logs through both commands."""
    money = ("--p-in", "3", "--p-out", "15", "-f", "json")
    policy = json.loads(loopscan("replay", str(logs), "--window", "6", "--policy", "seed", *money).stdout)["policies"][
        0
    ]
    caps = ("--window", "6", "--turn-cap", "15", "--token-cap", "100000", "--cost-cap", "off", "--time-cap", "off")
    report = json.loads(loopscan("audit", str(logs), *caps, *money).stdout)
    assert policy["first_exits"] == report["totals"]["first_exits"]
    failed = [r for r in report["runs"] if r["first_exit"] and (r["state"] != "done" or r["verdict"] == "stuck")]
    assert policy["saved_turns"] == sum(r["first_exit"]["saved_turns"] for r in failed)
    assert policy["saved_usd"] == pytest.approx(sum(r["first_exit"]["saved_usd"] for r in failed), rel=1e-12)
    assert policy["healthy_stopped"] == sum(r["first_exit"]["false_stop"] for r in report["runs"] if r["first_exit"])


def test_every_preset_is_played_where_none_is_named() -> None:
    rows = csv.DictReader(io.StringIO(loopscan("replay", SAMPLES, "-f", "csv").stdout))
    assert [r["policy"] for r in rows] == ["audit", "seed", "controller", "coding"]
    rows = csv.DictReader(io.StringIO(loopscan("replay", SAMPLES, "-f", "csv", "--per", "session").stdout))
    assert [r["policy"] for r in rows] == ["audit", "seed", "controller"]


def test_caps_from_a_store(tmp_path: Path, logs: Path) -> None:
    loopscan("audit", str(logs), "--store", str(tmp_path / "s.db"))
    few = native(tmp_path / "few.jsonl", *run("a", [1, 2, 3]))
    args = ("replay", str(few), "--policy", "turn_cap=auto", "-f", "csv")
    alone, stored = (
        next(csv.DictReader(io.StringIO(loopscan(*args, *more).stdout)))
        for more in ((), ("--store", str(tmp_path / "s.db")))
    )
    assert (alone["turn_cap"], int(stored["turn_cap"])) == (
        "25",
        played(logs, ["turn_cap=auto"])[0].played[0].caps.turns,
    )


MISTAKES = {
    "an unknown policy": (["--policy", "seeds"], 2, "did you mean seed?"),
    "a policy of another unit": (["--policy", "coding", "--per", "session"], 2, "made for --per prompt"),
    "a share of all": (["--healthy-hit", "100%"], 2, "a share below 100%"),
    "a share of nothing": (["--healthy-hit", "few"], 2, "a share below 100%"),
    "no such outcomes": (["--outcomes", "/no/such.csv"], 2, "cannot be read"),
    "no such store": (["--store", "/no/such.db"], 3, "no such file"),
}


@pytest.mark.parametrize(("args", "code", "message"), MISTAKES.values(), ids=MISTAKES)
def test_mistakes_are_one_line(args: list[str], code: int, message: str) -> None:
    done = loopscan("replay", SAMPLES, *args)
    assert (done.returncode, len(done.stderr.splitlines()), done.stdout) == (code, 1, "")
    assert message in done.stderr


def test_no_run_at_all(tmp_path: Path) -> None:
    (tmp_path / "e.jsonl").write_text("")
    assert "no run found" in loopscan("replay", str(tmp_path / "e.jsonl")).stdout
    assert json.loads(loopscan("replay", str(tmp_path / "e.jsonl"), "-f", "json").stdout)["runs"] == 0


def test_hostile_names_and_redaction(tmp_path: Path) -> None:
    evil = "/home/me/=x\x1b[31m"
    log = native(tmp_path / "t.jsonl", *run(evil, [1, 1, 2, 3]), *run("@b", [1, 1, 2]))
    for form in ("table", "csv"):
        assert "\x1b" not in loopscan("replay", str(log), "-f", form).stdout
        assert "/home/me" not in loopscan("replay", str(log), "-f", form, "--redact").stdout
    rows = list(
        csv.DictReader(io.StringIO(loopscan("replay", str(log), "-f", "csv", "--policy", "=x,window=6").stdout))
    )
    assert rows == []
    named = loopscan("replay", str(log), "-f", "csv", "--policy", "window=6,name=@x").stdout
    assert "'@x" in named
