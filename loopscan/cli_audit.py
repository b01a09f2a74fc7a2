"""`loopscan audit`: from what was given to a report on standard output."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from loopscan.cli_bar import bar
from loopscan.cli_history import save, store_of
from loopscan.cli_output import say, write
from loopscan.cli_settings import inputs, prices, settings
from loopscan.errors import UsageError
from loopscan.garbage import freed_late
from loopscan.redact import redacted, run_name
from loopscan.scan import run

if TYPE_CHECKING:
    from collections.abc import Callable

    from loopscan.cli_given import Given
    from loopscan.fail import Rule
    from loopscan.history import Store
    from loopscan.report import Report, RunReport


def audit_command(given: Given) -> int:
    """Scan, render, and the exit code."""
    rules = _rules(given)
    with store_of(given) as store:
        report = scanned(given, store)
        if given.redact:
            report = redacted(report)
        freed_late(report)
        tripped = _tripped(rules, report)
        doubt(rules, report, given)
        try:
            if store is not None:
                save(report, store, given)
        finally:  # a store that cannot be written takes nothing from the report
            write(_only(report, given), given)
    return exit_code(report, given, tripped)


def _rules(given: Given) -> list[Rule]:
    """The rules of `--fail-on`, which are loaded only where there are any. Raises UsageError."""
    if not given.fail_on:
        return []
    from loopscan.fail import NEW_STUCK, needs_store, rules_of

    rules = rules_of(given.fail_on)
    if given.store is None and needs_store(rules):
        raise UsageError(f"--fail-on {NEW_STUCK} needs --store FILE: what is new is told by what was there before")
    return rules


def _tripped(rules: list[Rule], report: Report) -> list[str]:
    if not rules:
        return []
    from loopscan.fail import failures

    return failures(rules, report)


def _only(report: Report, given: Given) -> Report:
    """The report with the runs that are to be shown."""
    if not given.only:
        return report
    wanted = {v.value for v in given.only}
    return replace(report, runs=[r for r in report.runs if (r.verdict or "blind") in wanted])


def doubt(rules: list[Rule], report: Report, given: Given) -> None:
    """Say which rules could not be told for certain."""
    if given.quiet or not rules:
        return
    from loopscan.fail import untold

    for line in untold(rules, report):
        say(line)


def naming(given: Given) -> Callable[[RunReport], str]:
    """How a run is named in a message."""
    return (lambda run: run_name(run.run, run.source)) if given.redact else (lambda run: run.run)


def exit_code(report: Report, given: Given, tripped: list[str]) -> int:
    """1 where a `--fail-on` rule tripped (each is said), 4 where `--strict` finds something left out, else 0."""
    for line in tripped:
        say(line)
    if tripped:
        return 1
    return 4 if given.strict and (report.skipped.total or report.failures) else 0


def scanned(given: Given, store: Store | None = None) -> Report:
    """The report of the inputs under the settings that were given, and against what a store knows."""
    asked = settings(given) if store is None else replace(settings(given), typical=store.typical())
    with bar(given.quiet) as watch:
        report = run(inputs(given, watch), asked, prices(given))
    if store is not None:
        report.known_stuck = store.stuck()
    report.settings |= {"cost": given.cost.value, "price_date": given.price_date}
    return report
