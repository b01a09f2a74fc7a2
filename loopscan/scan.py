"""One scan from paths to a report: open, tell the format, read, audit."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field

from loopscan.engine import Audit
from loopscan.errors import InputError
from loopscan.formats import FORMATS, Scan, detect, load
from loopscan.money import PriceBook, Unpriced
from loopscan.report import Report
from loopscan.settings import Settings
from loopscan.source import Blob, Head, Input, Skips, expand, open_input


@dataclass(slots=True)
class Inputs:
    """What to read: paths as given, the format where it is forced, and the user's own field names.

    `say`: where one-line messages go (skips, unknown inputs); None = nowhere.
    """

    paths: list[str]
    format: str | None = None
    field_map: dict[str, str] = field(default_factory=dict)
    say: Callable[[str], None] | None = None


def audit(
    paths: Iterable[str | os.PathLike[str]] | str | os.PathLike[str],
    settings: Settings | None = None,
    *,
    prices: PriceBook | None = None,
    format: str | None = None,  # noqa: A002
) -> Report:
    """Audit files, folders, globs or `-`. Raises InputError, UsageError.

    `prices` prices the sends (`loopscan.prices.from_options`); by default they are unpriced.
    """
    given = [paths] if isinstance(paths, (str, os.PathLike)) else paths
    return run(Inputs([os.fspath(p) for p in given], format), settings or Settings(), prices or Unpriced())


def run(inputs: Inputs, settings: Settings, prices: PriceBook) -> Report:
    """Audit the inputs. Raises InputError when a named input cannot be read and nothing else was."""
    scan = Scan(Skips(inputs.say), settings.exact, inputs.field_map)
    engine = Audit(settings, prices, scan)
    if inputs.format:
        load(inputs.format)
    not_logs: list[str] = []
    failures: list[str] = []
    read = 0
    for item in expand(inputs.paths):
        try:
            with open_input(item) as blob:
                name = _format(blob, item, inputs.format)
                if name is not None:
                    engine.read(blob, name, load(name))
                    read += 1
                elif not item.named:
                    not_logs.append(item.path)
                elif blob.damage:
                    raise InputError(f"{item.path}: {blob.damage}")
                elif _is_empty(blob.head):
                    read += 1
                    _say(inputs, f"{item.path}: empty, no turn in it")
                else:
                    raise InputError(unknown(item.path, blob.head))
        except InputError as err:
            failures.append(str(err))
    if failures and not read:
        raise InputError("\n".join(failures[:20]))
    for failure in failures:
        _say(inputs, failure)
    if scan.skips.total > scan.skips.limit:
        _say(inputs, f"{scan.skips.total - scan.skips.limit} more skipped records are not shown")
    report = engine.finish()
    report.not_logs, report.failures = not_logs, failures
    return report


def _say(inputs: Inputs, message: str) -> None:
    if inputs.say is not None:
        inputs.say(message)


def _format(blob: Blob, item: Input, forced: str | None) -> str | None:
    """The format to read an input as; under `--from` a folder's other files are left alone."""
    if forced is None:
        return detect(blob.head)
    return forced if item.named or load(forced).sniff(blob.head) else None


def _is_empty(head: Head) -> bool:
    return not head.raw.strip(b"\xef\xbb\xbf \t\r\n\x00")


def unknown(path: str, head: Head) -> str:
    """The line about an input of no known format, with the first keys it holds."""
    keys = ", ".join(list(head.first)[:8])
    found = f"its first keys are {keys}" if keys else "it does not begin with a JSON object"
    return f"{path}: no known log format: {found}; name one with --from ({', '.join(FORMATS)}) or map fields with --map"
