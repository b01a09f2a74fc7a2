"""Calls of a long run that come back with another result, told in the compiled part and in Python."""

from __future__ import annotations

import json
from pathlib import Path
from random import Random
from typing import Any

import pytest

from loopscan import Settings, record, rows
from loopscan.blob import Blob
from loopscan.engine import Audit
from loopscan.formats import Scan
from loopscan.formats import native as native_reader
from loopscan.prices import from_options
from tests.test_compiled import needs_it, pure

_HEADS = ("#", "", " ", "{", "[1", "<", "é", "\n", "\\", "id", "٣", "\u2003{", '"')
_SIGNS = (
    "id=3", 'id": 4', "an id\n", "Id: 7", "ID=", "ref: a", "ref", "at 12:30", "12:٣٣", ":٣٣", "0x1f", "-0000-",
    "/var/folders/a/b/T/x", "/tmp/abc", "2026-01-01T10:00:00Z", "<b>", "\tmp", "id\\", "plain words", "日本", "é:12",
    "\x1f", "a/b",
)  # fmt: skip

_LINES = ("first of all lines", "then another one..", 'a "third" line, so', "and\\a fourth line.", "éèàùôîïüö and such")


def result(chance: Random) -> Any:
    """Mostly a text that no other one is like."""
    kind = chance.random()
    if kind < 0.01:
        return chance.choice((None, 7, ["a"], {"id": 5}, "", "done"))
    text = f"{chance.getrandbits(40):010x} {'lorem ipsum ' * chance.randrange(9)}{chance.getrandbits(64):016x}"
    if kind < 0.3:
        text = f"{chance.choice(_HEADS)}{text[:12]}{chance.choice(_SIGNS)}{text[12:]}"
    if kind > 0.9:  # of equal length, and of equal lines now and then
        text = "\n".join([*chance.sample(_LINES, 3), "end of it " * chance.randrange(2)])
    return text


def lines(chance: Random, turns: int) -> bytes:
    """One run of a few tools, most of whose calls come back."""
    tools = chance.sample(("get_a", "find_b", "write_c", "bash", "poll", "read_file", "ask_d", "e", "f", "g", "h"), 9)
    most, said, held = chance.choice((6, 30, 300)), [], result(chance)
    for turn in range(1, turns + 1):
        name = chance.choice(tools)
        args: Any = {"q": chance.randrange(most)}
        if chance.random() < 0.05:
            args = chance.choice(
                ({"prompt": "tell me of all of it now"}, {"path": f"/a/{turn % 7}"}, {"command": "ls"})
            )
        held = result(chance) if chance.random() < 0.99 else held
        line = {"run_id": "r", "turn": turn, "tool": name, "args": args, "result": held}
        said.append(json.dumps(line | {"input_tokens": 9, "output_tokens": 3}, ensure_ascii=chance.random() < 0.3))
    return "\n".join(said).encode() + b"\n"


def read(path: Path, window: int) -> list[dict[str, Any]]:
    """The records of a log."""
    scan = Audit(Settings(window=window), from_options(), Scan())
    with path.open("rb") as file, Blob(str(path), path, file) as blob:
        scan.read(blob, "loopscan", native_reader)
    return [record(r) for r in scan.finish().runs]


def check(seed: int, path: Path) -> None:
    """Read a log both ways."""
    chance = Random(seed)
    path.write_bytes(lines(chance, chance.choice((60, 400, 1500))))
    window = chance.choice((2, 6, 20, 40, 100))
    found = read(path, window)
    with pure():
        assert read(path, window) == found, seed


@needs_it
@pytest.mark.parametrize("seed", range(30))
def test_random_runs(seed: int, tmp_path: Path) -> None:
    check(seed, tmp_path / "log.jsonl")


@needs_it
def test_most_are_told_without_python(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    asked, apart, chance, path = [], rows.Doubts.apart, Random(5), tmp_path / "log.jsonl"
    monkeypatch.setattr(rows.Doubts, "apart", lambda *given: asked.append(1) or apart(*given))
    line = {"run_id": "r", "tool": "get_a", "input_tokens": 9, "output_tokens": 3}
    path.write_text(
        "".join(
            json.dumps(
                line
                | {"turn": n, "args": {"q": chance.randrange(300)}}
                | {"result": f"{chance.getrandbits(64):x} {n} {chance.getrandbits(64):x}"}
            )
            + "\n"
            for n in range(1, 3000)
        )
    )
    assert read(path, 100)[0]["turns"] == 2999
    assert len(asked) < 200


@needs_it
def test_results_are_told_apart_without_python(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    asked, unlike, path = [], rows.Doubts.unlike, tmp_path / "log.jsonl"
    monkeypatch.setattr(rows.Doubts, "unlike", lambda *given: asked.append(1) or unlike(*given))
    check(4, path)
    chance = Random(7)
    line = {"run_id": "r", "tool": "get_a", "input_tokens": 9, "output_tokens": 3}
    text = [f"{chance.getrandbits(64):x} {n} {chance.getrandbits(64):x}" for n in range(3000)]
    path.write_text(
        "".join(json.dumps(line | {"turn": n, "args": {"q": n}, "result": text[n]}) + "\n" for n in range(3000))
    )
    asked.clear()
    assert read(path, 6)[0]["turns"] == 3000
    assert len(asked) < 10
