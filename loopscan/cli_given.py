"""The options a command was given."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

from loopscan.cli_options import CostChoice, FormatChoice, PerChoice, VerdictChoice
from loopscan.settings import ToolSettings


@dataclass(slots=True, eq=False, repr=False)
class Given:
    """The options a command was given, as text where their reading can fail."""

    paths: list[str] | None = None
    window: int = 20
    copies: int = 2
    exact: bool = False
    repeat_limit: int = 0
    ignore: list[str] | None = None
    rules: str = "all"
    no_rule: list[str] | None = None
    turn_cap: str = "auto"
    token_cap: str = "auto"
    cost_cap: str = "auto"
    time_cap: str = "auto"
    context_window: int | None = None
    p_in: str | None = None
    p_out: str | None = None
    p_cache_read: str | None = None
    p_cache_write: str | None = None
    p_cache_write_1h: str | None = None
    prices: str | None = None
    price_date: str = "run"
    cost: CostChoice = CostChoice.computed
    chars_per_token: str | None = None
    base: int | None = None
    growth: int = 500
    out: int = 0
    map: list[str] | None = None
    per: PerChoice = PerChoice.prompt
    idle: str | None = None
    only: list[VerdictChoice] | None = None
    limit: int | None = None
    detail: int = 3
    format: FormatChoice = FormatChoice.table
    output: str | None = None
    strict: bool = False
    since: str | None = None
    until: str | None = None
    tz: str | None = None
    redact: bool = False
    quiet: bool = False
    verbose: bool = False
    fail_on: list[str] | None = None
    store: str | None = None
    by: str | None = None
    weeks: int = 8
    policy: list[str] | None = None
    outcomes: str | None = None
    healthy_hit: str = "1%"
    cache: bool = False
    compact_at: int | None = None
    summary: int = 2_000
    no_progress: int = 3
    normal: int = 6
    run: str = ""
    all: bool = False
    jobs: int | None = 1
    tools: dict[str, ToolSettings] = field(default_factory=dict)
    from_: str | None = field(default=None)


def gathered(values: dict[str, Any]) -> Given:
    """The parameters of a command, and what the configuration knows of tools."""
    given = {k if k == "from_" else k.rstrip("_"): v for k, v in values.items()}
    given["tools"] = given.pop("context").obj.tools
    if "format" in given:
        given["format"] = FormatChoice(given["format"].value)
    return Given(**given)
