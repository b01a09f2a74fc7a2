"""What is known of the money of a run: tokens by source, bills by model, and how far each figure can be trusted."""

from __future__ import annotations

from typing import Final, Protocol

import msgspec

from loopscan.bill import Bill
from loopscan.cold import Cold
from loopscan.model import Usage
from loopscan.price import Price, dollar_text, nearest
from loopscan.series import Series

CLOSING_OUTPUT: Final = 500
"""Output tokens of the one summary that a stopped run still owes its user."""


PRICE_SPAN: Final = 1800
"""Seconds: prices change by the day, a few by the hour of the day, and always on the half hour (UTC)."""


class PriceBook(Protocol):
    """Where prices and context windows come from (`loopscan.prices.Prices`).

    The price of a model may change only at whole multiples of `PRICE_SPAN`.
    """

    def find(self, model: str | None, time: float | None = None) -> Price | None:
        """The price of a send by its model and time in epoch seconds; None if unknown."""

    def window(self, model: str | None) -> int | None:
        """The context window of a model in tokens; None if unknown."""


class Unpriced:
    """Knows no price."""

    def find(self, model: str | None, time: float | None = None) -> Price | None:
        """None."""

    def window(self, model: str | None) -> int | None:
        """None."""


class Spent(msgspec.Struct, gc=False):
    """Recorded or modelled tokens of a run by class; a class nobody recorded stays None.

    `usage_sources`: sends by where their tokens come from; `prices`: sends by where their price comes from;
    `unpriced`: sends without one.
    """

    sends: int = 0
    input: int | None = None
    cache_read: int | None = None
    cache_write: int | None = None
    cache_write_1h: int | None = None
    output: int | None = None
    unpriced: int = 0
    usage_sources: dict[str, int] = {}
    prices: dict[str, int] = {}

    def add(self, usage: Usage) -> None:
        """Add the usage of a send."""
        if usage.input is not None:
            self.input = (self.input or 0) + usage.input
        if usage.cache_read is not None:
            self.cache_read = (self.cache_read or 0) + usage.cache_read
        if usage.cache_write is not None:
            self.cache_write = (self.cache_write or 0) + usage.cache_write
        if usage.cache_write_1h is not None:
            self.cache_write_1h = (self.cache_write_1h or 0) + usage.cache_write_1h
        if usage.output is not None:
            self.output = (self.output or 0) + usage.output


class Checked(msgspec.Struct, gc=False):
    """Sends whose dollars the log states too: as recorded and as computed, in picodollars.

    `alone`, `alone_sends`: the recorded dollars of sends that have no price, and so no computed ones.
    """

    sends: int = 0
    recorded: int = 0
    computed: int = 0
    alone_sends: int = 0
    alone: int = 0

    def add(self, recorded: int, computed: int | None) -> None:
        """Add a send."""
        if computed is None:
            self.alone_sends += 1
            self.alone += recorded
        else:
            self.sends += 1
            self.recorded += recorded
            self.computed += computed

    def join(self, other: Checked) -> None:
        """Add the sends of another run."""
        self.sends += other.sends
        self.recorded += other.recorded
        self.computed += other.computed
        self.alone_sends += other.alone_sends
        self.alone += other.alone


class Guessed(msgspec.Struct, gc=False):
    """What was not measured.

    `usd`: picodollars of modelled and estimated sends. `input`, `output`: tokens estimated from text. `baseless`:
    sends whose estimate lacks the base, as nothing before them was measured. `placeholders`: sends whose recorded
    output is none; `more_output`, `more_usd`: what an estimate of it adds to the recorded figures.
    """

    usd: int = 0
    input: int = 0
    output: int = 0
    baseless: int = 0
    placeholders: int = 0
    more_output: int = 0
    more_usd: int = 0

    def add(self, sent: int, output: int, sends: int) -> None:
        """Add the estimated tokens of a send, or of some; `sends`: how many of them are baseless."""
        self.input += sent
        self.output += output
        self.baseless += sends


class Money(msgspec.Struct, gc=False):
    """The money of a run."""

    spent: Spent = msgspec.field(default_factory=Spent)
    bills: list[Bill] = []
    checked: Checked = msgspec.field(default_factory=Checked)
    guessed: Guessed = msgspec.field(default_factory=Guessed)
    cold: Cold = msgspec.field(default_factory=Cold)


class Children(msgspec.Struct, gc=False):
    """The runs that a run started, and those that they started: how many, how many of them unpriced, picodollars."""

    runs: int = 0
    unpriced: int = 0
    usd: int = 0

    @property
    def priced_usd(self) -> int | None:
        """Picodollars, None when none of them is priced."""
        return None if self.unpriced == self.runs else self.usd


def closing_call(series: Series, turn: int) -> int | None:
    """Picodollars of one last summary after a turn: the input of the next send as it was paid, and the summary.

    None at the end of the run, and where the next send has no price.
    """
    send = series.next_paid(turn)
    if send is None or (reading := series.reading(send)) is None:
        return None
    return reading + nearest(CLOSING_OUTPUT * (series.rate(send) or 0))


def money_notes(money: Money) -> list[str]:
    """What a reader of the record must know of its money, one line each."""
    guessed, checked, notes = money.guessed, money.checked, []
    if guessed.baseless:
        notes.append(
            f"input of {_sends(guessed.baseless)} estimated from text without the base (system prompt, tools, task): "
            "a lower bound, --base models it instead"
        )
    if guessed.placeholders:
        notes.append(f"recorded output of {_sends(guessed.placeholders)} is a placeholder")
    if words := apart(checked):
        stated, computed = dollar_text(checked.recorded, 4), dollar_text(checked.computed, 4)
        notes.append(f"the log states {stated} for {_sends(checked.sends)}, computed {computed}: {words}")
    return notes


def _sends(count: int) -> str:
    return f"{count:,} send{'' if count == 1 else 's'}"


def apart(checked: Checked) -> str | None:
    """How far computed dollars are from recorded ones, in words; None within 1 %."""
    less = checked.computed - checked.recorded
    if not checked.sends or abs(less) * 100 <= checked.recorded:
        return None
    if not checked.recorded:
        return "all of it more"
    return f"{abs(less) / checked.recorded:.1%} {'more' if less > 0 else 'less'}"
