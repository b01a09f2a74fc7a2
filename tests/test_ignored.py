"""Parts that equal turns may differ in: options, paths, and the note that names them."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from loopscan import Settings, audit
from loopscan.errors import UsageError
from loopscan.ignored import with_ignored
from loopscan.key import Keyer
from loopscan.model import JSON, Call, Turn
from loopscan.settings import ToolSettings
from loopscan.spelling import one_spelling
from tests.conftest import loopscan, native

SAME: dict[str, tuple[str, Any, Any]] = {
    "a field": ("t:result.eta", {"s": 1, "eta": 5}, {"s": 1, "eta": 6}),
    "a field of JSON in text": ("t:result.eta", '{"eta":5,"s":1}', '{"s":1,"eta":6}'),
    "a nested field": ("t:result.meta.n", {"meta": {"n": 1, "k": 0}}, {"meta": {"n": 2, "k": 0}}),
    "a field of each item": ("t:result.items.id", {"items": [{"id": 1}]}, {"items": [{"id": 2}]}),
    "every field of an object": ("t:result.meta.*", {"meta": {"a": 1}}, {"meta": {"b": 2}}),
    "a number of a text": ("t:result.#2", "step 7 of run 12", "step 7 of run 13"),
    "all numbers of a text": ("t:result.#", "step 7 of run 12", "step 8 of run 13"),
    "of every tool": ("*:result.eta", {"eta": 5}, {"eta": 6}),
}


def key(tools: dict[str, ToolSettings], result: JSON, args: JSON = None, exact: bool = False) -> int:
    keyer = Keyer(exact, tools=tools)
    return keyer.outcome(keyer.action(Turn("r", [Call("t", args, result)])))


@pytest.mark.parametrize(("option", "first", "second"), SAME.values(), ids=SAME)
def test_ignored_parts_make_results_equal(option: str, first: Any, second: Any) -> None:
    tools = with_ignored({}, [option])
    assert key(tools, first) == key(tools, second)
    assert key({}, first) != key({}, second)
    assert key(tools, first, exact=True) != key(tools, second, exact=True)


def test_other_parts_still_count() -> None:
    tools = with_ignored({}, ["t:result.eta", "u:result.s"])
    assert key(tools, {"s": 1, "eta": 5}) != key(tools, {"s": 2, "eta": 5})


def test_arguments_can_be_ignored() -> None:
    tools = with_ignored({"t": ToolSettings(poll=True)}, ["t:args.nonce"])
    assert key(tools, "x", {"q": 1, "nonce": 8}) == key(tools, "x", {"q": 1, "nonce": 9})
    assert tools["t"].poll is True


def test_unordered_lists_and_lines() -> None:
    tools = {"t": ToolSettings(unordered=True)}
    assert key(tools, {"hits": [3, 1, {"b": 1}]}) == key(tools, {"hits": [{"b": 1}, 3, 1]})
    assert key(tools, "b\na") == key(tools, "a\nb")
    assert key({}, "b\na") != key({}, "a\nb")


@pytest.mark.parametrize("option", ["t", "t:", ":result.a", "t:eta", "t:result", "t:result.#x"])
def test_an_option_that_is_none_is_refused(option: str) -> None:
    with pytest.raises(UsageError):
        with_ignored({}, [option])


PATHS = {
    "./src//a.py": "src/a.py", "src/./a.py": "src/a.py", "C:\\x\\a.md": "C:/x/a.md", "src/": "src", "/": "/", "./": ".",
    "https://x//y": "https://x//y", "src/../a.py": "src/../a.py",
}  # fmt: skip


@pytest.mark.parametrize(("path", "want"), PATHS.items(), ids=PATHS)
def test_paths_have_one_spelling(path: str, want: str) -> None:
    assert one_spelling({"path": path, "text": path}) == {"path": want, "text": path}


def _polls(tool: str, *results: Any) -> list[dict[str, Any]]:
    return [{"run_id": "r", "name": tool, "args": {"id": 1}, "result": r} for r in results]


def notes(tmp_path: Path, *lines: dict[str, Any], tools: dict[str, ToolSettings] | None = None) -> list[str]:
    log = native(tmp_path / "t.jsonl", *lines)
    return audit(log, Settings(tools=tools or {})).runs[0].notes


def test_the_field_that_makes_a_tool_blind_is_named_with_its_option(tmp_path: Path) -> None:
    lines = _polls("stat", *({"state": "up", "load": n} for n in (3, 9, 4, 7, 5)))
    (note,) = notes(tmp_path, *lines)
    assert "equal calls of stat differ only in result.load" in note
    assert "--ignore 'stat:result.load'" in note
    tools = with_ignored({}, ["stat:result.load"])
    assert audit(native(tmp_path / "u.jsonl", *lines), Settings(tools=tools)).runs[0].fired == 2


def test_a_number_in_text_is_named_by_its_place(tmp_path: Path) -> None:
    (note,) = notes(tmp_path, *_polls("look", "row 4: load 3", "row 4: load 9", "row 4: load 1", "row 4: load 5"))
    assert "--ignore 'look:result.#2'" in note


def test_progress_is_no_volatile_field_but_a_count_of_turns_is(tmp_path: Path) -> None:
    assert notes(tmp_path, *_polls("job", *({"done": n} for n in range(8)))) == []
    count = [line for n in range(8) for line in _polls("ab"[n % 2], {"turn": n, "state": "up"})]
    assert len(notes(tmp_path, *count)) == 2


def test_waiting_is_told_with_what_would_have_saved_it(tmp_path: Path) -> None:
    said = notes(tmp_path, *_polls("get_job", *["running"] * 6, "done"))
    assert said == ["waited 4 turns by asking get_job again: a wait inside the tool would have saved them"]


def test_a_poll_by_the_users_word_is_waiting_once_it_is_left(tmp_path: Path) -> None:
    lines = [*_polls("beat", *["idle"] * 6), {"run_id": "r", "name": "read", "args": {}, "result": "x"}]
    log = native(tmp_path / "t.jsonl", *lines)
    assert audit(log).runs[0].verdict == "recovered"
    assert audit(log, Settings(tools={"beat": ToolSettings(poll=True)})).runs[0].verdict == "waited"


def test_what_changes_by_the_users_word(tmp_path: Path) -> None:
    fails = {"run_id": "r", "name": "check", "args": {}, "result": "bad gateway", "error": True}
    nudges = [{"run_id": "r", "name": "get_nudge", "args": {"n": n}, "result": f"pushed {n}"} for n in range(5)]
    log = native(tmp_path / "t.jsonl", *(line for nudge in nudges for line in (fails, nudge)))
    assert audit(log).runs[0].verdict in ("stuck", "suspect")
    assert audit(log, Settings(tools={"get_nudge": ToolSettings(mutates=True)})).runs[0].verdict == "clean"


def test_the_options_of_the_command(tmp_path: Path) -> None:
    log = native(tmp_path / "t.jsonl", *_polls("stat", *({"s": "up", "load": n} for n in (3, 9, 4, 7, 5))))
    plain = loopscan("audit", str(log), "--format", "jsonl").stdout
    assert '"no_progress":null' in plain
    assert '"rule":"masked"' in plain
    ignored = loopscan("audit", str(log), "--format", "jsonl", "--ignore", "stat:result.load").stdout
    assert '"no_progress":{"turn":2' in ignored
    assert '"rule":"masked"' not in loopscan("audit", str(log), "--format", "jsonl", "--no-rule", "masked").stdout
    assert '"verdict":"clean"' in loopscan("audit", str(log), "--format", "jsonl", "--rules", "none").stdout
    wrong = loopscan("audit", str(log), "--rules", "maskd")
    assert wrong.returncode == 2
    assert "unknown rule 'maskd'" in wrong.stderr
