"""Public suites of hostile JSON and of naughty strings; skipped where they are not at hand."""

from __future__ import annotations

import base64
import io
import json
import re
from collections.abc import Iterator
from pathlib import Path

import pytest

from loopscan.blob import Blob
from loopscan.decode import BadJSON, loads, text_of
from loopscan.formats import FORMATS, Scan, held_back, load
from loopscan.model import Turn
from loopscan.skips import Skips
from tests.conftest import SAMPLES, SHARED
from tests.hostile.mutation import documents, nodes
from tests.hostile.scanning import SAMPLE_FILES, patience, scanned, shown, undamaged
from tests.hostile.test_damage import LINES, format_of
from tests.hostile.test_text import harmful, hostile

SUITE, STRINGS = SHARED / "hostile" / "json-test-suite.jsonl", SHARED / "hostile" / "naughty-strings.json"
pytestmark = pytest.mark.skipif(not SUITE.is_file(), reason="../shared is not there")


def suite() -> Iterator[tuple[str, str, bytes]]:
    """Name, kind and bytes of each file of JSONTestSuite."""
    if SUITE.is_file():
        for line in SUITE.read_text().splitlines():
            entry = json.loads(line)
            yield entry["name"], entry["kind"], base64.b64decode(entry["base64"])


CASES = list(suite())
LENIENT = {
    "NaN", "minus_infinity", "infinity", "Infinity", "Inf", "minus_NaN", "nan",  # constants that real logs hold
}  # fmt: skip
"""Parts of names of invalid files that are read all the same."""


def test_valid_json_is_read() -> None:
    for name, kind, data in CASES:
        if kind == "valid":
            assert loads(data) == json.loads(data.decode()), name


def test_invalid_json_is_refused_but_for_constants_and_broken_text() -> None:
    for name, kind, data in CASES:
        if kind != "invalid":
            continue
        try:
            values = loads(data)
        except BadJSON:
            continue
        constants = any(part in name for part in LENIENT)
        replaced = "\ufffd" in text_of(data) or data.startswith(b"\xef\xbb\xbf")
        assert constants or replaced, (name, data, values)


def is_read(data: bytes) -> bool:
    """Whether bytes are one or several values for us, or nothing at all."""
    skips = Skips()
    with Blob("x", None, io.BytesIO(data)) as blob:
        list(blob.values(skips))
    return not skips.total


@pytest.mark.parametrize("name", FORMATS)
def test_every_file_alone(name: str) -> None:
    for file, _, data in CASES:
        said: list[str] = []
        scan = Scan(Skips(said.append))
        with patience(), Blob("x", None, io.BytesIO(data)) as blob:
            events = [*load(name).read(blob, scan), *held_back(load(name), scan)]
        assert sum(isinstance(e, Turn) for e in events) <= 1, file
        if not is_read(data):
            located = [s for s in said if re.match(r"x:\d+: ", s)]
            assert located or (name == "otel-console" and scan.skips.unknown), (file, data, said)


def test_every_file_alone_through_the_whole_program(tmp_path: Path) -> None:
    for file, _, data in CASES:
        (tmp_path / "x.json").write_bytes(data)
        got = scanned(tmp_path / "x.json")
        shown(got.report)
        assert got.report.runs == [], file


@pytest.mark.parametrize("sample", LINES, ids=format_of)
def test_every_file_between_good_lines(sample: Path, tmp_path: Path) -> None:
    """One scan with all files of the suite, in blocks of their own between the lines of a good log."""
    lines = sample.read_bytes().splitlines()
    share = -(-len(CASES) // (len(lines) - 1))
    parts = []
    for i, line in enumerate(lines):
        parts += [line, *(_block(data) for _, _, data in CASES[i * share : (i + 1) * share])]
    target = tmp_path / sample.relative_to(SAMPLES)
    target.parent.mkdir(parents=True)
    target.write_bytes(b"\n".join([*parts, lines[-1]]) + b"\n")
    whole, got = undamaged(sample), scanned(target, format_of(sample))
    for figure in (1, 2, 4):
        assert sum(o[figure] for o in got.outlines) >= sum(o[figure] for o in whole.outlines)
    assert len(got.report.skipped.by_reason) > 3 or format_of(sample) == "otel-console"


def _block(data: bytes) -> bytes:
    """A file of the suite as a part of a line log. UTF-16 can only stand at the beginning."""
    return b"" if data[:2] in (b"\xff\xfe", b"\xfe\xff") else data


def test_valid_blocks_between_values_are_read() -> None:
    for name, kind, data in CASES:
        if kind == "valid" and b"\n" not in data.strip():
            blob = Blob("x", None, io.BytesIO(b'{"a":1}\n' + data + b'\n{"b":2}\n'))
            skips = Skips()
            values = [v for _, v in blob.values(skips)]
            assert values == [{"a": 1}, json.loads(data.decode()), {"b": 2}], name
            assert skips.total == 0, name


@pytest.fixture(scope="module")
def strings() -> list[str]:
    found: list[str] = json.loads(STRINGS.read_text())
    return found


def test_every_string_in_every_field_of_a_native_log(strings: list[str], tmp_path: Path) -> None:
    for first in range(0, len(strings), 103):
        block = [s for s in strings[first : first + 103] if s]
        target = tmp_path / "x.jsonl"
        target.write_text("".join(json.dumps(line) + "\n" for s in block for line in hostile(s)))
        got = scanned(target)
        assert set(block) <= {r.run for r in got.report.runs}
        for name, page in shown(got.report).items():
            assert harmful(page) == set(), name


@pytest.mark.parametrize("name", FORMATS)
def test_every_string_in_every_field_of_a_sample(name: str, strings: list[str], tmp_path: Path) -> None:
    """The strings go round: each sample is written a few times, with the next strings in the next of its fields."""
    rest = list(strings)
    for sample in SAMPLE_FILES[name]:
        docs = documents(sample.read_bytes()) if not sample.read_bytes().startswith((b"SQL", b"PK")) else None
        if docs is None:
            continue
        places = [(h, k) for h, k in nodes([docs]) if isinstance(h[k], str)]
        target = tmp_path / sample.relative_to(SAMPLES)
        target.parent.mkdir(parents=True, exist_ok=True)
        for turn in range(6):
            before = [(h, k, h[k]) for h, k in places]
            for holder, key in places[turn % 3 :: 3]:
                holder[key] = rest.pop() if rest else strings[turn]
            lines = docs if len(docs) > 1 else docs[:1]
            target.write_text("\n".join(map(json.dumps, lines)) + "\n")
            got = scanned(target, name)
            for output, page in shown(got.report).items():
                assert harmful(page) == set(), output
            for holder, key, value in before:
                holder[key] = value
