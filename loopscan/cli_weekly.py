"""The commands that look over many runs: `history` and `replay`."""

from __future__ import annotations

import typer

from loopscan import cli_options as o
from loopscan.cli_given import gathered


def history(
    context: typer.Context,
    store: o.StoreFile = None,
    by: o.By = None,
    weeks: o.Weeks = 8,
    tz: o.Zone = None,
    limit: o.Limit = None,
    format_: o.HistoryFormat = o.HistoryFormatChoice.table,
    output: o.Output = None,
) -> int:
    """Runs per week from a store: how they ended, stuck ones, waste, dollars, against the week before."""
    given = gathered(locals())
    from loopscan.cli_history import history_command

    return history_command(given)


def replay(
    context: typer.Context,
    paths: o.Paths = None,
    policy: o.PolicyGiven = None,
    healthy_hit: o.HealthyHit = "1%",
    outcomes: o.Outcomes = None,
    window: o.Window = 20,
    copies: o.Copies = 2,
    exact: o.Exact = False,
    repeat_limit: o.RepeatLimit = 0,
    ignore: o.Ignore = None,
    rules: o.RulesOn = "all",
    no_rule: o.NoRule = None,
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
    since: o.Since = None,
    until: o.Until = None,
    tz: o.Zone = None,
    store: o.StoreFile = None,
    limit: o.Limit = None,
    format_: o.HistoryFormat = o.HistoryFormatChoice.table,
    output: o.Output = None,
    strict: o.Strict = False,
    redact: o.Redact = False,
    jobs: o.Jobs = None,
    quiet: o.Quiet = False,
    verbose: o.Verbose = False,
) -> int:
    """Policies over the same logs: what each saves in runs that failed, which healthy runs it stops, the best caps."""
    given = gathered(locals())
    from loopscan.cli_replay import replay_command

    return replay_command(given)
