"""The recipes of the README, run as written; only the paths of the machine are replaced."""

from __future__ import annotations

import json
import os
import re
import shutil
import subprocess
import sys
from configparser import ConfigParser
from datetime import UTC, datetime, timedelta
from pathlib import Path
from xml.etree import ElementTree

import pytest

from tests.conftest import ROOT, loopscan

README = (ROOT / "README.md").read_text()
PROGRAM = Path(sys.executable).with_name("loopscan")
FIELD = r"(\*|\d+)"
CRON_LINE = re.compile(rf"{FIELD} {FIELD} {FIELD} {FIELD} {FIELD}  (?P<command>\S.*)")

pytestmark = pytest.mark.skipif(not PROGRAM.exists(), reason="loopscan is not installed")


def blocks(language: str) -> list[str]:
    found = re.findall(rf"```{language}\n(.*?)```", README, re.S)
    assert found
    return found


@pytest.fixture
def machine(tmp_path: Path) -> Path:
    """A machine of its own, whose folders stand for those of the README."""
    for folder in ("agents", "loopscan", "textfile_collector", "ci"):
        (tmp_path / folder).mkdir()
    yesterday = (datetime.now(UTC) - timedelta(days=1)).strftime("%Y-%m-%d")
    for log in (ROOT / "sample_traces" / "loopscan").glob("*.jsonl"):
        recent = re.sub(r'("ts": ?")\d{4}-\d\d-\d\d', rf"\g<1>{yesterday}", log.read_text())
        (tmp_path / "agents" / log.name).write_text(recent)
    return tmp_path


def placed(command: str, machine: Path) -> str:
    for path, here in (
        ("/usr/local/bin/loopscan", str(PROGRAM)),
        ("/var/log/agents", f"{machine}/agents"),
        ("/var/lib/loopscan", f"{machine}/loopscan"),
        ("/var/lib/node_exporter/textfile_collector", f"{machine}/textfile_collector"),
    ):
        command = command.replace(path, here)
    return command


def run(command: str, machine: Path, **env: str) -> subprocess.CompletedProcess[str]:
    """Run as cron and systemd do: a bare environment, no terminal, nothing on standard input."""
    bare = {"PATH": "/usr/bin:/bin", "HOME": str(machine), "PYTHONPATH": str(ROOT), **env}
    return subprocess.run(
        ["/bin/sh", "-c", placed(command, machine)], cwd=machine, env=bare, stdin=subprocess.DEVNULL,
        capture_output=True, encoding="utf-8", timeout=120, check=False,
    )  # fmt: skip


def test_the_cron_table(machine: Path) -> None:
    (table,) = blocks("crontab")
    mail, *lines = table.splitlines()
    assert re.fullmatch(r"MAILTO=\S+@\S+", mail)
    assert all("%" not in line for line in lines)  # cron takes it for a line break
    commands = [match["command"] for line in lines if (match := CRON_LINE.fullmatch(line))]
    assert len(commands) == len(lines) == 2
    weekly, hourly = (run(command, machine) for command in commands)
    assert (weekly.returncode, hourly.returncode) == (0, 0), weekly.stderr + hourly.stderr
    assert "14 runs: 10 done" in weekly.stdout
    assert (hourly.stdout, hourly.stderr) == ("", "")
    assert 'loopscan_verdicts{verdict="stuck"} 4' in (machine / "textfile_collector" / "loopscan.prom").read_text()
    assert run(commands[0], machine).returncode == 0  # overlapping weeks, one store
    assert (machine / "loopscan" / "runs.db").exists()


def units() -> dict[str, ConfigParser]:
    found = {}
    for block in blocks("ini"):
        name = Path(block.splitlines()[0].removeprefix("# ")).name
        found[name] = ConfigParser(interpolation=None)
        found[name].optionxform = str  # type: ignore[assignment,method-assign]
        found[name].read_string(block)
    return found


def test_the_systemd_units(machine: Path) -> None:
    service, timer = units()["loopscan.service"], units()["loopscan.timer"]
    done = run(service["Service"]["ExecStart"], machine)
    assert (done.returncode, done.stdout) == (0, ""), done.stderr
    assert (machine / "loopscan" / "week.md").read_text().startswith("## loopscan\n\n**14 runs: ")
    assert timer["Install"]["WantedBy"] == "timers.target"


@pytest.mark.skipif(shutil.which("systemd-analyze") is None, reason="systemd is not there")
def test_systemd_takes_the_units(machine: Path) -> None:
    for block in blocks("ini"):
        name = Path(block.splitlines()[0].removeprefix("# ")).name
        (machine / name).write_text(placed(block, machine))
    done = subprocess.run(["systemd-analyze", "verify", "--man=no", *map(str, machine.glob("loopscan.*"))],
                          capture_output=True, text=True, check=False)  # fmt: skip
    complaints = [line for line in done.stderr.splitlines() if str(machine) in line or "loopscan." in line]
    assert complaints == []
    day = units()["loopscan.timer"]["Timer"]["OnCalendar"]
    checked = subprocess.run(["systemd-analyze", "calendar", day], capture_output=True, text=True, check=False)
    assert (checked.returncode, "Normalized form: Mon *-*-* 07:00:00" in checked.stdout) == (0, True)


def test_the_ci_step(machine: Path) -> None:
    (step,) = blocks("yaml")
    script = "\n".join(line.strip() for line in step.partition("run: |\n")[2].splitlines())
    page = machine / "page.md"
    (machine / "agents").rename(machine / "traces")
    path = f"{PROGRAM.parent}:/usr/bin:/bin"
    for shell in ("set -e\n", ""):
        done = run(shell + script, machine, GITHUB_STEP_SUMMARY=str(page), PATH=path)
        assert done.returncode == 1
        assert done.stderr.startswith("loopscan: --fail-on stuck: 4 runs: ")
    assert page.read_text().count("## loopscan") == 2
    suite = ElementTree.parse(machine / "loopscan.xml").find("testsuite")
    assert suite is not None
    assert suite.get("failures") == "4"


def test_the_configuration_is_taken(tmp_path: Path) -> None:
    (file,) = (block for block in blocks("toml") if "fail_on" in block)
    (tmp_path / "loopscan.toml").write_text(file)
    shown = json.loads(loopscan("config", "-f", "json", cwd=tmp_path, LOOPSCAN_WINDOW="30").stdout)
    assert shown["values"]["window"] == {"value": 30, "from": "LOOPSCAN_WINDOW"}
    assert shown["values"]["fail_on"]["value"] == ["stuck", "wasted_usd>5"]
    assert shown["values"]["map"]["value"] == ["name=tool.function", "args=tool.params"]
    assert shown["tools"] == {"get_build": {"ignore": ["result.checked_at"], "poll": True}}


def test_every_recipe_is_run() -> None:
    """A block of a new language needs a test here or in test_docs."""
    assert set(re.findall(r"^```(\w+)$", README, re.M)) <= {
        "console", "text", "python", "json", "crontab", "ini", "yaml", "toml"
    }  # fmt: skip
    assert os.path.isdir(ROOT / "sample_traces" / "loopscan")
