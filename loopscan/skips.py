"""What a scan left out: counted, located, said; never a silent loss."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Final

_LONGEST: Final = 300
"""Characters of a reason or a type; both can quote what stands in a log."""
SHOWN: Final = 20
"""Skipped records that are said one by one."""
KINDS: Final = 1000
"""Unknown types that are told apart."""


@dataclass(slots=True)
class Skips:
    """What was left out, with the place and the reason: a counted, located skip, never a silent loss.

    `hide`: how a file is named where its path is not to be said; nor is then what a reason quotes.
    """

    report: Callable[[str], None] | None = None
    hide: Callable[[str], str] | None = None
    limit: int = SHOWN
    total: int = 0
    by_reason: Counter[str] = field(default_factory=Counter)
    by_file: Counter[str] = field(default_factory=Counter)
    unknown: Counter[str] = field(default_factory=Counter)
    copies: int = 0
    """Records dropped because they repeat an earlier record (log copies, resumed sessions)."""
    reopened: int = 0
    barren: Counter[str] = field(default_factory=Counter)
    """Files of a known format in which there is nothing to audit, by reason."""

    def add(self, file: str, line: int | None, reason: str) -> None:
        """Count one skipped record; the first `limit` of them are reported as `file:line: reason`."""
        self.count(file, reason)
        if self.report is not None and self.total <= self.limit:
            if self.hide is not None:
                file, reason = self.hide(file), reason.partition(":")[0]
            elif len(reason) > _LONGEST:
                reason = f"{reason[:_LONGEST]}…"
            place = file if line is None else f"{file}:{line}"
            self.report(f"{place}: {reason}; skipped")

    def count(self, file: str, reason: str) -> None:
        """Count one skipped record."""
        self.total += 1
        self.by_reason[reason.partition(":")[0][:_LONGEST]] += 1
        self.by_file[file] += 1

    def tell(self, kind: str, words: str) -> None:
        """Say what a record of an unknown type holds, for the first `limit` of a type."""
        if self.report is not None and self.unknown[kind] <= self.limit:
            self.report(words)

    def nothing(self, file: str, reason: str) -> None:
        """Count a file of a known format without anything to audit; the first ones are reported. No record is lost."""
        self.barren[reason.partition(":")[0]] += 1
        if self.report is not None and self.barren.total() <= self.limit:
            self.report(f"{file if self.hide is None else self.hide(file)}: {reason}")

    def unknown_type(self, format_name: str, type_name: object) -> None:
        """Count a record type that the reader of a format does not know (formats drift weekly)."""
        if isinstance(type_name, (dict, list)):
            type_name = "an object" if isinstance(type_name, dict) else "an array"
        self._unknown(f"{format_name}:{str(type_name)[:_LONGEST]}", 1)

    def _unknown(self, kind: str, count: int) -> None:
        full = len(self.unknown) >= KINDS and kind not in self.unknown
        self.unknown[f"{kind.partition(':')[0]}:other types" if full else kind] += count

    def merge(self, other: Skips) -> None:
        """Add what was counted in later inputs, up to KINDS unknown types in each of them."""
        self.total += other.total
        self.copies += other.copies
        self.reopened += other.reopened
        self.by_reason.update(other.by_reason)
        self.by_file.update(other.by_file)
        self.barren.update(other.barren)
        for kind, count in other.unknown.items():
            self._unknown(kind, count)
