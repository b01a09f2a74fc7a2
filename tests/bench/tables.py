"""The tables of the bench: each yields lines of Markdown while it measures."""

from __future__ import annotations

import gzip
import os
import shutil
import subprocess
import sys
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from statistics import median
from typing import Final

from tests.bench.corpora import files
from tests.bench.measure import ROOT, audit, compare, floor, no_later, python, run, same
from tests.bench.odd import CASES

MOST: Final = {"a": 1.6, "b": 1.1, "c": 1.4, "d": 2.8, "f": 1.8}
AIM: Final = {"a": 1.3, "b": 0.85, "c": 1.1, "d": 2.4, "f": 1.3}
MEMORY: Final = {"a": 200, "b": 80, "c": 80, "d": 200, "f": 60}
JOBS: Final = {"bdir": 0.60, "a": 0.65, "f": 0.65}
ONE: Final = ("--jobs", "1")


@dataclass(slots=True, frozen=True)
class Plan:
    """What to measure on. `peers`: the interpreter that has the peers."""

    scale: float
    rounds: int
    corpora: list[str]
    folder: Path
    peers: str

    @property
    def few(self) -> int:
        """Rounds of what takes long or hardly varies."""
        return max(1, self.rounds // 2)

    def path(self, name: str, scale: float | None = None) -> Path:
        """A corpus, made by a process of its own: a big parent would count as memory of its children."""
        code = "import sys; from pathlib import Path; from tests.bench.corpora import corpus; "
        code += "print(corpus(sys.argv[1], float(sys.argv[2]), Path(sys.argv[3])))"
        argv = python("-c", code, name, str(scale or self.scale), self.folder)
        made = subprocess.run(argv, capture_output=True, text=True, check=True, cwd=ROOT)
        return Path(made.stdout.strip())


def _row(*cells: object) -> str:
    return f"| {' | '.join(map(str, cells))} |"


def _head(*cells: str) -> Iterator[str]:
    yield _row(*cells)
    yield "|---" * len(cells) + "|"


def _megabytes(size: int) -> str:
    return f"{size / 1e6:.0f} MB"


def speed(plan: Plan) -> Iterator[str]:
    """CPU of the whole process against the floor, and peak memory."""
    yield from _head("corpus", "CPU / floor", "at most", "aim", "peak memory", "at most")
    for name in plan.corpora:
        path = plan.path(name)
        ratio = compare(floor(files(path)), audit(path, options=ONE), plan.rounds)
        most = _megabytes(MEMORY[name] * 10**6) if name in MEMORY else ""
        yield _row(name, ratio, MOST.get(name, ""), AIM.get(name, ""), _megabytes(ratio.memory), most)


def windows(plan: Plan) -> Iterator[str]:
    """Window 100 against window 6: at most 1.15, and no loop found later."""
    yield from _head("corpus", "window 100 / window 6", "at most")
    for name in ("a", "f"):
        path = plan.path(name)
        small, large = (audit(path, options=(*ONE, "--window", w)) for w in ("6", "100"))
        yield _row(name, compare(small, large, plan.few, agree=no_later), 1.15)


def curves(plan: Plan) -> Iterator[str]:
    """Peak memory and CPU per byte at a tenth of the size and at the size."""
    yield from _head("corpus", "memory at a tenth", "memory", "CPU / CPU of a tenth")
    for name in plan.corpora:
        small, large = plan.path(name, plan.scale / 10), plan.path(name)
        ratio = compare(audit(small, options=ONE), audit(large, options=ONE), plan.few)
        least = max(c.memory for c in ratio.first)
        yield _row(name, _megabytes(least), _megabytes(ratio.memory), f"{ratio.median:.1f}")


def jobs(plan: Plan) -> Iterator[str]:
    """Wall time of two jobs against one; the same records."""
    yield from _head("corpus", "wall, 2 jobs / 1", "at most", "peak memory of a process")
    for name, most in JOBS.items():
        one, two = (audit(plan.path(name), options=("--jobs", n)) for n in ("1", "2"))
        ratio = compare(one, two, plan.rounds, wall=True, agree=same)
        yield _row(name, ratio, most, _megabytes(ratio.memory))


def packed(plan: Plan) -> Iterator[str]:
    """What compression adds, in units of the floor; the same records."""
    yield from _head("corpus", "CPU of .gz less plain, in floors", "at most")
    for name in ("a", "b"):
        path = plan.path(name)
        small = path.with_suffix(".jsonl.gz")
        if not small.exists():
            with path.open("rb") as plain, gzip.open(small, "wb", 6) as out:
                shutil.copyfileobj(plain, out, 1 << 20)
        ratio = compare(audit(path, options=ONE), audit(small, options=ONE), plan.rounds, agree=same)
        base = median(run(floor(files(path))).cpu for _ in range(plan.rounds))
        more = [(b.cpu - a.cpu) / base for a, b in zip(ratio.first, ratio.second, strict=True)]
        yield _row(name, f"{median(more):.2f} ({min(more):.2f} to {max(more):.2f})", 0.5)


def starts(plan: Plan) -> Iterator[str]:
    """Start-up against an interpreter that does nothing."""
    sample = ROOT / "sample_traces" / "loopscan" / "deployment.jsonl"
    yield from _head("command", "CPU / `python -c pass`", "at most")
    for words, argv, most in (
        ("--version", ["--version"], 2.5),
        ("--help", ["--help"], 14),
        ("audit of a small file", ["audit", sample], 20),
    ):
        command = python("-c", "from loopscan.__main__ import main; main()", *argv)  # as the installed script
        yield _row(words, compare(python("-c", "pass"), command, 4 * plan.rounds), most)
    heavy = "import sys, loopscan; print(*(m for m in ('rich', 'typer', 'click') if m in sys.modules))"
    seen = subprocess.run(python("-c", heavy), capture_output=True, text=True, check=True, cwd=ROOT).stdout.strip()
    yield _row("`import loopscan` loads", seen or "none of Rich, Typer, Click", "none")


def profile(plan: Plan) -> Iterator[str]:
    """Where the time goes, at a tenth of the size."""
    yield from _head("corpus", "modules by their share of the time")
    for name in plan.corpora:
        argv = python("-m", "tests.bench.where", plan.path(name, plan.scale / 10))
        yield _row(name, subprocess.run(argv, capture_output=True, text=True, check=True, cwd=ROOT).stdout.strip())


def rivals(plan: Plan) -> Iterator[str]:
    """The same job in other tools: equal results, CPU of ours to theirs."""
    yield from _head("corpus", "peer", "our CPU / theirs", "our memory", "their memory")
    for name in ("a", "d"):
        path, rows = plan.path(name), {}
        for peer in ("loopscan", "duckdb", "duckdb-hashes", "polars"):
            module = peer.partition("-")[0]
            there = subprocess.run([plan.peers, "-c", f"import {module}"], capture_output=True, check=False, cwd=ROOT)
            if there.returncode:
                yield _row(name, peer, "skipped: not installed", "", "")
                continue
            command = [plan.peers if peer != "loopscan" else sys.executable, "-m", "tests.bench.peers", peer, str(path)]
            rows[peer] = subprocess.check_output(command, cwd=ROOT)
            if rows[peer] != rows["loopscan"]:
                raise RuntimeError(f"{peer} finds other runs, tokens or loops in {path} than loopscan")
            if peer != "loopscan":
                ratio = compare(command, audit(path, options=ONE), plan.rounds)
                theirs = max(c.memory for c in ratio.first)
                yield _row(name, peer, ratio, _megabytes(ratio.memory), _megabytes(theirs))
    yield from _ccusage(plan)


def _ccusage(plan: Plan) -> Iterator[str]:
    """Token totals of the folder of sessions, equal to the last token."""
    from tests.bench.tokens import ccusage_tokens, our_tokens

    if shutil.which("ccusage") is None:
        yield _row("bdir", "ccusage", "skipped: not installed", "", "")
        return
    path = plan.path("bdir")
    os.environ["CLAUDE_CONFIG_DIR"] = str(path)
    if ccusage_tokens() != our_tokens(path):
        raise RuntimeError(f"ccusage counts other tokens in {path} than loopscan")
    ratio = compare(["ccusage", "session", "--json", "--offline"], audit(path, options=ONE), plan.few)
    yield _row("bdir", "ccusage", ratio, _megabytes(ratio.memory), _megabytes(max(c.memory for c in ratio.first)))


def fuzz(plan: Plan) -> Iterator[str]:
    """Nasty JSON on every path against the oracle."""
    done = subprocess.run(
        python("-m", "tests.bench.fuzz", str(int(100_000 * plan.scale))),
        capture_output=True,
        text=True,
        cwd=ROOT,
        check=True,
    )
    yield from (f"- {line}" for line in done.stdout.splitlines())


def hostile(plan: Plan) -> Iterator[str]:
    """Peak memory on inputs that are huge or hostile, and what was said of them."""
    yield from _head("input", "peak memory", "at most")
    code = "import sys; from pathlib import Path; from tests.bench.odd import made; "
    code += "print(made(sys.argv[1], Path(sys.argv[2]), float(sys.argv[3])))"
    for name, (_, most) in CASES.items():
        argv = python("-c", code, name, plan.folder, str(plan.scale))
        done = subprocess.run(argv, capture_output=True, text=True, check=True, cwd=ROOT)
        cost = run(audit(done.stdout.strip(), "sample_traces/loopscan/done.jsonl"))
        yield _row(name, _megabytes(cost.memory), f"{most:,} MB")


TABLES: Final[dict[str, Callable[[Plan], Iterator[str]]]] = {
    "speed": speed, "windows": windows, "curves": curves, "jobs": jobs, "packed": packed, "starts": starts,
    "rivals": rivals, "fuzz": fuzz, "hostile": hostile, "profile": profile,
}  # fmt: skip
