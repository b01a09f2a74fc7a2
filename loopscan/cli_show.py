"""`loopscan show`: one run turn by turn."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

from loopscan.cli_bar import bar
from loopscan.cli_output import opened, options
from loopscan.cli_settings import inputs, prices, settings
from loopscan.errors import UsageError
from loopscan.show import show

if TYPE_CHECKING:
    from loopscan.cli_given import Given


def show_command(given: Given) -> int:
    """Find the run, collect its turns, render."""
    if not given.paths and given.from_ is None:
        if not os.path.exists(given.run):
            raise UsageError("which logs, which run? loopscan show PATH RUN")
        given.paths, given.run = [given.run], ""  # a file of one run needs no name
    with bar(given.quiet) as watch:
        wanted = inputs(given, watch)
        if "-" in wanted.paths:
            raise UsageError("show reads its inputs twice: name a file in place of standard input")
        wanted.stoppable = False
        view = show(wanted, settings(given), prices(given), given.run, whole=given.all, hide=given.redact)
    with opened(given.output) as out:
        if given.format.value == "json":
            from loopscan.render import show_json

            show_json.render(view, out)
        else:
            from loopscan.render import show as table

            table.render(view, out, options(given, out))
    return 0
