"""Four weeks of native logs of four agents, as a weekly job finds them: the same bytes for the same seed.

Two agents write a file a day, so that a run over midnight goes on in the next file; two append to one file all
month. Labels: agent and team. Week 3 is a bad one: a service is down and more runs go round in circles.
"""

from __future__ import annotations

import json
import os
import random
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, Final

START: Final = datetime(2026, 11, 2, tzinfo=UTC).timestamp()
"""Monday of 2026-W45."""
DAY: Final = 86_400.0
DAYS: Final = 28
END: Final = START + DAYS * DAY

Line = dict[str, Any]
Step = tuple[str, dict[str, Any], Any]
"""Tool, arguments, result."""


@dataclass(frozen=True)
class Agent:
    """Who writes a log: runs on a working day, the model, tokens of the first send and those each turn adds."""

    name: str
    team: str
    model: str
    daily: int
    base: int
    growth: int
    tools: tuple[str, ...]
    by_day: bool

    def file(self, moment: float) -> str:
        """Where a line of this moment goes."""
        day = datetime.fromtimestamp(moment, UTC).date()
        return f"{self.name}/{day}.jsonl" if self.by_day else f"{self.name}.jsonl"


AGENTS: Final = (
    Agent("support", "care", "claude-sonnet-4-5", 5, 3_000, 450, ("get_ticket", "get_order", "reply"), True),
    Agent("coder", "platform", "gpt-5", 3, 9_000, 900, ("read_file", "run_tests", "edit_file"), True),
    Agent("research", "growth", "claude-haiku-4-5", 3, 2_500, 700, ("search", "open_page", "note"), False),
    Agent("ops", "platform", "gpt-5-mini", 4, 2_000, 300, ("get_deploy", "get_logs", "restart"), False),
)


def write(folder: Path, until: float = END, seed: int = 1) -> None:
    """Write what the agents had logged by `until`; a file is as old as its last line."""
    files: dict[str, list[str]] = {}
    ages: dict[str, float] = {}
    for moment, name, line in month(seed):
        if moment < until:
            files.setdefault(name, []).append(json.dumps(line))
            ages[name] = moment
    for name, lines in files.items():
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text("\n".join(lines) + "\n")
        os.utime(path, (ages[name], ages[name]))


def month(seed: int = 1) -> list[tuple[float, str, Line]]:
    """Moment, file and line of everything that is logged, by time."""
    rng = random.Random(seed)
    made: list[tuple[float, str, Line]] = []
    for day in range(DAYS):
        for agent in AGENTS:
            for number in range(agent.daily if day % 7 < 5 else 1):
                run_id = f"{agent.name}-{day:02d}{number}"
                made += [(moment, agent.file(moment), line) for moment, line in _run(rng, agent, run_id, day)]
            if (rng.random() < 0.3 or day % 7 == 6) and day < DAYS - 1:
                late = _run(rng, agent, f"{agent.name}-{day:02d}night", day, at=DAY - 70)
                made += [(moment, agent.file(moment), line) for moment, line in late]
    return sorted(made, key=lambda entry: entry[0])


def _run(
    rng: random.Random, agent: Agent, run_id: str, day: int, at: float | None = None
) -> Iterator[tuple[float, Line]]:
    """The lines of one run, some of which begin just before midnight (`at` seconds into the day)."""
    moment = START + day * DAY + (rng.uniform(7 * 3600, 19 * 3600) if at is None else at)
    kind = rng.choices(list(KINDS), [k[1 if day // 7 == 2 else 0] for k in _WEIGHTS])[0]
    turn, said = 0, {"model": agent.model, "labels": {"agent": agent.name, "team": agent.team}}
    for name, args, result in KINDS[kind](rng, agent):
        turn += 1
        moment += rng.uniform(4, 30)
        usage = {"input_tokens": agent.base + agent.growth * (turn - 1), "output_tokens": rng.randrange(40, 120)}
        call = {"name": name, "args": args, "result": result}
        yield moment, {"run_id": run_id, "turn": turn, "ts": round(moment, 3), **call, **usage, **said}
    moment += 5
    end = {"run_id": run_id, "turn": turn + 1, "ts": round(moment, 3)}
    if kind in ("plain", "retried", "polled"):
        yield (
            moment,
            {**end, "text": "Done.", "input_tokens": agent.base + agent.growth * turn, "output_tokens": 30, **said},
        )
    elif kind == "failed":
        yield moment, {**end, "error": True, "result": "529 overloaded", **said}
    elif kind == "stopped":
        yield moment, {"run_id": run_id, "ts": round(moment, 3), "state": "aborted"}


def _plain(rng: random.Random, agent: Agent, least: int = 2) -> list[Step]:
    steps = rng.randrange(least, 9)
    return [
        (rng.choice(agent.tools), {"id": rng.getrandbits(32)}, {"found": rng.getrandbits(32)}) for _ in range(steps)
    ]


def _retried(rng: random.Random, agent: Agent) -> list[Step]:
    again: Step = (agent.tools[1], {"id": rng.getrandbits(32)}, "timed out")
    return [*_plain(rng, agent), *[again] * rng.randrange(2, 4), *_plain(rng, agent)]


def _polled(rng: random.Random, agent: Agent) -> list[Step]:
    tool, args = agent.tools[0], {"id": rng.getrandbits(32)}
    return [*_plain(rng, agent), *[(tool, args, "pending")] * rng.randrange(2, 6), (tool, args, "ready")]


def _stuck(rng: random.Random, agent: Agent) -> list[Step]:
    block = _plain(rng, agent)[: rng.choice((1, 1, 2, 3))]
    return [*_plain(rng, agent), *block * rng.randrange(5, 25)]


KINDS: Final[dict[str, Callable[[random.Random, Agent], list[Step]]]] = {
    "plain": _plain,
    "retried": _retried,
    "polled": _polled,
    "stuck": _stuck,
    "stopped": _stuck,
    "failed": _plain,
    "cut": _plain,
}
_WEIGHTS: Final = ((70, 50), (10, 10), (8, 8), (3, 14), (2, 8), (4, 6), (3, 4))
"""How many runs of a hundred are of each kind, in a usual week and in the bad one."""
