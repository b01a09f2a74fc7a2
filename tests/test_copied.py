"""Logs that can be read once only are copied as they are read, as far as there is room."""

from __future__ import annotations

import resource
from collections.abc import Iterator
from contextlib import contextmanager
from io import BytesIO
from pathlib import Path
from random import Random

import pytest

from loopscan import copied
from loopscan.copied import Copied
from loopscan.settings import Settings
from loopscan.stream import Nothing, Plain
from tests.conftest import native
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
