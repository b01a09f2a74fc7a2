"""masked: a block played three times or more whose results differ in numbers or random words only."""

from __future__ import annotations

from typing import Final

from loopscan.decode import word
from loopscan.detector import Seen
from loopscan.model import Call
from loopscan.rules import outcome, tools
from loopscan.rules.base import Rule, Run

COPIES: Final = 3
_LONG: Final = 20_000
_APART: Final = 64


class Masked(Rule):
    """The period rule with digits, hexadecimal words and encoded pictures of the results left out.

    From three copies on, dated at the second. Not where a number of a result that is no failure moves one way all the
    time (a progress count, a queue, a page), where the number is all there is, or where it names a file.

    Measured, hits beside the period rule: reports 3 (1 no other rule has), real runs 0, made cases 9 (5 no other
    rule has); false alarms 0 in 108 healthy runs.
    """

    NAME = "masked"
    __slots__ = ("_runs",)

    def __init__(self) -> None:
        super().__init__()
        self._runs: dict[int, tuple[int, int, bool]] = {}

    def past(self, turn: int) -> bool:
        """See `Rule.past`: only what ended at the turn before goes on."""
        return all(run[1] < turn for run in self._runs.values())

    def back(self, seen: Seen, run: Run) -> None:
        """An action came back."""
        runs: dict[int, tuple[int, int, bool]] = {}
        best = 0
        earlier = seen.before
        while earlier is not None:
            period = seen.turn - earlier.turn
            same = earlier.keyed(run.keyer) == seen.keyed(run.keyer)
            if same or roughly(earlier, seen, run):
                length, last, differs = self._runs.get(period, (0, seen.turn - 1, False))
                if last != seen.turn - 1:
                    length, differs = 0, False
                runs[period] = (length + 1, seen.turn, differs or not same)
                if not best and runs[period][2] and length + 1 >= (COPIES - 1) * period:
                    best = period
            earlier = earlier.before
        self._runs = runs
        if best:
            self._fire(seen, best, runs[best][0], run)

    def _fire(self, seen: Seen, period: int, length: int, run: Run) -> None:
        loop = hash(("masked", frozenset(_idents(seen, period, run))))
        episode = self.going(run, loop, 0)
        if episode is not None:
            self.extend(run, episode)
            return
        first = seen.turn - length - period + 1
        if _goes_somewhere(seen, period, first, run):
            return
        block = [b for t in range(seen.turn - period + 1, seen.turn + 1) if (b := run.detector.at(t)) is not None]
        actions = list(block)
        self.open(
            run, actions, turn=first + 2 * period - 1, first=first, loop=loop, period=period,
            idents=_idents(seen, period, run), error=any(a.error for a in actions),
        )  # fmt: skip


def _idents(seen: Seen, period: int, run: Run) -> list[int]:
    found = [run.detector.at(t) for t in range(seen.turn - period + 1, seen.turn + 1)]
    return [i for b in found if b is not None for i in b.idents]


def roughly(earlier: Seen, seen: Seen, run: Run) -> bool:
    """Whether two turns with one action are equal but for numbers and random words in their results."""
    return _may_mask(earlier, seen) and rough(earlier, run) == rough(seen, run)


def rough(seen: Seen, run: Run) -> int:
    """Hash of a turn's masked results; of its text for a turn without calls."""
    if seen.rough is None:
        parts = [hash((i, _mask(c, run))) for i, c in zip(seen.idents, seen.calls, strict=False)]
        fault = outcome.masked(word(seen.fault), True) if seen.error and not parts else ""
        seen.rough = hash((seen.ident, fault, *sorted(parts)))
    return seen.rough


def _mask(call: Call, run: Run) -> str:
    text = run.plain(call)
    return text if len(text) > _LONG else outcome.masked(text, call.error)


def _may_mask(first: Seen, second: Seen) -> bool:
    """Cheap: whether two results of one action can be equal but for numbers."""
    if len(first.calls) != 1:
        return True
    one, other = first.calls[0].result, second.calls[0].result
    if type(one) is not str or type(other) is not str:
        return type(one) is type(other)
    return may_mask(one, other)


def may_mask(one: str, other: str) -> bool:
    """The same of two results that are texts."""
    return abs(len(one) - len(other)) <= _APART and outcome.one_skeleton(one, other)


def _goes_somewhere(seen: Seen, period: int, since: int, run: Run) -> bool:
    """Whether the numbers in which the copies differ say that something went on, as far as the window holds them."""
    since = max(since, seen.turn - run.detector.reach)
    for turn in range(seen.turn - period + 1, seen.turn + 1):
        copies = [s for t in range(turn, since - 1, -period) if (s := run.detector.at(t)) is not None]
        first = copies[0]
        for i in range(len(first.calls)):
            texts = [run.plain(c.calls[i]) for c in reversed(copies) if len(c.calls) == len(first.calls)]
            call = first.calls[i]
            noise = call.error or tools.kind(call.name) & tools.HOUSE or outcome.failing(texts[-1])
            if len(set(texts)) > 1 and not noise and _told(texts):
                return True
    return False


def _told(texts: list[str]) -> bool:
    bare = outcome.masked(texts[-1])
    if not any(c.isalpha() for c in bare) or any(outcome.names_files_apart(texts[-1], t) for t in texts):
        return True
    return outcome.moving([outcome.numbers(t) for t in texts])
