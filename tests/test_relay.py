"""One long run read by several processes: wherever legs begin, what comes of them is what comes of one reading."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from datetime import UTC, datetime
from pathlib import Path
from random import Random
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from loopscan import course
from loopscan.cuts import all_places
from loopscan.engine import Audit
from loopscan.formats import Scan
from loopscan.gather import Gathered
from loopscan.parcel import unpacked
from loopscan.prices import from_options
from loopscan.records import document
from loopscan.relay import Leg, Ran
from loopscan.relayed import Relay
from loopscan.scan import Inputs, Reading, run
from loopscan.settings import Settings
from loopscan.shares import Files, Share, task
from loopscan.spill import Spill
from tests.conftest import native
from tests.several import FIGURES
from tests.test_jobs import same

Told = tuple[dict[str, Any], list[str]]


@pytest.fixture(autouse=True)
def everything_is_big(monkeypatch: pytest.MonkeyPatch) -> None:
    """Small inputs are read in legs, too."""
    for module, name, value in FIGURES:
        monkeypatch.setattr(module, name, value)


class Here:
    """Reads shares in this process. `gone`: from leg to leg; `whole`: the files that were read as a whole."""

    def __init__(self, inputs: Inputs, asked: Settings) -> None:
        self.task = task(inputs, asked, from_options())
        self.gone: list[tuple[int, int | None]] = []
        self.whole = 0

    def results(self, shares: Mapping[int, Share]) -> Iterator[tuple[int, bytes]]:
        """What comes of each."""
        for number, share in shares.items():
            found = share.read(self.task)
            if isinstance(share, Leg):
                ran = unpacked(found, Spill())
                assert isinstance(ran, Ran)
                self.gone.append((share.at, ran.reached))
            self.whole += isinstance(share, Files)
            yield number, found


def in_one(path: Path, asked: Settings) -> Told:
    """What one process makes of a file, and what it says."""
    said: list[str] = []
    report = run(Inputs([str(path)], say=said.append, tell=said.append), asked, from_options())
    return document(report), said


def in_legs(path: Path, asked: Settings, places: list[int]) -> tuple[Told, Here]:
    """The same in legs that begin at these places, and how they went."""
    said: list[str] = []
    inputs = Inputs([str(path)], say=said.append, tell=said.append)
    here = Here(inputs, asked)
    crew: Any = here
    items = inputs.items()
    found = Gathered(items, [0], inputs)
    found.cuts[0] = Relay({0: items[0]})
    found.first(crew, [Leg(0, items[0], (0, *places), at) for at in range(len(places) + 1)])
    found.join(crew)
    found.tie(crew)
    engine = Audit(asked, from_options(), Scan(inputs.skips(), asked.exact))
    reading = Reading(inputs, asked.span, engine)
    found.place(reading, engine)
    return (document(engine.finish()), said), here


def line_starts(path: Path) -> list[int]:
    """Where lines begin with a bracket, but the first."""
    data = path.read_bytes()
    return [k + 1 for k in range(len(data) - 1) if data[k] == 10 and data[k + 1] in b"{["]


def handed_over(here: Here) -> int:
    """How many of the legs that make up the result went on for one before."""
    reached = dict(here.gone)
    at, count = reached[0], 0
    while at is not None:
        at, count = reached[at], count + 1
    return count


def a_turn(chance: Random, number: int, again: float = 0.01, **more: Any) -> dict[str, Any]:
    """A turn of a long run; now and then (`again`) one that is known already."""
    small = chance.random() < again
    page = chance.randrange(3) if small else chance.randrange(10**6)
    told = f"#{chance.randrange(4 if small else 10**9):x} page {page} " + "word " * chance.randrange(9)
    line = {
        "run_id": "long", "turn": number, "tool": chance.choice(("get_order", "http_get", "look", "sql_query")),
        "args": {"id": page}, "result": told, "input_tokens": 100 + number, "output_tokens": chance.randrange(90),
    }  # fmt: skip
    return line | more


def check(path: Path, places: list[int], asked: Settings | None = None) -> Here:
    """Read a file in legs, and in one."""
    chosen = asked or Settings()
    got, here = in_legs(path, chosen, places)
    assert got == in_one(path, chosen), places
    return here


def test_every_leg_goes_on_for_the_one_before(tmp_path: Path) -> None:
    chance = Random(1)
    path = native(tmp_path / "a.jsonl", *(a_turn(chance, n) for n in range(1, 1201)))
    starts = line_starts(path)
    here = check(path, [starts[k] for k in (400, 800, 1194, 1198)])
    assert here.gone == [(0, 1), (1, 2), (2, 3), (3, 4), (4, None)]
    assert not here.whole


@pytest.mark.parametrize(
    "less_or_more",
    [
        {"ts": 1_764_000_000}, {"run_id": None}, {"turn": None}, {"run_id": None, "turn": None}, {"run_id": 7},
        {"cache_read_tokens": 70, "model": "gpt-5"}, {"text": "so be it"}, {"labels": {"team": "a"}, "session": "s"},
    ],
)  # fmt: skip
def test_logs_of_other_lines(less_or_more: dict[str, Any], tmp_path: Path) -> None:
    """Lines that are decoded in full; a file that is one run; turns that are counted by their lines."""
    chance, lines = Random(8), []
    for n in range(1, 500):
        line = a_turn(chance, n, 0.05) | less_or_more
        if less_or_more.get("ts"):
            line["ts"] += n * chance.choice((1, 60))
        lines.append({key: value for key, value in line.items() if value is not None})
    path = native(tmp_path / "a.jsonl", *lines)
    starts = line_starts(path)
    here = check(path, [starts[200], starts[400]])
    assert here.gone == [(0, 1), (1, 2), (2, None)]


@pytest.mark.parametrize("seed", range(6))
def test_anywhere(seed: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Repeats, pauses, errors, two models, an end; few turns before a place to more than enough."""
    monkeypatch.setattr(course, "WARM", (300, 4000, 15_000, 60_000)[seed % 4])
    chance, time, lines = Random(seed), 1_764_000_000.0, []
    for n in range(1, 601):
        time += chance.choice((1, 2, 5, 400 if n % 90 == 0 else 1))
        stamp = datetime.fromtimestamp(time, UTC).isoformat()
        more = {"ts": stamp, "model": "gpt-5" if 200 < n < 400 else "claude-sonnet-4-5"}
        lines.append(a_turn(chance, n, (0.0, 0.02, 0.3)[seed % 3], **more, error=chance.random() < 0.02))
    path = native(tmp_path / "a.jsonl", *lines, {"run_id": "long", "state": "done"})
    starts = line_starts(path)
    for _ in range(3):
        check(path, sorted(chance.sample(starts, 3)))


@pytest.mark.parametrize(
    ("tool", "copies"), [("bash", 2), ("edit_file", 6), ("read_file", 3), ("look", 2), ("look", 6)]
)
def test_an_episode_at_every_place(tool: str, copies: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A block that is played over, with a leg that begins before it, within, at its end and behind it."""
    monkeypatch.setattr(course, "WARM", 12_000)
    chance, lines = Random(copies), []
    args = {"command": "make"} if tool == "bash" else {"path": "a.py", "old_str": "a", "new_str": "b", "offset": 1}
    for n in range(1, 260):
        lines.append(a_turn(chance, n, 0.0))
        if 120 <= n < 120 + 2 * copies:
            what = {"args": args, "result": "the same"} if n % 2 else {"args": {"x": 1}, "result": "nothing"}
            lines[-1] |= {"tool": tool if n % 2 else "check", **what}
    path = native(tmp_path / "a.jsonl", *lines)
    starts, went = line_starts(path), 0
    for k in range(114, 144, 3):
        went += handed_over(check(path, [starts[60], starts[k], starts[200]]))
    assert went > 10


def test_what_is_long_past(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A message sent twice says nothing of the turns far behind it, which a leg begins at."""
    monkeypatch.setattr(course, "WARM", 12_000)
    chance = Random(5)
    lines = [a_turn(chance, n, 0.0) for n in range(1, 400)]
    for n in (50, 51):
        lines[n] |= {"tool": "send_mail", "args": {"to": "a"}, "result": f"receipt {n}"}
    path = native(tmp_path / "a.jsonl", *lines)
    starts = line_starts(path)
    assert handed_over(check(path, [starts[200], starts[300]])) == 2
    assert check(path, [starts[50], starts[52], starts[300]])


def test_a_price_that_changes(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(course, "WARM", 12_000)
    monkeypatch.setattr("loopscan.money.PRICE_SPAN", 1800)
    chance, lines = Random(3), []
    for n in range(1, 400):
        time = datetime.fromtimestamp(1_764_000_000 + 30 * n, UTC).isoformat()
        lines.append(a_turn(chance, n, model="deepseek-chat" if n > 200 else "gpt-5-mini", ts=time))
    path = native(tmp_path / "a.jsonl", *lines)
    starts = line_starts(path)
    for k in range(196, 206, 3):
        here = check(path, [starts[100], starts[k], starts[300]])
        assert here.gone[0] == (0, 1)


@pytest.mark.parametrize(
    "odd",
    [
        "{broken",
        "",
        "[1]",
        a_turn(Random(1), 1) | {"run_id": "another"},
        a_turn(Random(1), 7),
        {"run_id": "long", "state": "odd"},
        {"run_id": "long", "state": "done"},
        {"run_id": "long", "turn": 151, "text": "words", "input_tokens": 5},
        {"run_id": "long", "turn": 151, "tool": None, "error": True, "result": "no"},
        a_turn(Random(1), 151) | {"session": "s", "labels": {"a": "b"}, "parent": "p"},
        a_turn(Random(1), 151) | {"cache_read_tokens": 50, "usd": 1.5},
        a_turn(Random(1), 151) | {"compacted": True, "written": 5000},
    ],
)
@pytest.mark.parametrize("at", [0, 150, 250])
def test_what_is_unusual(odd: Any, at: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(course, "WARM", 12_000)
    chance = Random(at)
    lines: list[Any] = [a_turn(chance, n) for n in range(1, 300)]
    lines.insert(at, odd)
    path = native(tmp_path / "a.jsonl", *lines)
    starts = line_starts(path)
    check(path, [starts[100], starts[200]])
    check(path, [starts[149], starts[151], starts[290]])


@pytest.mark.parametrize(
    "asked",
    [
        Settings(exact=True), Settings(window=50), Settings(window=4, copies=3), Settings(rules=()),
        Settings(repeat_limit=3), Settings(base=3000, growth=500), Settings(context_window=400),
    ],
)  # fmt: skip
def test_under_settings(asked: Settings, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(course, "WARM", 30_000)
    chance = Random(5)
    lines = [a_turn(chance, n, 0.1) for n in range(1, 500)]
    for line in lines[::50]:
        del line["input_tokens"]
    path = native(tmp_path / "a.jsonl", *lines)
    starts = line_starts(path)
    for _ in range(4):
        check(path, sorted(chance.sample(starts, 3)), asked)


def test_many_tools(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Only the last calls of some are kept: which ones, only the whole tells."""
    monkeypatch.setattr(course, "WARM", 12_000)
    chance = Random(4)
    lines = [a_turn(chance, n, 0.1) | {"tool": f"tool_{chance.randrange(1 + n // 15)}"} for n in range(1, 500)]
    path = native(tmp_path / "a.jsonl", *lines)
    starts = line_starts(path)
    check(path, [starts[150], starts[300]])
    check(path, [starts[100], starts[480]])


def a_move(chance: Random, tools: list[str]) -> dict[str, Any]:
    """What is done in a small world: files edited to and fro, shells, failures, receipts, questions."""
    tool, k = chance.choice(tools), chance.randrange(3)
    old, new = chance.choice((("x", "y"), ("y", "x")))
    edits: Any = ({"old_str": old, "new_str": new}, {"content": old * k}, {"undo": True})
    args: dict[str, Any] = {
        "bash": {"command": chance.choice((f"make {k}", "echo hi", "pytest -q", "ls " + "a " * k))},
        "edit_file": {"path": f"{k}.py", **chance.choice(edits)},
        "read_file": {"path": f"{k}.py", **chance.choice(({}, {"offset": 10 * k, "limit": 20}))},
        "ask": {
            "question": chance.choice(("what is the largest town of it here", "which town is its largest one here"))
        },
    }.get(tool, {"id": k})
    results: Any = (
        "error: no such file or directory", "ok", f"found {k} lines", f"Traceback:\nline {chance.randrange(99)}",
        {"n": chance.randrange(3)}, f"value {chance.randrange(999)} of many that were listed here for you to see", "",
    )  # fmt: skip
    error = {"error": True} if chance.random() < 0.15 else {}
    return {"tool": tool, "args": args, "result": chance.choice(results), **error}


def a_world(chance: Random, size: int) -> list[dict[str, Any]]:
    """A run in which much comes back, in blocks and apart, at any distance."""
    tools = chance.sample(
        "bash edit_file read_file look send_mail ask get_order run_tests".split(), chance.randint(2, 6)
    )
    pool = [a_move(chance, tools) for _ in range(chance.randint(2, 8))]
    new, moves = chance.choice((0.05, 0.3, 0.7, 0.95)), list[dict[str, Any]]()
    while len(moves) < size:
        if chance.random() < new:
            moves.append({k: v for k, v in a_turn(chance, 1, 0.0).items() if k in ("tool", "args", "result")})
        else:
            block = moves[-chance.choice((1, 2, 3, 5, 12)) :]
            moves += chance.choice(([chance.choice(pool)], [a_move(chance, tools)], block * chance.choice((1, 2, 5))))
    timed, model, time, lines = chance.random() < 0.5, chance.choice(({}, {"model": "gpt-5"})), 1_764_000_000, []
    for n, move in enumerate(moves[:size], 1):
        time += chance.choice((1, 2, 2, 2, 2, 2, 2, 2, 70, 2000))
        line = {"run_id": "long", "turn": n, **move, **model, "input_tokens": 10 * n, "output_tokens": n % 50}
        lines.append(line | ({"ts": datetime.fromtimestamp(time, UTC).isoformat()} if timed else {}))
    return lines


@settings(max_examples=40, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(seed=st.integers(0, 10**6), warm=st.sampled_from([200, 1500, 4000, 9000, 20_000]))
def test_random_worlds(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, seed: int, warm: int) -> None:
    chance = Random(seed)
    monkeypatch.setattr(course, "WARM", warm)
    path = native(tmp_path / "a.jsonl", *a_world(chance, chance.choice((40, 120, 200))))
    check(path, sorted(chance.sample(line_starts(path), 3)))


def test_where_legs_begin(tmp_path: Path) -> None:
    chance = Random(2)
    path = native(tmp_path / "a.jsonl", *(a_turn(chance, n) for n in range(1, 200)))
    inputs, size = Inputs([str(path)], jobs=2), path.stat().st_size
    found = all_places(inputs.items(), [size], inputs, runs=True)[0]
    assert (found.format, found.starts[0], len(found.starts), found.run) == ("loopscan", 0, 4, True)
    assert set(found.starts[1:]) <= set(line_starts(path))
    assert not all_places(inputs.items(), [size], inputs, runs=False)[0].run
    others = native(tmp_path / "b.jsonl", *(a_turn(chance, n) | {"run_id": f"r{n // 9}"} for n in range(1, 200)))
    inputs = Inputs([str(others)], jobs=2)
    assert not any(p.run for p in all_places(inputs.items(), [size], inputs, runs=True).values())


def test_by_the_command_line(tmp_path: Path, capfd: pytest.CaptureFixture[str]) -> None:
    chance = Random(6)
    path = native(tmp_path / "a.jsonl", *(a_turn(chance, n) for n in range(1, 300)), "{broken")
    native(tmp_path / "b.jsonl", *(a_turn(chance, n) | {"run_id": "b"} for n in range(1, 20)))
    for paths in ([str(path)], [str(tmp_path)]):
        same(capfd, *paths, "-f", "json", "-v")
    native(tmp_path / "c.jsonl", a_turn(chance, 300))
    _, out, _ = same(capfd, str(tmp_path), "-f", "json")
    assert {r["run"]: r["turns"] for r in json.loads(out)["runs"]} == {"long": 300, "b": 19}
