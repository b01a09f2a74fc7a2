"""A home folder of many agents, audited in one command."""

from __future__ import annotations

import csv
import io
import shutil
from pathlib import Path

import pytest

from loopscan import audit
from loopscan.formats import FORMATS, load
from loopscan.places import candidates
from tests.conftest import SAMPLES, loopscan


@pytest.fixture
def home(tmp_path: Path) -> Path:
    """Every sample where its agent would write it (or in `logs/`), with side files that are no logs."""
    for name in FORMATS:
        places = [p for p in load(name).WHERE if p.startswith("~/") and "*" not in p and not p.endswith("/session")]
        target = tmp_path / places[0].removeprefix("~/") if places else tmp_path / "logs" / name
        shutil.copytree(SAMPLES / name, target / name, dirs_exist_ok=True)
    (tmp_path / ".claude" / "settings.json").write_text('{"theme": "dark"}')
    (tmp_path / "notes.md").write_text("# notes")
    (tmp_path / "photo.png").write_bytes(b"\x89PNG\r\n\x1a\n" + bytes(range(256)))
    return tmp_path


def test_one_table_of_all_agents(home: Path) -> None:
    done = loopscan("audit", str(home), "-f", "csv")
    assert done.returncode == 0
    assert "Traceback" not in done.stderr
    rows = list(csv.DictReader(io.StringIO(done.stdout)))
    expected = {name: len(audit(SAMPLES / name).runs) for name in FORMATS}
    got = {name: sum(r["format"] == name for r in rows) for name in FORMATS}
    assert got == expected


def test_copies_of_sessions_count_once(home: Path) -> None:
    before = audit(home)
    shutil.copytree(home / ".claude" / "projects" / "claude-code", home / ".claude" / "projects" / "copy")
    shutil.copytree(home / ".codex" / "sessions" / "codex", home / ".codex" / "archived_sessions" / "codex")
    after = audit(home)
    figures = [sorted((r.format, r.run, r.turns, r.usd) for r in report.runs) for report in (before, after)]
    assert figures[0] == figures[1]
    assert after.skipped.copies > before.skipped.copies


def test_places_of_unset_variables_are_left_out(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HOME", "/home/user")
    monkeypatch.delenv("CLAUDE_CONFIG_DIR", raising=False)
    where = ("$CLAUDE_CONFIG_DIR/projects", "~/.claude/projects")
    assert candidates(where) == ["/home/user/.claude/projects"]
    monkeypatch.setenv("CLAUDE_CONFIG_DIR", "/a, /b")
    assert candidates(where) == ["/a/projects", "/b/projects", "/home/user/.claude/projects"]
