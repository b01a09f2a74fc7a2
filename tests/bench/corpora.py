"""The logs that speed is measured on: generated, the same bytes on every machine.

`a` a million native turns in some 54,000 runs, one after the other. `b` a Claude Code log of 1 GB in one file, `bdir`
the same as a folder of sessions. `c` OpenAI messages, a run of some 55 KB a line. `d` a million native turns of
20,000 runs at a time. `f` one native run of five million turns.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from pathlib import Path
from random import Random
from typing import Final

from tests.bench.chats import chats
from tests.bench.native import interleaved, long_run, runs
from tests.bench.sessions import sessions

TURNS: Final = 1_000_000
OPEN_RUNS: Final = 20_000
LONG: Final = 5_000_000
BYTES: Final = 1_000_000_000
CHATS: Final = 10_000


def _write(path: Path, parts: Iterable[bytes]) -> None:
    with path.open("wb", 1 << 20) as out:
        out.writelines(parts)


def _a(path: Path, scale: float) -> None:
    _write(path, (line for run in runs(Random("a"), int(TURNS * scale)) for line in run))


def _b(path: Path, scale: float) -> None:
    _write(path, (line for _, lines in sessions(Random("b"), int(BYTES * scale)) for line in lines))


def _bdir(path: Path, scale: float) -> None:
    for i, (session, lines) in enumerate(sessions(Random("b"), int(BYTES * scale))):
        folder = path / "projects" / f"-home-dev-work{i % 20}"
        folder.mkdir(parents=True, exist_ok=True)
        _write(folder / f"{session}.jsonl", lines)


def _c(path: Path, scale: float) -> None:
    _write(path, chats(Random("c"), int(CHATS * scale)))


def _d(path: Path, scale: float) -> None:
    many = max(10, int(OPEN_RUNS * min(1.0, scale)))
    _write(path, interleaved(Random("d"), int(TURNS * scale), many))


def _f(path: Path, scale: float) -> None:
    _write(path, long_run(Random("f"), int(LONG * scale)))


MAKERS: Final[dict[str, Callable[[Path, float], None]]] = {
    "a": _a, "b": _b, "bdir": _bdir, "c": _c, "d": _d, "f": _f,
}  # fmt: skip


def corpus(name: str, scale: float, folder: Path) -> Path:
    """The path of a corpus of this size, made where it is not there yet."""
    path = folder / f"{name}-{scale:g}{'' if name == 'bdir' else '.jsonl'}"
    if not path.exists():
        folder.mkdir(parents=True, exist_ok=True)
        part = path.with_name(f"{path.name}.part")
        MAKERS[name](part, scale)
        part.rename(path)
    return path


def files(path: Path) -> Iterator[Path]:
    """The files of a corpus."""
    return iter([path] if path.is_file() else sorted(p for p in path.rglob("*") if p.is_file()))
