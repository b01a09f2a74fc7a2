"""Processes measured from outside: CPU seconds (user and system), wall seconds, peak resident memory."""

from __future__ import annotations

import os
import subprocess
import sys
import time
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from statistics import median
from typing import Final

ROOT: Final = Path(__file__).parents[2]
FLOOR: Final = Path(__file__).with_name("floor.py")


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


def compare(first: Sequence[str | Path], second: Sequence[str | Path], rounds: int = 5, wall: bool = False) -> Ratio:
    """Run two commands in turn, `rounds` times."""
    ratio = Ratio([], [], wall)
    for _ in range(rounds):
        ratio.first.append(run(first))
        ratio.second.append(run(second))
    return ratio
