"""Reports that were sent from one process to another say what they said, whichever part packs them."""

from __future__ import annotations

from array import array
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from loopscan import parcel
from loopscan.compiled import compiled
from loopscan.fired import NONE
from loopscan.parcel import Reports, keep, packed, unpacked
from loopscan.part import Part, priced
from loopscan.records import record
from loopscan.report import RunReport
from loopscan.settle import NO_GAP, Settled, made
from loopscan.spill import Spill
from tests.render.test_records import BUSY, quiet_runs


@st.composite
def reports(draw: st.DrawFn) -> list[RunReport]:
    """Some of quiet runs, some in full between them; without what the whole scan tells, as they are sent."""
    found: list[RunReport] = []
    for run in draw(st.lists(quiet_runs(), max_size=6)):
        run.exits, run.times_normal, run.children = NONE, None, None
        found.append(run if draw(st.booleans()) else run.altered(labels={"a": "b"}))
    return found


@BUSY
@given(reports())
def test_what_is_sent_arrives(runs: list[RunReport]) -> None:
    for scanner in {compiled(), None}:
        with pytest.MonkeyPatch.context() as patch:
            if scanner is None:
                patch.setattr(parcel, "made", lambda: None)
            arrived: Any = unpacked(packed(Reports(runs)))
            assert [type(run) for run in arrived] == [type(run) for run in runs]
            keep(arrived, Spill())
            assert str([record(run) for run in arrived]) == str([record(run) for run in runs])
            assert [run.series.spent(1) for run in arrived] == [run.series.spent(1) for run in runs]
            assert [run.kind for run in arrived] == [run.kind for run in runs]


@pytest.mark.skipif(made() is None, reason="nothing is compiled here")
def test_numbers_that_lie_in_a_file_are_sent() -> None:
    spill = Spill(0)
    runs = [Settled(f"r{n}", "log", "loopscan", None, 1.0, 2.0, NO_GAP, part(spill), None, spill, NONE) for n in (1, 2)]
    arrived: Any = unpacked(packed(Reports(runs)))
    assert [run.series.spent(2) for run in arrived] == [run.series.spent(2) for run in runs] == [(3, 7, 0)] * 2
    spill.close()


@pytest.mark.skipif(made() is None, reason="nothing is compiled here")
def test_damaged_bytes_are_an_error() -> None:
    scanner = made()
    assert scanner is not None
    runs = [Settled("r", "log", "loopscan", None, 1.0, 2.0, (61.0, 2), part(Spill()), None, Spill(), NONE)]
    data, shared, others = scanner.parcel(runs)
    assert not others
    assert [(run.run, run.gap) for run in scanner.unparcel(data, shared, Spill())] == [("r", (61.0, 2))]
    for cut in range(1, len(data)):
        with pytest.raises(ValueError, match="no reports"):
            scanner.unparcel(data[:cut], shared, Spill())
    with pytest.raises(ValueError, match="no reports"):
        scanner.unparcel(data, [], Spill())


def part(spill: Spill) -> Part:
    """Numbers of two turns."""
    return priced(array("I", [1, 2]), array("I", [3, 4]), array("d", [0.0, 1.0]), (0, 0), spill)
