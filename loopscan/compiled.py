"""The compiled part of loopscan, for the loops that run once a line, where it could be built.

Each of them stands in Python too, says the same, and takes what the compiled one leaves: lines that are unusual in any
way. `LOOPSCAN_PURE` in the environment leaves the compiled part out.
"""

from __future__ import annotations

import os
from functools import cache
from mmap import mmap
from types import ModuleType

import orjson

from loopscan.decode import canonical, fast


@cache
def compiled() -> ModuleType | None:
    """The compiled part, set up; None where there is none."""
    if os.environ.get("LOOPSCAN_PURE"):
        return None
    try:
        from loopscan import _compiled
    except ImportError:
        return None
    from loopscan.clock import seconds_of
    from loopscan.going import Going
    from loopscan.late import Late
    from loopscan.quiet import Quiet
    from loopscan.rows import Look
    from loopscan.rules import tools
    from loopscan.rules.likeness import ASKED, LISTED
    from loopscan.rules.streaks import GAP
    from loopscan.rules.watch import TOOLS
    from loopscan.series import PART
    from loopscan.spelling import PATHS
    from loopscan.terms import PLAIN

    limits = (tools.SHELL, GAP, TOOLS, PART, LISTED, PLAIN)
    _compiled.setup(Quiet, Going, Look, Late, tools.kind, seconds_of, ident_of, PATHS, ASKED, limits)
    return _compiled


def lines_in(data: bytes | mmap, begin: int, end: int) -> int:
    """How many ends of lines are among some bytes."""
    part = compiled()
    found: int = data[begin:end].count(b"\n") if part is None else part.lines_in(data, begin, end)
    return found


def ident_of(name: str, args: bytes) -> int:
    """The ident of a call (`loopscan.key`) of arguments as JSON."""
    value = fast(args)
    try:
        return hash((name, orjson.dumps(value, None, orjson.OPT_SORT_KEYS)))
    except orjson.JSONEncodeError:
        return hash((name, canonical(value)))
