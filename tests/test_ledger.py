"""The short way of plain sends against the long one: the same sums, whatever is mixed."""

from __future__ import annotations

from dataclasses import replace
from fractions import Fraction

from hypothesis import given
from hypothesis import strategies as st

from loopscan.bill import total
from loopscan.ledger import Ledger
from loopscan.model import MISSING, Call, Turn, Usage
from loopscan.money import closing_call
from loopscan.price import Price, Tier
from loopscan.settings import Settings

CHEAP = Price(input=2, output=7, cache_read=1, cache_write=3, cache_write_1h=5, source="a")
TIERED = Price(
    **CHEAP.by_name(),
    tiers=(Tier(above=500, input=4, output=14, cache_read=2, cache_write=6, cache_write_1h=10),),
    source="b",
)


class Book:
    """Two models with a price; what is asked for on the second day costs more."""

    def find(self, model: str | None, time: float | None = None) -> Price | None:
        price = {"cheap": CHEAP, "tiered": TIERED}.get(model or "")
        return replace(price, input=price.input * 10) if price and time and time >= 86_400 else price

    def window(self, model: str | None) -> int | None:
        return None


TOKENS = st.integers(0, 1000)
USAGE = st.builds(
    Usage,
    st.none() | TOKENS,
    st.none() | TOKENS,
    st.sampled_from([None, None, 0, 100]),
    st.sampled_from([None, None, 50]),
    st.sampled_from([None, None, 20]),
    st.sampled_from([None, None, None, 0.5]),
)
CALLS = st.lists(
    st.builds(
        Call, st.sampled_from(["a", "look_up"]), st.sampled_from([None, {"id": 1}, "{}"]),
        st.sampled_from([MISSING, None, "", "found", "x" * 3000, {"n": 1}, [1]]),
    ),
    max_size=2,
)  # fmt: skip
TURNS = st.lists(
    st.builds(
        Turn,
        st.just("r"),
        CALLS,
        text=st.sampled_from(["", "some words", None]),
        failed=st.sampled_from([False, False, False, True]),
        usage=st.none() | USAGE,
        model=st.sampled_from(["cheap", "cheap", "tiered", "unknown", None]),
        time=st.sampled_from([None, 3600.0, 3700.0, 90_000.0]),
        written=st.sampled_from([None, None, 0, 40, 4000, 10**12]),
        compacted=st.sampled_from([False, False, False, False, True]),
    ),
    max_size=30,
)


SETTINGS = st.sampled_from(
    [
        Settings(),
        Settings(base=100, growth=30, out=9),
        Settings(base=400, growth=0),
        Settings(chars_per_token=Fraction(10, 3)),
        Settings(cost="recorded"),
    ]
)


def paid(turns: list[Turn], slow: bool, settings: Settings) -> tuple[Ledger, list[int | None]]:
    """The ledger of a run, and what each send counts against the context window."""
    ledger, counted = Ledger(settings), []
    for number, turn in enumerate(turns):
        if slow:
            ledger.look_up(turn, Book())
            counted.append(ledger._pay(turn, float(number)))
        else:
            counted.append(ledger.pay(turn, Book(), float(number)))
    ledger.close()
    return ledger, counted


@given(TURNS, SETTINGS)
def test_both_ways_come_to_the_same(turns: list[Turn], settings: Settings) -> None:
    (quick, counted), (slow, expected) = paid(turns, False, settings), paid(turns, True, settings)
    assert counted == expected
    for name in ("input", "output", "usd", "elapsed", "unpaid"):
        assert getattr(quick.close(), name) == getattr(slow.close(), name)
    assert total(quick.money.bills) == total(slow.money.bills)
    for name in ("spent", "checked", "guessed", "cold"):
        assert getattr(quick.money, name) == getattr(slow.money, name)
    for turn in range(1, len(turns) + 1):
        assert closing_call(quick.close(), turn) == closing_call(slow.close(), turn)


@given(TURNS)
def test_sums_agree_with_the_turns(turns: list[Turn]) -> None:
    ledger, _ = paid(turns, False, Settings())
    series, line = ledger.close(), total(ledger.money.bills)
    assert len(series) == len(turns)
    assert (series.usd[-1] if turns else 0) == line.usd
    assert line.sends == ledger.money.spent.sends == series.sends(len(turns))
    assert list(series.elapsed) == [float(n) for n in range(len(turns))]


def test_absurd_counts_are_held() -> None:
    huge = Turn("r", usage=Usage(1 << 52, 1 << 52), model="cheap")
    dear = replace(CHEAP, input=10**12)

    class Dear(Book):
        def find(self, model: str | None, time: float | None = None) -> Price | None:
            return dear

    ledger = Ledger(Settings())
    for _ in range(3):
        ledger.pay(huge, Dear(), 0.0)
    assert ledger.close().usd[-1] == (1 << 63) - 1
    assert ledger.close().input[-1] == 3 << 52
