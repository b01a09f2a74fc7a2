"""`loopscan cost`: the worked model without a path, the money of real runs with one."""

from __future__ import annotations

from typing import TYPE_CHECKING

from loopscan.cli_audit import doubt, exit_code, naming, scanned
from loopscan.cli_output import opened, options
from loopscan.cli_settings import prices
from loopscan.cli_values import cap_count, cap_usd
from loopscan.cost import Loop
from loopscan.errors import UsageError
from loopscan.fail import failures, needs_store, rules_of
from loopscan.redact import redacted
from loopscan.worked import Case, endless

if TYPE_CHECKING:
    from loopscan.cli_given import Given

BASE, WINDOW, TURN_CAP, TOKEN_CAP = 3_000, 200_000, 15, 100_000
"""The worked case unless said otherwise: a support bot's loop and a 200k model."""


def cost_command(given: Given) -> int:
    """Render the worked case or the money of the inputs; the exit code."""
    if given.paths or given.from_:
        return _measured(given)
    from loopscan.render import worked, worked_rows

    case = worked_case(given)
    with opened(given.output) as out:
        if given.format.value == "table":
            worked.render(case, out, options(given, out))
        else:
            worked_rows.render(case, out, given.format.value)
    return 0


def _measured(given: Given) -> int:
    from loopscan.render import COST_RENDERERS, load

    rules = rules_of(given.fail_on or ())
    if needs_store(rules):
        raise UsageError("--fail-on new:stuck is for loopscan audit with --store FILE")
    report = scanned(given)
    with opened(given.output) as out:
        load(given.format.value, COST_RENDERERS).render(
            redacted(report) if given.redact else report, out, options(given, out)
        )
    doubt(rules, report, given)
    return exit_code(report, given, failures(rules, report, naming(given)))


def worked_case(given: Given) -> Case:
    """The case that the options describe. Raises UsageError."""
    price = prices(given).flags
    if price is None:
        raise UsageError("without a path the model needs prices: give --p-in and --p-out, in USD per million tokens")
    turns, tokens, usd = (
        cap_count("--turn-cap", given.turn_cap),
        cap_count("--token-cap", given.token_cap),
        cap_usd("--cost-cap", given.cost_cap),
    )
    case = Case(
        Loop(BASE if given.base is None else given.base, given.growth, given.out),
        price,
        given.context_window or WINDOW,
        given.no_progress,
        TURN_CAP if turns == "auto" else turns,
        TOKEN_CAP if tokens == "auto" else tokens,
        None if usd == "auto" else usd,
        given.normal,
        given.cache,
        given.compact_at,
        given.summary,
    )
    if case.compact_at is not None and case.compact_at >= case.window:
        raise UsageError(f"--compact-at {case.compact_at}: must be below the context window ({case.window})")
    try:
        endless(case)
    except ValueError as err:
        raise UsageError(f"--compact-at {given.compact_at}: {err}") from None
    return case
