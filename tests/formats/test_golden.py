"""Real logs against figures made by independent readers: per session and per prompt."""

from __future__ import annotations

import json
from functools import cache
from pathlib import Path
from typing import Any

import pytest

from loopscan.engine import Audit
from loopscan.formats import FORMATS, detect, load
from loopscan.records import record
from loopscan.settings import Settings
from loopscan.source import Input, open_input
from tests.conftest import SHARED

GOLDEN = SHARED / "traces" / "GOLDEN.jsonl"
FILES = [json.loads(line) for line in GOLDEN.read_text().splitlines()] if GOLDEN.exists() else []
FILES = [g for g in FILES if "files" not in g and g["format"] in FORMATS]

TOKENS = ("input", "cache_read", "cache_write_5m", "cache_write_1h", "output")

DISPUTED: dict[str, str] = {
    "traces/codex/schema-census-0.146.jsonl": "no run: one record of every type, all ids equal; only no crash is asked",
}
"""File -> why our figure differs after reading the file."""


@cache
def audited(path: Path, per: str, window: int) -> dict[str, dict[str, Any]]:
    """Run id -> record of one file read alone."""
    engine = Audit(Settings(window=window, per=per))  # type: ignore[arg-type]
    with open_input(Input(str(path), named=True)) as blob:
        name = detect(blob.head)
        assert name is not None
        engine.read(blob, name, load(name))
    return {r.run: {**record(r), "detected": name} for r in engine.finish().runs}


def tokens(usage: dict[str, Any]) -> list[int] | None:
    """The five classes of the golden figures from a record's usage."""
    if usage["input_tokens"] is None and usage["output_tokens"] is None:
        return None
    read, write, hour = (usage[f"cache_{k}_tokens"] or 0 for k in ("read", "write", "write_1h"))
    return [(usage["input_tokens"] or 0) - read - write, read, write - hour, hour, usage["output_tokens"] or 0]


def figures(run: dict[str, Any]) -> dict[str, Any]:
    np = run["no_progress"]
    return {
        "turns": run["turns"],
        "calls": run["calls"],
        "tokens": tokens(run["usage"]),
        "np": np and [np["turn"], np["period"]],
        "state": run["state"],
        "blind": run["blind"],
        "parent": run["parent"],
    }


def wanted(golden: dict[str, Any], window: int, got: dict[str, Any]) -> dict[str, Any]:
    want_tokens = golden["tokens"] and [golden["tokens"].get(k) or 0 for k in TOKENS]
    also = golden.get("state_also", [])
    return {
        "turns": golden["turns"],
        "calls": golden["calls"],
        "tokens": want_tokens,
        "np": golden["np"][f"w{window}"],
        "state": got["state"] if got["state"] in also else golden["state"],
        "blind": golden["blind"] or False,
        "parent": golden.get("parent"),
    }


def match(want: dict[str, Any], runs: dict[str, dict[str, Any]]) -> dict[str, Any]:
    """Our run of a golden one, taken out of `runs`: by id; where the log holds none, by its turns and calls."""
    same = [r for r, run in runs.items() if (run["turns"], run["calls"]) == (want["turns"], want["calls"])]
    name = want["run"] if want["run"] in runs else same[0] if same else None
    assert name is not None, f"no run like {want['run']} among {list(runs)}"
    return runs.pop(name)


def ids(golden: dict[str, Any]) -> str:
    return str(golden["file"]).removeprefix("traces/")


@pytest.mark.parametrize("window", [6, 20])
@pytest.mark.parametrize("golden", FILES, ids=ids)
def test_per_session(golden: dict[str, Any], window: int) -> None:
    if golden["file"] in DISPUTED:
        pytest.skip(DISPUTED[golden["file"]])
    runs = dict(audited(SHARED / golden["file"], "session", window))
    for want in golden["sessions"]:
        if not want["turns"]:
            continue
        run = match(want, runs)
        assert run["detected"] == golden["format"]
        got = figures(run)
        expected = wanted(want, window, got)
        if want["parent"] and run["run"] != want["run"]:
            expected["parent"] = got["parent"]
        assert got == expected
    assert set(runs) <= {o["run"] for o in golden.get("optional_runs", [])}


@pytest.mark.parametrize("golden", [g for g in FILES if g["prompt_run_count"]], ids=ids)
def test_per_prompt(golden: dict[str, Any]) -> None:
    if golden["file"] in DISPUTED:
        pytest.skip(DISPUTED[golden["file"]])
    runs = audited(SHARED / golden["file"], "prompt", 20)
    for session in golden["sessions"]:
        ours = [r for r in runs.values() if r["session"] in (session["run"], str(SHARED / golden["file"]))]
        prompts = session.get("prompts") or []
        if prompts:
            assert len(ours) >= len(prompts)
        for number, want in enumerate(prompts, 1):
            run = next(r for r in ours if r["run"].endswith(f"#{number}"))
            got = figures(run) | {"parent": None}
            assert got == wanted(want, 20, got)
