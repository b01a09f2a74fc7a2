"""`loopscan replay`: policies played over logs."""

from __future__ import annotations

import re
from dataclasses import replace
from fractions import Fraction
from typing import TYPE_CHECKING

from loopscan.cli_audit import exit_code
from loopscan.cli_bar import bar
from loopscan.cli_output import opened, options
from loopscan.cli_settings import inputs, prices, settings
from loopscan.cli_values import value
from loopscan.errors import UsageError
from loopscan.history import open_store
from loopscan.policy import PRESETS, Policy, policies
from loopscan.redact import redacted
from loopscan.replay import replay, watched
from loopscan.scan import run
from loopscan.solved import solved

if TYPE_CHECKING:
    from loopscan.cli_given import Given


def replay_command(given: Given) -> int:
    """Scan once, play every policy, render."""
    wanted = _policies(given)
    share = value("--healthy-hit", given.healthy_hit, _share)
    outcomes = None if given.outcomes is None else solved(given.outcomes)
    asked = watched(settings(given), wanted)
    if given.store is not None:
        with open_store(given.store, reading=True) as store:
            asked = replace(asked, typical=store.typical())
    with bar(given.quiet) as watch:
        report = run(inputs(given, watch), asked, prices(given))
    report.settings |= {"cost": given.cost.value, "price_date": given.price_date}
    report = redacted(report) if given.redact else report
    found = replay(report, asked, wanted, outcomes)
    with opened(given.output) as out:
        form = given.format.value
        if form == "table":
            from loopscan.render import replay as table

            table.render(found, share, report, out, options(given, out))
        else:
            from loopscan.render import replay_json

            if form == "json":
                replay_json.render(found, share, report, out)
            else:
                replay_json.render_csv(found, out)
    return exit_code(report, given, [])


def _policies(given: Given) -> list[Policy]:
    """The policies asked for, every preset where none is. Raises UsageError."""
    session = given.per.value == "session"
    presets = [name for name, keys in PRESETS.items() if not (session and keys.get("per") == "prompt")]
    wanted = policies(given.policy or presets)
    for policy in wanted:
        if policy.per not in (None, given.per.value):
            raise UsageError(
                f"--policy {policy.name!r} is made for --per {policy.per}, not for --per {given.per.value}"
            )
    return wanted


def _share(text: str) -> Fraction:
    """`1%`, `0.5%` or `0.01` exactly. Raises ValueError."""
    match = re.fullmatch(r"(\d+(?:\.\d+)?)\s*(%?)", text.strip())
    found = Fraction(match[1]) / (100 if match[2] else 1) if match else None
    if found is None or found >= 1:
        raise ValueError("a share below 100% is wanted, as 1% or 0.01")
    return found
