"""The configuration: where values come from, which one holds, what is refused."""

from __future__ import annotations

import json
import os
from pathlib import Path
from typing import Any

import pytest

from loopscan.config import load
from loopscan.errors import UsageError
from loopscan.settings import ToolSettings
from tests.conftest import loopscan, native

NAMES = ("window", "turn_cap", "fail_on", "exact", "map", "format", "output", "prices")


def values(folder: Path, *args: str, **env: str) -> dict[str, Any]:
    done = loopscan("config", "--format", "json", *args, cwd=folder, **env)
    assert done.returncode == 0, done.stderr
    found: dict[str, Any] = json.loads(done.stdout)["values"]
    return found


def test_flags_before_environment_before_file_before_defaults(tmp_path: Path) -> None:
    (tmp_path / "loopscan.toml").write_text("window = 30\ncopies = 3\ndetail = 1\n")
    file = str(tmp_path / "loopscan.toml")
    found = values(tmp_path, "--window", "50", LOOPSCAN_WINDOW="40", LOOPSCAN_COPIES="4")
    assert found["window"] == {"value": 50, "from": "flag"}
    assert found["copies"] == {"value": 4, "from": "LOOPSCAN_COPIES"}
    assert found["detail"] == {"value": 1, "from": file}
    assert found["growth"] == {"value": 500, "from": "default"}
    assert found["normal"] == {"value": 6, "from": "default"}  # an option of another command


def test_the_audit_follows_it(tmp_path: Path) -> None:
    log = native(tmp_path / "t.jsonl", *[{"run_id": "r", "name": "t", "args": {}, "result": 1}] * 9)
    (tmp_path / "loopscan.toml").write_text('window = 8\ncopies = 4\nformat = "jsonl"\nfail-on = ["stuck"]\n')
    done = loopscan("audit", str(log), cwd=tmp_path)
    assert done.returncode == 1
    assert json.loads(done.stdout)["no_progress"]["turn"] == 4
    done = loopscan("audit", str(log), "--copies", "3", cwd=tmp_path, LOOPSCAN_FAIL_ON="suspect")
    assert done.returncode == 0
    assert json.loads(done.stdout)["no_progress"]["turn"] == 3


def test_the_nearest_file_upward_wins(tmp_path: Path) -> None:
    inner = tmp_path / "project" / "logs"
    inner.mkdir(parents=True)
    (tmp_path / "loopscan.toml").write_text("window = 11\n")
    assert values(inner)["window"]["value"] == 11
    (tmp_path / "project" / "pyproject.toml").write_text("[project]\nname = 'loopscan-user'\n")
    assert values(inner)["window"]["value"] == 11  # says nothing of loopscan
    (tmp_path / "project" / "pyproject.toml").write_text("[tool.loopscan]\nwindow = 12\n")
    assert values(inner)["window"]["value"] == 12
    (tmp_path / "project" / "loopscan.toml").write_text("window = 13\n")
    assert values(inner)["window"]["value"] == 13


def test_maps_and_tools(tmp_path: Path) -> None:
    (tmp_path / "pyproject.toml").write_text(
        '[tool.loopscan.map]\nname = "tool.function"\nargs = "tool.params"\n'
        '[tool.loopscan.tools.get_build]\npoll = true\nignore = ["result.at"]\n'
        "[tool.loopscan.tools.deploy]\nmutates = true\nunordered = false\n"
    )
    config = load(lambda: NAMES, tmp_path, {})
    assert config.entries["map"].value == ["name=tool.function", "args=tool.params"]
    assert config.tools == {
        "get_build": ToolSettings(ignore=("result.at",), poll=True),
        "deploy": ToolSettings(mutates=True, unordered=False),
    }
    shown = loopscan("config", cwd=tmp_path).stdout
    assert "tools.get_build.ignore  result.at" in " ".join(shown.split("\n")).replace("   ", " ")
    log = native(tmp_path / "t.jsonl", *[{"tool": {"function": "f", "params": {"a": 1}}, "result": 1}] * 2)
    record = json.loads(loopscan("audit", str(log), "--from", "loopscan", "-f", "jsonl", cwd=tmp_path).stdout)
    assert record["no_progress"]["block"] == [{"name": "f", "args": {"a": 1}}]


REFUSED = {
    "a typo": ("windwo = 3", "unknown key 'windwo': did you mean 'window'?"),
    "nothing like it": ("xyzzy = 3", "unknown key 'xyzzy': known are all, base"),
    "a path is no option": ('paths = ["logs"]', "unknown key 'paths'"),
    "no number": ('window = "wide"', "window: 'wide' is not a valid int"),
    "half a turn": ("window = 2.5", "window: '2.5' is not a valid int"),
    "out of range": ("copies = 1", "copies: 1 is not in the range"),
    "no such choice": ('format = "html"', "format: 'html' is not one of"),
    "true for a number": ("window = true", "window: a value is wanted, not true or false"),
    "a text for a switch": ('exact = "yes"', "exact: true or false is wanted"),
    "a list for one": ("window = [1, 2]", "window: one value is wanted"),
    "a table": ("[window]\nx = 1", "window: a single value is wanted"),
    "no table of a tool": ("[tools]\nf = 1", "tools: write a table for each tool"),
    "a key of a tool": ("[tools.f]\npol = true", "tools.f: unknown key 'pol': did you mean 'poll'?"),
    "a word for a tool": ('[tools.f]\npoll = "yes"', "tools.f.poll: true or false is wanted"),
    "parts of a tool": ('[tools.f]\nignore = "result.at"', "tools.f.ignore: a list is wanted"),
    "no TOML": ("window = ", "no valid TOML"),
    "not UTF-8": (b"window = '\xff'", "cannot be read"),
    "a report elsewhere": ('output = "../report.md"', "lies outside"),
}


@pytest.mark.parametrize(("text", "message"), REFUSED.values(), ids=REFUSED)
def test_what_is_refused(tmp_path: Path, text: str | bytes, message: str) -> None:
    folder = tmp_path / "here"
    folder.mkdir()
    (folder / "loopscan.toml").write_bytes(text if isinstance(text, bytes) else text.encode())
    done = loopscan("config", cwd=folder)
    assert (done.returncode, done.stdout) == (2, "")
    assert f"loopscan: {folder}/loopscan.toml: " in done.stderr
    assert message in done.stderr
    assert len(done.stderr.splitlines()) == 1


def test_environment(tmp_path: Path) -> None:
    found = values(tmp_path, LOOPSCAN_ONLY="stuck, suspect", LOOPSCAN_EXACT="yes", LOOPSCAN_LIMIT="")
    assert found["only"] == {"value": ["stuck", "suspect"], "from": "LOOPSCAN_ONLY"}
    assert found["exact"] == {"value": True, "from": "LOOPSCAN_EXACT"}
    assert found["limit"] == {"value": None, "from": "default"}
    done = loopscan("config", cwd=tmp_path, LOOPSCAN_WINDOW="wide")
    assert (done.returncode, "LOOPSCAN_WINDOW: window: 'wide'" in done.stderr) == (2, True)
    done = loopscan("audit", cwd=tmp_path, LOOPSCAN_FAILON="stuck")
    assert (done.returncode, done.stderr) == (
        2,
        "loopscan: LOOPSCAN_FAILON: no such option: did you mean LOOPSCAN_FAIL_ON?\n",
    )


def test_variables_of_others_are_let_be(tmp_path: Path) -> None:
    """A cluster gives every container the address of a service called loopscan; images carry a version."""
    others = {"LOOPSCAN_SERVICE_HOST": "10.0.0.1", "LOOPSCAN_PORT": "tcp://10.0.0.1:80", "LOOPSCAN_VERSION": "1.2"}
    assert values(tmp_path, **others) == values(tmp_path)


def test_paths_of_a_file_are_meant_from_where_it_lies(tmp_path: Path) -> None:
    (tmp_path / "inner").mkdir()
    (tmp_path / "loopscan.toml").write_text('prices = "prices.toml"\noutput = "out/report.md"\n')
    found = values(tmp_path / "inner", "--output", "-")
    assert found["prices"]["value"] == str(tmp_path / "prices.toml")
    assert found["output"]["value"] == str(tmp_path / "out/report.md")
    assert values(tmp_path / "inner", LOOPSCAN_PRICES="p.toml")["prices"]["value"] == "p.toml"


def test_a_value_holds_for_the_commands_that_take_it(tmp_path: Path) -> None:
    (tmp_path / "loopscan.toml").write_text('format = "markdown"\n')
    log = native(tmp_path / "t.jsonl", {"run_id": "r", "name": "t", "args": {}, "result": 1})
    assert loopscan("audit", str(log), cwd=tmp_path).stdout.startswith("## loopscan")
    assert loopscan("cost", str(log), cwd=tmp_path).returncode == 0  # has no markdown
    assert loopscan("formats", cwd=tmp_path).stdout.startswith("format ")


def test_a_folder_that_is_gone(tmp_path: Path) -> None:
    assert load(lambda: NAMES, None, {}).entries == {}


@pytest.mark.skipif(os.geteuid() == 0, reason="root may read everything")
def test_a_file_that_may_not_be_read(tmp_path: Path) -> None:
    (tmp_path / "loopscan.toml").touch(0o000)
    with pytest.raises(UsageError, match="cannot be read"):
        load(lambda: NAMES, tmp_path, {})


def test_unknown_flags_of_config() -> None:
    done = loopscan("config", "--windwo", "3")
    assert (done.returncode, "--window" in done.stderr) == (2, True)
