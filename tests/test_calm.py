"""Runs of messages that lie in one piece: the same records as turn by turn, whether or not anything happens in them."""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from random import Random
from typing import Any

import pytest

from loopscan import Settings, record
from loopscan.blob import Blob
from loopscan.calm import Calm, calm
from loopscan.formats import Scan, openai_messages
from loopscan.key import Keyer
from loopscan.parcel import Reports, packed, unpacked
from loopscan.prices import from_options
from loopscan.spill import Spill
from loopscan.whole import Whole
from tests.conftest import native
from tests.test_stretch import FILLED, SLOW, records, some_turn


def chat(chance: Random, number: int) -> dict[str, Any]:
    """A run of messages of a small world."""
    messages: list[dict[str, Any]] = [{"role": "user", "content": "help"}]
    for turn in range(chance.randrange(1, 60)):
        line = some_turn(chance, turn)
        args = json.dumps(line["args"]) if chance.random() < 0.95 else "not { JSON"
        asked = {"id": f"c{turn}", "type": "function", "function": {"name": line["tool"], "arguments": args}}
        words = chance.choice((None, None, None, "I look it up."))
        messages.append({"role": "assistant", "content": words, "tool_calls": [asked] if line["tool"] else None})
        result = line.get("result", "")
        if chance.random() < 0.95:
            result = result if isinstance(result, str) else json.dumps(result)
            messages.append({"role": "tool", "tool_call_id": f"c{turn}", "content": result * chance.choice((1, 1, 9))})
    run: dict[str, Any] = {"id": f"run{number}", "model": chance.choice(("gpt-5", "claude-opus-4-6", "own", None))}
    return run | {"messages": messages} | told(chance)


def calm_chat(chance: Random, number: int) -> dict[str, Any]:
    """A run of messages in which nothing comes back, but for one in two in which something does."""
    turns = chance.randrange(1, 40)
    names = chance.choice((("get_order", "search_web"), ("get_order", "run_it", "ask"), ("bash", "get_order")))
    played = [(chance.choice(names), turn) for turn in range(turns)]
    if chance.random() < 0.2:  # a tool comes back after many others only
        played = [(f"get_{'abcdefghijkl'[turn % 12]}", turn) for turn in range(turns)]
    odd = chance.choice(("", "", "", "call", "block", "poll"))
    if odd == "call":
        played.insert(chance.randrange(turns + 1), chance.choice(played))
    elif odd == "block":
        played += played[-chance.randrange(1, 12) :] * chance.choice((1, 1, 4))
    every = chance.randrange(1, 10) if odd == "poll" else turns + 1
    messages: list[dict[str, Any]] = [{"role": "user", "content": "help"}]
    for place, (tool, turn) in enumerate(played):
        name, found = tool, f"{turn * 7919:x} is what was found, {turn * 104_729:x}" * (30 if turn % 4 == 3 else 1)
        args: dict[str, Any] = {"id": turn, "full": True}
        if tool == "ask":
            args = {"question": f"what is the matter with part {turn}?"}
        elif tool == "bash":
            args = {"command": f"echo {turn}"}
        if place % every == every - 1:
            name, found = "look_up", "nothing was found"
        shape = chance.random()
        text = f'"{name}"' if shape < 0.02 else json.dumps(args | ({"path": "./a"} if shape > 0.98 else {}))
        asked = {"id": f"c{place}", "type": "function", "function": {"name": name, "arguments": text}}
        messages.append({"role": "assistant", "content": None, "tool_calls": [asked]})
        messages.append({"role": "tool", "tool_call_id": f"c{place}", "content": found})
    if chance.random() < 0.8:
        words = chance.choice(("Done.", None, "", "It is so. " * 40, "x" * 400))
        messages.append({"role": "assistant", "content": words})
    run: dict[str, Any] = {"id": f"calm{number}", "model": chance.choice(("gpt-5", "claude-opus-4-6", "own", None))}
    return run | {"messages": messages} | told(chance)


def told(chance: Random) -> dict[str, Any]:
    """What a row says of its run."""
    says: tuple[dict[str, Any], ...] = (
        {}, {}, {"metadata": {"team": "a"}}, {"created": 1_764_000_000}, {"created_at": "2026-01-05T10:00:00Z"},
        {"session_id": "s"}, {"finish_reason": "stop"}, {"usage": {"prompt_tokens": 900, "completion_tokens": 5}},
    )  # fmt: skip
    return chance.choice(says)


@pytest.mark.parametrize("settings", FILLED, ids=["", "modelled", "as told", "window", "modelled window"])
@pytest.mark.parametrize("make", [chat, calm_chat])
def test_messages(make: Callable[[Random, int], dict[str, Any]], settings: Settings, tmp_path: Path) -> None:
    chance = Random(7)
    path = native(tmp_path / "t.jsonl", *[make(chance, number) for number in range(400)])
    assert records(path, settings) == records(path, replace(settings, watched=SLOW.watched))


def calm_reports(folder: Path, settings: Settings) -> list[Calm | None]:
    """What comes of a hundred runs that may be calm."""
    path = native(folder / "t.jsonl", *[calm_chat(Random(number), number) for number in range(100)])
    with Blob(str(path), path) as blob:
        wholes = [event for event in openai_messages.read(blob, Scan(rows=True)) if isinstance(event, Whole)]
    assert len(wholes) > 90
    prices, spill = from_options(), Spill()
    return [calm(w, "t", "openai-messages", Keyer(), settings, prices, spill) for w in wholes]


def test_most_calm_runs_are_seen_to_be(tmp_path: Path) -> None:
    """Else the test above would compare the long way with itself."""
    assert sum(report is not None for report in calm_reports(tmp_path, Settings())) > 12


@pytest.mark.parametrize("settings", FILLED[:2], ids=["", "modelled"])
def test_reports_that_are_sent_or_altered_say_the_same(settings: Settings, tmp_path: Path) -> None:
    reports = [report for report in calm_reports(tmp_path, settings) if report is not None]
    sent: Any = unpacked(packed(Reports(reports)), Spill())
    for report, other in zip(reports, sent, strict=True):
        assert record(other) == record(report)
        assert list(other.series.usd) == list(report.series.usd)
        assert record(report.altered(run="a", labels={"b": "c"})) == record(report) | {"run": "a", "labels": {"b": "c"}}
        assert record(report.altered(state="error")) == record(report) | {"state": "error"}
