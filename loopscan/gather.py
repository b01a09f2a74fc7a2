"""Shares of a scan handed out, and what comes of them put where a single process would have had it."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Final, cast

from loopscan.crew import Crew, Killed
from loopscan.engine import Audit
from loopscan.scan import Inputs, Reading
from loopscan.shares import Files, Outcome, Piece, keep, unpacked
from loopscan.source import Input
from loopscan.spill import Spill
from loopscan.ties import groups

_BATCH: Final = 1 << 25
_BATCHES: Final = 8
"""Small files are handed out many at once: at most so many bytes, and so many batches for each process."""
_FILES: Final = 256
"""Files of a batch."""
_NAMED: Final = 20
"""Files of a killed process that are named."""


def batches(items: list[Input], sizes: list[int], jobs: int) -> dict[int, Files]:
    """Shares by number, the largest first; small files many at once."""
    most = min(_BATCH, sum(sizes) // (jobs * _BATCHES))
    batches: list[list[int]] = []
    room = 0
    for number in sorted(range(len(items)), key=sizes.__getitem__, reverse=True):
        if not batches or sizes[number] > room or len(batches[-1]) == _FILES:
            batches.append([])
            room = most
        batches[-1].append(number)
        room -= sizes[number]
    return {batch[0]: Files(tuple((n, items[n]) for n in batch)) for batch in batches}


@dataclass(slots=True)
class Found:
    """What came of a scan's inputs so far. `outcomes`: by the number of their first input. `lost`: by input, how."""

    items: list[Input]
    inputs: Inputs
    outcomes: dict[int, Outcome] = field(default_factory=dict)
    failures: dict[int, str] = field(default_factory=dict)
    unread: int = 0

    def first(self, crew: Crew, shares: dict[int, Files]) -> None:
        """Read each input as a scan of its own."""
        results = crew.results(shares)
        watch = self.inputs.watch
        if watch is not None:
            watch.begin(self.items)
        for number, result in results:
            self._take(shares[number], result)
            if watch is not None:
                for _, item in shares[number].items:
                    watch.done(item)

    def tie(self, crew: Crew) -> None:
        """Read again, together, what has something in common, until nothing has."""
        while tied := [g for g in groups({n: o.ties for n, o in self.outcomes.items()}) if len(g) > 1]:
            shares = {}
            for group in tied:
                numbers = sorted(n for first in group for n in self.outcomes[first].pieces)
                shares[group[0]] = Files(tuple((n, self.items[n]) for n in numbers), together=True)
            for number, result in crew.results(shares):
                group = next(g for g in tied if g[0] == number)
                for first in group[1:] if result is None else group:
                    dropped = self.outcomes.pop(first)
                    self.unread += len(dropped.pieces) if result is None else 0
                if result is not None:
                    self._take(shares[number], result)

    def _take(self, share: Files, result: bytes | Killed | None) -> None:
        if result is None:
            self.unread += len(share.items)
        elif isinstance(result, bytes):
            for outcome in cast(list[Outcome], unpacked(result)):
                self.unread += outcome.unread
                if outcome.pieces:
                    self.outcomes[min(outcome.pieces)] = outcome
        else:
            names = [n if (hide := self.inputs.hide) is None else hide(n) for n in share.names]
            more = f" and {len(names) - _NAMED:,} more" if len(names) > _NAMED else ""
            self.failures[min(n for n, _ in share.items)] = f"{', '.join(names[:_NAMED])}{more}: not read: {result.how}"

    def place(self, reading: Reading, engine: Audit) -> None:
        """Put everything where one process would have had it. Raises InputError."""
        pieces = {n: p for o in self.outcomes.values() for n, p in o.pieces.items()}
        for number in sorted(pieces.keys() | self.failures.keys()):
            if number in self.failures:
                reading.failures.append(self.failures[number])
            if number in pieces:
                _add(pieces[number], reading)
                pieces[number].said.replay(engine.scan.skips)
        reading.conclude(engine.scan)
        late = [self.outcomes[n].late for n in sorted(self.outcomes)]
        for piece in late:
            piece.said.replay(engine.scan.skips)
        whole = [pieces[n] for n in sorted(pieces)] + late
        engine.reports = [r for p in whole for r in p.closed] + [r for p in whole for r in p.begun]
        keep(engine.reports, Spill())


def _add(piece: Piece, reading: Reading) -> None:
    reading.not_logs += piece.not_logs
    reading.failures += piece.failures
    reading.unopened += piece.unopened
    reading.read += piece.read
