"""Logs whose lines cannot be read again as they are: what comes once only is copied, what is compressed if need be."""

from __future__ import annotations

import gzip
import os
import resource
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from io import BytesIO
from pathlib import Path
from random import Random

import pytest

from loopscan import copied
from loopscan.blob import Blob
from loopscan.copied import Copied
from loopscan.engine import Audit
from loopscan.formats import Scan
from loopscan.formats import native as native_reader
from loopscan.prices import from_options
from loopscan.records import record
from loopscan.settings import Settings
from loopscan.skips import Skips
from loopscan.stream import Nothing, Plain, Stream
from tests.conftest import native
from tests.test_compiled import in_blocks
from tests.test_stretch import SLOW, packed_too, piped, records, some_turn, stamped


@contextmanager
def files_of_at_most(size: int) -> Iterator[None]:
    """No file may grow beyond so many bytes."""
    before = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (size, before[1]))
    try:
        yield
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, before)


@pytest.mark.parametrize("size", [0, 1, 30_000, 60_000])
@pytest.mark.parametrize("seed", range(6))
def test_what_comes_of_a_log_does_not_hang_on_the_room_for_its_copy(
    seed: int, size: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(copied, "_STEP", 1)
    chance = Random(seed)
    lines = [stamped(some_turn(chance, turn, chance.choice((3, 60))), "iso") for turn in range(1, 500)]
    lines = [again for line in lines for again in [line] * chance.choice((1, 1, 1, 1, 1, 1, 2))]
    lines += lines[50 : 50 + 20 * (seed % 2)]
    path = native(tmp_path / "t.jsonl", *lines)
    slow = [r | {"source": ""} for r in records(path, SLOW)]
    assert packed_too(path) == piped(Settings(), path) == slow
    (tmp_path / "p" / "t.jsonl.gz").unlink()
    (tmp_path / "p").rmdir()
    with files_of_at_most(max(size, len(path.read_bytes()) // 3 if size > 1 else size)):
        assert piped(Settings(), path) == slow


def test_a_copy_is_read_while_it_grows() -> None:
    copy = Copied(b"one\n", Plain(BytesIO(b"two\nthree\n"), lambda _: None, endless=False))  # type: ignore[arg-type]
    file = copy.open()
    assert file.readline() == b"one\n"
    assert copy.read(4) == b"two\n"
    assert file.readline() == b"two\n"
    assert copy.read(100) == b"three\n"
    file.seek(4)
    assert file.readlines() == [b"two\n", b"three\n"]
    assert copy.whole


def test_a_copy_that_cannot_be_made_is_none_at_all(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("tempfile.tempdir", str(tmp_path / "nowhere"))
    with pytest.raises(OSError, match="nowhere"):
        Copied(b"", Nothing())
    path = native(tmp_path / "t.jsonl", *({"run_id": "r", "turn": n, "tool": "look", "args": {"n": n}, "result": f"{n}"}
                                          for n in range(30)))  # fmt: skip
    assert piped(Settings(), path) == [r | {"source": ""} for r in records(path, SLOW)]


def text_of(chance: Random, size: int, longest: int = 300) -> bytes:
    """Lines of random lengths."""
    lines = []
    while size > 0:
        line = b"%x\n" % chance.getrandbits(8 * chance.choice((1, 30, 80, chance.randrange(1, longest))))
        lines.append(line)
        size -= len(line)
    return b"".join(lines)


def packed(chance: Random, text: bytes, path: Path) -> Path:
    """A compressed file of one member or several."""
    cuts = sorted(chance.randrange(len(text)) for _ in range(chance.randrange(3)))
    path.write_bytes(b"".join(gzip.compress(text[a:b], 1) for a, b in zip([0, *cuts], [*cuts, len(text)], strict=True)))
    return path


@pytest.mark.parametrize("far", [0.0, 0.01, 0.5])
@pytest.mark.parametrize("seed", range(12))
def test_any_line_of_a_compressed_log_is_read_again(
    seed: int, far: float, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    chance = Random(seed)
    monkeypatch.setattr(copied, "_BACK", chance.choice((1, 3_000, 60_000)))
    monkeypatch.setattr(copied, "_LINES", chance.choice((0, 2_000, 1 << 20)))
    in_blocks(monkeypatch, chance.choice((300, 5_000, 40_000)))
    text = text_of(chance, 400_000, chance.choice((100, 1_000, 100_000)))
    path = packed(chance, text, tmp_path / "t.gz")

    def look(end: int, back: int) -> None:
        """Read a line again, one of those that were read."""
        place = text.rfind(b"\n", 0, chance.randrange(max(0, end - back), end)) + 1
        copy.hold([place] * chance.randrange(2))
        file.seek(place)
        assert file.readline() == text[place : text.index(b"\n", place) + 1]

    with Blob(str(path), path) as log:
        copy = log.copied()
        assert copy is not None
        file, end = copy.open(), 0
        for _, place, data, begin, stop in log.blocks(Skips()):
            assert (place, bytes(data[begin:stop])) == (end, text[end : end + stop - begin])
            end += stop - begin
            while chance.random() < 0.6:
                look(end, end if chance.random() < far else 2_000)
    assert end == len(text)
    for _ in range(30):
        look(end, end if far else 1)


def read_whole(path: Path, meanwhile: Callable[[], None]) -> Copied:
    """A copy of all of a compressed log; something happens when most of it was read."""
    with Blob(str(path), path) as log:
        copy = log.copied()
        assert copy is not None
        blocks = log.blocks(Skips())
        for _ in range(12):
            next(blocks)
        meanwhile()
        for _ in blocks:
            pass
    return copy


def overwrite(path: Path, place: int, data: bytes) -> None:
    """Write to a file in place."""
    with path.open("r+b") as file:
        file.seek(place)
        file.write(data)


MEANWHILE: dict[str, tuple[Callable[[Path], object], bool]] = {
    "nothing": (lambda path: None, True),
    "it grows": (lambda path: overwrite(path, path.stat().st_size, gzip.compress(b"more\n")), True),
    "it is moved away and back": (lambda path: path.rename(path.with_name("d")).rename(path), True),
    "it is deleted": (Path.unlink, False),
    "it is replaced": (lambda path: [path.rename(path.with_name("old")), path.write_bytes(b"new")], False),
    "it is cut": (lambda path: os.truncate(path, 3_000), False),
    "it is emptied": (lambda path: os.truncate(path, 0), False),
    "it becomes a pipe": (lambda path: [path.unlink(), os.mkfifo(path)], False),
    "its beginning is damaged": (lambda path: overwrite(path, 4_000, bytes(2_000)), False),
    "it is compressed anew": (
        lambda path: path.write_bytes(gzip.compress(b"x" + gzip.decompress(path.read_bytes()))),
        False,
    ),
}


@pytest.mark.parametrize("what", MEANWHILE)
def test_what_happens_to_a_compressed_log_that_was_read(
    what: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(copied, "_BACK", 10_000)
    in_blocks(monkeypatch, 5_000)
    text, (happens, there) = text_of(Random(1), 100_000), MEANWHILE[what]
    path = packed(Random(2), text, tmp_path / "t.gz")
    copy = read_whole(path, lambda: None)
    happens(path)
    assert copy.at(len(text) - 5_000, 9_000) == text[-5_000:]
    assert copy.at(10, 20) == text[10:30]
    for _ in range(2):
        if there:
            assert copy.at(50_000, 700) == text[50_000:50_700]
        else:
            with pytest.raises(OSError, match=r"."):
                copy.at(50_000, 700)
        assert copy.at(len(text) - 5_000, 9_000) == text[-5_000:]
    assert copy.whole


@pytest.mark.parametrize("what", ["it is deleted", "it is replaced", "it grows"])
def test_a_compressed_log_that_is_gone_from_its_place_is_read_to_its_end(
    what: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(copied, "_BACK", 10_000)
    in_blocks(monkeypatch, 5_000)
    text = text_of(Random(1), 100_000)
    path = packed(Random(2), text, tmp_path / "t.gz")
    with Blob(str(path), path) as log:
        copy = log.copied()
        assert copy is not None
        blocks = log.blocks(Skips())
        for _ in range(12):
            next(blocks)
        MEANWHILE[what][0](path)
        assert copy.at(2_000, 10_000) == text[2_000:12_000]
        for _ in blocks:
            pass
    assert copy.at(50_000, 700) == text[50_000:50_700]


def test_a_compressed_log_is_not_written_while_nobody_looks_back(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(copied, "_BACK", 10_000)
    in_blocks(monkeypatch, 5_000)
    text = text_of(Random(1), 1_000_000)
    copy = read_whole(packed(Random(2), text, tmp_path / "t.gz"), lambda: None)
    written = os.pread(copy._file, len(text), 0)
    assert written.count(0) > 900_000
    assert copy.at(50_000, 700) == text[50_000:50_700]
    assert os.pread(copy._file, len(text), 0) == text


class Cutting(Stream):
    """The stream of a compressed log of which the beginning is written over after some reads."""

    def __init__(self, path: Path, rest: Stream, reads: int) -> None:
        self._path, self._rest, self._left = path, rest, reads

    def read(self, size: int) -> bytes:
        """The next bytes."""
        self._left -= 1
        if not self._left:
            with self._path.open("r+b") as file:
                file.write(b" " * 3_000)
        return self._rest.read(size)


def some_lines(chance: Random, count: int, often: float) -> list[dict[str, object]]:
    """Runs that take turns, whose calls come back, some of them with an equal result; some of them end early."""
    lines, turns = [], dict.fromkeys("abcdefgh", 0)
    for _ in range(count):
        run = chance.choice([*turns])
        turns[run] += 1
        result = chance.choice(("ok", "done", "4 left")) if chance.random() < often else f"{chance.getrandbits(90):x}"
        tool = chance.choice(("get_a", "write_b", "bash", "e"))
        line = {"run_id": run, "turn": turns[run], "tool": tool, "args": {"q": chance.randrange(15)}, "result": result}
        lines.append(line | {"input_tokens": 9, "output_tokens": 3, "error": chance.random() < 0.02})
        if chance.random() < 0.01 and len(turns) > 2:
            del turns[run]
    return lines


HELD = [(1, 0, 0), (1, 3_000, 0), (20_000, 0, 0), (20_000, 1 << 20, 0), (20_000, 0, 0.5), (1, 1 << 20, 0.2)]
"""Bytes and lines that are held; the longest file as a part of the log, 0 = any."""


@pytest.mark.parametrize("often", [0.02, 0.3, 0.8])
@pytest.mark.parametrize("seed", range(4))
def test_what_comes_of_a_log_does_not_hang_on_how_much_of_it_is_held(
    seed: int, often: float, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    chance = Random(seed)
    path = native(tmp_path / "t.jsonl", *some_lines(chance, 2_500, often))
    slow = [r | {"source": ""} for r in records(path, SLOW)]
    in_blocks(monkeypatch, chance.choice((700, 4_000)))
    monkeypatch.setattr(copied, "_STEP", 1)
    for back, lines, limit in HELD:
        monkeypatch.setattr(copied, "_BACK", back)
        monkeypatch.setattr(copied, "_LINES", lines)
        with files_of_at_most(int(limit * path.stat().st_size) or 1 << 40):
            assert packed_too(path) == slow
        (tmp_path / "p" / "t.jsonl.gz").unlink()
        (tmp_path / "p").rmdir()


@pytest.mark.parametrize("seed", range(6))
def test_a_compressed_log_written_over(seed: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    chance = Random(seed)
    monkeypatch.setattr(copied, "_BACK", 1)
    in_blocks(monkeypatch, 10_000)
    lines = some_lines(chance, 3_000, chance.choice((0.1, 0.6)))
    plain = native(tmp_path / "t.jsonl", *lines)
    path = tmp_path / "t.jsonl.gz"
    path.write_bytes(gzip.compress(plain.read_bytes()))
    scan = Audit(Settings(), from_options(), Scan())
    with Blob(str(path), path) as log:
        assert log.head.values
        log._stream = Cutting(path, log._stream, 9)
        scan.read(log, "loopscan", native_reader)
    found = [record(r) for r in scan.finish().runs]
    assert sum(r["turns"] for r in found) == len(lines) - scan.scan.skips.total
