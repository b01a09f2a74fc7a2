"""Where a command writes, and what that place can show."""

from __future__ import annotations

import errno
import os
import shutil
import sys
from contextlib import contextmanager, suppress
from typing import TYPE_CHECKING, TextIO

from loopscan.errors import UsageError

if TYPE_CHECKING:
    from collections.abc import Iterator

    from loopscan.cli_given import Given
    from loopscan.render import Options
    from loopscan.report import Report

TERMINAL_ROWS = 20
_FULL = (errno.ENOSPC, errno.EDQUOT, errno.EFBIG, errno.EIO)


def write(report: Report, given: Given) -> None:
    """Render the report to standard output or to `--output`."""
    from loopscan.render import load

    with opened(given.output) as out:
        load(given.format.value).render(report, out, options(given, out))


def say(message: str) -> None:
    """One line on standard error, made harmless."""
    from loopscan.render._text import clean

    if sys.stderr is not None:  # `2>&-`: print would take standard output instead
        with suppress(OSError):  # who reads no messages still gets the report
            print(f"loopscan: {clean(message)}", file=sys.stderr)


@contextmanager
def opened(path: str | None) -> Iterator[TextIO]:
    """Standard output, or a file that appears only when it is whole. Raises UsageError."""
    if path is None or path == "-":
        if sys.stdout is None:
            raise UsageError("standard output is closed: name a file with --output")
        if hasattr(sys.stdout, "reconfigure"):
            sys.stdout.reconfigure(encoding="utf-8", errors="backslashreplace")
        yield sys.stdout
        return
    target = os.path.realpath(path)
    device = os.path.exists(path) and not os.path.isfile(path)
    part = path if device else f"{target}.{os.getpid()}.part"
    try:
        with open(part, "w", encoding="utf-8", errors="backslashreplace", newline="") as out:
            yield out
        if not device:
            _put(part, target)
    except OSError as err:
        raise UsageError(f"--output {path}: cannot be written: {err.strerror}") from None
    finally:
        if not device and os.path.exists(part):
            os.unlink(part)


@contextmanager
def standard() -> Iterator[None]:
    """Inside the block a standard output that cannot take more is a UsageError."""
    try:
        yield
        if sys.stdout is not None:
            sys.stdout.flush()
    except BrokenPipeError:
        raise
    except OSError as err:
        if err.errno not in _FULL:
            raise
        drop_output()
        raise UsageError(f"standard output cannot be written: {err.strerror}") from None


def drop_output() -> None:
    """Let standard output lead nowhere, else the interpreter tries again to write what is left when it ends."""
    with suppress(OSError, ValueError, AttributeError):
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())


def _put(part: str, target: str) -> None:
    """Put a whole file in its place; who might read the old one may read the new one."""
    if os.path.exists(target):
        shutil.copymode(target, part)
    os.replace(part, target)


def identity(out: TextIO) -> tuple[int, int] | None:
    """Device and inode of the file that is written, None where it is none."""
    try:
        status = os.fstat(out.fileno())
    except (OSError, ValueError):
        return None
    return status.st_dev, status.st_ino


def options(given: Given, out: TextIO) -> Options:
    """How to render: what the terminal can show, if `out` is one."""
    from loopscan.render import Options

    forced = bool(os.environ.get("FORCE_COLOR"))
    terminal = out.isatty()
    width = None
    if terminal:
        width = shutil.get_terminal_size().columns
    limit = given.limit if given.limit is not None else TERMINAL_ROWS if terminal else 0
    plain = bool(os.environ.get("NO_COLOR")) or os.environ.get("TERM") == "dumb"
    return Options(limit, given.detail, width, (terminal or forced) and not plain)
