"""Any log to native lines and back: the same turns, the same audit."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path
from typing import Any

import pytest

from loopscan.blob import Blob
from loopscan.convert import dumps, to_native
from loopscan.engine import Audit
from loopscan.formats import Reader, Scan, detect, load
from loopscan.key import Keyer
from loopscan.model import MISSING, Call, End, Event, Turn, Usage
from loopscan.prices import from_options
from loopscan.records import record
from loopscan.settings import Settings
from loopscan.source import Input, expand, open_input
from tests.conftest import SAMPLES, SHARED

FILES = [Path(i.path) for i in expand([str(SAMPLES)])]
if SHARED.is_dir():
    FILES += [Path(i.path) for i in expand([str(SHARED / "traces")])]

PLAIN = ("text", "failed", "usage", "model", "time", "parent", "session", "window", "written", "compacted")


def name_of(path: Path) -> str:
    return str(path.relative_to(SAMPLES if path.is_relative_to(SAMPLES) else SHARED))


def read(path: Path) -> tuple[list[Event], Reader, str] | None:
    with open_input(Input(str(path), named=True)) as blob:
        name = detect(blob.head)
        if name is None:
            return None
        reader = load(name)
        return list(reader.read(blob, Scan())), reader, name


def back(path: Path, events: Iterable[Event], reader: Reader | None = None) -> list[Event]:
    path.write_bytes(b"".join(dumps(line) + b"\n" for line in to_native(events, reader)))
    with Blob(str(path), path) as blob:
        scan = Scan()
        found = list(load("loopscan").read(blob, scan))
    assert scan.skips.total == scan.skips.copies == 0
    return found


def plain(turn: Turn) -> dict[str, Any]:
    """What a turn says, without its place and the ids of the log."""
    told = {name: getattr(turn, name) for name in PLAIN}
    calls = [(c.name, c.args, shown(c.result), c.error) for c in turn.calls]
    return {**told, "calls": calls, "fault": shown(turn.fault), "labels": turn.labels or None}


def shown(result: Any) -> Any:
    return "MISSING" if result is MISSING else [result]


def logged(events: list[Event]) -> dict[str, list[Any]]:
    """Per run as the engine names it its turns, and the ends that it would take."""
    told: dict[str, list[Any]] = {}
    names: dict[str, str] = {}
    prompts: dict[str, list[Any]] = {}
    for event in events:
        if isinstance(event, Turn):
            seen = prompts.setdefault(event.run, [])
            if event.prompt is not None and seen[-1:] != [event.prompt]:
                seen.append(event.prompt)
            names[event.run] = event.run if event.prompt is None else f"{event.run}#{len(seen)}"
            told.setdefault(names[event.run], []).append(plain(event))
        elif event.run in names:
            if event.prompt in (None, *prompts[event.run][-1:]):
                told[names[event.run]].append((event.state, event.note, event.time))
        elif event.final:
            told.setdefault(event.run, []).append((event.state, event.note, event.time))
    return told


def converted(events: list[Event]) -> dict[str, list[Any]]:
    """The same of native events."""
    told: dict[str, list[Any]] = {}
    for event in events:
        what = plain(event) if isinstance(event, Turn) else (event.state, event.note, event.time)
        told.setdefault(event.run if event.prompt is None else f"{event.run}#{event.prompt}", []).append(what)
    return told


@pytest.mark.parametrize("path", FILES, ids=name_of)
def test_the_same_turns(path: Path, tmp_path: Path) -> None:
    found = read(path)
    if found is None:
        pytest.skip("no log")
    events = found[0]
    assert converted(back(tmp_path / "x.jsonl", events)) == logged(events)


def audited(events: Iterable[Event], name: str, reader: Reader, settings: Settings) -> dict[str, Any]:
    """Run id -> record, without what names the format, and without cosmetic arguments in what is shown."""
    engine = Audit(settings, from_options("3", "15", "0.3", "3.75", "6"))
    engine._keyers[name] = Keyer(settings.exact, reader.COSMETIC_ARGS, reader.clean_result)
    engine.take(events, name, "log")
    told = {r.run: {**record(r), "format": None, "source": None} for r in engine.finish().runs}
    for run in told.values():
        for episode in run["episodes"] + ([run["no_progress"]] if run["no_progress"] else []):
            episode["block"] = [c["name"] for c in episode["block"]]
    return told


@pytest.mark.parametrize("per", ["prompt", "session"])
@pytest.mark.parametrize("path", FILES, ids=name_of)
def test_the_same_audit(path: Path, per: Any, tmp_path: Path) -> None:
    found = read(path)
    if found is None:
        pytest.skip("no log")
    events, reader, name = found
    native = back(tmp_path / "x.jsonl", events, reader)
    settings = Settings(per=per)
    assert audited(native, "loopscan", load("loopscan"), settings) == audited(events, name, reader, settings)


@pytest.mark.parametrize("path", FILES, ids=name_of)
def test_the_same_literal_audit(path: Path, tmp_path: Path) -> None:
    found = read(path)
    if found is None:
        pytest.skip("no log")
    events, reader, name = found
    native = back(tmp_path / "x.jsonl", events)
    exact = Settings(exact=True)
    assert audited(native, "loopscan", load("loopscan"), exact) == audited(events, name, reader, exact)


T = Turn
CASES: dict[str, tuple[list[Event], list[dict[str, Any]]]] = {
    "one call": (
        [T("r", [Call("f", {"a": 1}, "x", id="c1")], "I look", time=5.0, model="m", usage=Usage(9, 2, usd=0.5))],
        [
            {"run_id": "r", "turn": 1, "name": "f", "args": {"a": 1}, "result": "x", "text": "I look"}
            | {"ts": 5.0, "model": "m", "input_tokens": 9, "output_tokens": 2, "usd": 0.5}
        ],
    ),
    "parallel calls share a turn, the send is told once": (
        [T("r", [Call("f", None, None), Call("f", None, None), Call("g")], time=5.0), T("r", text="end")],
        [
            {"run_id": "r", "turn": 1, "name": "f", "result": None, "ts": 5.0},
            {"run_id": "r", "turn": 1, "name": "f", "result": None},
            {"run_id": "r", "turn": 1, "name": "g"},
            {"run_id": "r", "turn": 2, "text": "end"},
        ],
    ),
    "failures": (
        [
            T("r", [Call("f", "{", "no", error=True)]),
            T("r", failed=True, fault={"m": 1}, text=None),
            T("r", failed=True),
        ],
        [
            {"run_id": "r", "turn": 1, "name": "f", "args": "{", "result": "no", "error": True},
            {"run_id": "r", "turn": 2, "error": True, "result": {"m": 1}},
            {"run_id": "r", "turn": 3, "error": True, "text": ""},
        ],
    ),
    "content that was not captured": (
        [T("r", text=None), T("r", [Call("f", error=True)], text=None)],
        [
            {"run_id": "r", "turn": 1, "text": None},
            {"run_id": "r", "turn": 2, "name": "f", "error": True, "text": None},
        ],
    ),
    "prompts of a session are runs": (
        [
            T("s", text="a", prompt=""),
            T("s", text="b", prompt=""),
            T("s", text="c", prompt="u1"),
            End("s", "aborted", "stopped", prompt="u1", time=7.0),
            End("s", "done", prompt="u0"),
            T("s", text="d", prompt="u2"),
            T("agent", text="e", parent="s"),
        ],
        [
            {"run_id": "s#1", "prompt": 1, "turn": 1, "text": "a"},
            {"run_id": "s#1", "prompt": 1, "turn": 2, "text": "b"},
            {"run_id": "s#2", "prompt": 2, "turn": 1, "text": "c"},
            {"run_id": "s#2", "prompt": 2, "state": "aborted", "ts": 7.0, "note": "stopped"},
            {"run_id": "s#3", "prompt": 3, "turn": 1, "text": "d"},
            {"run_id": "agent", "turn": 1, "text": "e", "parent": "s"},
        ],
    ),
    "ends of runs without a turn": (
        [End("a", "error", final=True), End("b", "error")],
        [{"run_id": "a", "state": "error"}],
    ),
    "what else is known of a send": (
        [T("r", text="a", window=1000, written=7, compacted=True, session="s", labels={"team": "x"})],
        [
            {"run_id": "r", "turn": 1, "text": "a", "session": "s", "labels": {"team": "x"}}
            | {"context_window": 1000, "written": 7, "compacted": True}
        ],
    ),
}


@pytest.mark.parametrize("case", CASES)
def test_lines(case: str, tmp_path: Path) -> None:
    events, want = CASES[case]
    assert list(to_native(events)) == want
    assert converted(back(tmp_path / "x.jsonl", events)) == logged(events)


def test_per_session() -> None:
    events: list[Event] = [T("s", text="a", prompt="1"), T("s", text="b", prompt="2"), End("s", "done", prompt="2")]
    assert list(to_native(events, per="session")) == [
        {"run_id": "s", "turn": 1, "text": "a"},
        {"run_id": "s", "turn": 2, "text": "b"},
        {"run_id": "s", "state": "done"},
    ]


def test_with_the_reader_the_cosmetic_is_left_out() -> None:
    turn = T(
        "r", [Call("Bash", {"command": "ls", "description": "look"}, "a.py\n<system-reminder>x</system-reminder>")]
    )
    text = T("r", [Call("Bash", '{"command": "ls", "description": "look"}')])
    lines = list(to_native([turn, text], load("claude-code")))
    assert [line["args"] for line in lines] == [{"command": "ls"}, {"command": "ls"}]
    assert lines[0]["result"] == "a.py"


def test_values_that_no_fast_encoder_takes(tmp_path: Path) -> None:
    events = [T("r", [Call("f", {"n": 2**70, "s": "\ud800", "d": 1e-300}, [[["deep"]]])])]
    assert converted(back(tmp_path / "x.jsonl", events)) == logged(events)


def test_a_prompt_of_ones_own_says_nothing(tmp_path: Path) -> None:
    path = tmp_path / "x.jsonl"
    path.write_text('{"run_id": "r", "prompt": "why?", "text": "a"}\n{"run_id": "q#2", "prompt": 3, "text": "b"}\n')
    with Blob(str(path), path) as blob:
        found = [e for e in load("loopscan").read(blob, Scan()) if isinstance(e, Turn)]
    assert [(t.run, t.prompt) for t in found] == [("r", None), ("q#2", None)]
