"""What can be set: the detector, the exits, the cost model. Plain data, no reading of files."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from fractions import Fraction
from typing import Literal

from loopscan.rules import RULES
from loopscan.span import EVER, Span

Auto = Literal["auto"]


@dataclass(slots=True, frozen=True)
class CapSettings:
    """The caps as asked for: a number, `auto` (worked out from the scan's own done runs) or None = off.

    `turns` count, `tokens` count, `usd` picodollars, `seconds` of log time.
    """

    turns: int | Auto | None = "auto"
    tokens: int | Auto | None = "auto"
    usd: int | Auto | None = "auto"
    seconds: float | Auto | None = "auto"


@dataclass(slots=True, frozen=True)
class Typical:
    """The 95th percentile of what healthy runs came to; None = too few of them. `source`: which runs, in a word."""

    turns: int | None = None
    tokens: int | None = None
    usd: int | None = None
    seconds: float | None = None
    source: str = ""


@dataclass(slots=True, frozen=True)
class Detection:
    """One setting of the detector; window 0 = the period rule is off, repeat_limit 0 likewise."""

    window: int = 20
    copies: int = 2
    repeat_limit: int = 0
    exact: bool = False


@dataclass(slots=True, frozen=True)
class ToolSettings:
    """What the user knows of a tool; None = not said.

    `ignore`: parts that two equal turns may differ in, as `result.path` or `args.path`. `poll`: calling it again is
    waiting. `mutates`: it changes what other calls return. `unordered`: the order of lists in its results says nothing.
    """

    ignore: tuple[str, ...] = ()
    poll: bool | None = None
    mutates: bool | None = None
    unordered: bool | None = None


@dataclass(slots=True, frozen=True)
class Settings:
    """How runs are read and judged.

    `per`: whether a session is split into one run per user prompt. `context_window`: tokens; None = what the log
    or the price table says. `base`, `growth`, `out`: the cost model for sends without recorded usage, in tokens;
    base None = such sends are not modelled. `chars_per_token`: for estimates from text; None = by model family.
    `cost`: whether a send costs what its tokens come to, or what the log states where it does.
    `span`: the runs that count are those that ended in it. `typical`: healthy runs known from before the scan, which
    `auto` caps come from where it knows them. `watched`: further settings of the detector to run over the same turns.
    `tools`: by tool name. `rules`: those that make episodes beside the period rule; none under `exact`.
    """

    window: int = 20
    copies: int = 2
    exact: bool = False
    repeat_limit: int = 0
    caps: CapSettings = CapSettings()
    context_window: int | None = None
    base: int | None = None
    growth: int = 500
    out: int = 0
    chars_per_token: Fraction | None = None
    cost: Literal["computed", "recorded"] = "computed"
    per: Literal["prompt", "session"] = "prompt"
    idle: float | None = None
    span: Span = EVER
    typical: Typical = Typical()
    watched: tuple[Detection, ...] = ()
    tools: Mapping[str, ToolSettings] = field(default_factory=dict)
    rules: tuple[str, ...] = tuple(RULES)
