"""Results that the few bytes held of each do not tell apart: the compiled part looks at them as Python does."""

from __future__ import annotations

import json
from io import BytesIO
from random import Random

import pytest

from loopscan import Settings
from loopscan.blob import Blob
from loopscan.engine import Audit
from loopscan.formats import Scan, native
from loopscan.prices import from_options
from tests.test_compiled import both_ways, in_blocks, needs_it, pure, spelt

USAGE = b', "ts": "2026-11-30T09:30:00Z", "input_tokens": 9, "output_tokens": 5}\n'
LINES = (
    "alpha 123456",
    "beta 3456789",
    "épsilon 1234",
    'say "so" 123',
    "back\\slash 12",
    "漢字漢字漢字漢字漢字漢字",
    "",
)


def results(chance: Random, count: int) -> list[str]:
    """Lines in any order, so that all results are equally long; or such as only begin or end alike."""
    lines, found = chance.sample(LINES, chance.choice((2, 3, 5))), []
    for number in range(count):
        chance.shuffle(lines)
        texts = ("\n".join(lines), "\t".join(lines), lines[0] * 3, f"{lines[0]}\n{number * 7919 % 1000:04}\n{lines[1]}")
        found.append(chance.choice(texts) * chance.choice((1, 1, 1, 60)))
    return found


def quiet(data: bytes) -> dict[str, int]:
    """The runs that are quiet to the end, and their turns."""
    scan = Audit(Settings(), from_options(), Scan())
    with Blob("-", None, BytesIO(data)) as log:
        scan.read(log, "loopscan", native)
    found = {state.run: state.number for state in scan.quiet}
    scan.finish()
    return found


def asked(turn: int, prose: bool = False) -> dict[str, str]:
    """The same words in another order."""
    words = (["paris", "weather", "today", "now", "please"] * 2)[turn % 5 :][:5]
    return {"question" if prose else "query": " ".join(words)}


@needs_it
@pytest.mark.parametrize("seed", range(60))
def test_results_that_may_be_alike(seed: int, monkeypatch: pytest.MonkeyPatch) -> None:
    chance = Random(seed)
    if seed % 3:  # the turn before stands in another block
        in_blocks(monkeypatch, chance.choice((200, 2000)))
    lines = []
    for run in range(30):
        name = chance.choice(("search", "lookup", "read_file"))
        for turn, text in enumerate(results(chance, 4), 1):
            told = json.dumps(text, ensure_ascii=False).encode() if chance.random() < 0.8 else spelt(text, chance)
            head = json.dumps({"run_id": f"r{run}", "turn": turn, "tool_name": name, "args": asked(turn, run % 9 == 2)})
            lines.append(head[:-1].encode() + b', "result": ' + told + USAGE)
    if seed % 2:
        chance.shuffle(lines)
        lines.sort(key=lambda line: json.loads(line)["turn"])
    data = b"".join(lines)
    found = quiet(data)
    with pure():
        assert quiet(data) == found
    both_ways(data)


@needs_it
def test_lines_in_another_order_are_one_outcome() -> None:
    lines = [
        json.dumps({"run_id": "r", "turn": turn, "tool_name": "search", "args": asked(turn), "result": result})
        for turn, result in enumerate(("first 123456\nother 789012", "other 789012\nfirst 123456") * 8, 1)
    ]
    found, _ = both_ways(b"".join(line[:-1].encode() + USAGE for line in lines))
    assert found[0]["verdict"] == "stuck"
