"""Quiet runs and reports that were sent from one process to another say what they said, whichever part packs them."""

from __future__ import annotations

from math import nan
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from loopscan import excerpt, parcel
from loopscan.compiled import compiled
from loopscan.excerpt import Excerpt
from loopscan.origin import place_of
from loopscan.parcel import Reports, packed, unpacked
from loopscan.quiet import TURN, Quiet
from loopscan.records import record
from loopscan.report import RunReport
from loopscan.settle import made, settle, settled
from loopscan.spill import Spill
from loopscan.terms import terms_of
from loopscan.ties import run_hash
from tests.render.test_records import BUSY, NAMES, PRICE, TURNS

needs_compiled = pytest.mark.skipif(made() is None, reason="nothing is compiled here")
LINES = st.integers(1, 10**6)


@st.composite
def quiets(draw: st.DrawFn) -> Quiet:
    """A quiet run with any figures that one can have."""
    turns, terms = draw(TURNS), terms_of(draw(st.sampled_from([None, PRICE])))
    state = Quiet(
        draw(NAMES), draw(NAMES), draw(st.sampled_from(["loopscan", "other"])), None, terms,
        draw(st.one_of(st.none(), NAMES)), 10**9, 0.0, 0.0, 9, draw(LINES), 0, draw(LINES),
        draw(st.one_of(st.none(), LINES)),
    )  # fmt: skip
    for number, (sent, output, time) in enumerate(turns):
        moment = draw(st.sampled_from([time, time, nan, 0.0, 100.0 * number]))
        state.turns += TURN.pack(number, 0, moment, sent, output, 0, 0, 0, 0)
    return state


@st.composite
def runs_of_all_kinds(draw: st.DrawFn) -> list[Any]:
    """Some quiet ones, some reports in full between them; without what the whole scan tells, as they are sent."""
    found: list[Any] = []
    for run in draw(st.lists(quiets(), max_size=6)):
        full = draw(st.sampled_from([False, False, True]))
        found.append(settled(run, Spill()).altered(labels={"a": "b"}) if full else run)
    return found


def reported(run: Any) -> RunReport:
    """The report of a run."""
    report: RunReport = settled(run, Spill()) if isinstance(run, Quiet) else run
    return report


def told(runs: list[RunReport]) -> str:
    """All that reports say."""
    return str([(type(run), record(run), run.kind, columns_of(run)) for run in runs])


def columns_of(run: RunReport) -> list[list[Any]]:
    """The numbers of its turns."""
    series = run.series
    return [list(column) for part in series.parts for column in part.columns(series.spill)]


def without(patch: pytest.MonkeyPatch, scanner: object) -> None:
    """Do without the compiled part, where `scanner` is None."""
    if scanner is None:
        patch.setattr(parcel, "made", lambda: None)
        patch.setattr(excerpt, "compiled", lambda: None)


@BUSY
@given(runs_of_all_kinds(), st.sampled_from([0, 40, 10**6]))
def test_what_is_sent_arrives(runs: list[Any], room: int) -> None:
    want = told([reported(run) for run in runs])
    for scanner in {compiled(), None}:
        with pytest.MonkeyPatch.context() as patch:
            without(patch, scanner)
            spill = Spill(room)
            arrived: Any = unpacked(packed(Reports(runs)), spill)
            assert told(arrived) == want
            spill.close()


@needs_compiled
@BUSY
@given(runs_of_all_kinds())
def test_reports_are_the_same_whichever_part_makes_them(runs: list[Any]) -> None:
    want = told([reported(run) for run in runs])
    settle(runs, Spill())
    assert told(runs) == want


@needs_compiled
@BUSY
@given(st.lists(quiets(), min_size=1, max_size=4))
def test_damaged_bytes_are_an_error(runs: list[Quiet]) -> None:
    scanner = made()
    assert scanner is not None
    heads, columns, shared, others = scanner.parcel(runs)
    arrived = scanner.unparcel(heads, columns, shared, Spill(), -1)
    assert len(arrived) == len(runs) - len(others)
    if arrived:
        for less in (columns[:-1], shared), (columns, []):
            with pytest.raises(ValueError, match="no runs"):
                scanner.unparcel(heads, *less, Spill(), -1)
        for cut in range(1, min(100, len(heads))):
            with pytest.raises(ValueError, match="no runs"):
                scanner.unparcel(heads[:-cut], columns, shared, Spill(), -1)


@BUSY
@given(runs_of_all_kinds(), st.integers(0, 3))
def test_where_quiet_runs_begin_and_stand(runs: list[Any], number: int) -> None:
    quiet = {(run.format, run.run): run for run in runs if isinstance(run, Quiet)}
    want = [
        (run_hash(*who), place_of(number, run.told or run.first, run.told is None), run.first, run.line)
        for who, run in quiet.items()
    ]
    for scanner in {compiled(), None}:
        with pytest.MonkeyPatch.context() as patch:
            without(patch, scanner)
            engine = Excerpt(number=number)
            for who, run in quiet.items():
                engine.start([run], who[0])
            engine.note()
            assert list(zip(engine.hashes, engine.places, engine.first, engine.last, strict=True)) == want
