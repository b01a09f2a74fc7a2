"""Usual turns taken several at once: the same records as turn by turn, whatever stands among them.

With a second detector to watch, every turn goes the long way.
"""

from __future__ import annotations

import gzip
import json
from dataclasses import replace
from datetime import UTC, datetime
from fractions import Fraction
from io import BytesIO
from pathlib import Path
from random import Random
from typing import Any

import pytest

from loopscan import Settings, audit, quiets, record
from loopscan.blob import Blob
from loopscan.engine import Audit
from loopscan.formats import Scan, _native_blocks, _native_held
from loopscan.formats import native as native_reader
from loopscan.formats._native_rows import rows_of
from loopscan.late import Late, Source, marks_of
from loopscan.model import MISSING, Call
from loopscan.prices import from_options
from loopscan.settings import Detection
from tests.bench.fuzz import log
from tests.conftest import SAMPLES, native

SLOW = Settings(watched=(Detection(window=2),))


def records(path: Path, settings: Settings) -> list[dict[str, Any]]:
    return [record(r) for r in audit(path, settings, prices=from_options()).runs]


def some_turn(chance: Random, turn: int, runs: int = 3) -> dict[str, Any]:
    """A turn of a small world, so that actions and results come back; now and then an unusual one."""
    name = chance.choice(("get_order", "run_checks", "read_file", "bash", "send_mail", "edit_file"))
    args: Any = {"id": chance.randrange(12), "q": chance.choice(("a b c d e", "x"))}
    if name in ("read_file", "edit_file"):
        args = {"path": chance.choice(("./a.py", "a.py", "b.py")), "offset": chance.randrange(3) * 10, "limit": 10}
    elif name == "bash":
        args = {"command": chance.choice(("ls", "echo hi", "pytest -q", "true"))}
    line = {
        "run_id": f"r{chance.randrange(runs)}", "turn": turn, "ts": 1_764_000_000 + turn * chance.choice((1, 7, 90)),
        "model": "claude-sonnet-4-5", "tool": name, "args": args, "input_tokens": chance.choice((10, 3000, 250_000)),
        "result": chance.choice((f"#{chance.randrange(30)} found", "error: not found", "ok", {"n": 1}, "x" * 40)),
        "output_tokens": chance.choice((0, 5, 90)),
    }  # fmt: skip
    odd: tuple[dict[str, Any], ...] = (
        {"error": True}, {"model": "gpt-5"}, {"model": None}, {"input_tokens": None}, {"cache_read_tokens": 5},
        {"usd": 0.1}, {"labels": {"team": "a"}}, {"parent": "p"}, {"text": "words"}, {"tool": None, "text": "done"},
        {"args": "text"}, {"args": '{"id": 1}'}, {"state": "done"}, {"ts": None}, {"session": "s"}, {"written": 5000},
        {"compacted": True}, {"context_window": 100},
    )  # fmt: skip
    line |= chance.choice(odd) if chance.random() < 0.08 else {}
    if chance.random() < 0.05:
        del line["result"]
    return line


def stamped(line: dict[str, Any], how: str) -> dict[str, Any]:
    """A line with its time in one of the ways in which logs have it."""
    if how == "none":
        return {k: v for k, v in line.items() if k != "ts"}
    if how == "iso" and line["ts"] is not None:
        return line | {"ts": datetime.fromtimestamp(line["ts"], UTC).isoformat()}
    return line


@pytest.mark.parametrize("how", ["iso", "epoch", "none"])
@pytest.mark.parametrize("seed", range(12))
def test_random_worlds(seed: int, how: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    chance = Random(seed)
    if seed % 3:  # runs are put away, and taken out again, all the time
        monkeypatch.setattr(quiets, "_HELD", 4)
        monkeypatch.setattr(_native_held, "_LONG", 3)
        monkeypatch.setattr(_native_blocks, "_BLOCK", seed)
    lines = [stamped(some_turn(chance, turn, chance.choice((3, 60))), how) for turn in range(1, 400)]
    if seed % 2:  # one run after the other, as most logs have them; some lines twice, some turns of two lines
        lines.sort(key=lambda line: line["run_id"])
        lines = [again for line in lines for again in [line] * chance.choice((1, 1, 1, 1, 1, 1, 2))]
    path = native(tmp_path / "t.jsonl", *lines)
    quick, slow = records(path, Settings()), records(path, SLOW)
    assert quick == slow
    assert packed_too(path) == piped(Settings(), path) == [r | {"source": ""} for r in slow]


def packed_too(path: Path) -> list[dict[str, Any]]:
    """What comes of the same log compressed."""
    packed = path.with_name("p") / "t.jsonl.gz"
    packed.parent.mkdir()
    packed.write_bytes(gzip.compress(path.read_bytes()))
    return [r | {"source": ""} for r in records(packed, Settings())]


def piped(settings: Settings, *paths: Path) -> list[dict[str, Any]]:
    """What comes of logs that can be read once only."""
    scan = Audit(settings, from_options(), Scan(exact=settings.exact))
    for path in paths:
        with Blob("-", None, BytesIO(path.read_bytes())) as blob:
            scan.read(blob, "loopscan", native_reader)
    return [record(r) | {"source": ""} for r in scan.finish().runs]


AFTER: tuple[dict[str, Any], ...] = (
    {},
    {"tool": "look", "args": {"n": -1}},
    {"turn": 1},
    {"state": "done"},
    {"state": "error", "tool": None},
    {"error": True},
    {"turn": 3, "error": True},
    {"result": "x" * 700},
    {"text": "more of it", "tool": None},
)


@pytest.mark.parametrize("seed", range(30))
def test_runs_that_are_quiet_but_for_one_line(seed: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A further line of a turn, a copy, a lower number, an end, a line of another kind; in one log or in two."""
    chance = Random(seed)
    monkeypatch.setattr(_native_blocks, "_BLOCK", chance.choice((1, 2, 7, 256)))
    monkeypatch.setattr(quiets, "_HELD", chance.choice((1, 10, 1000)))
    lines = []
    for n in range(1, 90):
        run = n * chance.choice((1, 1, 7)) % 9
        line = {
            "run_id": f"r{run}", "turn": n, "ts": stamp(n), "tool": f"get_{n % 3}", "args": {"n": n},
            "result": f"{n * 7919:x} is it", "input_tokens": 1000 + n, "output_tokens": n % 5,
        }  # fmt: skip
        lines.append(line)
        if chance.random() < 0.06:
            more = chance.choice(AFTER) | ({"turn": n + 0.5} if chance.random() < 0.2 else {})
            lines.append({k: v for k, v in (line | more).items() if v is not None})
            if chance.random() < 0.5:
                lines.append(line | {"args": {"n": n, "more": True}})
    if not seed % 3:
        lines = [{k: v for k, v in line.items() if k != "ts"} for line in lines]
    half = chance.choice((len(lines), 40))
    first, second = native(tmp_path / "a.jsonl", *lines[:half]), native(tmp_path / "b.jsonl", *lines[half:])
    if half == len(lines):
        second.unlink()
        assert packed_too(first) == [r | {"source": ""} for r in records(first, SLOW)]
    slow = records(tmp_path, SLOW)
    assert records(tmp_path, Settings()) == slow
    logs = sorted(tmp_path.glob("*.jsonl"))
    assert piped(Settings(), *logs) == piped(SLOW, *logs)


@pytest.mark.parametrize(
    "more", [{}, {"error": True}, {"result": {"n": 1}}, {"result": 1}, {"args": [True]}, {"args": 1}]
)
def test_a_copy_far_behind(more: dict[str, Any], tmp_path: Path) -> None:
    """Whatever way a line and its copy are read, they are one turn."""
    lines = [
        {"run_id": "r", "turn": n, "ts": stamp(n), "tool": f"get_{n}", "args": {"n": n}, "result": f"{n * 7919:x}",
         "input_tokens": 9, "output_tokens": 5} for n in range(1, 9)
    ]  # fmt: skip
    for at in range(8):
        some = [*lines[:at], lines[at] | more, *lines[at + 1 :]]
        path = native(tmp_path / "t.jsonl", *some, *some[at:])
        (run,) = records(path, Settings())
        assert [run] == records(path, SLOW)
        assert run["calls"] == 8
        assert piped(Settings(), path) == [run | {"source": ""}]


def stamp(seconds: int) -> str:
    return datetime.fromtimestamp(1_764_000_000 + seconds, UTC).isoformat().replace("+00:00", "Z")


FILLED = (
    Settings(),
    Settings(base=2000, growth=700, out=60),
    Settings(chars_per_token=Fraction(10, 3)),
    Settings(context_window=1500),
    Settings(base=100, growth=90, context_window=1500),
)


@pytest.mark.parametrize("settings", FILLED, ids=["", "modelled", "as told", "window", "modelled window"])
@pytest.mark.parametrize("seed", range(4))
def test_turns_without_usage(seed: int, settings: Settings, tmp_path: Path) -> None:
    """Some of them between others that have it, some runs of nothing else; a run without a model has no estimate."""
    chance = Random(seed)
    lines = [some_turn(chance, turn, 5) for turn in range(1, 500)]
    for line in lines:
        if line["run_id"] != "r0" or chance.random() < 0.5:
            line |= {"input_tokens": None, "output_tokens": None}
        line |= {"model": None, "ts": None} if line["run_id"] == "r1" else {}
    lines.sort(key=lambda line: line["run_id"])
    path = native(tmp_path / "t.jsonl", *lines)
    assert records(path, settings) == records(path, replace(settings, watched=SLOW.watched))


@pytest.mark.parametrize("fault", ["gone", "cut", "another", "rotated"])
def test_a_log_that_changes_behind_the_reader(fault: str, tmp_path: Path) -> None:
    """What was read cannot be read again: a turn then equals nothing, and all else stands."""
    path = tmp_path / "t.jsonl"
    call = b'"tool":"a","args":{"id":1},"result":"same, and same"'
    row = b'{"run_id":"r","turn":%d,' + call + b',"input_tokens":1,"output_tokens":1}\n'
    path.write_bytes(b"".join(row % turn for turn in range(1, 4)))
    with Blob(str(path), path) as blob:
        usual, identity = rows_of(blob.head), blob.identity()
    assert usual is not None
    source, result = Source(path, usual.usual, identity), "same, and same"
    late = [Late(1, 1, source, len(row) - 1, *marks_of(result)) for _ in range(2)]
    assert late[0].calls == [Call("a", {"id": 1}, result)]
    Source.close_all()
    if fault == "gone":
        path.unlink()
    elif fault == "rotated":
        path.rename(tmp_path / "t.jsonl.1")
        path.write_bytes(b"".join(row.replace(b'"id":1', b'"id":2') % turn for turn in range(1, 4)))
    else:
        path.write_bytes(b"" if fault == "cut" else path.read_bytes().replace(b"same", b"sane"))
    assert late[1].calls[0].result is MISSING
    Source.close_all()


@pytest.mark.parametrize("after", [5, 19, 25, 60])
@pytest.mark.parametrize("result", ["not found: 7", {"n": 7}])
def test_a_tool_that_comes_back_after_the_run_was_put_away(
    after: int, result: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(quiets, "_HELD", 4)
    monkeypatch.setattr(_native_held, "_LONG", 4)
    call = {"tool": "look_up", "args": {"id": 7}, "result": result}
    turns = [call, *({"tool": "get_page", "args": {"n": n}, "result": f"{n * 7919:x} is it"} for n in range(after))]
    turns += [call | {"args": {"id": 7, "again": n}} for n in range(3)]
    lines = [{"run_id": "r", "turn": n, "input_tokens": 9, "output_tokens": 5, **t} for n, t in enumerate(turns, 1)]
    others = [line | {"run_id": f"other{n}"} for n in range(3) for line in lines]
    again = [{"run_id": "r", "turn": len(lines) + 1 + n, **call, "error": True} for n in range(2)]
    where = after + 1
    path = native(tmp_path / "t.jsonl", *lines[:where], *others, *again, *lines[where:])
    assert records(path, Settings()) == records(path, SLOW)


def test_nasty_values(tmp_path: Path) -> None:
    path = native(tmp_path / "t.jsonl", *[line.encode("utf-8", "surrogatepass") for line in log(Random(1), 300)])
    assert json.dumps(records(path, Settings())) == json.dumps(records(path, SLOW))


@pytest.mark.parametrize("folder", ["loopscan", "claude-code", "openai-messages"])
def test_samples(folder: str) -> None:
    assert records(SAMPLES / folder, Settings()) == records(SAMPLES / folder, SLOW)


@pytest.mark.parametrize("model", ["claude-sonnet-4-5", "deepseek-chat", "nobody-knows"])
def test_runs_of_a_day(model: str, tmp_path: Path) -> None:
    """The price may be another one at another hour."""
    lines = [
        {"run_id": "r", "turn": n, "ts": stamp(n * 1300), "model": model, "tool": "get_order", "args": {"id": n},
         "result": f"{n * 7919:x} is it", "input_tokens": 1000 + n, "output_tokens": 5} for n in range(80)
    ]  # fmt: skip
    path = native(tmp_path / "t.jsonl", *lines)
    (quick,) = records(path, Settings())
    assert [quick] == records(path, SLOW)
    assert (quick["cost"]["usd"] is None) == (model == "nobody-knows")


def test_runs_longer_than_a_part(tmp_path: Path) -> None:
    lines = [{"run_id": "r", "turn": i, "tool": "get_order", "args": {"id": i % 3000}, "result": f"{i * 7919:x} is it",
              "input_tokens": 1000 + i % 7, "output_tokens": 5} for i in range(1, 9001)]  # fmt: skip
    path = native(tmp_path / "t.jsonl", *lines)
    (quick,), (slow,) = records(path, Settings()), records(path, SLOW)
    assert quick == slow
    assert quick["usage"]["input_tokens"] == sum(1000 + i % 7 for i in range(1, 9001))
