"""`loopscan audit`: from what was given to a report on standard output."""

from __future__ import annotations

from typing import TYPE_CHECKING

from loopscan.cli_output import say, write
from loopscan.cli_settings import inputs, prices, settings
from loopscan.fail import failures, parse
from loopscan.scan import run

if TYPE_CHECKING:
    from loopscan.cli_given import Given
    from loopscan.report import Report


def audit_command(given: Given) -> int:
    """Scan, render, and the exit code."""
    rules = [parse(words) for words in given.fail_on or ()]
    report = scanned(given)
    tripped = failures(rules, report)
    if given.only:
        wanted = {v.value for v in given.only}
        report.runs = [r for r in report.runs if (r.verdict or "blind") in wanted]
    write(report, given)
    return exit_code(report, given, tripped)


def exit_code(report: Report, given: Given, tripped: list[str]) -> int:
    """1 where a `--fail-on` rule tripped (each is said), 4 where `--strict` finds something left out, else 0."""
    for line in tripped:
        say(line)
    if tripped:
        return 1
    return 4 if given.strict and (report.skipped.total or report.failures) else 0


def scanned(given: Given) -> Report:
    """The report of the inputs under the settings that were given."""
    report = run(inputs(given), settings(given), prices(given))
    report.settings |= {"cost": given.cost.value, "price_date": given.price_date}
    return report
