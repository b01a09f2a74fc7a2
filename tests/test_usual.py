"""The compiled loop over usual turns says what the one in Python says, and leaves a run in the same state."""

from __future__ import annotations

import json
from array import array
from collections import deque
from collections.abc import Iterator
from fractions import Fraction
from random import Random
from typing import Any

import msgspec
import pytest

from loopscan import Settings, stretch
from loopscan.compiled import compiled
from loopscan.formats import claude_code
from loopscan.key import Action, Keyer
from loopscan.model import MISSING, Call, LateCall, Turn, Usage
from loopscan.money import PriceBook
from loopscan.prices import from_options
from loopscan.rules.streaks import Trail
from loopscan.rules.watch import Watch
from loopscan.run import Run, new_run
from loopscan.spill import Spill
from loopscan.stretch import take

pytestmark = pytest.mark.skipif(compiled() is None, reason="nothing is compiled here")

TIMES = 25
_ATOMS = (str, int, float, bytes, bool, type(None), type, Fraction, array, Spill)


def state(value: Any, seen: dict[int, tuple[int, Any]]) -> Any:
    """All that an object holds, as plain values; the same object once more is named by its number."""
    if isinstance(value, _ATOMS) or value is MISSING or callable(value):
        return value if not isinstance(value, Spill) else None
    if isinstance(value, (set, frozenset)):
        return sorted(map(repr, value))
    if id(value) in seen:
        return f"#{seen[id(value)][0]}"
    if type(value) is Trail and value.streak is value.lapsed is None:
        return [value.turn, value.point.ident]  # what a call is that nothing was like
    if type(value) is Trail and value.lapsed is None:
        value.missed = 0  # counts only behind a streak that lapsed
    seen[id(value)] = len(seen), value
    if type(value) is Watch:
        last = [(k, [v.turn, v.ident] if type(v) is Action else state(v, seen)) for k, v in value.trails.items()]
        return [last, [state(getattr(value, name), seen) for name in names(value) if name != "trails"]]
    if isinstance(value, (list, tuple, deque)):
        return [state(v, seen) for v in value]
    if isinstance(value, dict):
        return [(state(k, seen), state(v, seen)) for k, v in value.items()]
    return type(value).__name__, [(name, state(getattr(value, name), seen)) for name in names(value)]


def names(value: Any) -> Iterator[str]:
    if isinstance(value, msgspec.Struct):
        yield from value.__struct_fields__
    else:
        for kind in type(value).__mro__:
            slots = getattr(kind, "__slots__", ())
            yield from (slots,) if isinstance(slots, str) else slots


def decoded(raw: bytes) -> Any:
    return json.loads(raw)


def args_of(chance: Random, name: str, turn: int, wild: float) -> Any:
    file = chance.randrange(5) if chance.random() < wild else turn
    path = f"{chance.choice(('', './', 'src//', '/', 'ü/'))}{file}.py{chance.choice(('', '', '/'))}"
    odd = chance.random() < 0.3 * wild
    if name in ("Read", "view"):
        pages: tuple[dict[str, Any], ...] = (
            {}, {"offset": chance.randrange(9) * 10, "limit": chance.choice((10, 0, -1, "5", None, True, 1 << 70))},
            {"view_range": [1, chance.choice((9, -1))]}, {"start_line": 1, "end_line": 9}, {"offset": 3},
        )  # fmt: skip
        return {"path" if odd else "file_path": 7 if odd and chance.random() < 0.3 else path} | chance.choice(pages)
    if name in ("Edit", "Write"):
        edits: tuple[dict[str, Any], ...] = (
            {"old_string": chance.choice("abc"), "new_string": chance.choice(("a", "b", "c", ""))},
            {"old_string": f"x{turn}", "new_string": "y" * chance.choice((1, 900))}, {"content": chance.choice("abc")},
            {"undo": True}, {"old": "a", "revert": chance.choice((True, False)), "new": "b"}, {"command": "view"},
            {"file_text": f"n = {turn}", "n": 1 << 70 if odd else 2}, {"command": "create", "content": "\ud800"},
        )  # fmt: skip
        return {"file_path": path} | chance.choice(edits)
    if name == "Bash":
        lines = (
            "ls", "echo hi", "  git  status ", "cd src && pytest -q", "A=1 make x", "sudo ls", "true", "#", "", " ",
            "ü x",
            f"pytest -k {turn}", "pytest -k 1 and more of it", "grep " + "x" * 500, "npm\x1ctest", "git",
        )  # fmt: skip
        command: Any = chance.choice(lines) + ("" if chance.random() < wild else f" {turn}")
        return chance.choice(
            ({"command": command}, {"command": command, "description": f"d{turn}"}, {"cmd": [command, "x"]}, command,
             {"command": []}, {"command": 5, "script": command})
        )  # fmt: skip
    plain: tuple[Any, ...] = (
        {"q": turn}, {"q": chance.randrange(9), "path": path} if odd else {"path": path, "n": turn},
        {"query": f"please say the word {turn} again"}, {}, None,
        '{"q": 1}', '{"q": 1 << 70}', f'{{"q": {turn}, "path": "./a"}}', "words", " [1]", {"n": 1 << 70},
        {"t": "\ud800"}, [turn],
    )  # fmt: skip
    return chance.choice(plain[:3] if chance.random() > wild else plain)


def result_of(chance: Random, turn: int, wild: float) -> Any:
    some: tuple[Any, ...] = (
        f"{turn * 7919:x} {'z' * chance.choice((3, 700))} {turn * 104729:x} is it", f"{turn} found", "ok", "",
        "error: not found", {"n": turn}, [1], None, "\u2192" * 9 + str(turn), 5, MISSING,
    )  # fmt: skip
    return chance.choice(some[:1] if chance.random() > wild else some)


def call_of(chance: Random, turn: int, wild: float) -> Call:
    name = chance.choice(("Read", "Edit", "Write", "Bash", "view", "Grep", "ask", "send_mail", "tëst"))
    args, result, error = args_of(chance, name, turn, wild), result_of(chance, turn, wild), chance.random() < wild / 4
    if chance.random() < 0.5:
        return Call(name, args, result, error)
    late = LateCall(name, args, id=f"c{turn}", decode=decoded)
    late.ident = Keyer().call_ident(name, args) if chance.random() < 0.7 else None
    if result is not MISSING:
        late.answer(json.dumps(result, ensure_ascii=chance.random() < 0.5).encode("utf-8", "backslashreplace"), error)
        if chance.random() < 0.1:
            _ = late.result
    return late


def usage_of(chance: Random, wild: float) -> Usage:
    sent = chance.choice((10, 3000, 5000, 5000, 250_000 if chance.random() < wild else 6000))
    usage = Usage(sent, chance.choice((0, 5, 90)))
    if chance.random() < 0.7:
        usage.cache_read, usage.cache_write = chance.choice(((sent - 5, None), (0, 4), (sent // 2, 2), (sent, sent)))
        usage.cache_write_1h = chance.choice((None, None, 1, 9))
    if chance.random() < wild / 4:
        odd: dict[str, Any] = chance.choice(
            (
                {"input": None},
                {"output": None},
                {"usd": 0.1},
                {"input": 1 << 70},
                {"output": 10**9 + 1},
                {"cache_read": -3},
            )
        )
        for name, value in odd.items():
            setattr(usage, name, value)
    return usage


def turns_of(chance: Random, count: int, bare: bool) -> list[Turn]:
    turns: list[Turn] = []
    now = 1_764_000_000.0
    wild = chance.choice((0.01, 0.03, 0.1, 0.4))
    for number in range(count):
        now += chance.choice((1.5, 1.5, 30.0, 4000.0, -5.0))
        calls = [
            call_of(chance, number, wild) for _ in range(chance.choice((0, 2, 5)) if chance.random() < wild / 3 else 1)
        ]
        turn = Turn("r", calls, chance.choice(("", "words", None)), time=now, model="claude-sonnet-4-5", prompt="p")
        turn.usage = None if bare else usage_of(chance, wild)
        turn.written = chance.choice((None, 0, 40, 5000))
        if chance.random() < wild / 4:
            odd: tuple[dict[str, Any], ...] = (
                {"failed": True, "fault": "overloaded"}, {"compacted": True}, {"model": "gpt-5"}, {"model": None},
                {"session": "s"}, {"parent": "q"}, {"labels": {"team": "a"}}, {"labels": {}}, {"window": 100},
                {"window": 1 << 30}, {"time": None}, {"time": now + 90 * 86400}, {"usage": None}, {"usage": Usage()},
            )  # fmt: skip
            for name, value in chance.choice(odd).items():
                setattr(turn, name, value)
        turns.append(turn)
        if chance.random() < wild * wild / 9:  # a loop
            turns += [again(turn) for turn in turns[-3:] for _ in range(2)]
    return turns


def again(turn: Turn) -> Turn:
    """The same turn once more."""
    copy: Turn = msgspec.structs.replace(turn)
    copy.calls = [msgspec.structs.replace(call) for call in turn.calls]
    return copy


def run_of(seed: int, prices: PriceBook) -> tuple[Run, list[Turn], Random]:
    chance = Random(seed)
    turns = turns_of(chance, chance.choice((30, 300)), chance.random() < 0.3)
    chosen = chance.choice(
        ({}, {}, {"base": 900, "growth": 70}, {"chars_per_token": Fraction(7, 2)}, {"context_window": 4000},
         {"rules": ()}, {"window": 4}, {"window": 60})
    )  # fmt: skip
    settings = Settings(**chosen)
    cosmetic = chance.choice((claude_code.COSMETIC_ARGS, {}, {"*": frozenset(["q"])}))
    run = new_run(turns[0], "r", "x", "f", Keyer(cosmetic=cosmetic), settings, Spill())
    run.prepare(turns[0], prices)
    return run, turns, chance


def taken(seed: int, prices: PriceBook) -> list[str]:
    run, turns, chance = run_of(seed, prices)
    states = []
    at = 0
    while at < len(turns):
        size = chance.choice((1, 3, 16, 16, 128, 300))
        take(run, turns[at : at + size], prices)
        at += size
        run.progress.tracker.detector.forget()  # what has left the window is forgotten now and then
        states.append(repr(state(run, {})))
    return states


@pytest.mark.parametrize("seed", range(TIMES))
def test_random_runs(seed: int, monkeypatch: pytest.MonkeyPatch) -> None:
    prices = from_options()
    quick = taken(seed, prices)
    monkeypatch.setattr(stretch, "compiled_loop", lambda: None)
    assert quick == taken(seed, prices)
