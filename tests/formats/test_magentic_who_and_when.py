"""Who&When: instructions and replies, group chats, what ledgers and orchestrators say of the end."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from loopscan.formats import Scan
from loopscan.model import End, Event
from tests.formats.logs import read_log, told, turns

NAME = "magentic-who-and-when"


def say(role: str, content: str, name: str | None = None) -> dict[str, Any]:
    return {"role": role, "content": content} | ({"name": name} if name else {})


def order(agent: str, content: str) -> dict[str, Any]:
    return say(f"Orchestrator (-> {agent})", content)


def stop(content: str) -> dict[str, Any]:
    return say("Orchestrator (termination condition)", content)


def thought(content: str) -> dict[str, Any]:
    return say("Orchestrator (thought)", content)


def ledger(loop: bool) -> dict[str, Any]:
    return thought("Updated Ledger:\n" + json.dumps({"is_in_loop": {"reason": "r", "answer": loop}}, indent=2))


def doc(*history: Any, **more: Any) -> dict[str, Any]:
    return {"question": "q", "question_ID": "q-1", "mistake_step": "3", "history": list(history), **more}


def ends(events: list[Event]) -> list[tuple[str, str | None]]:
    return [(e.state, e.note) for e in events if isinstance(e, End)]


def test_an_instruction_and_its_reply_are_a_turn(tmp_path: Path) -> None:
    history = [
        say("human", "q"),
        thought("Initial plan: x"),
        order("WebSurfer", "open"),
        thought("Next speaker WebSurfer"),
        say("WebSurfer", "opened"),
        order("WebSurfer", "again"),
        say("Coder", "not asked"),
        order("Coder", "run it"),
        say("Coder", "Error: no"),
    ]
    assert told(read_log(tmp_path / "x.json", NAME, doc(*history))) == {
        "q-1": [
            [("WebSurfer", "open", "opened")],
            [("WebSurfer", "again", "MISSING")],
            [("Coder", "run it", "Error: no", "error")],
        ]
    }


CRASH = (
    "Next speaker Coder\nError processing publish message\nTraceback (most recent call last):\n  File x\nKeyError: 3\n"
)


@pytest.mark.parametrize(
    ("tail", "state", "note"),
    [
        ([stop("Max rounds (30) reached.")], "turn_cap", "Max rounds (30) reached"),
        ([stop("Max time (seconds) reached")], "time_cap", "Max time (seconds) reached"),
        ([thought("Request satisfied."), stop("No agent selected.")], "done", "Request satisfied"),
        ([thought("Replan counter exceeded... Terminating.")], "no_progress", "Replan counter exceeded... Terminating"),
        ([thought(CRASH)], "error", "Error processing publish message: KeyError: 3"),
        ([ledger(True), order("A", "y"), ledger(True)], "cut", "ledger: in loop after turns 1, 2"),
        ([ledger(True), thought("Request satisfied")], "done", "Request satisfied; ledger: in loop after turns 1"),
    ],
)
def test_ends(tmp_path: Path, tail: list[Any], state: str, note: str) -> None:
    events = read_log(tmp_path / "x.json", NAME, doc(order("A", "x"), say("A", "y"), *tail))
    assert ends(events) == [(state, note)]


def test_a_group_chat(tmp_path: Path) -> None:
    history = [say("system", "s"), say("assistant", "run", "Ada"), say("user", "exitcode: 1", "Computer_terminal")]
    path = tmp_path / "x.json"
    assert told(read_log(path, NAME, doc(*history))) == {"q-1": ["Ada: run", "Computer_terminal: exitcode: 1", "cut"]}
    over = read_log(path, NAME, doc(*history, say("user", "**TERMINATE**", "Ada"), question_ID=None))
    assert [(e.run, e.state) for e in over if isinstance(e, End)] == [(f"{path}#1", "done")]


def test_damage(tmp_path: Path) -> None:
    scan = Scan()
    events = read_log(
        tmp_path / "x.json", NAME, doc(order("A", "x"), 3, {"role": {}, "content": []}), {"history": 3}, scan=scan
    )
    assert len(turns(events)) == 1
    assert scan.skips.total == 1
