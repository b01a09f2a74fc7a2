"""The command line: options to settings, a scan, a renderer, an exit code. No logic beyond the wiring."""

from __future__ import annotations

import sys
from copy import copy
from typing import Annotated

import typer

from loopscan import cli_options as o
from loopscan.cli_given import Given, gathered
from loopscan.cli_one import show
from loopscan.cli_weekly import history, replay
from loopscan.errors import LoopscanError
from loopscan.stop import STOP, Terminated, on_terminate

app = typer.Typer(
    name="loopscan",
    help="Find the agent runs that went round in circles, what they cost, and which exit would have ended them first.",
    no_args_is_help=True,
    add_completion=True,
    rich_markup_mode=None,
    pretty_exceptions_enable=False,
)


def run(argv: list[str] | None = None) -> int:
    """Run the command line; the exit code of DESIGN section 7."""
    from loopscan.cli_output import drop_output, say, standard

    try:
        with on_terminate(), standard():
            code = _program(argv)(argv, standalone_mode=False, prog_name="loopscan")
    except LoopscanError as err:
        for message in err.args:
            say(str(message))
        return err.exit_code
    except typer.Exit as stop:
        return stop.exit_code
    except (KeyboardInterrupt, typer.Abort):
        say("stopped")
        return 130
    except Terminated:
        return 143
    except (BrokenPipeError, SystemExit):  # the parser makes the one of the other
        drop_output()
        return 0
    except Exception as err:  # noqa: BLE001 - the outermost function: usage errors of the parser, else re-raised
        return _usage(err)
    return 130 if STOP.stopped else code if isinstance(code, int) else 0


def _program(argv: list[str] | None) -> typer.Typer:
    """The command that is named first, as all that there is: to make them all takes longer than to run one."""
    named = (sys.argv[1:] if argv is None else argv)[:1]
    program = copy(app)
    program.registered_commands = [c for c in app.registered_commands if c.callback and [c.callback.__name__] == named]
    return program if program.registered_commands else app


def _usage(err: Exception) -> int:
    """Print a parser's usage error; anything else is a fault of ours and is raised."""
    message = getattr(err, "format_message", None)
    if message is None:
        raise err
    from loopscan.cli_output import say

    say(f"{message()} (see --help)")
    return 2


def _version(asked: bool) -> None:
    if asked:
        from loopscan._version import __version__

        print(f"loopscan {__version__}")
        raise typer.Exit


@app.callback()
def _root(
    context: typer.Context,
    version: Annotated[
        bool, typer.Option("--version", "-V", help="Print the version.", is_eager=True, callback=_version)
    ] = False,
) -> None:
    from loopscan.cli_config import apply

    apply(context)


@app.command()
def audit(
    context: typer.Context,
    paths: o.Paths = None,
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
    only: o.Only = None,
    limit: o.Limit = None,
    detail: o.Detail = 3,
    format_: o.Format = o.FormatChoice.table,
    output: o.Output = None,
    strict: o.Strict = False,
    fail_on: o.FailOn = None,
    store: o.StoreFile = None,
    since: o.Since = None,
    until: o.Until = None,
    tz: o.Zone = None,
    redact: o.Redact = False,
    jobs: o.Jobs = None,
    quiet: o.Quiet = False,
    verbose: o.Verbose = False,
) -> int:
    """Audit logs: per run how it ended, where it repeats, what that wasted, and which exit would have fired first."""
    given = gathered(locals())
    from loopscan.cli_audit import audit_command

    return audit_command(given)


@app.command()
def cost(
    context: typer.Context,
    paths: o.Paths = None,
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
    context_window: o.ContextWindow = None,
    no_progress: o.NoProgressAt = 3,
    turn_cap: o.TurnCap = "auto",
    token_cap: o.TokenCap = "auto",
    cost_cap: o.CostCap = "auto",
    normal: o.Normal = 6,
    window: o.Window = 20,
    copies: o.Copies = 2,
    from_: o.From = None,
    map_: o.Map = None,
    per: o.Per = o.PerChoice.prompt,
    cache: o.Cached = False,
    compact_at: o.CompactAt = None,
    summary: o.Summary = 2_000,
    limit: o.Limit = None,
    detail: o.Detail = 3,
    format_: o.CostFormat = o.CostFormatChoice.table,
    output: o.Output = None,
    strict: o.Strict = False,
    fail_on: o.FailOn = None,
    since: o.Since = None,
    until: o.Until = None,
    tz: o.Zone = None,
    redact: o.Redact = False,
    jobs: o.Jobs = None,
    quiet: o.Quiet = False,
    verbose: o.Verbose = False,
) -> int:
    """Without a path: the quadratic cost model worked out. With paths: what each run cost, fitted and measured."""
    given = gathered(locals())
    from loopscan.cli_cost import cost_command

    return cost_command(given)


app.command()(history)
app.command()(replay)
app.command()(show)


@app.command()
def convert(
    context: typer.Context,
    paths: o.Paths = None,
    from_: o.From = None,
    map_: o.Map = None,
    per: o.Per = o.PerChoice.prompt,
    output: o.Output = None,
) -> int:
    """Write any log as native JSON Lines that audits to the same records."""
    given = gathered(locals())
    from loopscan.cli_formats import convert_command

    return convert_command(given)


@app.command()
def formats(
    format_: o.ListFormat = o.ListChoice.table,
    output: o.Output = None,
) -> int:
    """List the log formats that can be read, where they lie by default, and what they lack."""
    given = Given(format=o.FormatChoice(format_.value), output=output)
    from loopscan.cli_formats import formats_command

    return formats_command(given)


@app.command(context_settings={"allow_extra_args": True, "ignore_unknown_options": True})
def config(
    context: typer.Context,
    format_: o.ListFormat = o.ListChoice.table,
    output: o.Output = None,
) -> int:
    """Show the value that holds for each option and where it comes from; flags of audit may follow."""
    given = Given(format=o.FormatChoice(format_.value), output=output)
    from loopscan.cli_config import config_command

    return config_command(context, given)
