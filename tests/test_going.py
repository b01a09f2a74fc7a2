"""Runs in an episode whose turns are only noted: the same records as turn by turn, whatever stands among them."""

from __future__ import annotations

from pathlib import Path
from random import Random
from typing import Any

import pytest

from loopscan import Settings, going
from tests.conftest import native
from tests.test_stretch import AFTER, SLOW, piped, records, stamp

RESULTS = (
    "ok", "", "not found: x", 'say "hi"\n', "caf\u00e9 \U0001f600", "x" * 300, {"n": 1}, "at 2026-01-02T03:04:05Z",
)  # fmt: skip


def block(chance: Random) -> list[dict[str, Any]]:
    """What a run does over and over."""
    calls: list[dict[str, Any]] = []
    for _ in range(chance.choice((1, 1, 2, 3, 7))):
        args: Any = {"id": chance.randrange(40)}
        if chance.random() < 0.3:
            args = chance.choice(
                ({"path": "./a.py"}, {"command": "ls"}, {}, "text", {"q": "caf\u00e9", "b": [1.5, None]})
            )
        name = chance.choice(("get", "read_file", "bash", "look"))
        calls.append({"tool": name, "args": args, "result": chance.choice(RESULTS)})
    return calls


def world(chance: Random, runs: int, turns: int) -> list[dict[str, Any]]:
    """Lines of some runs that take turns with one another, each for the most part in a loop."""
    at = {run: (block(chance), 0) for run in range(runs)}
    run, lines = 0, list[dict[str, Any]]()
    for n in range(1, turns):
        if chance.random() < 0.7:
            run = chance.randrange(runs)
        doing, place = at[run]
        line = {
            "run_id": f"r{run}", "turn": n, "ts": stamp(n * chance.choice((1, 1, 1, 90))), "model": "deepseek-chat",
            "input_tokens": 1000 + n, "output_tokens": n % 5, **doing[place % len(doing)],
        }  # fmt: skip
        at[run] = (block(chance), 0) if chance.random() < 0.04 else (doing, place + 1)
        if chance.random() < 0.03:
            odd = ({"model": "gpt-5"}, {"input_tokens": 900_000}, {"ts": "?"}, {"result": None}, {"error": True})
            line |= chance.choice((*AFTER, *odd))
        lines += [line] * chance.choice((1,) * 30 + (2,))
        if chance.random() < 0.03:
            lines.append(line | chance.choice(AFTER))
    return lines


@pytest.mark.parametrize("seed", range(40))
def test_loops_that_take_turns(seed: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    chance = Random(seed)
    monkeypatch.setattr(going, "_MOST", chance.choice((1, 2, 5, 1000)))
    lines = world(chance, chance.choice((1, 2, 9)), 250)
    ends = chance.choice((0, 100))  # in one log or in two
    path = native(tmp_path / "t.jsonl", *lines[ends:])
    if ends:
        native(tmp_path / "s.jsonl", *lines[:ends])
    quick, slow = records(tmp_path, Settings()), records(tmp_path, SLOW)
    assert quick == slow
    if not ends:
        assert piped(Settings(), path) == [r | {"source": ""} for r in slow]


def test_a_long_loop_is_seen_to_its_end(tmp_path: Path) -> None:
    calls = [{"tool": "get", "args": {"id": n % 2}, "result": "none yet"} for n in range(9000)]
    lines = [
        {"run_id": "r", "turn": n, "ts": stamp(n % 60), "input_tokens": n, "output_tokens": 1} | call
        for n, call in enumerate(calls, 1)
    ]
    path = native(tmp_path / "t.jsonl", *lines)
    (found,) = records(path, Settings())
    assert [found] == records(path, SLOW)
    assert found["episodes"][0]["last"] == len(calls)
