"""`loopscan history`, and the store of an audit."""

from __future__ import annotations

import time
from contextlib import contextmanager
from typing import TYPE_CHECKING

from loopscan.cli_output import opened, options, say
from loopscan.errors import UsageError

if TYPE_CHECKING:
    from collections.abc import Iterator

    from loopscan.cli_given import Given
    from loopscan.history import Store
    from loopscan.report import Report


def history_command(given: Given) -> int:
    """Render the weeks of a store."""
    from loopscan.history import open_store
    from loopscan.render.history import render
    from loopscan.span import timezone
    from loopscan.weeks import history

    if given.store is None:
        raise UsageError("--store FILE is missing: name the file that loopscan audit --store FILE writes")
    with open_store(given.store, reading=True) as store:
        found = history(store, given.weeks, given.by, timezone(given.tz), time.time())
    with opened(given.output) as out:
        render(found, given.tz or "UTC", given.format.value, out, options(given, out))
    return 0


@contextmanager
def store_of(given: Given) -> Iterator[Store | None]:
    """The store of an audit, opened before the scan so that a wrong one is told at once; None without `--store`."""
    if given.store is None:
        yield None
        return
    from loopscan.history import open_store

    with open_store(given.store) as store:
        yield store


def save(report: Report, store: Store, given: Given) -> None:
    """Keep the runs of an audit; those of one that was stopped are not whole and are not kept."""
    from loopscan.stored import stored

    if report.stopped:
        say(f"--store {store.path}: nothing is kept of an audit that was stopped")
        return
    saved = store.save(map(stored, report.runs), time.time())
    if given.verbose and not given.quiet:
        say(f"--store {store.path}: {saved.new} new, {saved.replaced} replaced, {saved.kept} kept as they were")
