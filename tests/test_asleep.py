"""What is found in a run does not depend on whether its detector waited in a file meanwhile."""

from __future__ import annotations

import json
import random
from copy import copy
from pathlib import Path
from typing import Any

import pytest

from loopscan import asleep, audit, record
from loopscan.engine import Audit
from loopscan.formats._claude_results import result_of
from loopscan.model import MISSING, Call, End, Event, LateCall, Turn, Usage

TOOLS = ("Bash", "Read", "Edit", "Grep", "mcp__shop__find")


def _call(chance: random.Random, number: int) -> Call:
    name, n = chance.choice(TOOLS), chance.randrange(3)
    args: dict[str, Any] = {"command": f"pytest -k t{n}"} if name == "Bash" else {"file_path": f"/src/{n}.py", "n": n}
    result: Any = chance.choice(
        ["no such file", f"{n} passed", "x" * 900 + str(n), {"ok": n}, f"{number} of it", MISSING]
    )
    if type(result) is str and chance.random() < 0.4:
        call = LateCall(name, args, decode=result_of)
        call.answer(f'"{result}"'.encode(), chance.random() < 0.2)
        return call
    return Call(name, args, result, chance.random() < 0.3)


def _events(seed: int) -> list[Event]:
    chance, events, times = random.Random(seed), list[Event](), 0
    loops = {f"r{i}": [_call(chance, 0) for _ in range(chance.randint(1, 3))] for i in range(12)}
    for _ in range(160):
        run = chance.choice(list(loops))
        for _ in range(chance.randint(1, 7)):
            times += 1
            calls = [copy(chance.choice(loops[run])) if chance.random() < 0.6 else _call(chance, times)]
            text, usage = chance.choice(["", "going on", "y" * 400]), Usage(100 + times, 20)
            events.append(
                Turn(run, calls[: chance.randint(0, 5)], text, usage=usage, time=1e9 + times, line=times, written=9)
            )
        if chance.random() < 0.1:
            events.append(End(run, "done", "said so", times))
    return events


def _records(seed: int) -> tuple[list[dict[str, Any]], int]:
    engine = Audit()
    engine._final.add("claude-code")
    engine.take(_events(seed), "claude-code", "x.jsonl")
    slept = len(engine._naps._woken)
    return [record(r) for r in engine.finish().runs], slept


@pytest.mark.parametrize("deep", [False, True])
@pytest.mark.parametrize("seed", range(12))
def test_asleep_or_not(seed: int, deep: bool, monkeypatch: pytest.MonkeyPatch) -> None:
    want, _ = _records(seed)
    assert any(r["episodes"] for r in want)
    for name in ("AWAKE", "DOZING", "_MUCH", *(["SLEEPING"] if deep else [])):
        monkeypatch.setattr(asleep, name, 0)
    got, slept = _records(seed)
    assert got == want
    assert slept > 3


def _fails_late(run: int, turn: int) -> dict[str, Any]:
    """A turn of a native run that is usual at first; from turn 12 on its calls fail, and say much."""
    line = {"run_id": f"r{run}", "turn": turn, "tool": f"t{turn % 3}", "args": {"q": turn}, "input_tokens": 9}
    failed = turn == 1 or turn > 11
    return line | {"output_tokens": 3, "error": failed, "result": f"{run} {turn} of it" + "x" * 900 * failed}


def test_what_is_read_again_is_not_put_away(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    log = tmp_path / "log.jsonl"
    log.write_text("".join(json.dumps(_fails_late(run, turn)) + "\n" for run in range(30) for turn in range(1, 19)))
    want = [record(r) for r in audit([log]).runs]
    for name in ("AWAKE", "DOZING", "SLEEPING"):
        monkeypatch.setattr(asleep, name, 0)
    assert [record(r) for r in audit([log]).runs] == want
