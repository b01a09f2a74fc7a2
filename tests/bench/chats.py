"""OpenAI chat messages: one run a line, calls with their arguments as JSON text, each answered."""

from __future__ import annotations

import json
from collections.abc import Iterator
from random import Random
from typing import Any

from tests.bench.native import TOOLS, compact, shuffled
from tests.bench.text import code, prose

Played = tuple[str, dict[str, Any], str]


def chats(chance: Random, many: int) -> Iterator[bytes]:
    """The lines of so many runs."""
    pool = [code(chance, chance.randint(200, 2499)) for _ in range(1024)]
    system = prose(chance, 3000)
    for number in range(many):
        turns = chance.randint(10, 49)
        messages: list[dict[str, Any]] = [
            {"role": "system", "content": system},
            {"role": "user", "content": prose(chance, 200)},
        ]
        for name, args, result in _calls(chance, pool, turns):
            call = f"call_{chance.getrandbits(96):024x}"
            function = {"name": name, "arguments": json.dumps(shuffled(chance, args))}
            asked = [{"id": call, "type": "function", "function": function}]
            messages.append({"role": "assistant", "content": None, "tool_calls": asked})
            messages.append({"role": "tool", "tool_call_id": call, "content": result})
        messages.append({"role": "assistant", "content": "Done."})
        usage = {"prompt_tokens": turns * 3000, "completion_tokens": turns * 50, "total_tokens": turns * 3050}
        run = {"id": f"run-{number:06d}", "model": "gpt-5", "messages": messages, "usage": usage}
        yield compact(run).encode() + b"\n"


def _calls(chance: Random, pool: list[str], turns: int) -> Iterator[Played]:
    """The calls of a run: eight in a hundred end in a block of one to three calls, over and over."""
    start = chance.randrange(3, turns) if chance.random() < 0.08 else turns
    period = chance.choice((1, 2, 3))
    block: list[Played] = []
    for turn in range(turns):
        if turn >= start + period:
            yield block[(turn - start) % period]
            continue
        dice = chance.getrandbits(40)
        args = {"id": dice % 100_000, "q": chance.choice(pool)[:40], "full": bool(dice & 1)}
        played = (TOOLS[dice % 10], args, f"{dice:x} {chance.choice(pool)}")
        if turn >= start:
            block.append(played)
        yield played
