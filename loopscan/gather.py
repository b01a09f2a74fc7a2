"""Shares of a scan handed out, and what comes of them put where a single process would have had it."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Final, cast

from loopscan.crew import Crew, Killed
from loopscan.engine import Audit
from loopscan.parcel import Parcel, unpacked
from loopscan.scan import Inputs, Reading
from loopscan.shares import Files, Outcome, Piece, Share
from loopscan.source import Input
from loopscan.spill import Spill
from loopscan.stop import STOP
from loopscan.ties import groups

if TYPE_CHECKING:
    from loopscan.chunks import Chunk, Lines, Stretch
    from loopscan.cuts import Places
    from loopscan.joined import Cut
    from loopscan.relay import Leg

_BATCH: Final = 1 << 25
_LEFT: Final = 4
_BATCHES: Final = 64
"""Small files are handed out many at once: at most so many bytes; for each process at most one part in `_LEFT` of
what is left, so that all end at the same time, but no less than one in `_BATCHES` of all.
"""
_FILES: Final = 256
"""Files of a batch."""
_LOOKS: Final = 8
"""What was read is looked at when it is one of so many parts of all, then one of half as many, and so on."""
_NAMED: Final = 20
"""Files of a killed process that are named."""

Result = Parcel | Killed | None
"""What the crew has of a share: see `Crew.results`."""


def shares_of(
    items: list[Input], sizes: list[int], places: Mapping[int, Places], jobs: int
) -> list[Files | Chunk | Leg]:
    """What to hand out, the largest first; files by their `places`, small ones many at once."""
    left = total = sum(sizes)
    shares: list[Files | Chunk | Leg] = []
    for number, (name, starts, run) in places.items():
        from loopscan.chunks import Chunk  # most scans have no need of it

        if run:
            from loopscan.relay import Leg

            shares += [Leg(number, items[number], tuple(starts), at) for at in range(len(starts))]
        else:
            ends = [*starts[1:], None]
            shares += [Chunk(number, items[number], s, e, name) for s, e in zip(starts, ends, strict=True)]
    batches: list[list[int]] = []
    room = 0
    for number in sorted(range(len(items)), key=sizes.__getitem__, reverse=True):
        if number in places:
            continue
        if not batches or sizes[number] > room or len(batches[-1]) == _FILES:
            batches.append([])
            room = min(_BATCH, max(left // (jobs * _LEFT), total // (jobs * _BATCHES)))
        batches[-1].append(number)
        room -= sizes[number]
        left -= sizes[number]
    return shares + [Files(tuple((n, items[n]) for n in batch)) for batch in batches]


@dataclass(slots=True)
class Gathered:
    """What came of a scan's inputs so far.

    `sizes`: the work of each input in bytes. `outcomes`: by the number of their first input. `cuts`: by input, what was
    read in parts. `failures`: by input, the line about those that a killed process was reading. `unread`: how many a
    stop left.
    """

    items: list[Input]
    sizes: list[int]
    inputs: Inputs
    outcomes: dict[int, Outcome] = field(default_factory=dict)
    cuts: dict[int, Cut] = field(default_factory=dict)
    failures: dict[int, str] = field(default_factory=dict)
    unread: int = 0
    spill: Spill = field(default_factory=Spill)

    def first(self, crew: Crew, shares: list[Files | Chunk | Leg]) -> bool:
        """Read each input, or part of one, as a scan of its own. False as soon as most of it was to be read again."""
        results = crew.results(dict(enumerate(shares)))
        for share in shares:
            if not isinstance(share, Files):
                cut = self.cuts.setdefault(share.number, self._cut_of([share.number]))
                cut.keys.append((share.number, share.start))
        watch = self.inputs.watch
        if watch is not None:
            watch.begin(self.items)
        done, look = 0, _LOOKS
        for number, result in results:
            share = shares[number]
            if not isinstance(share, Files):
                self._take_part(share, result)
                done += (share.end or self.sizes[share.number]) - share.start
                continue
            self._take(share, result)
            for n, item in share.items:
                done += self.sizes[n]
                if watch is not None:
                    watch.done(item)
            if look > 1 and done * look >= sum(self.sizes):
                look //= 2
                if self._is_vain(done, crew.jobs):
                    return False
        return True

    def _is_vain(self, done: int, jobs: int) -> bool:
        """Whether reading files apart costs more than it spares, by what came of the first `done` bytes."""
        tied = [sum(self._size(n) for n in g) for g in self._groups()]
        return not STOP.asked and max(max(tied, default=0), sum(tied) // jobs) * 2 > done

    def _size(self, first: int) -> int:
        return sum(self.sizes[n] for n in self.outcomes[first].pieces)

    def _groups(self) -> list[list[int]]:
        """Outcomes that have something in common, by their first inputs."""
        return [g for g in groups({n: o.ties for n, o in self.outcomes.items()}) if len(g) > 1]

    def join(self, crew: Crew) -> None:
        """Make one outcome of the parts of each file that was cut."""
        cuts = [cut for cut in self.cuts.values() if cut.number not in self.failures]
        self._settle(crew, cuts)
        for cut in cuts if STOP.asked else ():
            if not self._is_settled(cut.number):
                begun = cut.begun()
                self.unread += begun is None
                if begun is not None:
                    self.outcomes[cut.number] = begun
        watch = self.inputs.watch
        if watch is not None:
            for cut in self.cuts.values():
                watch.done(self.items[cut.number])

    def tie(self, crew: Crew) -> None:
        """Read again, together, what has something in common, until nothing has."""
        while tied := self._groups():
            before = {first: self.outcomes.pop(first) for group in tied for first in group}
            groups = [self._cut_of(n for first in group for n in before[first].pieces) for group in tied]
            self._settle(crew, groups)
            for group in tied:
                if not self._is_settled(group[0]):  # a stop came before
                    self.outcomes[group[0]] = before[group[0]]
                    self.unread += sum(len(before[first].pieces) for first in group[1:])

    def _settle(self, crew: Crew, cuts: list[Cut]) -> None:
        """Read what is needed to know all of each; nothing where the scan is stopped before."""
        if not cuts:
            return
        shares: list[tuple[Cut, Stretch | Files]] = []
        for cut in cuts:
            more = [] if STOP.asked else cut.stretches()
            shares += [(cut, cut.whole)] if more is None else [(cut, share) for share in more]
        self._again(crew, shares)
        self._again(crew, [(cut, cut.whole) for cut in cuts if not self._is_known(cut)])

    def _again(self, crew: Crew, shares: list[tuple[Cut, Stretch | Files]]) -> None:
        for number, result in crew.results({n: share for n, (_, share) in enumerate(shares)}):
            cut, share = shares[number]
            if isinstance(result, Killed):
                self._lose(cut.number, share, result)
            elif isinstance(share, Files) and result is not None:
                self._take(share, result)
            elif not isinstance(share, Files) and result is not None:
                cut.take(share, cast("Lines", self._unpacked(result)))

    def _is_known(self, cut: Cut) -> bool:
        """Whether there is an outcome, of the parts if not yet, or can be none."""
        if not self._is_settled(cut.number) and not STOP.asked:
            outcome = cut.outcome()
            if outcome is None:
                return False
            self.outcomes[cut.number] = outcome
        return True

    def _is_settled(self, number: int) -> bool:
        return number in self.outcomes or number in self.failures

    def _take(self, share: Files, result: Result) -> None:
        if result is None:
            self.unread += len(share.items)
        elif isinstance(result, Killed):
            self._lose(share.items[0][0], share, result)
        else:
            for outcome in cast(list[Outcome], self._unpacked(result)):
                self.unread += outcome.unread
                if outcome.pieces:
                    self.outcomes[min(outcome.pieces)] = outcome

    def _cut_of(self, numbers: Iterable[int]) -> Cut:
        """What is known of the parts of some inputs."""
        from loopscan.joined import Cut, merged

        return merged([self.cuts.get(n) or Cut({n: self.items[n]}) for n in numbers])

    def _take_part(self, share: Chunk | Leg, result: Result) -> None:
        if isinstance(result, Killed):
            self._lose(share.number, share, result)
        elif result is not None:
            self.cuts[share.number].take(cast("Chunk", share), cast("Lines", self._unpacked(result)))

    def _unpacked(self, result: Parcel) -> object:
        return unpacked(result, self.spill)

    def _lose(self, number: int, share: Share, killed: Killed) -> None:
        hide = self.inputs.hide
        names = [hide(name) if hide is not None else name for name in share.names]
        more = f" and {len(names) - _NAMED:,} more" if len(names) > _NAMED else ""
        self.failures[number] = f"{', '.join(names[:_NAMED])}{more}: not read: {killed.how}"

    def place(self, reading: Reading, engine: Audit) -> None:
        """Put everything where one process would have had it. Raises InputError."""
        pieces = {n: p for o in self.outcomes.values() for n, p in o.pieces.items()}
        for number in sorted(pieces.keys() | self.failures.keys()):
            if number in self.failures:
                reading.failures.append(self.failures[number])
            else:
                _add(pieces[number], reading)
                pieces[number].said.replay(engine.scan.skips)
        reading.conclude(engine.scan)
        late = [self.outcomes[n].late for n in sorted(self.outcomes)]
        for piece in late:
            piece.said.replay(engine.scan.skips)
        whole = [pieces[n] for n in sorted(pieces)] + late
        engine.reports = [r for p in whole for r in p.closed] + [r for p in whole for r in p.begun]


def _add(piece: Piece, reading: Reading) -> None:
    reading.not_logs += piece.not_logs
    reading.failures += piece.failures
    reading.unopened += piece.unopened
    reading.read += piece.read
