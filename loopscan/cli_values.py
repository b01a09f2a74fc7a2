"""Values of options that are given as text: caps, amounts, durations, field names."""

from __future__ import annotations

import re
from fractions import Fraction
from typing import TYPE_CHECKING, Literal, TypeVar

from loopscan.errors import UsageError
from loopscan.price import PICO, rate

if TYPE_CHECKING:
    from collections.abc import Callable

_T = TypeVar("_T")


def field_map(pairs: list[str]) -> dict[str, str]:
    """`name=tool.function,args=tool.params` as a dict. Raises UsageError."""
    if not pairs:
        return {}
    from loopscan.config import unknown
    from loopscan.formats.native import FIELDS

    found: dict[str, str] = {}
    for pair in ",".join(pairs).split(","):
        if not pair.strip():
            continue
        ours, equals, path = (part.strip() for part in pair.partition("="))
        if not (ours and equals and path):
            raise UsageError(f"--map {pair!r}: write OURS=PATH, for example name=tool.function")
        if ours not in FIELDS:
            raise UsageError(unknown(f"--map {pair!r}", ours, FIELDS))
        found[ours] = path
    return found


def value(name: str, text: str, parse: Callable[[str], _T]) -> _T:
    """What `parse` makes of the text of option `name`; its ValueError as UsageError."""
    try:
        return parse(text)
    except ValueError as err:
        raise UsageError(f"{name} {text!r}: {err}") from None


def cap(name: str, text: str, parse: Callable[[str], _T]) -> _T | Literal["auto"] | None:
    """A cap: what `parse` reads, `auto`, or None for off. Raises UsageError."""
    if text == "auto":
        return "auto"
    return None if text in ("off", "none") else value(name, text, parse)


def cap_count(name: str, text: str) -> int | Literal["auto"] | None:
    """A cap that is a count: a number, `auto`, or None for off. Raises UsageError."""
    return cap(name, text, _count)


def cap_usd(name: str, text: str) -> int | Literal["auto"] | None:
    """A cap in USD as picodollars, `auto`, or None for off. Raises UsageError."""
    return cap(name, text, _pico)


def _count(text: str) -> int:
    if not re.fullmatch(r"\d[\d_,]*", text):
        raise ValueError("a whole number, auto or off is wanted")
    return int(re.sub("[_,]", "", text))


def _pico(text: str) -> int:
    return round(rate(text.lstrip("$")) * (PICO // 1_000_000))


def ratio(text: str) -> Fraction:
    """A number above 0, exactly as written. Raises ValueError."""
    if not re.fullmatch(r"\d+(?:\.\d+)?", text) or not Fraction(text):
        raise ValueError("a number above 0 is wanted")
    return Fraction(text)


def duration(text: str) -> float:
    """Seconds of `90`, `90s`, `10m`, `6h` or `7d`. Raises ValueError."""
    match = re.fullmatch(r"(\d+(?:\.\d+)?)\s*(s|m|h|d|)", text)
    if match is None:
        raise ValueError("a duration such as 90, 90s, 10m, 6h or 7d is wanted")
    return float(match[1]) * {"": 1, "s": 1, "m": 60, "h": 3600, "d": 86400}[match[2]]
