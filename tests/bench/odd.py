"""Inputs that are huge or hostile, and how much memory a process may need for each (`--tables hostile`).

A line of more than 64 MB is passed over, one JSON document may have 256 MB, a bomb is given up.
"""

from __future__ import annotations

import gzip
import json
from collections.abc import Callable
from pathlib import Path
from typing import Final

from loopscan.compression import zstd_module

GOOD: Final = b"".join(
    json.dumps({"run_id": f"r{i % 9}", "turn": i, "name": "t", "args": {}, "result": i}).encode() + b"\n"
    for i in range(1000)
)
_LONG: Final = 200_000_000
_BLOCK: Final = 1 << 24


def _line(size: int) -> bytes:
    return b'{"run_id":"long","name":"t","args":{},"result":"' + b"x" * size + b'"}\n'


def _deep(size: int) -> bytes:
    return b"[" * size + b"]" * size + b"\n"


def _many(path: Path, count: int) -> None:
    line = b'{"turn":1,"name":"t","args":{},"result":1}\n'
    for i in range(count):
        if i % 1000 == 0:
            (path / str(i // 1000)).mkdir(parents=True, exist_ok=True)
        (path / str(i // 1000) / f"{i}.jsonl").write_bytes(line)


def _runs(path: Path, count: int) -> None:
    with path.open("wb", 1 << 20) as out:
        for i in range(count):
            out.write(b'{"run_id":"run-%d","name":"t","args":{},"result":1}\n' % i)


def _bomb(path: Path, scale: float, pack: Callable[[bytes], bytes]) -> None:
    block, blocks = pack(bytes(_BLOCK)), max(32, int(640 * scale))
    with path.open("wb") as out:
        out.write(pack(GOOD))
        for _ in range(blocks):
            out.write(block)
        out.write(pack(b"\n" + GOOD))


def _zstd(data: bytes) -> bytes:
    zstd = zstd_module()
    assert zstd is not None
    packed: bytes = zstd.compress(data)
    return packed


def _document(size: int) -> bytes:
    """A whole trajectory on one line, most of it one result."""
    step = {"step_id": 1, "source": "agent", "message": "m", "tool_calls": []}
    text = json.dumps({"schema_version": "ATIF-v1.4", "session_id": "s", "steps": [step, {**step, "message": "@"}]})
    return text.replace("@", "x" * size).encode()


def _sparse(path: Path, size: int) -> None:
    with path.open("wb") as out:
        out.truncate(size)


Make = Callable[[Path, float], object]

CASES: Final[dict[str, tuple[Make, int]]] = {
    "a line of 200 MB among good ones": (lambda p, s: p.write_bytes(GOOD + _line(_LONG) + GOOD), 150),
    "a first line of 200 MB": (lambda p, s: p.write_bytes(_line(_LONG) + GOOD), 600),
    "a line of 60 MB, which is read": (lambda p, s: p.write_bytes(GOOD + _line(60_000_000) + GOOD), 300),
    "a document of 200 MB on one line": (lambda p, s: p.write_bytes(_document(_LONG)), 900),
    "two million brackets on a line": (lambda p, s: p.write_bytes(GOOD + _deep(1_000_000) + GOOD), 100),
    "10 GB of zeros in gzip": (lambda p, s: _bomb(p, s, gzip.compress), 150),
    "10 GB of zeros in zstd": (lambda p, s: _bomb(p, s, _zstd), 150),
    "2 GB without a line": (lambda p, s: _sparse(p, int(2e9 * s)), 800),
    "100,000 files": (lambda p, s: _many(p, int(100_000 * s)), 1200),
    "a million runs": (lambda p, s: _runs(p, int(1_000_000 * s)), 8000),
}
"""What it is: how it is made, and megabytes at most (of the last two: at scale 1)."""


def made(name: str, folder: Path, scale: float) -> Path:
    """The input of a case; a folder where it is one."""
    folder.mkdir(parents=True, exist_ok=True)
    path = folder / f"{name.replace(' ', '-').replace(',', '')}-{scale}"
    if not path.exists():
        CASES[name][0](path, scale)
    return path
