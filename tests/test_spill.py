"""What is spilled comes back as it was; where no file takes it, it stays in memory."""

from __future__ import annotations

from array import array
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from loopscan import spill
from loopscan.part import Part, packed
from loopscan.records import document
from loopscan.scan import audit
from loopscan.spill import Spill
from tests.conftest import SAMPLES
from tests.test_copied import files_of_at_most


def parts_of(sizes: list[int]) -> list[Part]:
    """Parts that hold their numbers themselves."""
    columns = [(array("q", range(n)), array("q", range(n)), array("q", [7] * n), array("d", [1.5] * n)) for n in sizes]
    return [packed(*some, Spill()) for some in columns]


@given(st.lists(st.binary(max_size=300)), st.integers(0, 1000), st.one_of(st.none(), st.integers(0, 1000)))
def test_what_is_kept_is_there(things: list[bytes], room: int, most: int | None) -> None:
    found, kept = Spill(room), list[bytes | int]()
    with files_of_at_most(1 << 40 if most is None else most):
        kept += [found.keep(thing) for thing in things]
        assert [found.load(place, len(thing)) for place, thing in zip(kept, things, strict=True)] == things
    in_memory = sum(len(place) for place in kept if isinstance(place, bytes))
    assert most is not None or in_memory <= room
    found.close()


@given(st.lists(st.integers(1, 20), max_size=9), st.integers(0, 1000), st.integers(0, 3000))
def test_numbers_of_parts_are_there(sizes: list[int], room: int, most: int) -> None:
    parts, found = parts_of(sizes), Spill(room)
    want = [[list(column) for column in part.columns(found)] for part in parts]
    with files_of_at_most(most):
        for at in range(0, len(parts), 4):
            found.keep_all(parts[at : at + 4])
    assert [[list(column) for column in part.columns(found)] for part in parts] == want
    found.close()


@pytest.mark.parametrize("most", [0, 700, 100_000])
def test_a_temporary_folder_without_room_changes_nothing(most: int, monkeypatch: pytest.MonkeyPatch) -> None:
    want = document(audit([str(SAMPLES)]))
    monkeypatch.setattr(spill.Spill.__init__, "__defaults__", (0,))
    with files_of_at_most(most):
        assert document(audit([str(SAMPLES)])) == want


def test_no_temporary_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("tempfile.tempdir", str(tmp_path / "none"))
    found = Spill(0)
    assert found.keep(b"abc") == b"abc"
    found.close()
