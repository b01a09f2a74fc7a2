"""Damaged bytes: what can be read is read, the rest is a counted, located skip, neighbours are whole."""

from __future__ import annotations

import gzip
import io
import json
import random
import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from loopscan.blob import Blob
from loopscan.compression import zstd_module
from loopscan.lines import LINE_LIMIT
from loopscan.skips import Skips
from tests.conftest import SAMPLES, loopscan
from tests.hostile.mutation import documents
from tests.hostile.scanning import SAMPLE_FILES, outline, scanned, undamaged

ZSTD = zstd_module()
assert ZSTD is not None
BOUND = [path for files in SAMPLE_FILES.values() for path in files if path.stat().st_size < 50_000]
TEXTS = [p for p in BOUND if not p.read_bytes().startswith((b"SQLite", b"PK"))]
LINES = [p for p in TEXTS if p.suffix in (".jsonl", ".txt") and len(documents(p.read_bytes()) or ()) > 1]


def format_of(path: Path) -> str:
    return path.relative_to(SAMPLES).parts[0]


def name_of(path: Path) -> str:
    return str(path.relative_to(SAMPLES))


@pytest.fixture
def placed(tmp_path: Path) -> Callable[[Path, bytes], Path]:
    """Puts bytes in the place of a sample, under its name."""

    def place(sample: Path, data: bytes) -> Path:
        target = tmp_path / sample.relative_to(SAMPLES)
        target.parent.mkdir(parents=True, exist_ok=True)
        target.write_bytes(data)
        return target

    return place


def wide(encoding: str, mark: bytes) -> Callable[[bytes], bytes]:
    return lambda data: mark + data.decode().encode(encoding)


SAME: dict[str, Callable[[bytes], bytes]] = {
    "byte order mark": lambda data: b"\xef\xbb\xbf" + data,
    "carriage returns": lambda data: data.replace(b"\n", b"\r\n"),
    "no newline at the end": lambda data: data.rstrip(b"\n"),
    "blank lines": lambda data: data.replace(b"\n", b"\n\n \t\n") if documents(data) else data,
    "UTF-16 little": wide("utf-16-le", b"\xff\xfe"),
    "UTF-16 big": wide("utf-16-be", b"\xfe\xff"),
    "UTF-16 without a mark": lambda data: wide("utf-16-le", b"")(data) if data[:1] in (b"{", b"[") else data,
    "UTF-32": wide("utf-32-le", b"\xff\xfe\x00\x00"),
    "gzip under a wrong suffix": gzip.compress,
    "gzip in gzip": lambda data: gzip.compress(gzip.compress(data)),
    "gzip in two members": lambda data: gzip.compress(data[:100]) + gzip.compress(data[100:]) + b"\0" * 512,
    "zstd": ZSTD.compress,
    "zstd in two frames, in gzip": lambda d: gzip.compress(ZSTD.compress(d[:99]) + ZSTD.compress(d[99:])),
}
"""Other ways to write the same log."""


@pytest.mark.parametrize("way", SAME)
def test_written_otherwise_it_is_the_same_log(way: str, placed: Callable[[Path, bytes], Path]) -> None:
    for sample in TEXTS:
        got = scanned(placed(sample, SAME[way](sample.read_bytes())))
        want = undamaged(sample)
        assert (got.format, len(got.said)) == (format_of(sample), len(want.said)), (sample, got.said)
        assert got.outlines == want.outlines, sample


SPREAD: dict[str, Callable[[list[Any]], bytes]] = {
    "several values on one line": lambda docs: b" ".join(json.dumps(d).encode() for d in docs),
    "every value over many lines": lambda docs: b"\n".join(json.dumps(d, indent=2).encode() for d in docs),
    "some values over many lines": lambda docs: b"\n".join(
        json.dumps(d, indent=2 if i % 3 == 1 else None).encode() for i, d in enumerate(docs)
    ),
}


@pytest.mark.parametrize("way", SPREAD)
def test_values_and_lines_need_not_go_together(way: str, placed: Callable[[Path, bytes], Path]) -> None:
    for sample in LINES:
        docs = documents(sample.read_bytes())
        assert docs is not None
        got = scanned(placed(sample, SPREAD[way](docs)), format_of(sample))
        assert got.said == [], sample
        for figure in (1, 2, 4):  # turns, calls, tokens; where a line number stands for a prompt, runs are others
            want = sum(o[figure] for o in undamaged(sample).outlines)
            assert sum(o[figure] for o in got.outlines) == want, sample


ONE_VALUE = {
    "an element a line": b'[\n{"a": 1},\n{"b": 2}\n]\n',
    "an array a line": b"[\n[1],\n[2]\n]",
    "a comma before each": b'[{"a": 1}\n,{"b": 2}\n]',
    "an object on a line of its own": b'{"a":\n{"b": 2}\n}',
}


@pytest.mark.parametrize("text", ONE_VALUE.values(), ids=ONE_VALUE)
def test_whole_values_on_lines_inside_a_value_are_parts_of_it(text: bytes) -> None:
    blob, skips = Blob("x", None, io.BytesIO(text)), Skips()
    assert [value for _, value in blob.values(skips)] == [json.loads(text)]
    assert skips.total == 0


@pytest.mark.parametrize("first", [b"[1, [2,", b'[{"a": [', b'{"a": {', b'[{"a": 1},', b"[1] [2", b'{"a":1} {"a":'])
@pytest.mark.parametrize("good", [b"[3]", b'{"b": 3}'])
def test_a_first_line_that_is_not_closed_is_no_document(first: bytes, good: bytes) -> None:
    blob, skips = Blob("x", None, io.BytesIO(b"\n".join([first, good, good, good, b""]))), Skips()
    assert [value for _, value in blob.values(skips)][-3:] == [json.loads(good)] * 3
    assert skips.total == 1


BAD_LINES = {
    "cut in a string": b'{"type": "assistant", "cut": "sho',
    "cut behind a colon": b'{"type":',
    "cut behind a brace": b'{"a": {',
    "not JSON": b"Traceback (most recent call last):",
    "random bytes": bytes(random.Random(1).randrange(256) for _ in range(300)).replace(b"\n", b""),
    "NUL bytes": b"\0" * 4096,
    "invalid UTF-8 and no JSON": b"\xff\xfe\xfa{",
    "nested 10,000 deep": b"[" * 10_000 + b"]" * 10_000,
    "objects nested 10,000 deep": b'{"a":' * 10_000 + b"1" + b"}" * 10_000,
    "an escape that is none": rb'{"a": "\q"}',
    "two values, the second cut": b'17 {"a"',
    "single quotes": b"{'type': 'assistant'}",
    "a lone brace": b"}",
    "thousands of lines that only open": b"{\n" * 5000 + b"[",
}


@pytest.mark.parametrize("kind", BAD_LINES)
def test_a_bad_line_in_the_middle(kind: str, placed: Callable[[Path, bytes], Path]) -> None:
    for sample in LINES:
        lines = sample.read_bytes().splitlines()
        at = len(lines) // 2
        damaged = placed(sample, b"\n".join([*lines[:at], BAD_LINES[kind], *lines[at:]]))
        got = scanned(damaged)
        assert (got.format, got.outlines) == (format_of(sample), undamaged(sample).outlines), sample
        if format_of(sample) != "otel-console":
            assert len([s for s in got.said if s.startswith(f"{damaged}:{at + 1}: ")]) >= 1, (sample, got.said)


def test_a_value_behind_nul_bytes_is_read(placed: Callable[[Path, bytes], Path]) -> None:
    """A crash of the machine leaves a block of NUL bytes; what was written after it stands on the same line."""
    for sample in LINES:
        lines = sample.read_bytes().splitlines()
        got = scanned(placed(sample, b"\n".join([lines[0], b"\0" * 512 + lines[1], *lines[2:]])))
        assert got.outlines == undamaged(sample).outlines, sample


@pytest.mark.parametrize("sample", TEXTS, ids=name_of)
def test_cut_anywhere(sample: Path, placed: Callable[[Path, bytes], Path]) -> None:
    data, whole = sample.read_bytes(), undamaged(sample)
    turns = sum(r.turns for r in whole.report.runs)
    places = random.Random(name_of(sample)).sample(range(len(data)), min(6, len(data)))
    for at in places:
        got = scanned(placed(sample, data[:at]), format_of(sample))
        assert sum(r.turns for r in got.report.runs) <= turns + 1, at


@pytest.mark.parametrize("pack", [gzip.compress, ZSTD.compress], ids=["gzip", "zstd"])
def test_a_cut_archive_keeps_what_stands_before_the_cut(pack: Callable[[bytes], bytes], tmp_path: Path) -> None:
    line = '{"run_id":"r%d","turn":%d,"name":"t","args":{"n":%d},"result":"%s"}\n'
    chance = random.Random(3)
    text = "".join(line % (i % 9, i, i, chance.randbytes(20).hex()) for i in range(8000))
    packed = pack(text.encode())
    for share in (0.3, 0.9, 0.999):
        target = tmp_path / "x.jsonl"
        target.write_bytes(packed[: int(len(packed) * share)])
        got = scanned(target)
        assert sum(r.turns for r in got.report.runs) > 8000 * share - 1500
        assert [s for s in got.said if s.endswith("; skipped")][-1].startswith(f"{target}: compressed data is damaged")


def test_damage_in_an_archive_keeps_what_stands_before_it(tmp_path: Path) -> None:
    text = b"".join(b'{"run_id":"r","turn":%d,"name":"t","args":{},"result":%d}\n' % (i, i * 7919) for i in range(9000))
    packed = bytearray(gzip.compress(text))
    checked = len(packed) - 6  # the check sum: all data is good, the file says it is not
    for at in (len(packed) // 2, checked):
        damaged = bytes(packed[:at]) + bytes([packed[at] ^ 0xFF]) + bytes(packed[at + 1 :])
        (tmp_path / "x.gz").write_bytes(damaged)
        got = scanned(tmp_path / "x.gz")
        assert sum(r.turns for r in got.report.runs) >= (9000 if at == checked else 4000)
        assert len(got.said) >= 1


BOMBS = {
    "zeros in gzip": lambda: gzip.compress(bytes(1 << 24)) * 17,
    "zeros in zstd": lambda: ZSTD.compress(bytes(1 << 24)) * 17,
    "newlines in gzip": lambda: gzip.compress(b"\n" * (1 << 24)) * 17,
    "gzip in gzip in gzip in gzip": lambda: gzip.compress(gzip.compress(gzip.compress(gzip.compress(b"{}")))),
}


@pytest.mark.parametrize("kind", BOMBS)
def test_a_decompression_bomb_is_said(kind: str, tmp_path: Path) -> None:
    (tmp_path / "bomb.jsonl").write_bytes(BOMBS[kind]())
    done = loopscan("audit", str(tmp_path / "bomb.jsonl"))
    assert done.returncode == 3
    assert re.search("times its size|no JSON in|compressed 3 times|no known log format", done.stderr)
    assert len(done.stderr.splitlines()) == 1


def test_a_bomb_behind_good_lines(tmp_path: Path) -> None:
    line = b'{"run_id":"r","turn":%d,"name":"t","args":{},"result":%d}\n'
    good = b"".join(line % (i, i) for i in range(100))
    (tmp_path / "x.jsonl.gz").write_bytes(
        gzip.compress(good) + gzip.compress(bytes(1 << 24)) * 17 + gzip.compress(b"\n" + good)
    )
    got = scanned(tmp_path / "x.jsonl.gz")
    assert [r.turns for r in got.report.runs] == [100]
    assert any("times its size" in s or "too long" in s for s in got.said)


def test_a_line_that_is_too_long(tmp_path: Path) -> None:
    good = [b'{"run_id":"r","turn":%d,"name":"t","args":{},"result":%d}' % (i, i) for i in range(4)]
    long = b'{"run_id":"r","turn":9,"name":"t","result":"' + b"x" * (LINE_LIMIT + (1 << 21)) + b'"}'
    for at in (0, 2, 4):
        target = tmp_path / "x.jsonl"
        target.write_bytes(b"\n".join([*good[:at], long, *good[at:]]) + b"\n")
        got = scanned(target)
        assert [r.turns for r in got.report.runs] == [4], at
        assert got.said == [f"{target}:{at + 1}: line too long: more than {LINE_LIMIT:,} bytes; skipped"]


@pytest.mark.parametrize("sample", [p for p in TEXTS if p not in LINES and p.suffix != ".txt"], ids=name_of)
def test_a_cut_document_is_read_up_to_the_cut(sample: Path, placed: Callable[[Path, bytes], Path]) -> None:
    data = sample.read_bytes()
    cut = placed(sample, data[: int(len(data) * 0.97)])
    got = scanned(cut, format_of(sample))
    assert any("damaged or cut short" in s or "no JSON" in s for s in got.said)
    whole = sum(r.turns for r in undamaged(sample).report.runs)
    assert sum(r.turns for r in got.report.runs) >= min(whole, 1) or whole < 3


@settings(max_examples=300, deadline=None, suppress_health_check=list(HealthCheck))
@given(st.lists(st.sampled_from([b"\n", b"1", b"{", b"}", b' {"a":1}', b"\0", b"  ", b'"', b"\xff"]), max_size=25))
def test_lines_their_numbers_and_places(parts: list[bytes]) -> None:
    """However the bytes come in pieces, the lines are those of `split`."""
    from loopscan.lines import placed
    from loopscan.stream import Ahead, Nothing, Stream

    stream: Stream = Nothing()
    for part in reversed(parts):
        stream = Ahead(part, stream)
    got = [(n, at, line.rstrip(b"\n")) for n, at, line in placed(b"", stream, lambda n: None, 1 << 30)]
    want, at = [], 0
    for number, line in enumerate(b"".join(parts).split(b"\n"), 1):
        want += [(number, at, line)] if line and not line.isspace() else []
        at += len(line) + 1
    assert got == want


def test_outline_of_a_run_is_its_figures() -> None:
    runs = scanned(SAMPLES / "loopscan" / "done.jsonl").report.runs
    assert {outline(r)[3] for r in runs} == {"done"}
