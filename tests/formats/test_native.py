"""The native reader: usual lines straight into typed fields, others the general way, the same turns from both."""

from __future__ import annotations

import gzip
import io
import json
from pathlib import Path
from random import Random
from typing import Any

import pytest

from loopscan.blob import Blob
from loopscan.formats import Scan
from loopscan.formats.native import read
from loopscan.model import MISSING, End, Event, Turn
from tests.conftest import SAMPLES, native

GENERAL = {"nothing": "no.such.field"}
"""Under `--map` every line goes the general way."""


def events(path: Path, field_map: dict[str, str] | None = None, **more: Any) -> tuple[list[Event], Scan]:
    scan = Scan(field_map=field_map or {}, **more)
    with Blob(str(path), path) as blob:
        return list(read(blob, scan)), scan


def turns(path: Path, **more: Any) -> list[Turn]:
    return [e for e in events(path, **more)[0] if isinstance(e, Turn)]


def line(turn: Any = None, name: Any = "t", args: Any = None, result: Any = "r", **more: Any) -> dict[str, Any]:
    found = {"run_id": "r", "name": name, "args": {} if args is None else args, "result": result, **more}
    return found if turn is None else {**found, "turn": turn}


ODD: dict[str, list[dict[str, Any]]] = {
    "null and other counts": [line(1, input_tokens=None), line(2, input_tokens="3"), line(3, input_tokens=3.0)],
    "counts that are none": [line(1, input_tokens=-1), line(2, output_tokens=1 << 60), line(3, input_tokens=True)],
    "dollars": [line(1, usd=1), line(2, usd="0.5"), line(3, usd=-1), line(4, usd=True), line(5, usd=1e300)],
    "run ids of other types": [line(1, run_id=7), line(2, run_id=0), line(3, run_id=None), line(4, run_id=[1])],
    "run ids of lower rank": [line(1), {"session_id": "s", "name": "t", "turn": 2}, line(3, run_id="", trace_id="x")],
    "names of lower rank": [line(1), {"run_id": "r", "tool": "u", "output": 1}, line(3, tool="other")],
    "turns of other types": [line("a"), line("a"), line(2.0), line(2), line(True), line(None)],
    "times": [line(1, ts="x"), line(2, ts=""), line(3, ts=1764000000), line(4, ts=1764000000000), line(5, ts=[])],
    "times of every kind": [line(1, ts="2026-11-30T10:00:00+02:00"), line(2, ts="2026-11-30 10:00"), line(3, ts=False)],
    "errors": [line(1, error=True), line(2, error="E"), line(3, name=None, error="E"), line(4, error=False)],
    "texts": [line(1, text="a"), line(2, text=None), line(3, text=5), line(4, name=None, text="b"), line(5, text=[])],
    "nothing but text": [line(1), {"run_id": "r", "text": "done"}, {"run_id": "r", "text": ""}, {"run_id": "r"}],
    "states": [line(1, state="done"), line(2), {"run_id": "r", "state": "cut", "note": "n", "ts": 1764000000}],
    "lists of calls": [line(1), {"run_id": "r", "calls": [{"name": "a"}, {"name": "b", "result": 1}]}],
    "what is read where it is used": [
        line(1, labels={"a": "b"}, parent="p", written=3, session="s", context_window=9, compacted=True),
        line(2, labels={"a": 1}, parent="", written="3", session="", context_window=None, compacted=1),
    ],
    "what comes later": [line(1), line(2, labels={"a": "b"}, parent="p", written=3), line(3, prompt=1)],
    "prompts": [line(1, run_id="s#1", prompt=1), line(1, run_id="s#2", prompt=2), line(2, run_id="s#2")],
    "results": [line(1, result=None), {"run_id": "r", "name": "t", "turn": 2}, line(3, result={"a": [1, 1.0, True]})],
}


@pytest.mark.parametrize("lines", ODD.values(), ids=ODD)
def test_typed_and_general_lines_give_the_same_turns(lines: list[dict[str, Any]], tmp_path: Path) -> None:
    usual = [line(i, ts=f"2026-11-30T10:00:{i:02d}Z", input_tokens=10, output_tokens=2) for i in range(1, 4)]
    for log in (lines, [*usual, *lines], [*lines, *usual]):
        path = native(tmp_path / "t.jsonl", *log)
        got, scan = events(path)
        want, other = events(path, GENERAL)
        assert got == want
        assert scan.skips == other.skips


def test_typed_and_general_lines_agree_on_random_logs(tmp_path: Path) -> None:
    chance = Random(5)
    values = [
        None,
        True,
        False,
        0,
        1,
        2,
        2.0,
        -1,
        "",
        "a",
        "1",
        [],
        {},
        [1],
        {"a": 1},
        "2026-11-30T10:00:01Z",
        1764000000,
    ]
    keys = "run_id session_id turn ts name tool args arguments result output text error model input_tokens usd".split()
    keys += "state parent labels prompt written calls".split()
    for _ in range(300):
        log: list[dict[str, Any] | str] = []
        for turn in range(12):
            made = line(turn if chance.random() < 0.9 else chance.randint(0, turn), ts=f"2026-11-30T10:00:{turn:02d}Z")
            for _ in range(chance.choice((0, 0, 0, 1, 2))):
                made[chance.choice(keys)] = chance.choice(values)
            log.append(made)
            if chance.random() < 0.1:
                log.append(chance.choice(log))
            if chance.random() < 0.05:
                log.append('{"run_id": "r", "na')
        path = native(tmp_path / "t.jsonl", *log)
        got, scan = events(path)
        want, other = events(path, GENERAL)
        assert got == want
        assert scan.skips == other.skips


STAMPS = [f"2026-11-30T10:00:{i:02d}Z" for i in range(10)]
ONE, TWO, THREE = (line(i, args={"i": i}, ts=STAMPS[i]) for i in (1, 2, 3))
COPIES: dict[str, tuple[list[dict[str, Any]], int, int]] = {
    "numbers that go up": ([ONE, TWO, THREE], 3, 0),
    "the whole log twice": ([ONE, TWO, THREE, ONE, TWO, THREE], 3, 3),
    "a line at once again": ([ONE, ONE, TWO, TWO], 2, 2),
    "parallel calls": ([ONE, {**ONE, "args": {"i": 9}}, TWO], 2, 0),
    "parallel calls, twice": ([ONE, {**ONE, "args": {"i": 9}}, ONE, {**ONE, "args": {"i": 9}}, TWO], 2, 2),
    "an earlier number at another time": ([ONE, TWO, {**ONE, "ts": STAMPS[9]}], 3, 0),
    "an earlier number with another call": ([ONE, TWO, {**ONE, "name": "u"}], 3, 0),
    "a copy with its keys in another order": ([ONE, TWO, dict(reversed(ONE.items()))], 2, 1),
    "a copy after a stated end": ([ONE, {**TWO, "state": "done"}, {**TWO, "state": "done"}], 2, 1),
    "without times": ([line(1), line(2), line(1)], 3, 0),
}


@pytest.mark.parametrize(("lines", "kept", "copies"), COPIES.values(), ids=COPIES)
@pytest.mark.parametrize("way", ["file", "general", "gzip", "stream"])
def test_log_copies(lines: list[dict[str, Any]], kept: int, copies: int, way: str, tmp_path: Path) -> None:
    path = native(tmp_path / "t.jsonl", *lines)
    packed = tmp_path / "t.gz"
    packed.write_bytes(gzip.compress(path.read_bytes()))
    scan = Scan(field_map=GENERAL if way == "general" else {})
    stream = io.BytesIO(path.read_bytes()) if way == "stream" else None
    with Blob("t", None if stream else packed if way == "gzip" else path, stream) as blob:
        assert sum(isinstance(e, Turn) for e in read(blob, scan)) == kept
    assert scan.skips.copies == copies


@pytest.mark.parametrize("lines", [lines for lines, _, _ in COPIES.values()], ids=COPIES)
def test_log_copies_in_another_file(lines: list[dict[str, Any]], tmp_path: Path) -> None:
    found = []
    for field_map in ({}, GENERAL):
        scan = Scan(field_map=field_map)
        seen: list[Event] = []
        for i, half in enumerate((lines[: len(lines) // 2], lines[len(lines) // 2 :])):
            path = native(tmp_path / f"{i}", *half)
            with Blob(path.name, path) as blob:
                seen += read(blob, scan)
        found.append((seen, scan.skips.copies))
    assert found[0] == found[1]


def test_exact_drops_no_copy(tmp_path: Path) -> None:
    path = native(tmp_path / "t.jsonl", ONE, TWO, ONE, TWO)
    found, scan = events(path, exact=True)
    assert (len(found), scan.skips.copies) == (4, 0)


def test_the_sample_goes_the_typed_way(monkeypatch: pytest.MonkeyPatch) -> None:
    from loopscan.formats import _native_log as reader

    general: list[int] = []
    was = reader.Log.value
    monkeypatch.setattr(reader.Log, "value", lambda self, v, n: general.append(n) or was(self, v, n))  # type: ignore[func-returns-value]
    path = SAMPLES / "loopscan" / "deployment.jsonl"
    found = turns(path)
    assert len(found) > 300
    assert len(general) < 5


def test_unrecorded_results_and_stated_ends(tmp_path: Path) -> None:
    path = native(tmp_path / "t.jsonl", {"run_id": "r", "name": "t"}, {"run_id": "r", "state": "done"})
    (turn, end), _ = events(path)
    assert isinstance(turn, Turn)
    assert turn.calls[0].result is MISSING
    assert isinstance(end, End)
    assert (end.state, end.final) == ("done", True)


def test_damage_after_typed_lines_is_one_skip(tmp_path: Path) -> None:
    data = gzip.compress(b"".join(json.dumps(line(i, result="x" * i)).encode() + b"\n" for i in range(2000)))
    (tmp_path / "t.gz").write_bytes(data[: len(data) // 2])
    found, scan = events(tmp_path / "t.gz")
    assert len(found) > 10
    assert scan.skips.total in (1, 2)  # the damage, and the line that it cuts
