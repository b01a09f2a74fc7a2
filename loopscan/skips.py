"""What a scan left out: counted, located, said; never a silent loss."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass, field


@dataclass(slots=True)
class Skips:
    """What was left out, with the place and the reason: a counted, located skip, never a silent loss.

    `hide`: how a file is named where its path is not to be said; nor is then what a reason quotes.
    """

    report: Callable[[str], None] | None = None
    hide: Callable[[str], str] | None = None
    limit: int = 20
    total: int = 0
    by_reason: Counter[str] = field(default_factory=Counter)
    by_file: Counter[str] = field(default_factory=Counter)
    unknown: Counter[str] = field(default_factory=Counter)
    copies: int = 0
    """Records dropped because they repeat an earlier record (log copies, resumed sessions)."""
    reopened: int = 0

    def add(self, file: str, line: int | None, reason: str) -> None:
        """Count one skipped record; the first `limit` of them are reported as `file:line: reason`."""
        self.total += 1
        self.by_reason[reason.partition(":")[0]] += 1
        self.by_file[file] += 1
        if self.report is not None and self.total <= self.limit:
            if self.hide is not None:
                file, reason = self.hide(file), reason.partition(":")[0]
            place = file if line is None else f"{file}:{line}"
            self.report(f"{place}: {reason}; skipped")

    def unknown_type(self, format_name: str, type_name: object) -> None:
        """Count a record type that the reader of a format does not know (formats drift weekly)."""
        self.unknown[f"{format_name}:{type_name}"] += 1

    def merge(self, other: Skips) -> None:
        """Add the counts of another scan (a worker's) to these."""
        self.total += other.total
        self.copies += other.copies
        self.reopened += other.reopened
        self.by_reason.update(other.by_reason)
        self.by_file.update(other.by_file)
        self.unknown.update(other.unknown)
