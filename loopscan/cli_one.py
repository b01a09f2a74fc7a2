"""The command that looks at one run: `show`."""

from __future__ import annotations

import typer

from loopscan import cli_options as o
from loopscan.cli_given import gathered


def show(
    context: typer.Context,
    paths: o.Paths = None,
    run: o.RunId = "",
    all_: o.All = False,
    window: o.Window = 20,
    copies: o.Copies = 2,
    exact: o.Exact = False,
    repeat_limit: o.RepeatLimit = 0,
    ignore: o.Ignore = None,
    rules: o.RulesOn = "all",
    no_rule: o.NoRule = None,
    turn_cap: o.TurnCap = "auto",
    token_cap: o.TokenCap = "auto",
    cost_cap: o.CostCap = "auto",
    time_cap: o.TimeCap = "auto",
    context_window: o.ContextWindow = None,
    p_in: o.PIn = None,
    p_out: o.POut = None,
    p_cache_read: o.PCacheRead = None,
    p_cache_write: o.PCacheWrite = None,
    p_cache_write_1h: o.PCacheWrite1h = None,
    prices: o.PriceFile = None,
    price_date: o.PriceDate = "run",
    cost: o.CostFrom = o.CostChoice.computed,
    base: o.Base = None,
    growth: o.Growth = 500,
    out: o.Out = 0,
    chars_per_token: o.CharsPerToken = None,
    from_: o.From = None,
    map_: o.Map = None,
    per: o.Per = o.PerChoice.prompt,
    idle: o.Idle = None,
    format_: o.ListFormat = o.ListChoice.table,
    output: o.Output = None,
    redact: o.Redact = False,
    quiet: o.Quiet = False,
    verbose: o.Verbose = False,
) -> int:
    """One run turn by turn: what repeats is marked, what changed is said, and why the verdict is what it is."""
    given = gathered(locals())
    from loopscan.cli_show import show_command

    return show_command(given)
