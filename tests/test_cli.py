"""The real program, run as a user would: subprocess, pipes, files, exit codes."""

from __future__ import annotations

import csv
import gzip
import io
import json
import os
import resource
import subprocess
import sys
from pathlib import Path

import pytest

from tests.conftest import ROOT, SAMPLES, loopscan, native

DEPLOY = "sample_traces/loopscan/deployment.jsonl"
RUN = {"run_id": "r", "name": "t", "args": {}, "result": 1}


def test_version_and_help() -> None:
    assert loopscan("--version").stdout.startswith("loopscan ")
    for args in ((), ("audit",), ("cost",)):
        assert "Usage: loopscan" in loopscan(*args, "--help").stdout


def test_version_is_quick() -> None:
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    loopscan("--version")
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    assert after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime < 0.25


def test_import_is_light() -> None:
    code = "import loopscan, sys; loopscan.Guard; print([m for m in ('rich', 'typer', 'pydantic') if m in sys.modules])"
    assert subprocess.check_output([sys.executable, "-c", code], text=True, cwd=ROOT).strip() == "[]"


def test_the_worked_figures() -> None:
    out = loopscan("cost", "--p-in", "3", "--p-out", "15").stdout
    lines = {line.split()[0]: " ".join(line.split()) for line in out.splitlines() if line.strip()}
    assert lines["context_full"].startswith("context_full 395 394 39,892,500 $119.68")
    assert lines["no_progress"].startswith("no_progress 3 3 10,500 $0.0315")
    assert lines["turn_cap"].startswith("turn_cap 15 15 97,500 $0.2925")
    assert lines["token_cap"].startswith("token_cap 16 16 108,000 $0.324")
    assert "normal run       6     6      25,500  $0.0765" in out
    assert "1,564 times a normal run" in out


def test_jsonl_of_a_piped_log() -> None:
    done = loopscan("audit", "--format", "jsonl", stdin=(ROOT / DEPLOY).read_bytes())
    record = json.loads(done.stdout)
    assert done.returncode == 0
    assert next(iter(record)) == "state"
    assert (record["source"], record["no_progress"]["turn"]) == ("<stdin>", 3)


def test_json_document() -> None:
    document = json.loads(loopscan("audit", DEPLOY, "--format", "json", "--p-in", "3", "--p-out", "15").stdout)
    assert document["schema"] == 1
    assert list(document) == ["schema", "runs", "totals", "skipped", "settings"]
    assert document["totals"]["usd"] == 119.6775


def test_csv_guards_against_formulas(tmp_path: Path) -> None:
    log = native(
        tmp_path / "t.jsonl", RUN | {"run_id": "=HYPERLINK(1)"}, RUN | {"run_id": "@x"}, RUN | {"run_id": "-1+2"}
    )
    rows = list(csv.DictReader(io.StringIO(loopscan("audit", str(log), "-f", "csv").stdout)))
    assert [r["run"] for r in rows] == ["'=HYPERLINK(1)", "'@x", "'-1+2"]


def test_gz_by_content_whatever_the_name(tmp_path: Path) -> None:
    (tmp_path / "log.txt").write_bytes(gzip.compress((ROOT / DEPLOY).read_bytes()))
    assert "deploy-0412" in loopscan("audit", str(tmp_path / "log.txt")).stdout


@pytest.mark.parametrize("forced", [("--from", "loopscan"), ()], ids=["from", "told by the map"])
def test_map(tmp_path: Path, forced: tuple[str, ...]) -> None:
    line = {"session": {"id": "s"}, "tool": {"function": "f", "params": {"a": 1}}, "out": 5}
    log = native(tmp_path / "t.jsonl", line, line)
    args = ("--map", "run_id=session.id,name=tool.function,args=tool.params", "--map", "result=out")
    record = json.loads(loopscan("audit", str(log), *forced, *args, "-f", "jsonl").stdout)
    assert record["run"] == "s"
    assert record["no_progress"]["block"] == [{"name": "f", "args": {"a": 1}}]


def test_a_map_claims_no_log_without_its_fields(tmp_path: Path) -> None:
    log = native(tmp_path / "t.jsonl", {"level": "info", "msg": "hello"})
    done = loopscan("audit", str(log), "--map", "name=tool.function")
    assert done.returncode == 3
    assert "no known log format: its first keys are level, msg" in done.stderr


EXITS = {
    "no such file": (["audit", "nowhere.jsonl"], 3, "nowhere.jsonl: no such file"),
    "unknown option": (["audit", "--colour", DEPLOY], 2, "--colour"),
    "a cap that is no number": (["audit", "--turn-cap", "many", DEPLOY], 2, "--turn-cap 'many'"),
    "one price only": (["audit", "--p-in", "3", DEPLOY], 2, "--p-out"),
    "a format nobody knows": (["audit", "--from", "morse", DEPLOY], 2, "unknown format 'morse'"),
    "a bad map": (["audit", "--map", "name", DEPLOY], 2, "--map"),
    "a map of no field of ours": (["audit", "--map", "arg=tool.params", DEPLOY], 2, "did you mean 'args'?"),
    "a folder without logs": (["audit", "tests/golden"], 0, ""),
    "a log": (["audit", DEPLOY], 0, ""),
}


@pytest.mark.parametrize(("args", "code", "message"), EXITS.values(), ids=EXITS)
def test_exit_codes(args: list[str], code: int, message: str) -> None:
    done = loopscan(*args)
    assert done.returncode == code
    assert message in done.stderr
    assert "Traceback" not in done.stderr
    assert code == 0 or len(done.stderr.splitlines()) == 1


def test_a_missing_input_beside_a_good_one(tmp_path: Path) -> None:
    done = loopscan("audit", DEPLOY, "nowhere.jsonl")
    assert done.returncode == 0
    assert "nowhere.jsonl: no such file" in done.stderr
    assert loopscan("audit", DEPLOY, "nowhere.jsonl", "--strict").returncode == 4


def test_a_bad_line_is_located_and_counted(tmp_path: Path) -> None:
    log = native(tmp_path / "t.jsonl", RUN, "{broken", RUN)
    done = loopscan("audit", str(log))
    assert f"{log}:2: no JSON" in done.stderr
    assert "skipped 1 record" in done.stdout
    assert done.returncode == 0
    assert loopscan("audit", str(log), "--strict").returncode == 4


def test_output_file_appears_whole(tmp_path: Path) -> None:
    target = tmp_path / "report.csv"
    done = loopscan("audit", DEPLOY, "-f", "csv", "-o", str(target))
    assert (done.returncode, done.stdout, done.stderr) == (0, "", "")
    assert "deploy-0412" in target.read_text()
    assert os.listdir(tmp_path) == ["report.csv"]
    assert loopscan("audit", DEPLOY, "-o", "/no/such/folder/x").returncode == 2


def test_only_shows_runs_of_a_verdict() -> None:
    out = loopscan("audit", "sample_traces/loopscan", "--only", "waited", "-f", "csv").stdout
    assert [r["run"] for r in csv.DictReader(io.StringIO(out))] == ["release-21"]


def test_a_closed_pipe_is_quiet() -> None:
    command = f"{sys.executable} -m loopscan audit sample_traces -f jsonl | head -c 10"
    done = subprocess.run(command, shell=True, capture_output=True, cwd=ROOT, check=False)
    assert b"Traceback" not in done.stderr
    assert b"Broken" not in done.stderr


def test_escape_codes_never_reach_the_reader(tmp_path: Path) -> None:
    evil = "\x1b]8;;http://x\x07a\x1b[31m\u202e[bold]\x00"
    log = native(tmp_path / "t.jsonl", *[RUN | {"run_id": evil, "name": evil, "model": evil}] * 2)
    for format_ in ("table", "csv"):
        out = loopscan("audit", str(log), "-f", format_).stdout
        assert not set(out) & set("\x1b\x07\x00\u202e")
        assert "[bold]" in out


def test_nothing_is_cut_when_piped(tmp_path: Path) -> None:
    name = "run-" + "x" * 300
    log = native(tmp_path / "t.jsonl", *[RUN | {"run_id": name}] * 2)
    assert name in loopscan("audit", str(log), COLUMNS="40").stdout


def test_limit_cuts_the_table_only(tmp_path: Path) -> None:
    log = native(tmp_path / "t.jsonl", *[RUN | {"run_id": f"r{i}"} for i in range(30)])
    out = loopscan("audit", str(log), "--limit", "5").stdout
    assert "… 25 more runs" in out
    assert len(loopscan("audit", str(log), "--limit", "5", "-f", "jsonl").stdout.splitlines()) == 30


def test_samples_audit_without_a_skip() -> None:
    done = loopscan("audit", str(SAMPLES), "--strict")
    assert done.returncode == 0, done.stderr


def test_convert_audits_to_the_same_figures(tmp_path: Path) -> None:
    sample = "sample_traces/claude-code"
    converted = loopscan("convert", sample).stdout
    keys = ("run", "state", "turns", "calls", "verdict", "wasted", "usage", "session")

    def figures(text: str) -> list[tuple[object, ...]]:
        return [tuple(json.loads(line)[k] for k in keys) for line in text.splitlines()]

    original = loopscan("audit", sample, "-f", "jsonl").stdout
    assert figures(loopscan("audit", "-f", "jsonl", stdin=converted.encode()).stdout) == figures(original)


def test_formats_lists_every_reader() -> None:
    from loopscan.formats import FORMATS

    listed = json.loads(loopscan("formats", "-f", "json").stdout)
    assert [f["name"] for f in listed] == list(FORMATS)
    assert "claude-code" in loopscan("formats").stdout


def test_from_without_a_path_looks_in_the_agents_own_folders(tmp_path: Path) -> None:
    home = tmp_path / ".claude" / "projects" / "p"
    home.mkdir(parents=True)
    for sample in (SAMPLES / "claude-code").iterdir():
        (home / sample.name).write_bytes(sample.read_bytes())
    done = loopscan("audit", "--from", "claude-code", HOME=str(tmp_path), CLAUDE_CONFIG_DIR="")
    assert f"reading {tmp_path}/.claude/projects" in done.stderr
    assert "2 runs" in done.stdout
    assert loopscan("audit", "--from", "claude-code", HOME="/nowhere", CLAUDE_CONFIG_DIR="").returncode == 3
