"""The compiled part and the same in Python: what comes of a log does not hang on which of them read it."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import tomllib
from collections.abc import Iterator
from contextlib import contextmanager
from io import BytesIO
from pathlib import Path
from random import Random
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from loopscan import Settings, blob, blocks, record
from loopscan.blob import Blob
from loopscan.compiled import compiled
from loopscan.engine import Audit
from loopscan.formats import Scan
from loopscan.formats import native as native_reader
from loopscan.prices import from_options
from loopscan.usual import usual
from tests.bench.fuzz import log
from tests.conftest import SAMPLES
from tests.test_stretch import some_turn, stamped

ROOT = Path(__file__).parent.parent
needs_it = pytest.mark.skipif(compiled() is None, reason="nothing is compiled here")


@contextmanager
def pure() -> Iterator[None]:
    """Without the compiled part."""
    os.environ["LOOPSCAN_PURE"] = "1"
    compiled.cache_clear()
    usual.cache_clear()
    try:
        assert compiled() is None
        yield
    finally:
        del os.environ["LOOPSCAN_PURE"]
        compiled.cache_clear()
        usual.cache_clear()


def read(data: bytes, window: int = 20) -> tuple[list[dict[str, Any]], dict[str, int]]:
    """The records of a native log, and what was skipped."""
    scan = Audit(Settings(window=window), from_options(), Scan())
    with Blob("-", None, BytesIO(data)) as blob:
        scan.read(blob, "loopscan", native_reader)
    report = scan.finish()
    return [record(r) for r in report.runs], dict(report.skipped.by_reason)


def both_ways(data: bytes, window: int = 20) -> tuple[list[dict[str, Any]], dict[str, int]]:
    """The same read both ways."""
    found = read(data, window)
    with pure():
        assert read(data, window) == found
    return found


def in_blocks(monkeypatch: pytest.MonkeyPatch, size: int) -> None:
    """Read logs in blocks of so many bytes."""
    monkeypatch.setattr(blob, "_HEAD", 300)
    monkeypatch.setattr(blocks, "_BLOCK", size)


def test_every_source_of_it_is_built_and_given_out() -> None:
    """What a source distribution leaves out cannot be compiled from it."""
    known = tomllib.loads((ROOT / "pyproject.toml").read_text())["tool"]["setuptools"]["ext-modules"][0]
    files = {f"loopscan/_scanner/{p.name}" for p in (ROOT / "loopscan/_scanner").iterdir() if p.suffix in (".c", ".h")}
    assert {*known["sources"], *known["depends"]} == files
    assert known["optional"]


@needs_it
@pytest.mark.parametrize("form", ["jsonl", "json", "csv"])
def test_the_samples_read_both_ways(form: str) -> None:
    args = [sys.executable, "-m", "loopscan", "audit", str(SAMPLES), "-f", form, "--p-in", "3", "--p-out", "15"]
    quick = subprocess.run(args, capture_output=True, check=False)
    slow = subprocess.run(args, capture_output=True, check=False, env={**os.environ, "LOOPSCAN_PURE": "1"})
    assert (quick.returncode, quick.stdout, quick.stderr) == (slow.returncode, slow.stdout, slow.stderr)
    assert len(quick.stdout) > 10_000


@needs_it
@pytest.mark.parametrize("seed", range(40))
def test_random_logs(seed: int, monkeypatch: pytest.MonkeyPatch) -> None:
    chance = Random(seed)
    if seed % 4:  # lines and runs stand in several blocks
        in_blocks(monkeypatch, chance.choice((100, 700, 5000)))
    how = chance.choice(("iso", "epoch", "none"))
    lines = [stamped(some_turn(chance, turn, chance.choice((3, 60))), how) for turn in range(1, 300)]
    if seed % 2:
        lines.sort(key=lambda line: line["run_id"])
    data = [json.dumps(line, ensure_ascii=bool(seed % 3)).encode() for line in lines]
    for _ in range(chance.randrange(6)):
        at = chance.randrange(len(data))
        damaged = bytearray(data[at])
        damaged[chance.randrange(len(damaged))] = chance.randrange(256)
        data[at] = chance.choice((bytes(damaged).replace(b"\n", b" "), data[at][: chance.randrange(1, 50)], b"  "))
    both_ways(b"\n".join(data) + b"\n" * chance.randrange(2), chance.choice((6, 20, 100)))


@needs_it
@pytest.mark.parametrize("seed", range(10))
def test_nasty_values(seed: int) -> None:
    both_ways("".join(line.rstrip() + "\n" for line in log(Random(seed), 40)).encode())


def spelt(text: str, chance: Random) -> bytes:
    """A text as JSON, each of its characters as it is or as one of the escapes that stand for it."""
    parts = []
    for c in text:
        plain = json.dumps(c, ensure_ascii=False)[1:-1]
        parts.append(chance.choice((plain, plain, json.dumps(c)[1:-1], *(["\\/"] if c == "/" else []),
                                    *([f"\\u{ord(c):04X}"] if ord(c) < 0x10000 else []))))  # fmt: skip
    return b'"' + "".join(parts).encode() + b'"'


TEXTS = st.text(st.sampled_from('ab n\\/"u0041dé€𝄞\n\t\x01\x7f{}[]') | st.characters(codec="utf-8"), max_size=30)


@needs_it
@settings(max_examples=150, deadline=None)
@given(st.lists(st.tuples(TEXTS, TEXTS, TEXTS), min_size=2, max_size=8), st.randoms(use_true_random=False))
def test_texts_of_every_spelling(texts: list[tuple[str, str, str]], chance: Random) -> None:
    """Each second turn has a further line: what was noted of its result is then held against the log."""
    lines = []
    for number, (name, key, result) in enumerate(texts, 1):
        head = b'{"run_id":"r","turn":%d,"ts":"2026-11-30T09:30:%02d.5Z"' % (number, number)
        tail = b'"input_tokens":%d,"output_tokens":5}' % (number * 10)
        args = b'{"n":%d,%s:%s}' % (number, spelt(key + "k", chance), spelt(key, chance))
        call = b'"tool":%s,"args":%s,"result":%s' % (spelt(name, chance), args, spelt(result, chance))
        lines.append(b"%s,%s,%s" % (head, call, tail))
        if number % 2:
            lines.append(b'%s,"tool":"more","args":{},"result":"more"}' % head)
    found, skipped = both_ways(b"\n".join(lines))
    assert not skipped
    assert [run["turns"] for run in found] == [len(texts)]


USAGE = '"input_tokens":1,"output_tokens":1}'


@needs_it
@pytest.mark.parametrize("key", ['"\\ud800"', '"é"', '"\\u0000"', '""', '"run_i\\u0064"', '"\\ud83d\\ude00"'])
def test_names_of_every_spelling(key: str) -> None:
    line = '{"run_id":"r","turn":%d,%s:"x","tool":"get","args":{"n":%d},"result":"%d",' + USAGE
    found, _ = both_ways("\n".join(line % (n, key, n, n) for n in range(1, 9)).encode())
    assert sum(run["turns"] for run in found) == 8


NUMBERS = st.sampled_from(
    "0 -0 1 -1 10 0.5 0.50 -0.0 0.0 1.0 1.10 100.25 0.0001 0.00001 1e3 1E3 1e-7 123456789012345 1234567890123456 "
    "12345678901234567890 0.1234567890123456 9007199254740993 1e400 01 1. .5 - +1 NaN Infinity".split()
)


@needs_it
@settings(max_examples=150, deadline=None)
@given(st.lists(NUMBERS, min_size=2, max_size=8))
def test_numbers_of_every_spelling(numbers: list[str]) -> None:
    """Calls are the same where their numbers are, and only there, however they are written."""
    line = '{"run_id":"r","turn":%d,"tool":"get","args":{"n":%s,"a":[%s]},"result":"same",' + USAGE
    both_ways("\n".join(line % (turn, n, n) for turn, n in enumerate(numbers * 2, 1)).encode(), 8)


TIMES = st.sampled_from(
    "2026-11-30T09:30:00Z 2026-11-30T09:30:00 2026-11-30T09:30:00+00:00 2026-11-30T09:30:00+02:00 2026-11-30 "
    "2026-11-30T09:30:00.1Z 2026-11-30T09:30:00.123Z 2026-11-30T09:30:00.123456Z 2026-11-30T09:30:00.1234567Z "
    "2026-02-29T00:00:00Z 2028-02-29T00:00:00Z 2026-13-01T00:00:00Z 2026-11-30T24:00:00Z 2026-11-30T09:30:60Z "
    "1969-12-31T23:59:59Z 1970-01-01T00:00:00Z 2999-12-31T23:59:59.999999Z 9999-12-31T23:59:59Z 20261130T093000Z "
    "2026-11-30t09:30:00z 1764495000 1764495000.25 nonsense 2026-11-30T09:30:0".split()
)


@needs_it
@settings(max_examples=150, deadline=None)
@given(st.lists(TIMES, min_size=2, max_size=8))
def test_times_of_every_spelling(times: list[str]) -> None:
    line = '{"run_id":"r%d","turn":%d,"ts":"%s","tool":"get","args":{"n":%d},"result":"%d",' + USAGE
    both_ways("\n".join(line % (n % 2, n, time, n, n) for n, time in enumerate(times)).encode())
