"""Processes measured from outside: CPU seconds (user and system), wall seconds, peak resident memory."""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from itertools import zip_longest
from pathlib import Path
from statistics import median
from typing import Final

ROOT: Final = Path(__file__).parents[2]
FLOOR: Final = Path(__file__).with_name("floor.py")

Agree = Callable[[Path, Path], bool]
"""Whether the outputs of two commands agree."""


@dataclass(slots=True, frozen=True)
class Cost:
    """What a process used, its children included. `memory`: bytes of the largest process at its peak."""

    cpu: float
    wall: float
    memory: int


def run(argv: Sequence[str | Path], stdin: Path | None = None, output: Path | None = None) -> Cost:
    """Run a program to its end. Raises RuntimeError if it fails."""
    with (
        open(stdin or os.devnull, "rb") as given,
        open(output or os.devnull, "wb") as out,
        subprocess.Popen(argv, stdin=given, stdout=out, stderr=subprocess.PIPE, cwd=ROOT) as process,
    ):
        assert process.stderr is not None
        started = time.perf_counter()
        said = process.stderr.read()
        _, status, used = os.wait4(process.pid, 0)
        wall = time.perf_counter() - started
        process.returncode = os.waitstatus_to_exitcode(status)
    if process.returncode:
        raise RuntimeError(f"{argv}: {process.returncode}: {said.decode(errors='replace')[-2000:]}")
    return Cost(used.ru_utime + used.ru_stime, wall, used.ru_maxrss * 1024)


def python(*args: str | Path) -> list[str | Path]:
    """A command for this interpreter."""
    return [sys.executable, *args]


def audit(*paths: Path | str, options: Sequence[str] = ()) -> list[str | Path]:
    """The audit that is measured: everything that is on by default, one process, one record per run."""
    return python("-m", "loopscan", "audit", *paths, "--format", "jsonl", *options)


def floor(paths: Iterator[Path]) -> list[str | Path]:
    """The floor over files."""
    return python(FLOOR, *paths)


@dataclass(slots=True)
class Ratio:
    """Several rounds of two commands in turn: `values` are the ratios, `first` and `second` the costs."""

    first: list[Cost]
    second: list[Cost]
    wall: bool = False

    @property
    def values(self) -> list[float]:
        """The ratio of each round, second to first: CPU, or wall."""
        pairs = zip(self.first, self.second, strict=True)
        return [b.wall / a.wall if self.wall else b.cpu / a.cpu for a, b in pairs]

    @property
    def median(self) -> float:
        """The median ratio."""
        return median(self.values)

    @property
    def memory(self) -> int:
        """Peak memory of the second command, in bytes."""
        return max(c.memory for c in self.second)

    def __str__(self) -> str:
        return f"{self.median:.2f} ({min(self.values):.2f} to {max(self.values):.2f})"


def compare(
    first: Sequence[str | Path],
    second: Sequence[str | Path],
    rounds: int = 5,
    wall: bool = False,
    agree: Agree | None = None,
) -> Ratio:
    """Run two commands in turn, `rounds` times, without a look at their outputs.

    Raises RuntimeError where those of one more run of each do not `agree`.
    """
    ratio = Ratio([], [], wall)
    with tempfile.TemporaryDirectory() as folder:
        outputs = Path(folder) / "first", Path(folder) / "second"
        for command, output in zip((first, second), outputs, strict=True) if agree else ():
            run(command, output=output)
        if agree is not None and not agree(*outputs):
            raise RuntimeError(f"{first} and {second} come to different results")
    for _ in range(rounds):
        for costs, command in zip((ratio.first, ratio.second), (first, second), strict=True):
            costs.append(run(command))
    return ratio


def same(first: Path, second: Path) -> bool:
    """Whether two outputs hold the same records, wherever these were read from."""
    with first.open("rb") as one, second.open("rb") as other:
        pairs = zip_longest(map(_elsewhere, one), map(_elsewhere, other))
        return all(a == b for a, b in pairs)


def _elsewhere(line: bytes) -> bytes:
    return re.sub(rb'"source":"(?:[^"\\]|\\.)*"', b"", line, count=1)


def no_later(first: Path, second: Path) -> bool:
    """Whether every run that is seen going round in the first output is in the second, at the same turn or before."""
    before, after = map(_fires, (first, second))
    return before.keys() == after.keys() and all(
        turn is None or ((then := after[run]) is not None and then <= turn) for run, turn in before.items()
    )


def _fires(path: Path) -> dict[str, int | None]:
    with path.open("rb") as lines:
        records = map(json.loads, lines)
        return {r["run"]: r["no_progress"] and r["no_progress"]["turn"] for r in records}
