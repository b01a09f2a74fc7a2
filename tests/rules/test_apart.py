"""Calls that come back with another result, taken in a row: the same records as turn by turn.

Their results are far apart, equal but for numbers, equal but for times, or equal to the one before the last.
"""

from __future__ import annotations

import json
from pathlib import Path
from random import Random
from typing import Any

import pytest

from loopscan import Settings, audit, record
from loopscan.episodes import Tracker
from loopscan.prices import from_options
from loopscan.settings import Detection
from tests.conftest import native

TOOLS = (["get_a", "frob", "send_mail", "edit_row"], ["get_a"], ["send_mail", "edit_row"], ["run_bash", "get_a"])
WORDS = "alpha beta gamma ship cart user order find error: cache 12 7 404 0xdeadbeef tmpabcd1234".split()


def number(chance: Random) -> int:
    return chance.randrange(10 ** chance.randrange(9, 15))


def moment(chance: Random) -> str:
    return f"2026-01-0{chance.randrange(1, 9)}T10:1{chance.randrange(9)}" + chance.choice((":07", ":07Z", ":07.123Z"))


def result(chance: Random, kinds: tuple[float, float, float], ident: int, turn: int, period: int) -> Any:
    kind = chance.random()
    if kind < kinds[0]:
        return f"{number(chance)} of item {ident} then {number(chance)}"
    if kind < kinds[1]:
        which = 1 + turn // period % 2
        return f"{which * 7919:x} same {ident} {'y' * which}{which * 7907:010x}"
    if kind < kinds[2]:
        return chance.choice((f"{moment(chance)} of {ident} {moment(chance)}", f"<time> of {ident} <time>", {"n": 1}))
    return " ".join(chance.choices(WORDS, k=chance.choice((2, 3, 6, 40)))) + f" {turn * 7919:x}" * chance.randrange(2)


def world(chance: Random) -> list[dict[str, Any]]:
    rough = chance.choice((0, 0.02, 0.1, 0.5, 0.98))
    same = rough + chance.choice((0, 0.02, 0.2, 0.9, 1))
    kinds = rough, same, same + chance.choice((0, 0.02, 0.1, 0.5, 1))
    period = chance.choice((2, chance.randrange(1, 30)))
    idents, cycle, tools = chance.choice((2, 4, 8, 20, 60)), chance.random() < 0.5, chance.choice(TOOLS)
    lines = []
    for turn in range(1, 200):
        ident = turn % period if cycle and chance.random() < 0.97 else chance.randrange(idents)
        name = tools[ident % len(tools)]
        args: Any = {"command": f"make {ident}"} if "bash" in name else {"id": ident}
        if ident % 13 == 5:
            args = {"question": f"what is the {ident} of it then"}
        elif ident % 13 == 6:
            args = json.dumps(args)
        line = {"run_id": "r", "turn": turn, "tool": name, "args": args, "input_tokens": 9, "output_tokens": 3}
        line["result"] = result(chance, kinds, ident, turn, period)
        if chance.random() < 0.01:
            line |= chance.choice(({"error": True}, {"tool": None, "text": "hm"}, {"model": "gpt-5"}))
        lines.append(line)
    return lines


@pytest.mark.parametrize("seed", range(60))
def test_random_worlds(seed: int, tmp_path: Path) -> None:
    chance = Random(seed)
    path = native(tmp_path / "t.jsonl", *world(chance))
    window, copies = chance.choice((1, 2, 3, 6, 20, 20, 25, 60, 100)), chance.choice((2, 2, 3, 4))
    quick, slow = Settings(window=window, copies=copies), Settings(window, copies, watched=(Detection(window=2),))
    records = [[record(r) for r in audit(path, s, prices=from_options()).runs] for s in (quick, slow)]
    assert records[0] == records[1]


def test_such_a_turn_is_taken_with_the_usual_ones(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    pushed: list[int] = []
    push = Tracker.push
    monkeypatch.setattr(Tracker, "push", lambda self, action: (pushed.append(self.turn + 1), push(self, action))[1])
    lines = [
        {"run_id": "r", "turn": n, "tool": "get_a", "args": {"id": n % 9 if n % 3 else n},
         "result": f"{n * 7919:x} is {'it' * (n % 5)} {n * 104729:x}", "input_tokens": 9, "output_tokens": 3}
        for n in range(100, 200)
    ]  # fmt: skip
    audit(native(tmp_path / "t.jsonl", *lines), Settings(), prices=from_options())
    assert len(pushed) < 10
