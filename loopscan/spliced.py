"""One run out of what its legs counted (`loopscan.relay`)."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any, Final

from loopscan.bill import Bill
from loopscan.blind import MOST_PAIRS, Blind
from loopscan.episodes import MAX_EPISODES, Episode, Tracker
from loopscan.ledger import Ledger
from loopscan.money import Money, Spent
from loopscan.rules.watch import TOOLS
from loopscan.run import Run
from loopscan.series import Tally
from loopscan.spill import Spill
from loopscan.standing import LEDGER

_ADDED: Final = ("compactions", "unseen", "_more", "_silent")
_SPENT: Final = ("input", "cache_read", "cache_write", "cache_write_1h", "output")
_BILLED: Final = ("sends", "unpriced", *_SPENT, "usd")


@dataclass(slots=True)
class Pairs(Blind):
    """Keeps what it is told, to be told again behind what went before: equal results, and the first others, by tool."""

    told: dict[str, tuple[list[int], list[tuple[Any, Any]]]] = field(default_factory=dict)
    lost: bool = False
    """There are more tools than are kept."""

    def pair(self, tool: str, first: Any, second: Any, same: bool) -> None:
        """Take two results of one call."""
        if tool not in self.told and len(self.told) == TOOLS:
            self.lost = True
            return
        equal, others = self.told.setdefault(tool, ([0], []))
        if same:
            equal[0] += 1
        elif len(others) < MOST_PAIRS:
            others.append((first, second))

    def open(self, tool: str) -> bool:
        """Whether further pairs of a tool are wanted."""
        return tool not in self.told or len(self.told[tool][1]) < MOST_PAIRS

    def tell(self, blind: Blind) -> None:
        """Tell it again."""
        for tool, (equal, others) in self.told.items():
            for _ in range(equal[0]):
                blind.pair(tool, None, None, True)
            for first, second in others:
                blind.pair(tool, first, second, False)


@dataclass(slots=True)
class Counted:
    """What a leg counted: the run as it left it. `carried`: how many of its episodes are those of the leg before.

    `tools`: those of which the run keeps the last call.
    """

    run: Run
    carried: int
    tools: frozenset[str]


def begin_anew(run: Run, started: float | None) -> int:
    """Let a run count from where it stands; how many episodes it has by then. `started`: the first time of the run."""
    run._count_models(run.turns)
    run.models, run.notes, run.gap, run.full, run.started = {}, [], (0.0, 0), None, started
    for name in _ADDED:
        setattr(run, name, 0)
    before = run.ledger
    run.ledger = Ledger(run.settings, tally=Tally(spill=before.tally.spill, packed=run.turns))
    for name in Ledger.__struct_fields__:
        if name not in LEDGER:
            setattr(run.ledger, name, getattr(before, name))
    progress = run.progress
    progress.fired = progress.rule = None
    if progress.tracker.watch is not None:
        progress.tracker.watch.blind = Pairs()
    return len(progress.tracker.episodes)


def counted(run: Run, carried: int) -> Counted:
    """What a leg counted, without what only the next turn of the run would want to know."""
    run._count_models(run.turns)
    progress, tally = run.progress, run.ledger.tally
    tracker, watch = progress.tracker, progress.tracker.watch
    for part in tally.parts:
        part.kept = tally.spill.load(part.kept, part.size)
    tally.spill = Spill(0)
    run.ledger = Ledger(run.settings, run.ledger.money, tally)
    told = Tracker(tracker.keyer, tracker.window, tracker.copies, tracker.rules)
    told.turn, told.episodes, told.dropped = tracker.turn, tracker.episodes, tracker.dropped
    if watch is not None and told.watch is not None:
        told.watch.blind = watch.blind
    progress.tracker = told
    return Counted(run, carried, frozenset(watch.trails if watch is not None else ()))


def spliced(legs: list[Counted]) -> Run | None:
    """The run of all legs, in their order: the last one and what all counted; None where they do not tell it."""
    runs, run = [leg.run for leg in legs], legs[-1].run
    if len(legs) == 1:
        return run
    tools = frozenset[str]().union(*(leg.tools for leg in legs))
    episodes = _episodes(legs)
    lost = any(isinstance(blind, Pairs) and blind.lost for blind in _blinds(runs))
    if lost or len(tools) >= TOOLS or len(episodes) > MAX_EPISODES or any(r.progress.tracker.dropped for r in runs):
        return None
    tracker, progress = run.progress.tracker, run.progress
    tracker.episodes = episodes
    for name in _ADDED:
        setattr(run, name, sum(getattr(r, name) for r in runs))
    run.models = _counts(r.models for r in runs)
    run.notes = [note for r in runs for note in r.notes]
    run.gap = max((r.gap for r in runs), key=lambda gap: gap[0])
    run.full = next((r.full for r in runs if r.full is not None), None)
    first = next((r.progress for r in runs if r.progress.fired is not None), progress)
    progress.fired, progress.rule = first.fired, first.rule
    if tracker.watch is not None:
        tracker.watch.blind = _blind(runs)
    money, tally = _money([r.ledger.money for r in runs]), _tally([r.ledger.tally for r in runs])
    run.ledger = Ledger(run.settings, money, tally)
    return run


def _episodes(legs: list[Counted]) -> list[Episode]:
    """The episodes of all legs, those that two legs have as the later one left them."""
    found = list[Episode]()
    for leg in legs:
        own = leg.run.progress.tracker.episodes
        found = found[: len(found) - leg.carried]
        for episode in own[leg.carried :]:
            for earlier in found:
                earlier.again = earlier.again or episode.repeats(earlier)
        found += own
    return found


def _counts(all_counts: Any) -> dict[str, int]:
    found = dict[str, int]()
    for counts in all_counts:
        for name, count in counts.items():
            found[name] = found.get(name, 0) + count
    return found


def _blinds(runs: list[Run]) -> list[Blind | None]:
    return [w.blind for r in runs if (w := r.progress.tracker.watch) is not None]


def _blind(runs: list[Run]) -> Blind | None:
    found, *others = _blinds(runs)
    for more in others:
        if isinstance(more, Pairs) and more.told:
            found = found or Blind()
            more.tell(found)
    return found


def _tally(tallies: list[Tally]) -> Tally:
    found = Tally(packed=tallies[-1].packed)
    for tally in tallies:
        found.unpaid += tally.unpaid
        again = bool(found.rates and tally.rates and found.rates[-1][1] == tally.rates[0][1])
        found.rates += tally.rates[again:]
        found.parts += tally.parts
    return found


def _money(moneys: list[Money]) -> Money:
    found = Money()
    for money in moneys:
        _spend(found.spent, money.spent)
        for bill in money.bills:
            _add(_bill(found.bills, bill), bill, _BILLED)
        _add(found.checked, money.checked, money.checked.__struct_fields__)
        _add(found.guessed, money.guessed, money.guessed.__struct_fields__)
        _add(found.cold, money.cold, money.cold.__struct_fields__)
    return found


def _spend(found: Spent, more: Spent) -> None:
    _add(found, more, ("sends", "unpriced"))
    for name in _SPENT:
        if getattr(more, name) is not None:
            setattr(found, name, (getattr(found, name) or 0) + getattr(more, name))
    found.usage_sources = _counts((found.usage_sources, more.usage_sources))
    found.prices = _counts((found.prices, more.prices))


def _bill(bills: list[Bill], like: Bill) -> Bill:
    """The bill of one model under one price; a price table has no two that are equal."""
    for bill in bills:
        if (bill.model, bill.price, bill.rates) == (like.model, like.price, like.rates):
            return bill
    bills.append(Bill(like.model, like.price, like.rates))
    return bills[-1]


def _add(found: Any, more: Any, names: tuple[str, ...]) -> None:
    for name in names:
        setattr(found, name, getattr(found, name) + getattr(more, name))
