"""One run turn by turn: the audit finds and judges it, a second pass over the inputs collects its turns."""

from __future__ import annotations

from dataclasses import replace

from loopscan.collect import Collector, Target
from loopscan.formats import Scan
from loopscan.money import PriceBook
from loopscan.plan import labelled, planned
from loopscan.redact import redacted, run_name
from loopscan.scan import Inputs, read_all, run
from loopscan.settings import Settings
from loopscan.view import View
from loopscan.which import as_it_is, which


def show(
    inputs: Inputs, settings: Settings, prices: PriceBook, asked: str, *, whole: bool = False, hide: bool = False
) -> View:
    """The run that `asked` names (see `which`), its verdict that of the whole scan. Raises InputError, UsageError.

    `whole`: every turn, not only those around its episodes. `hide`: hashes in the place of what was said.
    """
    report = run(inputs, settings, prices)
    found = which(report.runs, asked, run_name if hide else as_it_is)
    at = next(i for i, r in enumerate(report.runs) if r is found)
    before = sum(r.run == found.run and r.format == found.format for r in report.runs[:at])
    report = redacted(report) if hide else report
    view = View(report.runs[at], report, labelled(report.runs[at]))
    again = replace(inputs, say=None, tell=None, watch=None)
    collector = Collector(
        Target(found.format, found.run, before, found.turns),
        view,
        None if whole else planned(found),
        settings,
        Scan(again.skips(), settings.exact, inputs.field_map),
        hide,
    )
    read_all(again, settings.span, collector.scan, collector)
    collector.finish()
    return view
