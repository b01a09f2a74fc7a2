"""`loopscan show`: what a person sees of one run, at fixed widths against committed text, and of hostile ones."""

from __future__ import annotations

import io
import json
from contextlib import chdir
from pathlib import Path
from typing import Any

import pytest

from loopscan import Settings
from loopscan.errors import InputError, UsageError
from loopscan.prices import from_options
from loopscan.render import Options
from loopscan.render.show import render
from loopscan.scan import Inputs, run
from loopscan.show import show
from loopscan.view import View
from loopscan.which import which
from loopscan.why import why
from tests.conftest import ROOT, SAMPLES, loopscan, native
from tests.render.fixed import check

LOGS = "sample_traces/loopscan"
SEEN = {
    "stuck": (f"{LOGS}/deployment.jsonl", "deploy-0412"),
    "cycle": (f"{LOGS}/three-call-cycle.jsonl", "fix-118"),
    "poll": (f"{LOGS}/poll-that-ends.jsonl", "release-21"),
    "reordered": (f"{LOGS}/reordered-keys.jsonl", "booking-52"),
    "session": ("sample_traces/claude-code", "5d0c7f52-1111-4222-8333-944445555666#1"),
}
WIDTHS = {"80": 80, "piped": None}


def looked(path: str | Path, asked: str = "", **options: Any) -> View:
    with chdir(ROOT):  # sources are shown as given
        return show(Inputs([str(path)]), Settings(), from_options(3, 15), asked, **options)


def text(view: View, width: int | None = None) -> str:
    out = io.StringIO()
    render(view, out, Options(width=width))
    return out.getvalue()


@pytest.mark.parametrize("width", WIDTHS)
@pytest.mark.parametrize("name", SEEN)
def test_golden(name: str, width: str) -> None:
    got = text(looked(*SEEN[name]), WIDTHS[width])
    check(f"show-{name}-{width}.txt", got)
    assert WIDTHS[width] is None or max(map(len, got.splitlines())) <= 80


def test_every_sample_can_be_shown() -> None:
    """Each run of each format has all its turns, fits the terminal, and says why in the words of its verdict."""
    with chdir(ROOT):
        files = sorted(p for p in Path("sample_traces").rglob("*") if p.is_file())
        shown = 0
        for file in files:
            try:
                report = run(Inputs([str(file)]), Settings(), from_options(3, 15))
            except InputError:  # lies beside a log
                continue
            for one in report.runs:
                view = show(Inputs([str(file)]), Settings(), from_options(3, 15), one.run, whole=True)
                assert [s.turn for s in view.steps] == list(range(1, one.turns + 1))
                assert why(view).startswith(one.verdict or "blind")
                assert max(map(len, text(view, 80).splitlines())) <= 80
                shown += 1
    assert shown > 100


def turns(name: str, *results: Any, **more: Any) -> list[dict[str, Any]]:
    return [{"run_id": name, "name": "get", "args": {"id": 1}, "result": r, **more} for r in results]


WHY = {
    "clean": ([1, 2, 3], "clean: no block of turns came twice in a row"),
    "stuck": (["x"] * 5, "stuck: the same turn was played 5 times, turns 1-5, and the run ended in it"),
    "suspect": (["x"] * 2, "suspect: the same turn was played 2 times, turns 1-2, and the run ended in it (4 copies"),
    "waited": (["x", "x", "y"], "waited: the same turn was played 2 times, turns 1-2; turn 3 made the same call and"),
    "again": (["x", "x", "y", "x", "x"], "suspect: the same turn was played 2 times"),
}


@pytest.mark.parametrize(("results", "words"), WHY.values(), ids=WHY)
def test_why(tmp_path: Path, results: list[Any], words: str) -> None:
    assert why(looked(native(tmp_path / "t.jsonl", *turns("r", *results)))).startswith(words)


def test_why_of_other_ends(tmp_path: Path) -> None:
    lines = turns("r", *["x"] * 5)
    failed = {"run_id": "r", "error": True, "result": "overloaded"}
    for last, words in (
        ({"run_id": "r", "text": "I could not do it."}, "never left: turn 6 is only a closing text"),
        (failed, "never left: turn 6 is a failed model call"),
        ({"run_id": "r", "name": "put", "args": {}, "result": "ok"}, "turn 6 called put, which is not part of it"),
        ({"run_id": "r", "name": "get", "args": {"id": 2}, "result": "z"}, "turn 6 called get with other arguments"),
    ):
        assert words in why(looked(native(tmp_path / "t.jsonl", *lines, last)))
    unseen = [{"run_id": "r", "name": "get", "args": {}}] * 4
    assert why(looked(native(tmp_path / "t.jsonl", *unseen))).startswith("blind")


def test_long_runs_are_abbreviated(tmp_path: Path) -> None:
    rest = [{"run_id": "r", "name": f"step_{i}", "args": {}, "result": i} for i in range(60)]
    log = native(tmp_path / "t.jsonl", *turns("r", "start", *["same"] * 90, "end"), *rest)
    view = looked(log)
    assert len(view.steps) < 20
    assert sum(last - first + 1 for first, last in view.left_out()) + len(view.steps) == 152
    assert "more turns of the same block …" in text(view)
    assert text(view).endswith("turns not shown (--all shows them)\n")
    assert len(looked(log, whole=True).steps) == 152


def test_an_equal_result_is_said_and_a_changed_one_is_a_diff(tmp_path: Path) -> None:
    long = "\n".join(f"line {i} of a long report" for i in range(40))
    changed = long.replace("line 17 of", "line 17b of")
    results = [
        {"a": {"b": 1}, "c": [1]},
        {"a": {"b": 1}, "c": [1]},
        {"a": {"b": 2}, "c": [1], "d": "new"},
        long,
        long,
        changed,
    ]
    got = text(looked(native(tmp_path / "t.jsonl", *turns("r", *results))))
    assert "same result as turn 1" in got
    assert "      a.b: 1 → 2\n" in got
    assert "      d: new, new\n" in got
    assert "      - line 17 of a long report\n" in got
    assert "      + line 17b of a long report\n" in got


def test_calls_of_one_turn(tmp_path: Path) -> None:
    call = {"name": "get", "args": {}, "result": "ok"}
    many = [{"name": "get", "args": {"i": i}, "result": i} for i in range(20)]
    log = native(tmp_path / "t.jsonl", {"run_id": "r", "calls": [call] * 5}, {"run_id": "r", "calls": many})
    got = text(looked(log))
    assert "get {} (5 times)" in got
    assert "+ 12 more calls" in got


EVIL = "a\x1b[31m|`\u202e\ud800\x07<b>[bold]x[/bold]\nnext"


def test_hostile_text(tmp_path: Path) -> None:
    lines = [
        {
            "run_id": EVIL,
            "name": EVIL,
            "args": {EVIL: EVIL * 500},
            "result": EVIL * i,
            "model": EVIL,
            "labels": {"a": EVIL},
        }
        for i in (1, 1, 2, 900)
    ]
    lines += [{"run_id": EVIL, "text": EVIL}, {"run_id": EVIL, "error": True, "result": EVIL}]
    log = native(tmp_path / "t.jsonl", *[json.dumps(line) for line in lines])
    for width in (80, None):
        got = text(looked(log), width)
        assert not any(c in got for c in "\x1b\x07\u202e\ud800")
        assert "[bold]x[/bold]" in got
    for more in ([], ["--format", "json"]):
        done = loopscan("show", str(log), "--all", *more, FORCE_COLOR="")
        assert done.returncode == 0
        assert not any(c in done.stdout for c in "\x1b\x07\u202e")


def test_deep_and_huge_values(tmp_path: Path) -> None:
    deep = "[" * 400 + "]" * 400
    lines = [f'{{"run_id":"r","name":"t","args":{deep},"result":{deep}}}'] * 2
    lines += [json.dumps({"run_id": "r", "name": "t", "args": {}, "result": [{"k": "v" * 50_000}] * i}) for i in (1, 2)]
    view = looked(native(tmp_path / "t.jsonl", *lines), whole=True)
    assert len(view.steps) == 4
    assert max(len(said.result or "") for s in view.steps for said in s.said) <= 2000


def test_which_run(tmp_path: Path) -> None:
    names = ["fix-104", "fix-118", "Deploy", "fix"]
    runs = run(Inputs([str(native(tmp_path / "t.jsonl", *[x for n in names for x in turns(n, 1)]))]), Settings(),
               from_options()).runs  # fmt: skip
    assert [which(runs, asked).run for asked in ("fix", "118", "deploy", "fix-104")] == [
        "fix", "fix-118", "Deploy", "fix-104"
    ]  # fmt: skip
    with pytest.raises(UsageError) as several:
        which(runs, "fix-1")
    assert several.value.args[0] == "'fix-1' fits 2 runs"
    assert [a.split()[0] for a in several.value.args[1:]] == ["fix-104", "fix-118"]
    with pytest.raises(InputError, match="no run 'fix-140' among 4; near: fix-104"):
        which(runs, "fix-140")
    with pytest.raises(InputError, match="for example fix-104, fix-118"):
        which(runs, "§§§")


MISTAKES = {
    "no such run": ([LOGS, "fix-999"], 3, "near: fix-"),
    "several": ([LOGS, "fix"], 2, "'fix' fits 2 runs"),
    "a folder of many runs": ([LOGS], 2, "14 runs here: add the one to show"),
    "no logs": (["fix"], 2, "loopscan show PATH RUN"),
    "nothing": ([], 2, "loopscan show PATH RUN"),
    "no such file": (["/no/such", "fix"], 3, "no such file or folder"),
    "standard input": (["-", "fix"], 2, "twice"),
}


@pytest.mark.parametrize(("args", "code", "message"), MISTAKES.values(), ids=MISTAKES)
def test_mistakes(args: list[str], code: int, message: str) -> None:
    done = loopscan("show", *args)
    assert (done.returncode, done.stdout) == (code, "")
    assert message in done.stderr


def test_a_file_of_one_run_needs_no_name() -> None:
    done = loopscan("show", f"{LOGS}/two-call-cycle.jsonl")
    assert done.stdout.startswith("fix-104: cut")


def test_json() -> None:
    done = loopscan("show", LOGS, "fix-118", "--p-in", "3", "--p-out", "15", "--format", "json")
    found = json.loads(done.stdout)
    audit = json.loads(loopscan("audit", LOGS, "--p-in", "3", "--p-out", "15", "--format", "json").stdout)
    assert found["run"] == next(r for r in audit["runs"] if r["run"] == "fix-118")
    assert found["why"].startswith("recovered: the same 3-turn block was played 3 times")
    assert [t["turn"] for t in found["turns"]] == list(range(1, 13))
    assert sum(t["usd"] for t in found["turns"]) == pytest.approx(found["run"]["cost"]["usd"], rel=1e-12)
    assert found["turns"][3]["marks"] == [{"label": "A", "copy": 2, "position": 1}]
    assert found["turns"][3]["calls"][0]["same_as"] == 1
    assert found["turns"][10]["calls"][0]["changes"] == ["- 2 failed: test_vat, test_rounding", "+ all 14 passed"]
    assert found["left_out"] == []


def test_redacted(tmp_path: Path) -> None:
    secret = "sk-live-4242"
    lines = [
        {"run_id": f"/home/me/{secret}", "name": "t", "args": {"k": secret}, "result": f"{secret} {i}"}
        for i in (1, 1, 2)
    ]
    log = native(tmp_path / f"{secret}.jsonl", *lines, {"run_id": f"/home/me/{secret}", "text": secret})
    for more in ([], ["--format", "json"]):
        done = loopscan("show", str(log), "--redact", "--all", *more)
        assert done.returncode == 0
        assert secret not in done.stdout + done.stderr
        assert "h:" in done.stdout
    refused = loopscan("show", str(log), "nothing", "--redact")
    assert secret not in refused.stderr


def test_a_session_as_one_run() -> None:
    view = show(Inputs([f"{SAMPLES}/claude-code"]), Settings(per="session"), from_options(), "5d0c7f52", whole=True)
    assert (view.run.turns, len(view.steps)) == (10, 10)
