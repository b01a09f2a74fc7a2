"""long-cycle: a block longer than half the window, played twice: a task that starts over, compactions and re-reads."""

from __future__ import annotations

from loopscan.detector import Seen
from loopscan.rules.base import Rule, Run
from loopscan.rules.masked import rough, roughly


class LongCycle(Rule):
    """A block of 11 to 19 turns, beyond the reach of the period rule, played twice; numbers in results are masked.

    Measured, hits beside the period rule: reports 0, real runs 0, made cases 1 (1 no other rule has); false alarms
    0 in 108 healthy runs.
    """

    NAME = "long-cycle"
    __slots__ = ("_runs",)

    def __init__(self) -> None:
        super().__init__()
        self._runs: dict[int, tuple[int, int]] = {}

    def past(self, turn: int) -> bool:
        """See `Rule.past`: only what ended at the turn before goes on."""
        return all(run[1] < turn for run in self._runs.values())

    def back(self, seen: Seen, run: Run) -> None:
        """An action came back."""
        shortest = run.detector.window // run.detector.copies
        runs: dict[int, tuple[int, int]] = {}
        earlier = seen.before
        while earlier is not None:
            period = seen.turn - earlier.turn
            if period > shortest and (earlier.keyed(run.keyer) == seen.keyed(run.keyer) or roughly(earlier, seen, run)):
                length, last = self._runs.get(period, (0, 0))
                runs[period] = (length + 1 if last == seen.turn - 1 else 1, seen.turn)
            earlier = earlier.before
        self._runs = runs
        for period, (length, _) in runs.items():
            if length >= period:
                self._fire(seen, period, length, run)
                return

    def _fire(self, seen: Seen, period: int, length: int, run: Run) -> None:
        loop = hash(("long-cycle", period))
        episode = self.going(run, loop, 0)
        if episode is not None:
            self.extend(run, episode)
        elif length == period:
            turns = [b for t in range(seen.turn - period + 1, seen.turn + 1) if (b := run.detector.at(t))]
            if _shorter([rough(b, run) for b in turns]):
                return  # numbers told the short cycle's copies apart: it is no long one
            block = list(turns)
            self.open(
                run, block, turn=seen.turn, first=seen.turn - 2 * period + 1, loop=loop, period=period,
                idents=[i for a in block for i in a.idents], error=any(a.error for a in block),
            )  # fmt: skip


def _shorter(keys: list[int]) -> bool:
    """Whether a block is itself a shorter block played over."""
    return any(keys[q:] == keys[:-q] for q in range(1, len(keys) // 2 + 1))
