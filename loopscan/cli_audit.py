"""`loopscan audit`: from what was given to a report on standard output."""

from __future__ import annotations

import os
import re
import sys
from contextlib import contextmanager
from typing import TYPE_CHECKING, Literal, TextIO, TypeVar

from loopscan.errors import UsageError
from loopscan.places import default_paths
from loopscan.price import PICO, rate
from loopscan.scan import Inputs, run
from loopscan.settings import CapSettings, Settings

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from loopscan.cli_options import Given
    from loopscan.prices import Prices
    from loopscan.render import Options
    from loopscan.report import Report

_T = TypeVar("_T")

TERMINAL_ROWS = 20


def audit_command(given: Given) -> int:
    """Scan, render, and the exit code."""
    report = scanned(given)
    if given.only:
        wanted = {v.value for v in given.only}
        report.runs = [r for r in report.runs if (r.verdict or "blind") in wanted]
    write(report, given)
    return 4 if given.strict and (report.skipped.total or report.failures) else 0


def scanned(given: Given) -> Report:
    """The report of the inputs under the settings that were given."""
    return run(inputs(given), settings(given), prices(given))


def write(report: Report, given: Given) -> None:
    """Render the report to standard output or to `--output`."""
    from loopscan.render import load

    with opened(given.output) as out:
        load(given.format.value).render(report, out, options(given, out))


def inputs(given: Given) -> Inputs:
    """What to read: the paths; else the named agent's own folders; else piped standard input."""
    paths = given.paths or []
    if not paths and given.from_ is not None:
        paths = default_paths(given.from_)
        say(f"reading {', '.join(paths)}")
    elif not paths:
        if sys.stdin.isatty():
            raise UsageError("nothing to read: name a file, a folder or - for standard input")
        paths = ["-"]
    return Inputs(paths, given.from_, field_map(given.map or []), say)


def say(message: str) -> None:
    """One line on standard error, made harmless."""
    from loopscan.render._text import clean

    print(f"loopscan: {clean(message)}", file=sys.stderr)


def field_map(pairs: list[str]) -> dict[str, str]:
    """`name=tool.function,args=tool.params` as a dict. Raises UsageError."""
    found: dict[str, str] = {}
    for pair in ",".join(pairs).split(","):
        if not pair.strip():
            continue
        ours, equals, path = (part.strip() for part in pair.partition("="))
        if not (ours and equals and path):
            raise UsageError(f"--map {pair!r}: write OURS=PATH, for example name=tool.function")
        found[ours] = path
    return found


def settings(given: Given) -> Settings:
    """The engine's settings. Raises UsageError."""
    caps = CapSettings(
        cap_count("--turn-cap", given.turn_cap),
        cap_count("--token-cap", given.token_cap),
        cap_usd("--cost-cap", given.cost_cap),
        _cap("--time-cap", given.time_cap, duration),
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
        per="session" if given.per.value == "session" else "prompt",
        idle=None if given.idle is None else _read("--idle", given.idle, duration),
    )


def _read(name: str, text: str, parse: Callable[[str], _T]) -> _T:
    try:
        return parse(text)
    except ValueError as err:
        raise UsageError(f"{name} {text!r}: {err}") from None


def _cap(name: str, text: str, parse: Callable[[str], _T]) -> _T | Literal["auto"] | None:
    if text == "auto":
        return "auto"
    return None if text in ("off", "none") else _read(name, text, parse)


def cap_count(name: str, text: str) -> int | Literal["auto"] | None:
    """A cap that is a count: a number, `auto`, or None for off. Raises UsageError."""
    return _cap(name, text, _count)


def cap_usd(name: str, text: str) -> int | Literal["auto"] | None:
    """A cap in USD as picodollars, `auto`, or None for off. Raises UsageError."""
    return _cap(name, text, _pico)


def _count(text: str) -> int:
    if not re.fullmatch(r"\d[\d_,]*", text):
        raise ValueError("a whole number, auto or off is wanted")
    return int(re.sub("[_,]", "", text))


def _pico(text: str) -> int:
    return round(rate(text.lstrip("$")) * (PICO // 1_000_000))


def duration(text: str) -> float:
    """Seconds of `90`, `90s`, `10m`, `6h` or `7d`. Raises ValueError."""
    match = re.fullmatch(r"(\d+(?:\.\d+)?)\s*(s|m|h|d|)", text)
    if match is None:
        raise ValueError("a duration such as 90, 90s, 10m, 6h or 7d is wanted")
    return float(match[1]) * {"": 1, "s": 1, "m": 60, "h": 3600, "d": 86400}[match[2]]


def prices(given: Given) -> Prices:
    """Where prices come from: the --p- options, else the built-in table. Raises UsageError."""
    from loopscan.prices import from_options

    return from_options(given.p_in, given.p_out, given.p_cache_read, given.p_cache_write, given.p_cache_write_1h)


@contextmanager
def opened(path: str | None) -> Iterator[TextIO]:
    """Standard output, or a file that appears only when it is whole. Raises UsageError."""
    if path is None or path == "-":
        if hasattr(sys.stdout, "reconfigure"):
            sys.stdout.reconfigure(encoding="utf-8", errors="backslashreplace")
        yield sys.stdout
        sys.stdout.flush()
        return
    part = f"{path}.part"
    try:
        with open(part, "w", encoding="utf-8", errors="backslashreplace", newline="") as out:
            yield out
        os.replace(part, path)
    except OSError as err:
        raise UsageError(f"--output {path}: cannot be written: {err.strerror}") from None
    finally:
        if os.path.exists(part):
            os.unlink(part)


def options(given: Given, out: TextIO) -> Options:
    """How to render: what the terminal can show, if `out` is one."""
    from loopscan.render import Options

    forced = bool(os.environ.get("FORCE_COLOR"))
    terminal = out.isatty()
    width = None
    if terminal:
        import shutil

        width = shutil.get_terminal_size().columns
    limit = given.limit if given.limit is not None else TERMINAL_ROWS if terminal else 0
    plain = bool(os.environ.get("NO_COLOR")) or os.environ.get("TERM") == "dumb"
    return Options(limit, given.detail, width, (terminal or forced) and not plain)
