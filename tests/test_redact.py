"""Redaction: nothing that was said, passed or stored leaves in any output; names and figures do."""

from __future__ import annotations

import io
import json
import os
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from loopscan import audit
from loopscan.prices import from_options
from loopscan.records import record
from loopscan.redact import hashed, redacted
from loopscan.render import COST_RENDERERS, RENDERERS, Options, load
from loopscan.report import Report, iso
from tests.conftest import SAMPLES, loopscan, native

SECRET = "sk-live-4242"


def outputs(report: Report) -> Iterator[tuple[str, str]]:
    for table in (RENDERERS, COST_RENDERERS):
        for name in table:
            out = io.StringIO()
            load(name, table).render(report, out, Options(now=0.0))
            yield table[name], out.getvalue()


@pytest.fixture(scope="module")
def samples() -> Report:
    return audit(SAMPLES, prices=from_options(3, 15))


def leaves(value: Any) -> Iterator[str]:
    if isinstance(value, dict):
        for key, inner in value.items():
            yield from leaves(inner) if key != "name" else ()
    elif isinstance(value, list):
        for inner in value:
            yield from leaves(inner)
    elif isinstance(value, str):
        yield value


def said(report: Report) -> set[str]:
    """Every argument, text, path and word of a log that the plain records hold."""
    found: set[str] = set()
    for run in report.runs:
        full = record(run)
        found |= {text for episode in full["episodes"] for text in leaves(episode["block"])}
        found |= {note.removeprefix("ended: ") for note in run.notes if note.startswith("ended: ")}
        found |= {run.source, os.path.dirname(run.source)}
    return {text for text in found if len(text) > 7}


def test_no_output_holds_what_was_said(samples: Report) -> None:
    secrets = said(samples)
    assert len(secrets) > 100
    assert any(s in text for _, text in outputs(samples) for s in secrets)
    kept = {str(v) for r in samples.runs for v in (r.run, r.session, r.parent, r.model, r.state, *r.labels.values())}
    kept |= {str(iso(moment)) for r in samples.runs for moment in (r.started, r.ended)}
    kept |= {str(e["name"]) for r in samples.runs for ep in r.episodes for e in ep.block}
    names = "\n".join(kept)
    for module, text in outputs(redacted(samples)):
        for secret in secrets:
            shown = json.dumps(secret)[1:-1]
            assert secret in names or (secret not in text and shown not in text), (module, secret)


def test_names_and_figures_stay(samples: Report) -> None:
    for plain, hidden in zip(samples.runs, redacted(samples).runs, strict=True):
        before, after = record(plain), record(hidden)
        for key in ("state", "turns", "calls", "verdict", "wasted", "usage", "cost", "exits", "format", "model"):
            assert before[key] == after[key]
        names = [[b["name"] for b in e["block"]] for e in before["episodes"]]
        assert [[b["name"] for b in e["block"]] for e in after["episodes"]] == names
    assert samples.totals() == redacted(samples).totals()


def test_ids_that_are_paths_and_their_kin(tmp_path: Path) -> None:
    line = {"name": "read_file", "args": {"path": SECRET}, "result": SECRET, "input_tokens": 5}
    log = native(
        tmp_path / "secret-project.jsonl",
        *[line | {"run_id": "/home/ann/x.py", "labels": {"cwd": "here", "team": "a/b", "agent": "ann"}}] * 5,
        *[line | {"run_id": "child", "parent": "/home/ann/x.py"}] * 2,
        {"run_id": "child", "state": "aborted"},
    )
    bare = native(tmp_path / "no-ids.jsonl", *[line] * 5)
    runs = redacted(audit([log, bare])).runs
    assert [r.run for r in runs] == [hashed("/home/ann/x.py"), "child", hashed(str(bare))]
    assert runs[1].parent == runs[0].run
    assert runs[0].labels == {"cwd": hashed("here"), "team": hashed("a/b"), "agent": "ann"}
    assert runs[0].episodes[0].block == [{"name": "read_file", "args": hashed({"path": SECRET})}]
    assert hashed({"a": 1, "b": 2}) == hashed({"b": 2, "a": 1})
    assert {len(hashed(v)) for v in ("", None, "\ud800", 10**30)} == {12}


def test_nothing_leaves_by_standard_error(tmp_path: Path) -> None:
    folder = tmp_path / "secret folder"
    folder.mkdir()
    line = {"run_id": f"/x/{SECRET}", "name": "t", "args": {"k": SECRET}, "result": SECRET}
    log = native(folder / "app.jsonl", *[line] * 5, "{broken " + SECRET, {"run_id": "r", "state": SECRET})
    odd = native(folder / "odd.txt", SECRET)
    words = ("audit", str(log), str(odd), str(folder / "gone.jsonl"), "--fail-on", "stuck", "-v")
    plain, hidden = loopscan(*words), loopscan(*words, "--redact")
    assert (plain.returncode, hidden.returncode) == (1, 1)
    assert len(plain.stderr.splitlines()) == len(hidden.stderr.splitlines()) > 4
    assert SECRET in plain.stderr
    for text in (hidden.stdout, hidden.stderr, loopscan(*words, "--redact", "-f", "json").stdout):
        assert SECRET not in text
        assert "secret folder" not in text
        assert hashed(f"/x/{SECRET}") in text
    assert f"loopscan: {hashed(str(log))}:6: no JSON; skipped" in hidden.stderr.splitlines()
