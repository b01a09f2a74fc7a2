"""The record of a quiet run is made in a short way: it is, to the byte, that of the long one."""

from __future__ import annotations

from array import array

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from loopscan.exits import Caps
from loopscan.fired import NONE, evaluate
from loopscan.money import Children
from loopscan.part import priced
from loopscan.prices import from_options
from loopscan.records import record
from loopscan.render import jsonl
from loopscan.render.jsonl import Moulds, dumps, texts
from loopscan.report import RunReport
from loopscan.scan import audit
from loopscan.settle import NO_GAP, Settled, made
from loopscan.spill import Spill
from tests.conftest import SAMPLES

PRICE = from_options().find("claude-sonnet-4-5", 1_790_000_000.0)
NAMES = st.one_of(
    st.text(st.sampled_from('ab%s"\\/\x00\x7f\u00e9\u0301\u200b\U0001f600\ud800'), max_size=8),
    st.sampled_from(["run-1", "%s 100%", "b1946ac92492d2347c6235b4d2611184", "\ud800"]),
)
TIMES = st.one_of(
    st.none(), st.floats(allow_nan=True), st.floats(0, 4e9), st.integers(0, 4_000_000).map(lambda n: n / 8)
)
TURNS = st.lists(st.tuples(st.integers(0, 10**9), st.integers(0, 10**9), st.floats(0, 1e6)), min_size=1, max_size=4)

BUSY = settings(max_examples=60, deadline=None, suppress_health_check=[HealthCheck.too_slow])
"""However much else the machine has to do."""


@st.composite
def quiet_runs(draw: st.DrawFn) -> Settled:
    """A report of a quiet run with any figures that one can have."""
    turns, price, spill = draw(TURNS), draw(st.sampled_from([None, PRICE])), Spill()
    sent, output, elapsed = (list(column) for column in zip(*turns, strict=True))
    rates = (0, 0) if price is None else (int(price.input), int(price.output))
    part = priced(array("I", sent), array("I", output), array("d", elapsed), rates, spill)
    gap = draw(st.sampled_from([NO_GAP, NO_GAP, (0.0, 0), (61.5, 2), (7300.0, 3)]))
    run = Settled(
        draw(NAMES), draw(NAMES), draw(st.sampled_from(["loopscan", "other"])), draw(st.one_of(st.none(), NAMES)),
        draw(TIMES), draw(TIMES), gap, part, price, spill, NONE, draw(st.one_of(st.none(), st.floats(0, 1e20))),
        draw(st.sampled_from([None, None, Children(2, 1, 5)])),
    )  # fmt: skip
    evaluate(run, draw(st.sampled_from([Caps(), Caps(turns=2), Caps(usd=10**9)])))
    return run


@BUSY
@given(st.lists(quiet_runs(), max_size=6), st.booleans())
def test_the_short_way_is_the_long_one(runs: list[Settled], indent: bool) -> None:
    assert list(texts(list(runs), indent)) == [dumps(record(run), indent) for run in runs]
    several = [*runs, *reversed(runs), *runs]
    lines = "".join(f"{dumps(record(run))}\n" for run in several)
    assert "".join(Moulds().lines(several)) == lines
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(jsonl, "made", lambda: None)
        assert "".join(Moulds().lines(several)) == lines


@BUSY
@given(quiet_runs())
def test_a_quiet_run_in_full_says_the_same(run: Settled) -> None:
    full = run.altered(state="cut", labels={"a": "b"})
    assert type(full) is not Settled
    want = record(run) | {"labels": {"a": "b"}}
    assert dumps(record(full)) == dumps(want)
    for figure in ("usd", "tokens", "unpriced", "spent", "whole", "total_usd", "first_exit"):
        assert getattr(full, figure) == getattr(run, figure)


@BUSY
@given(quiet_runs())
def test_a_copy_is_no_other_run(run: Settled) -> None:
    copy = run.altered(run="x", labels={}, fired=None)
    assert type(copy) is Settled
    assert (copy.run, copy.part, copy is run) == ("x", run.part, False)
    assert record(copy)["run"] == "x"


@pytest.mark.parametrize("indent", [False, True])
def test_all_samples(indent: bool) -> None:
    runs = audit(SAMPLES, prices=from_options()).runs
    assert list(texts(runs, indent)) == [dumps(record(run), indent) for run in runs]


@pytest.mark.skipif(made() is None, reason="nothing is compiled here")
def test_most_lines_are_told_at_once() -> None:
    part = priced(array("I", [5] * 3), array("I", [2] * 3), array("d", [0.0, 1.0, 2.0]), (3, 15), Spill())
    runs: list[RunReport] = [
        Settled(f"r{n}", "log", "loopscan", "m", 1.5, 3.5, NO_GAP, part, None, Spill(), NONE, 1.5) for n in range(200)
    ]
    blocks = list(Moulds().lines(runs))
    assert [block.count("\n") > 1 for block in blocks[1:]] == [True] * (len(blocks) - 1)
    assert len(blocks) < 10
