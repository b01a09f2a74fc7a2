"""Text for people from untrusted values: everything shown goes through `clean`."""

from __future__ import annotations

from decimal import ROUND_HALF_UP, Decimal
from textwrap import wrap

from loopscan.hidden import visible
from loopscan.price import PICO


def clean(value: object, most: int | None = None) -> str:
    """One line of harmless text: control, bidi and invisible characters and lone surrogates made visible.

    `most`: the longest text returned; longer ones are cut with an ellipsis.
    """
    text = str(value)
    if most is not None and len(text) > most:
        text = text[: most - 1] + "…"
    return visible(text)


def folded(line: str, width: int | None) -> list[str]:
    """A line for a terminal of this width, broken at spaces; as it is where `width` is None."""
    if width is None or len(line) <= width:
        return [line]
    return wrap(line, max(width, 20), subsequent_indent="  ", break_long_words=False, break_on_hyphens=False)


def money(pico: int | None) -> str:
    """Picodollars for people: cents, four digits below one dollar where cents would hide them."""
    if pico is None:
        return "unpriced"
    amount = Decimal(pico) / PICO
    if pico and abs(amount) < Decimal("0.00005"):
        return "<$0.0001"
    if abs(amount) < 1:
        text = f"{amount.quantize(Decimal('0.0001'), ROUND_HALF_UP):f}"
        while text.endswith("0") and len(text) > 4:
            text = text[:-1]
        return f"${text}"
    return f"${amount.quantize(Decimal('0.01'), ROUND_HALF_UP):,}"


def cents(pico: int | None) -> str:
    """Picodollars to the cent."""
    if pico is None:
        return "unpriced"
    return f"${(Decimal(pico) / PICO).quantize(Decimal('0.01'), ROUND_HALF_UP):,}"


def short(number: int) -> str:
    """A count in three digits: 950, 12.3k, 39.9M."""
    for unit, size in (("G", 10**9), ("M", 10**6), ("k", 10**3)):
        if number >= size:
            value = number / size
            return f"{value:.0f}{unit}" if value >= 100 else f"{value:.1f}{unit}"
    return str(number)


def plural(number: int, noun: str) -> str:
    """`1 turn`, `2 turns`, `1,234 turns`."""
    return f"{number:,} {noun}{'' if number == 1 else 's'}"
