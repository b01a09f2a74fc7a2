"""Native logs: runs of a support agent, one call per line, some of which go round in circles."""

from __future__ import annotations

import json
from collections.abc import Iterator
from random import Random
from typing import Any, Final

from tests.bench.text import code, escaped, prose

TOOLS: Final = (
    "get_order get_refund get_invoice find_tickets deploy_status open_file run_checks fetch_page query_table send_note"
).split()

Played = tuple[str, dict[str, Any], str]
"""A call: name, arguments, escaped result."""


def compact(value: Any) -> str:
    """JSON without spaces, characters beyond ASCII kept."""
    return json.dumps(value, separators=(",", ":"), ensure_ascii=False)


def length(chance: Random) -> int:
    """Turns of a run: most runs are short, a few are long."""
    kind = chance.random()
    return chance.randint(3, 14) if kind < 0.7 else chance.randint(15, 39) if kind < 0.95 else chance.randint(40, 199)


def shuffled(chance: Random, args: dict[str, Any]) -> dict[str, Any]:
    """The same arguments, now and then in another order: models do that."""
    return dict(reversed(args.items())) if chance.random() < 0.3 else args


class Support:
    """Makes the calls of such an agent."""

    def __init__(self, chance: Random) -> None:
        self.chance = chance
        self.short = [prose(chance, chance.randint(40, 520)) for _ in range(2048)]
        self.long = [escaped(code(chance, 2000)) for _ in range(512)]

    def call(self) -> Played:
        """A call that was not made before."""
        dice = self.chance.getrandbits(48)
        args: dict[str, Any] = {
            "id": dice % 100_000,
            "full": bool(dice >> 40 & 1),
            "q": self.short[dice % 2048][:40],
        }
        if dice % 7 == 0:
            args["filters"] = {"since": f"2026-11-{1 + dice % 28:02d}", "tags": ["a", "b"], "limit": dice % 50}
        body = self.long[dice % 512] if self.chance.random() < 0.05 else self.short[(dice >> 11) % 2048]
        return TOOLS[dice % 10], args, f"#{dice:x} {body}"

    def calls(self, turns: int) -> Iterator[Played]:
        """The calls of a run: six in a hundred end in a block of one to three calls, over and over."""
        chance = self.chance
        start = chance.randrange(2, turns) if turns > 8 and chance.random() < 0.06 else turns
        period = chance.choice((1, 1, 1, 2, 2, 3))
        block: list[Played] = []
        for turn in range(1, turns + 1):
            if turn >= start + period:
                name, args, result = block[(turn - start) % period]
                yield name, shuffled(chance, args), result
                continue
            played = self.call()
            if turn >= start:
                block.append(played)
            yield played


def runs(chance: Random, total: int) -> Iterator[list[bytes]]:
    """The lines of runs, until there are `total` of them."""
    agent, made, number = Support(chance), 0, 0
    while made < total:
        turns = min(length(chance), total - made)
        made += turns
        number += 1
        run = f"run-{number:07d}-{chance.getrandbits(32):08x}"
        yield [_line(chance, run, number, turn, call) for turn, call in enumerate(agent.calls(turns), 1)]


def _line(chance: Random, run: str, number: int, turn: int, call: Played) -> bytes:
    name, args, result = call
    tokens, second = 3000 + 500 * (turn - 1), number * 7 + 2 * turn
    stamp = f"2026-11-23T{second // 3600 % 24:02d}:{second // 60 % 60:02d}:{second % 60:02d}.{turn % 1000:03d}Z"
    span = f'{{"trace_id":"{chance.getrandbits(64):016x}","parent":"{chance.getrandbits(32):08x}","ms":{turn % 900}}}'
    return (
        f'{{"run_id":"{run}","turn":{turn},"ts":"{stamp}","model":"claude-sonnet-4-5","tool":"{name}",'
        f'"args":{compact(args)},"result":"{result}","input_tokens":{tokens},"output_tokens":{40 + turn % 60},'
        f'"cost_usd":{round(tokens * 3e-6, 6)},"status":"ok","span":{span}}}\n'
    ).encode()


def interleaved(chance: Random, total: int, many: int) -> Iterator[bytes]:
    """The lines of `many` runs at a time, in random order; a run that is over makes room for the next."""
    rest = runs(chance, total)
    going = [iter(run) for _, run in zip(range(many), rest, strict=False)]
    while going:
        at = chance.randrange(len(going))
        line = next(going[at], None)
        if line is not None:
            yield line
        elif (run := next(rest, None)) is not None:
            going[at] = iter(run)
        else:
            going[at] = going[-1]
            going.pop()


def long_run(chance: Random, total: int) -> Iterator[bytes]:
    """The lines of one run that never ends, its results short."""
    short = [prose(chance, chance.randint(20, 119)) for _ in range(4096)]
    for turn in range(1, total + 1):
        dice = chance.getrandbits(40)
        yield (
            f'{{"run_id":"run-0","turn":{turn},"tool":"{TOOLS[dice % 10]}","args":{{"id":{dice % 1000},"full":true}},'
            f'"result":"#{dice % 50021:x} {short[dice % 4096]}","input_tokens":{3000 + 500 * (turn - 1) % 197000},'
            f'"output_tokens":{40 + turn % 60}}}\n'
        ).encode()
