"""Nothing let in: no path of a log is followed, no network opened, nothing evaluated, nothing left behind."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from loopscan import audit
from loopscan.cli import run
from tests.conftest import ROOT, SAMPLES
from tests.hostile.mutation import documents, nodes
from tests.hostile.scanning import SAMPLE_FILES, patience

Events = list[tuple[str, list[Any]]]

WATCH = """
import json, os, sys, sysconfig
seen, keep = [], ("open", "os.", "socket.", "subprocess.", "exec", "compile", "import", "ctypes.", "urllib.", "shutil.",
                  "tempfile.", "sqlite3.", "pickle.", "marshal.", "glob.", "pathlib.")
def hook(event, args):
    if event.startswith(keep):
        text = [getattr(a, "co_filename", a) for a in args[:2]]
        seen.append((event, [a for a in text if isinstance(a, (str, bytes, int))]))
import io
import pickle
from loopscan import audit
from loopscan.cli import run
from loopscan.convert import NativeWriter
from loopscan.formats import Scan
from loopscan.redact import redacted
from loopscan.render import COST_RENDERERS, RENDERERS, Options, load
from loopscan.scan import Inputs, read_all
from loopscan.span import Span
def work(*paths):
    report = audit(paths)
    for table in (RENDERERS, COST_RENDERERS):
        for name in table:
            load(name, table).render(report, io.StringIO(), Options())
            load(name, table).render(redacted(report), io.StringIO(), Options())
    scan = Scan()
    writer = NativeWriter(io.StringIO(), scan)
    read_all(Inputs(list(paths)), Span(), scan, writer)
    writer.finish()
work(sys.argv[1])  # whatever is to be imported is imported by now
sys.addaudithook(hook)
work(*sys.argv[1:])
print(json.dumps(seen, default=repr))
"""


def watched(*paths: str) -> Events:
    """What the interpreter tells auditors while the paths are read."""
    done = subprocess.run(
        [sys.executable, "-c", WATCH, str(SAMPLES), *paths], capture_output=True, cwd="/", timeout=120, check=True,
        env={**os.environ, "PYTHONPATH": str(ROOT)}, text=True,
    )  # fmt: skip
    found: Events = [(e, a) for e, a in json.loads(done.stdout)]
    return found


PATHS = [
    *("/etc/passwd", "../../../../../../etc/passwd", "/proc/self/environ", "/dev/zero", "~/.ssh/id_rsa", "secret.json"),
    *("file:///etc/passwd", "http://127.0.0.1:9/x", "https://example.com/x.json", "\\\\server\\share", "C:\\x", "."),
    *("__import__('os').system('touch PWNED')", "$(touch PWNED)", "{{7*7}}", "x" * 5000, "a\0b", "..", "", "%2e%2e%2f"),
]


def poisoned(folder: Path) -> list[Path]:
    """Every sample, written so that each of its texts is a path or a piece of code; beside it the file it may find."""
    written = []
    for name, samples in SAMPLE_FILES.items():
        for sample in samples:
            docs = None if sample.read_bytes().startswith((b"SQL", b"PK")) else documents(sample.read_bytes())
            for turn in range(0 if docs is None else 3):
                docs = documents(sample.read_bytes())
                for i, (holder, key) in enumerate(list(nodes([docs]))):
                    value = holder[key]
                    if isinstance(value, str) and (i + turn) % 3 and key not in ("type", "role", "kind", "object"):
                        holder[key] = PATHS[(i + turn * 7) % len(PATHS)]
                assert docs is not None
                target = folder / str(turn) / sample.relative_to(SAMPLES)
                target.parent.mkdir(parents=True, exist_ok=True)
                target.write_text("\n".join(map(json.dumps, docs)) + "\n")
                written.append(target)
                assert name
    return written


def is_ours(path: str, top: Path) -> bool:
    real = os.path.realpath(path)
    lib = (sys.prefix, sys.base_prefix, str(ROOT / "loopscan"), os.devnull, "/usr/share/zoneinfo", "/etc/localtime")
    return real.startswith((str(top), str(SAMPLES), *lib))


@pytest.fixture(scope="module")
def poison(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, Events]:
    """A folder of poisoned logs and what reading it made the interpreter do."""
    top = tmp_path_factory.mktemp("poison").resolve()
    (top / "secret.json").write_text('{"steps": [], "messages": []}')
    poisoned(top / "logs")
    return top, watched(str(top / "logs"))


def test_only_what_was_named_is_opened(poison: tuple[Path, Events]) -> None:
    top, events = poison
    opened = {str(a[0]) for e, a in events if e in ("open", "sqlite3.connect", "os.listdir", "os.scandir", "glob.glob")}
    assert len(opened) > 100
    assert {p for p in opened if not p.isdecimal() and not is_ours(_plain(p), top / "logs")} == set()


def _plain(path: str) -> str:
    return path.removeprefix("file:").partition("?")[0]


BANNED = (
    *("socket.", "subprocess.", "os.system", "os.exec", "os.fork", "os.posix_spawn", "exec", "compile", "pickle."),
    *("marshal.", "ctypes.", "urllib.", "os.remove", "os.rename", "os.mkdir", "os.link", "os.symlink", "os.chmod"),
)


OURS = (["compile", ["b'Never'", "<string>"]], ["compile", ["b'None'", "<string>"]], ["exec", ["<string>"]])
"""Names of types in our own declarations, of which decoders are made: with these alone is anything compiled."""


OWN_CLASSES = ("loopscan.", "_collections", "collections", "array")
"""What is put away in a file without a name and fetched again is ours: it is made of these, and of plain values."""


def is_known(event: str, args: list[Any]) -> bool:
    return [event, args] in OURS or (event == "pickle.find_class" and args[0].startswith(OWN_CLASSES))


def test_no_network_no_process_no_code_no_change_on_disk(poison: tuple[Path, Events]) -> None:
    top, events = poison
    assert [(event, args) for event, args in events if event.startswith(BANNED) and not is_known(event, args)] == []
    assert not [*ROOT.glob("PWNED"), *top.rglob("PWNED")]


def test_writing_is_for_reports_only(tmp_path: Path) -> None:
    before = {p: p.stat().st_mtime_ns for p in SAMPLES.rglob("*") if p.is_file()}
    temp = set(os.listdir("/tmp"))
    watched()
    assert {p: p.stat().st_mtime_ns for p in SAMPLES.rglob("*") if p.is_file()} == before
    assert not {n for n in set(os.listdir("/tmp")) - temp if n.startswith("loopscan")}


SIBLINGS = {
    "harbor": (
        "trajectory.json",
        {"schema_version": "ATIF-v1.4", "session_id": "s", "steps": []},
        "continued_trajectory_ref",
    ),
    "cline": ("17.messages.json", {"messages": [], "version": 1}, "sessionId"),
}


@pytest.mark.parametrize("name", PATHS)
@pytest.mark.parametrize("kind", SIBLINGS)
def test_a_reference_leads_nowhere_but_beside(kind: str, name: str, tmp_path: Path) -> None:
    """The file that a reference would find outside its folder holds a turn; that turn must not be told."""
    step = {"step_id": 1, "source": "agent", "message": "secret", "tool_calls": []}
    outside = {"schema_version": "ATIF-v1.4", "session_id": "x", "steps": [step], "session_id_": name}
    (tmp_path / "secret.json").write_text(json.dumps(outside))
    file, document, field = SIBLINGS[kind]
    folder = tmp_path / "a" / "b"
    folder.mkdir(parents=True)
    for reference in (name, f"../../{name}", str(tmp_path / "secret.json"), "../../secret.json"):
        (folder / file).write_text(json.dumps({**document, field: reference}))
        assert audit(str(folder)).totals()["turns"] == 0


def test_a_pipe_beside_a_log_is_not_waited_for(tmp_path: Path) -> None:
    """Readers look at files beside a log; where a pipe stands in such a place they must not hang."""
    (tmp_path / "agent").mkdir()
    sample = json.loads((SAMPLES / "atif" / "trajectory.json").read_text())
    (tmp_path / "agent" / "trajectory.json").write_text(json.dumps(sample | {"continued_trajectory_ref": "more.json"}))
    os.mkfifo(tmp_path / "agent" / "more.json")
    os.mkfifo(tmp_path / "result.json")
    (tmp_path / "c" / "events").mkdir(parents=True)
    event = {"id": "1", "kind": "MessageEvent", "source": "agent", "timestamp": "2026-11-01T00:00:00"}
    (tmp_path / "c" / "events" / "event-00000-0123abcd-0000.json").write_text(json.dumps(event))
    os.mkfifo(tmp_path / "c" / "base_state.json")
    os.mkfifo(tmp_path / "c" / "events" / "event-00001-0123abcd-0001.json")
    with patience(20):
        report = audit(str(tmp_path))
    assert any(r.format == "atif" for r in report.runs)
    assert sum("a pipe" in reason for reason in report.skipped.by_reason) == 1


@pytest.mark.parametrize("address", ["https://example.com/x.jsonl", "file:///etc/passwd", "//host/share", "s3://b/k"])
def test_an_address_is_a_file_that_does_not_exist(address: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert run(["audit", address]) == 3
    assert capsys.readouterr().err == f"loopscan: {address}: no such file or folder\n"
