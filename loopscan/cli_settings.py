"""From the options of a command to inputs, settings and prices."""

from __future__ import annotations

import os
import sys
import time
from typing import TYPE_CHECKING

from loopscan.cli_output import say
from loopscan.cli_values import cap, cap_count, cap_usd, duration, field_map, ratio, value
from loopscan.errors import UsageError
from loopscan.ignored import with_ignored
from loopscan.places import default_paths
from loopscan.redact import hashed
from loopscan.rules import chosen
from loopscan.scan import Inputs
from loopscan.settings import CapSettings, Settings
from loopscan.span import span

if TYPE_CHECKING:
    from loopscan.cli_given import Given
    from loopscan.prices import Prices
    from loopscan.scan import Watch


def inputs(given: Given, watch: Watch | None = None) -> Inputs:
    """What to read: the paths; else the named agent's own folders; else piped standard input."""
    paths, hide = given.paths or [], hashed if given.redact else None
    loud = None if given.quiet else say
    if not paths and given.from_ is not None:
        paths = default_paths(given.from_)
        if loud is not None:
            loud(f"reading {', '.join(map(hide, paths) if hide else paths)}")
    elif not paths:
        if sys.stdin is None or sys.stdin.isatty():
            raise UsageError("nothing to read: name a file, a folder or - for standard input")
        paths = ["-"]
    tell = loud if given.verbose else None
    names = field_map(given.map or [])
    return Inputs(paths, given.from_, names, loud, tell, hide, watch, stoppable=True, jobs=given.jobs or cores())


def cores() -> int:
    """The cores that this process may use."""
    if hasattr(os, "sched_getaffinity"):
        return len(os.sched_getaffinity(0))
    return os.cpu_count() or 1


def settings(given: Given) -> Settings:
    """The engine's settings. Raises UsageError."""
    caps = CapSettings(
        cap_count("--turn-cap", given.turn_cap),
        cap_count("--token-cap", given.token_cap),
        cap_usd("--cost-cap", given.cost_cap),
        cap("--time-cap", given.time_cap, duration),
    )
    return Settings(
        window=given.window,
        copies=given.copies,
        exact=given.exact,
        repeat_limit=given.repeat_limit,
        caps=caps,
        context_window=given.context_window,
        base=given.base,
        growth=given.growth,
        out=given.out,
        chars_per_token=None
        if given.chars_per_token is None
        else value("--chars-per-token", given.chars_per_token, ratio),
        cost="recorded" if given.cost.value == "recorded" else "computed",
        per="session" if given.per.value == "session" else "prompt",
        idle=None if given.idle is None else value("--idle", given.idle, duration),
        tools=with_ignored(given.tools, given.ignore or ()),
        rules=chosen(given.rules, given.no_rule or ()),
        span=span(given.since, given.until, given.tz, time.time()),
    )


def prices(given: Given) -> Prices:
    """Where prices come from: the --p- options, `--prices`, the built-in table. Raises UsageError, InputError."""
    from pathlib import Path

    from loopscan.prices import from_options

    return from_options(
        given.p_in,
        given.p_out,
        given.p_cache_read,
        given.p_cache_write,
        given.p_cache_write_1h,
        file=None if given.prices is None else Path(given.prices),
        price_date=given.price_date,
    )
