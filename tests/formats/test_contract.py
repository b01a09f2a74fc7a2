"""What every reader must do, whatever its format: claim its own samples only, survive damage, lose no neighbour."""

from __future__ import annotations

import gc
import random
import tracemalloc
from collections import defaultdict
from collections.abc import Iterator
from pathlib import Path

import pytest

from loopscan.blob import Blob
from loopscan.formats import FORMATS, Scan, detect, held_back, load
from loopscan.model import End, Turn
from loopscan.source import Input, expand, open_input
from tests.conftest import SAMPLES, SHARED

SAMPLE_FILES = [Path(i.path) for i in expand([str(SAMPLES)])]
REAL_FILES = [
    Path(i.path)
    for i in (expand([str(SHARED / "traces")]) if SHARED.is_dir() else [])
    if not i.path.endswith((".tsv", ".md", "GOLDEN.jsonl"))
]
SIDE_FILES = {"droid/session.settings.json", "autogen/event_log.jsonl", "agentlab/summary_info.json"}


def name_of(path: Path) -> str:
    root = SAMPLES if path.is_relative_to(SAMPLES) else SHARED / "traces"
    return str(path.relative_to(root))


def is_text(path: Path) -> bool:
    head = path.read_bytes()[:4]
    return not head.startswith((b"SQLi", b"PK", b"\x1f\x8b", b"\x28\xb5"))


def sniffers(path: Path) -> list[str]:
    with open_input(Input(str(path), named=True)) as blob:
        return [name for name in FORMATS if load(name).sniff(blob.head)]


def events_of(path: Path, format_name: str | None = None) -> tuple[list[Turn | End], Scan]:
    scan = Scan()
    with open_input(Input(str(path), named=True)) as blob:
        name = format_name or detect(blob.head)
        return ([*load(name).read(blob, scan), *held_back(load(name), scan)] if name else []), scan


def shape(events: list[Turn | End]) -> dict[str, list[tuple[str, ...]]]:
    """Per run the names called, turn by turn."""
    runs: dict[str, list[tuple[str, ...]]] = defaultdict(list)
    for event in events:
        if isinstance(event, Turn):
            runs[event.run].append(tuple(c.name for c in event.calls))
    return dict(runs)


@pytest.mark.parametrize("path", SAMPLE_FILES, ids=name_of)
def test_a_sample_is_claimed_by_its_own_reader_only(path: Path) -> None:
    assert sniffers(path) == [path.relative_to(SAMPLES).parts[0]]


@pytest.mark.parametrize("path", REAL_FILES, ids=name_of)
def test_a_real_log_is_claimed_by_at_most_one_reader(path: Path) -> None:
    assert len(sniffers(path)) <= 1


def test_every_format_has_a_sample() -> None:
    assert {p.relative_to(SAMPLES).parts[0] for p in SAMPLE_FILES} == set(FORMATS)


@pytest.mark.parametrize("name", FORMATS)
def test_a_reader_describes_itself(name: str) -> None:
    reader = load(name)
    assert reader.TITLE
    assert isinstance(reader.WHERE, tuple)
    assert isinstance(reader.LACKS, str)
    assert reader.__doc__
    assert len(reader.__doc__.splitlines()) >= 2


@pytest.mark.parametrize("path", SAMPLE_FILES, ids=name_of)
def test_every_turn_is_well_formed(path: Path) -> None:
    events, scan = events_of(path)
    assert any(isinstance(e, Turn) for e in events) or path.suffix == ".json"
    assert scan.skips.total == 0
    for event in events:
        assert isinstance(event.run, str)
        assert event.run
        if isinstance(event, Turn) and event.usage is not None and event.usage.input is not None:
            parts = (event.usage.cache_read or 0) + (event.usage.cache_write or 0)
            assert event.usage.input >= parts, "input is all input, cached included"
            assert (event.usage.cache_write or 0) >= (event.usage.cache_write_1h or 0)


def cuts(data: bytes, most: int = 40) -> Iterator[int]:
    """Where to cut: after every line, inside lines; a spread of them for long files."""
    ends = [i + 1 for i, byte in enumerate(data) if byte == 10] or list(range(0, len(data), max(1, len(data) // most)))
    step = max(1, len(ends) // most)
    for end in ends[::step]:
        yield end
        yield max(0, end - 9)


@pytest.mark.parametrize("path", [p for p in SAMPLE_FILES if is_text(p)], ids=name_of)
def test_truncation_at_every_line(path: Path, tmp_path: Path) -> None:
    data = path.read_bytes()
    whole = shape(events_of(path)[0])
    format_name = path.relative_to(SAMPLES).parts[0]
    for cut in cuts(data):
        target = tmp_path / path.name
        target.write_bytes(data[:cut])
        got = shape(events_of(target, format_name)[0])
        assert sum(map(len, got.values())) <= sum(map(len, whole.values())) + 1


@pytest.mark.parametrize("path", SAMPLE_FILES, ids=name_of)
def test_random_damage_never_raises(path: Path, tmp_path: Path) -> None:
    chance = random.Random(path.name)
    data = path.read_bytes()
    for _ in range(12):
        damaged = bytearray(data)
        for _ in range(chance.choice((1, 3, 20))):
            damaged[chance.randrange(len(damaged))] = chance.randrange(256)
        target = tmp_path / path.name
        target.write_bytes(damaged)
        events_of(target, path.relative_to(SAMPLES).parts[0])


@pytest.mark.parametrize("path", [p for p in SAMPLE_FILES if is_text(p) and p.suffix == ".jsonl"], ids=name_of)
def test_a_bad_line_loses_no_neighbour(path: Path, tmp_path: Path) -> None:
    lines = path.read_bytes().splitlines(keepends=True)
    if not all(line.lstrip()[:1] == b"{" and line.rstrip()[-1:] in (b"}", b"]") for line in lines):
        pytest.skip("not one value per line")
    want = shape(events_of(path)[0])
    for at in range(1, len(lines), max(1, len(lines) // 10)):
        target = tmp_path / path.name
        target.write_bytes(b"".join([*lines[:at], b'{"cut": "sho\n', b"\x00\xff garbage\n", *lines[at:]]))
        events, scan = events_of(target)
        assert shape(events) in (want, {k.replace(str(path), str(target)): v for k, v in want.items()})
        assert scan.skips.total == 2


@pytest.mark.parametrize("path", [p for p in SAMPLE_FILES if is_text(p)], ids=name_of)
def test_compressed_and_piped_are_the_same(path: Path, tmp_path: Path) -> None:
    import gzip
    import io

    name = path.relative_to(SAMPLES).parts[0]
    want = shape(events_of(path)[0])
    (tmp_path / "x.gz").write_bytes(gzip.compress(path.read_bytes()))
    packed, _ = events_of(tmp_path / "x.gz")
    assert sum(map(len, shape(packed).values())) == sum(map(len, want.values()))
    blob = Blob(str(path), None, io.BytesIO(path.read_bytes()))
    assert detect(blob.head) == name


@pytest.mark.parametrize("name", FORMATS)
def test_unknown_records_are_counted_or_ignored_never_raised(name: str, tmp_path: Path) -> None:
    target = tmp_path / "odd.jsonl"
    odd = [
        b'{"type":"from-the-future","sessionId":"s","uuid":"u","payload":{"a":1}}',
        *(b"null", b"3", b'"x"', b"[]", b"{}"),
        b'{"type":null,"message":7,"payload":[],"messages":{"a":1},"events":null,"spans":3,"input":{},"data":[1]}',
        b'{"type":{},"role":[],"content":{"x":null},"id":{},"timestamp":[],"usage":[1],"tool_calls":{"a":2}}',
    ]
    target.write_bytes(b"\n".join(odd) + b"\n")
    events_of(target, name)


@pytest.mark.parametrize("name", ["loopscan", "claude-code"])
def test_memory_does_not_grow_with_the_log(name: str, tmp_path: Path) -> None:
    """Peak memory of reading ten times the log stays far below ten times the peak."""

    def peak(times: int) -> int:
        target = tmp_path / f"{times}.jsonl"
        body = "x" * 2000
        with target.open("w") as out:
            for i in range(times * 200):
                if name == "loopscan":
                    out.write(f'{{"run_id":"r","turn":{i},"name":"t","args":{{"i":{i}}},"result":"{i} {body}"}}\n')
                else:
                    out.write(
                        f'{{"type":"assistant","uuid":"u{i}","sessionId":"s","message":{{"id":"m{i}","content":'
                        f'[{{"type":"tool_use","id":"c{i}","name":"t","input":{{"i":{i},"b":"{body}"}}}}]}}}}\n'
                        f'{{"type":"user","uuid":"v{i}","sessionId":"s","message":{{"content":'
                        f'[{{"type":"tool_result","tool_use_id":"c{i}","content":"{i} {body}"}}]}}}}\n'
                    )
        gc.collect()
        tracemalloc.start()
        with open_input(Input(str(target), named=True)) as blob:
            for _ in load(name).read(blob, Scan()):
                pass
        top = tracemalloc.get_traced_memory()[1]
        tracemalloc.stop()
        return top

    small, large = peak(1), peak(10)
    assert large < small + 2_000_000
