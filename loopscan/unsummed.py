"""Sends in a row that took the short way of a ledger: their numbers are noted, their sums are still to be made."""

from __future__ import annotations

from typing import Final

import msgspec

from loopscan.model import Usage

ALL: Final = 7
"""Every class of cached tokens was recorded."""


class Unsummed(msgspec.Struct, gc=False):
    """`source`: where their tokens come from, one for all of them, see `loopscan.fill.Filling`; "" = there are none.

    `start`: index in the open part of the first of them. `reads`, `writes`, `hours`: their cached tokens, `classes`:
    which of those were recorded: 1 read, 2 written, 4 written for an hour.
    """

    source: str = ""
    start: int = 0
    reads: int = 0
    writes: int = 0
    hours: int = 0
    classes: int = 0

    def begin(self, source: str, start: int) -> None:
        """Start anew."""
        self.source, self.start = source, start
        self.classes = self.reads = self.writes = self.hours = 0

    def note(self, usage: Usage) -> None:
        """Note which classes of cached tokens a send recorded."""
        read, write, hour = usage.cache_read, usage.cache_write, usage.cache_write_1h
        self.classes |= (read is not None) + 2 * (write is not None) + 4 * (hour is not None)

    def usage(self, sent: int, output: int) -> Usage:
        """The usage of all of them, which is so many tokens."""
        known, hours = self.classes, self.hours
        return Usage(
            sent, output, self.reads if known & 1 else None, self.writes if known & 2 else None,
            hours if known & 4 else None,
        )  # fmt: skip

    def parts(self, sent: int) -> tuple[int, int, int, int]:
        """Their input by class, see `loopscan.price.parts`."""
        return sent - self.reads - self.writes, self.reads, self.writes - self.hours, self.hours
