"""A scan by several processes, with the result of one.

Each file is first read as a scan of its own, the largest first; a big one of lines that stand for themselves in several
parts. Runs that turn out to stand in several parts are read again, and so are files that have something in common
(`loopscan.ties`), together and in their order. What came of each file is put where a single process would have had it.
"""

from __future__ import annotations

import os
import stat
from contextlib import nullcontext, suppress
from typing import TYPE_CHECKING, Final

from loopscan.engine import Audit
from loopscan.formats import load
from loopscan.money import PriceBook
from loopscan.scan import Inputs, Reading
from loopscan.settings import Settings
from loopscan.source import Input
from loopscan.stop import STOP, on_interrupt

if TYPE_CHECKING:
    from loopscan.gather import Gathered

ENOUGH: Final = 16 << 20
"""Bytes of all inputs below which one process is done before others would have begun."""
MOST: Final = 0.9
"""A file of such a share of all bytes leaves others too little to do."""
_PACKED: Final = 6
"""A compressed file is as much work as a plain one of so many times its size."""


def read(inputs: Inputs, settings: Settings, prices: PriceBook, engine: Audit) -> Reading | None:
    """Read the inputs into `engine`; None where one process is as quick. Raises InputError as a scan does."""
    if inputs.format:
        load(inputs.format)
    items = inputs.items()
    sizes = _sizes(items)
    if sum(sizes) < ENOUGH:
        return None
    from loopscan.cuts import all_places

    places = all_places(items, sizes, inputs, not settings.watched and settings.idle is None)
    if STOP.asked or (not places and (len(items) < 2 or max(sizes) > MOST * sum(sizes))):
        return None
    from loopscan.crew import Crew, NoCrew
    from loopscan.gather import Gathered, shares_of
    from loopscan.shares import task

    shares = shares_of(items, sizes, places, inputs.jobs)
    found, asked = Gathered(items, sizes, inputs), task(inputs, settings, prices)
    if any(p.run for p in places.values()):
        from loopscan.relayed import Relay

        found.cuts.update({n: Relay({n: items[n]}) for n, p in places.items() if p.run})
    with on_interrupt() if inputs.stoppable else nullcontext(), suppress(NoCrew):
        with Crew(min(inputs.jobs, len(shares)), asked) as crew:
            if not found.first(crew, shares):
                return None
            found.join(crew)
            found.tie(crew)
        return _told(found, inputs, settings, engine)
    return None


def _told(found: Gathered, inputs: Inputs, settings: Settings, engine: Audit) -> Reading:
    reading = Reading(inputs, settings.span, engine)
    reading.stopped, reading.unread = STOP.asked, found.unread
    found.place(reading, engine)
    return reading


def _sizes(items: list[Input]) -> list[int]:
    """The work of each input in bytes; none where an input must be read where it is: a pipe, standard input."""
    sizes = []
    for item in items:
        try:
            status = os.stat(item.path) if item.path != "-" else None
        except OSError:
            sizes.append(0)
            continue
        if status is None or not stat.S_ISREG(status.st_mode):
            if item.problem is None:
                return [0]
            sizes.append(0)
        else:
            sizes.append(status.st_size * (_PACKED if item.path.endswith((".gz", ".zst")) else 1))
    return sizes
