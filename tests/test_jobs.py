"""`--jobs`: what several processes say and write is, to the byte, what one does, whatever files have in common."""

from __future__ import annotations

import json
import os
import re
import shutil
import signal
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import pytest

from loopscan import cli
from loopscan.blob import Blob
from loopscan.cli_settings import cores
from loopscan.crew import Crew
from loopscan.gather import Gathered, shares_of
from loopscan.money import Unpriced
from loopscan.records import document
from loopscan.scan import Inputs, audit, run
from loopscan.settings import Settings
from loopscan.shares import Files, task
from loopscan.source import Input
from tests.conftest import ROOT, SAMPLES, SHARED, native
from tests.several import FIGURES

FORMS = ("json", "jsonl", "csv", "table", "junit", "markdown")


@pytest.fixture(autouse=True)
def pays_always(monkeypatch: pytest.MonkeyPatch) -> None:
    """Small inputs are handed out, too, and cut."""
    for module, name, value in FIGURES:
        monkeypatch.setattr(module, name, value)


def audited(capfd: pytest.CaptureFixture[str], jobs: int, *args: str) -> tuple[int, str, str]:
    """Exit code, output (without the time of the scan) and messages."""
    code = cli.run(["audit", *args, "--jobs", str(jobs)])
    out, err = capfd.readouterr()
    return code, re.sub(r' timestamp="[^"]*"', "", out), err


def same(capfd: pytest.CaptureFixture[str], *args: str, jobs: tuple[int, ...] = (2, 3)) -> tuple[int, str, str]:
    """What an audit gives, however many processes read."""
    one = audited(capfd, 1, *args)
    for several in jobs:
        assert audited(capfd, several, *args) == one
    return one


def turn(run: str | None, number: int, **more: Any) -> dict[str, Any]:
    """A line of a native log."""
    named = {} if run is None else {"run_id": run}
    call = {"name": "read", "args": {"n": number}, "result": f"page {number}"}
    return {**named, "turn": number, "ts": 1_700_000_000 + number, "input_tokens": 10 * number, **call, **more}


def claude(session: str, name: str, number: int, parent: str | None = None, **more: Any) -> dict[str, Any]:
    """A line of a Claude Code session: a prompt, or a message with a call, or its result."""
    stamp = f"2026-11-0{1 + number % 9}T10:00:00.000Z"
    line = {"sessionId": session, "uuid": f"{name}-{number}", "parentUuid": parent, "timestamp": stamp, **more}
    if name.startswith("ask"):
        return {**line, "type": "user", "message": {"role": "user", "content": f"do {name} {number}"}}
    if name.startswith("got"):
        block = {"type": "tool_result", "tool_use_id": f"call-{name[4:]}-{number}", "content": f"page {number}"}
        return {**line, "type": "user", "message": {"role": "user", "content": [block]}}
    block = {"type": "tool_use", "id": f"call-{name[4:]}-{number}", "name": "Read", "input": {"page": number % 2}}
    usage = {"input_tokens": 5, "output_tokens": 7}
    message = {"id": f"m-{name}-{number}", "role": "assistant", "model": "claude-sonnet-4-5", "usage": usage}
    return {**line, "type": "assistant", "message": {**message, "content": [block]}}


def session(path: Path, name: str, prompts: int, session_id: str | None = None) -> Path:
    """A Claude Code session with a few turns for each prompt."""
    lines = []
    for prompt in range(prompts):
        lines.append(claude(session_id or name, f"ask-{name}", prompt))
        for step in range(4):
            lines += [claude(session_id or name, f"{who}-{name}", 10 * prompt + step) for who in ("say", "got")]
    return native(path, *lines)


@pytest.mark.parametrize("form", FORMS)
def test_the_samples(capfd: pytest.CaptureFixture[str], form: str) -> None:
    same(capfd, str(SAMPLES), "-f", form, jobs=(2,))


@pytest.mark.parametrize(
    "options", [("--exact",), ("--per", "session"), ("-v", "--redact"), ("--idle", "1h"), ("--strict",)]
)
def test_the_samples_under_options(capfd: pytest.CaptureFixture[str], options: tuple[str, ...]) -> None:
    same(capfd, str(SAMPLES), "-f", "json", *options, jobs=(3,))


@pytest.mark.parametrize("folder", ["traces", "cases"])
def test_real_logs(capfd: pytest.CaptureFixture[str], folder: str) -> None:
    if not SHARED.is_dir():
        pytest.skip("../shared is not there")
    same(capfd, str(SHARED / folder), "-f", "json", "-v")


def test_more_processes_than_the_samples_have_readers(capfd: pytest.CaptureFixture[str]) -> None:
    same(capfd, str(SAMPLES / "claude-code"), "-f", "jsonl", jobs=(9,))


def test_a_run_that_goes_on_in_other_files(capfd: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    for day in range(4):
        lines = [turn("long", 10 * day + k) for k in range(1, 6)] + [turn(f"day-{day}", k) for k in range(1, 4)]
        native(tmp_path / f"{day}.jsonl", *lines)
    native(tmp_path / "x.jsonl", {"run_id": "long", "state": "done"}, turn("alone", 1))
    _, out, _ = same(capfd, str(tmp_path), "-f", "json")
    runs = {r["run"]: r for r in json.loads(out)["runs"]}
    assert runs["long"]["turns"] == 20
    assert len(runs) == 6


def test_copies_of_files(capfd: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    for name in "abc":
        session(tmp_path / f"{name}.jsonl", name, 3)
    (tmp_path / "backup").mkdir()
    shutil.copy(tmp_path / "b.jsonl", tmp_path / "backup/b.jsonl")
    native(tmp_path / "n.jsonl", *(turn("n", k) for k in range(1, 9)))
    shutil.copy(tmp_path / "n.jsonl", tmp_path / "backup/n.jsonl")
    _, out, _ = same(capfd, str(tmp_path), "-f", "json")
    assert json.loads(out)["skipped"]["copies"] == 20
    _, out, _ = same(capfd, str(tmp_path), "-f", "json", "--exact")
    assert json.loads(out)["skipped"]["copies"] == 0


def test_a_session_taken_up_again_in_a_new_file(capfd: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    """The new file begins with what the old one held; the old one is continued later, too."""
    session(tmp_path / "m.jsonl", "m", 2)
    old = (tmp_path / "m.jsonl").read_bytes()
    more = session(tmp_path / "z.jsonl", "more", 2, session_id="m").read_bytes()
    (tmp_path / "a.jsonl").write_bytes(old + more)
    (tmp_path / "z.jsonl").unlink()
    session(tmp_path / "k.jsonl", "k", 1)
    _, out, _ = same(capfd, str(tmp_path), "-f", "json", "--p-in", "3", "--p-out", "15")
    assert json.loads(out)["totals"]["runs"] > 3


def test_sub_agents_find_their_parents(capfd: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    session(tmp_path / "s.jsonl", "s", 2)
    below = tmp_path / "s/subagents"
    below.mkdir(parents=True)
    for name in ("agent-1", "agent-2"):
        lines = [claude(name, f"ask-{name}", 0), *(claude(name, f"say-{name}", k) for k in range(3))]
        native(below / f"{name}.jsonl", *({**line, "agentId": name[6:], "isSidechain": True} for line in lines))
    _, out, _ = same(capfd, str(tmp_path), "-f", "json")
    assert [r["parent"] for r in json.loads(out)["runs"]].count(None) == 2


def test_prompts_are_numbered_through(capfd: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    for name, first in (("1", 1), ("2", 3), ("3", 5)):
        lines = [
            turn(f"talk#{k}", n, prompt=k, ts=1_700_000_000 + 100 * k + n) for k in (first, first + 1) for n in (1, 2)
        ]
        native(tmp_path / f"{name}.jsonl", *lines, turn(f"other-{name}", 1))
    _, out, _ = same(capfd, str(tmp_path), "-f", "json")
    assert [r["run"] for r in json.loads(out)["runs"] if r["session"]] == [f"talk#{k}" for k in range(1, 7)]


def test_an_end_that_is_not_final_in_a_file_of_its_own(capfd: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    native(tmp_path / "1.jsonl", *(turn("talk#1", n, prompt=1) for n in (1, 2)))
    native(tmp_path / "2.jsonl", {"run_id": "talk#1", "prompt": 1, "state": "aborted", "ts": 5}, turn("x", 1))
    native(tmp_path / "3.jsonl", turn("y", 1))
    _, out, _ = same(capfd, str(tmp_path), "-f", "json")
    assert [r["state"] for r in json.loads(out)["runs"]] == ["aborted", "cut", "cut"]


def test_damage_is_said_in_the_order_of_the_files(capfd: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    for k in range(8):
        lines = [turn(f"r{k}", n) for n in range(1, 5)]
        native(tmp_path / f"{k}.jsonl", *lines[:2], *["{broken", "[1, 2]"] * (k % 4), *lines[2:])
    (tmp_path / "empty.jsonl").write_bytes(b"")
    (tmp_path / "notes.txt").write_text("nothing to see\n" * 9)
    (tmp_path / "cut.jsonl.gz").write_bytes(b"\x1f\x8b\x08\x00damage")
    args = [str(tmp_path), str(tmp_path / "no-such-file"), str(tmp_path / "notes.txt"), "-f", "json"]
    for options in ([], ["-v"], ["--redact"], ["--quiet"], ["--strict"]):
        code, out, _ = same(capfd, *args, *options)
        assert code == (4 if "--strict" in options else 0)
        assert json.loads(out)["skipped"]["records"] == 25


def test_nothing_that_can_be_read(capfd: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    (tmp_path / "a").write_text("no log\n")
    code, out, err = same(capfd, str(tmp_path / "a"), str(tmp_path / "b"), str(tmp_path / "c"))
    assert (code, out) == (3, "")
    assert len(err.splitlines()) == 3


@pytest.mark.skipif(os.name == "nt" or os.geteuid() == 0, reason="everything can be read by the superuser")
def test_a_file_that_may_not_be_read(capfd: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    for name in "ab":
        native(tmp_path / f"{name}.jsonl", turn(name, 1))
    (tmp_path / "a.jsonl").chmod(0)
    same(capfd, str(tmp_path), "-f", "json")


def test_values_are_nested_as_deep_in_every_process(capfd: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    for k, depth in enumerate(range(915, 955)):
        nested = f'{{"run_id": "n", "name": "x", "result": {"[" * depth + "]" * depth}}}'
        native(tmp_path / f"{k}.jsonl", turn(f"r{k}", 1), nested, nested.replace("]", "}", 1), nested[:-1])
    _, out, _ = same(capfd, str(tmp_path), "-f", "json")
    assert set(json.loads(out)["skipped"]["reasons"]) == {"nested too deeply", "no JSON"}


def test_many_unknown_types(capfd: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    """Beyond a thousand they are counted as others, wherever they stand."""
    for name, count in (("a", 600), ("b", 700), ("c", 1100)):
        lines = [
            {"type": f"kind {name} {k % 500 if name == 'b' else k}", "uuid": k, "sessionId": name} for k in range(count)
        ]
        path = session(tmp_path / f"{name}.jsonl", name, 1)
        path.write_bytes(path.read_bytes() + b"".join(json.dumps(line).encode() + b"\n" for line in lines))
    _, out, _ = same(capfd, str(tmp_path), "-f", "json")
    assert json.loads(out)["skipped"]["unknown_types"]["claude-code:other types"] == 1200


def test_packed_series_come_back(capfd: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    """Runs of several full parts, and detectors beside the one of the report."""
    for name in "ab":
        native(
            tmp_path / f"{name}.jsonl", *(turn(name, k, model="gpt-4o", output_tokens=k % 7) for k in range(1, 5000))
        )
    same(capfd, str(tmp_path), "-f", "json", "--turn-cap", "4100", "--token-cap", "5000000", jobs=(2,))
    codes = [cli.run(["replay", str(tmp_path), "-f", "json", "--jobs", str(jobs)]) for jobs in (1, 2)]
    out = capfd.readouterr().out
    assert codes == [0, 0]
    assert out[: len(out) // 2] == out[len(out) // 2 :]


def test_a_pipe_is_read_where_it_is(tmp_path: Path) -> None:
    line = json.dumps(turn("p", 1)).encode()
    native(tmp_path / "a.jsonl", turn("a", 1))
    done = subprocess.run(
        [sys.executable, "-m", "loopscan", "audit", str(tmp_path), "-", "-f", "jsonl", "--jobs", "2"],
        input=line, capture_output=True, check=True, cwd=ROOT,
    )  # fmt: skip
    assert len(done.stdout.splitlines()) == 2


def test_processes_that_do_not_fork(tmp_path: Path) -> None:
    """Where processes are started anew, as on other systems, the result is the same."""
    for name in "abc":
        session(tmp_path / f"{name}.jsonl", name, 2)
    shutil.copy(tmp_path / "a.jsonl", tmp_path / "d.jsonl")
    program = tmp_path / "program.py"
    program.write_text(
        "from loopscan import crew\nfrom tests.several import main\n"
        "if __name__ == '__main__':\n    crew.FORKS = False\n    main()\n"
    )
    found = [
        subprocess.run(
            [sys.executable, str(program), "audit", str(tmp_path), "-f", "json", "--jobs", jobs],
            capture_output=True, check=True, cwd=ROOT, env={**os.environ, "PYTHONPATH": str(ROOT)},
        ).stdout
        for jobs in ("1", "2")
    ]  # fmt: skip
    assert found[0] == found[1]


@pytest.mark.parametrize(
    "without",
    [
        "import _multiprocessing; del _multiprocessing.SemLock",  # no semaphores, as in some containers
        "import os; os.fork = lambda: os.close(-1)",  # no further process
    ],
)
def test_where_there_are_no_processes_one_reads(tmp_path: Path, without: str) -> None:
    for name in "abc":
        session(tmp_path / f"{name}.jsonl", name, 2)
    code = f"import sys; {without}\nfrom tests.several import main\nsys.exit(main())"
    done = [
        subprocess.run(
            [sys.executable, *start, "audit", str(tmp_path), "-f", "json", "--jobs", jobs],
            capture_output=True, check=False, cwd=ROOT,
        )
        for start, jobs in ((("-m", "loopscan"), "1"), (("-c", code), "2"))
    ]  # fmt: skip
    assert [(d.returncode, d.stdout, d.stderr) for d in done] == 2 * [(0, done[0].stdout, b"")]


def test_small_files_are_handed_out_together(tmp_path: Path) -> None:
    items = Inputs([str(native(tmp_path / f"{k}.jsonl", turn("r", 1))) for k in range(600)]).items()
    handed = [s for s in shares_of(items, [1] * 599 + [10_000], {}, 2) if isinstance(s, Files)]
    counts = [len(share.items) for share in handed]
    assert counts[0] == 1
    assert 4 < len(counts) < 20
    assert counts[1:] == sorted(counts[1:], reverse=True)
    assert sorted(n for share in handed for n, _ in share.items) == list(range(600))
    assert handed[0] == Files(((599, items[599]),))


def test_one_process_for_little(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.undo()
    for name in "ab":
        native(tmp_path / f"{name}.jsonl", turn(name, 1))
    code = "import sys\nfrom loopscan import cli\ncli.run(sys.argv[1:])\nassert 'multiprocessing' not in sys.modules"
    subprocess.run([sys.executable, "-c", code, "audit", str(tmp_path), "--jobs", "4"], check=True, cwd=ROOT)
    assert cores() >= 1


def test_files_that_go_on_in_one_another_are_read_by_one_process(tmp_path: Path) -> None:
    """Each of many files ends with the run that the next begins with: to read them apart would be in vain."""
    for day in range(12):
        lines = [turn(f"over-{day + k}", 10 * day + n) for k in (0, 1) for n in range(1, 6)]
        native(tmp_path / f"{day:02}.jsonl", *lines)
    paths, asked = [str(tmp_path)], Settings()
    items = Inputs(paths).items()
    found = Gathered(items, [os.path.getsize(i.path) for i in items], Inputs(paths))
    with Crew(2, task(Inputs(paths), asked, Unpriced())) as crew:
        assert not found.first(crew, [Files(((n, item),)) for n, item in enumerate(items)])
    assert 2 <= len(found.outcomes) < 12
    one, two = (audit(paths, jobs=jobs) for jobs in (1, 2))
    assert document(one) == document(two)


@pytest.mark.skipif(not hasattr(signal, "SIGSTOP"), reason="no process can be stopped here")
def test_processes_that_hear_nothing_any_more_keep_nobody(tmp_path: Path) -> None:
    """One that is killed while it waits for more may leave the others without a way to be told that there is none."""
    paths = [str(native(tmp_path / f"{name}.jsonl", turn(name, 1))) for name in "ab"]
    items = Inputs(paths).items()
    found = Gathered(items, [1, 1], Inputs(paths))
    with Crew(2, task(Inputs(paths), Settings(), Unpriced())) as crew:
        assert found.first(crew, [Files(((n, item),)) for n, item in enumerate(items)])
        processes = list(crew._processes)
        for process in processes:
            os.kill(process.pid, signal.SIGSTOP)
    assert [process.exitcode for process in processes] == [-signal.SIGKILL] * len(processes) != []
    assert len(found.outcomes) == 2


class Shown:
    """Notes how far the reading is."""

    def __init__(self) -> None:
        self.items: list[Input] = []
        self.read: list[str] = []

    def begin(self, items: list[Input]) -> None:
        """All of them."""
        self.items, self.read = items, []

    def reading(self, blob: Blob) -> None:
        """Not known of other processes."""

    def done(self, item: Input) -> None:
        """One of them."""
        self.read.append(item.path)


def test_progress(tmp_path: Path) -> None:
    native(tmp_path / "big.jsonl", *(turn(f"r{k // 20}", k) for k in range(1, 200)))
    for name in "ab":
        native(tmp_path / f"{name}.jsonl", turn(name, 1))
    shown = Shown()
    run(Inputs([str(tmp_path)], watch=shown, jobs=2), Settings(), Unpriced())
    assert sorted(shown.read) == [item.path for item in shown.items]


class TestSignals:
    """Processes that are killed, and scans that are stopped."""

    @pytest.fixture(params=["files", "parts", "legs"])
    def folder(self, tmp_path: Path, request: pytest.FixtureRequest) -> Path:
        """Logs that take a while: some files, or one that is cut, or one of one run."""
        text = {"text": "word " * 40, "error": "no"}
        for name in "abcdef":
            lines = (turn(f"{name}{k // 20}", k % 20, **text) for k in range(20_000))
            if request.param == "legs":
                at = 20_000 * "abcdef".index(name)
                lines = (turn("one", at + k, text="word " * 40) for k in range(20_000))
            path = tmp_path / (f"{name}.jsonl" if request.param == "files" else "one.jsonl")
            with path.open("ab") as file:
                file.write(b"".join(json.dumps(line).encode() + b"\n" for line in lines))
        return tmp_path

    @staticmethod
    def started(folder: Path) -> tuple[subprocess.Popen[str], list[int]]:
        """A scan that is going on, and its processes."""
        scan = subprocess.Popen(
            [sys.executable, "-m", "loopscan", "audit", str(folder), "-f", "jsonl", "--jobs", "2"],
            stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, cwd=ROOT,
        )  # fmt: skip
        children: list[int] = []
        while len(children) < 2 and scan.poll() is None:
            children = list(map(int, Path(f"/proc/{scan.pid}/task/{scan.pid}/children").read_text().split()))
        time.sleep(0.3)
        return scan, children

    @staticmethod
    def gone(processes: list[int]) -> bool:
        """Whether processes end, if not at once."""
        until = time.monotonic() + 10
        while any(Path(f"/proc/{p}/cmdline").exists() for p in processes):
            if time.monotonic() > until:
                return False
            time.sleep(0.05)
        return True

    pytestmark = pytest.mark.skipif(not Path("/proc/self/task").is_dir(), reason="processes are found in /proc")

    def test_a_killed_process_costs_its_files_only(self, folder: Path) -> None:
        scan, processes = self.started(folder)
        os.kill(processes[0], signal.SIGKILL)
        out, err = scan.communicate(timeout=60)
        (line,) = err.splitlines()
        assert line.endswith("not read: the process that read it was killed (SIGKILL)")
        files = {path.name for path in folder.iterdir()}
        lost = {name for name in files if name in line}
        assert {Path(json.loads(r)["source"]).name for r in out.splitlines()} == files - lost
        assert len(lost) == 1
        assert scan.returncode == (3 if lost == files else 0)
        assert self.gone(processes)

    def test_a_stopped_scan_shows_what_was_read(self, folder: Path) -> None:
        scan, processes = self.started(folder)
        for process in (scan.pid, *processes):  # as a terminal does
            os.kill(process, signal.SIGINT)
        out, err = scan.communicate(timeout=60)
        assert scan.returncode == 130
        assert "stopped: " in err
        assert 1 <= len(out.splitlines()) < 6000
        assert self.gone(processes)

    @pytest.mark.parametrize("how", [signal.SIGTERM, signal.SIGKILL])
    def test_nothing_is_left_of_a_scan_that_is_ended(self, folder: Path, how: signal.Signals) -> None:
        scan, processes = self.started(folder)
        scan.send_signal(how)
        out, _ = scan.communicate(timeout=60)
        assert scan.returncode == (143 if how is signal.SIGTERM else -9)
        assert out == ""
        assert self.gone(processes)
