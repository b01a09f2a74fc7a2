"""Whole runs in which nothing happens: the report of a run of nothing but usual turns, without a detector.

Where a log holds a run in one piece, all of it can be looked at before anything is made for it. A run is calm where no
call comes back in the window, no result is like the one before of its tool, no shell and no file is there for the rules
to look at, and words end it, if there are any. What is anything more is for `loopscan.stretch`.
"""

from __future__ import annotations

from array import array
from dataclasses import dataclass, field
from functools import lru_cache
from typing import TYPE_CHECKING, Final

import orjson

from loopscan import estimate
from loopscan.bill import Bill
from loopscan.compiled import compiled
from loopscan.decode import FAST_ERRORS, canonical, fast
from loopscan.fill import COUNTED, Filling, filling
from loopscan.fired import NONE
from loopscan.model import MISSING, LateCall
from loopscan.money import Guessed, Money, Spent, money_notes
from loopscan.part import Part, of_columns, priced
from loopscan.rules import REACH, tools
from loopscan.rules.likeness import ASKED, may_be_alike, unlike
from loopscan.rules.streaks import GAP
from loopscan.series import PART
from loopscan.settle import NO_GAP, Settled
from loopscan.spelling import PATHS
from loopscan.terms import PLAIN, terms_of

if TYPE_CHECKING:
    from loopscan.key import Keyer
    from loopscan.model import Call
    from loopscan.money import PriceBook
    from loopscan.settings import Settings
    from loopscan.spill import Spill
    from loopscan.whole import Told, Whole

_SORTED: Final = orjson.OPT_SORT_KEYS
_SHELL: Final = tools.SHELL
WORDS: Final = 300
"""Characters from which on the last words of a run are looked at: shorter ones hold no repetition (`rules.inside`)."""


@lru_cache(maxsize=1 << 8)
def _notes(sends: int) -> list[str]:
    """What is to be said of sends that were estimated; nobody changes it."""
    return money_notes(Money(guessed=Guessed(baseless=sends)))


_NO_LABELS: Final[dict[str, str]] = {}
"""Shared by all; nobody changes it."""


@dataclass(slots=True)
class Calm(Settled):
    """The report of a calm run: `actions` turns of one call, and perhaps a last one of words.

    `filled`: where the tokens of its sends come from, see `loopscan.fill.Filling`.
    """

    session: str | None = None  # type: ignore[assignment]
    labels: dict[str, str] = field(default_factory=dict)
    actions: int = 0
    filled: str = "unknown"

    plain = False

    @property
    def tokens_told(self) -> tuple[int | None, int | None, int | None, int | None]:
        """Input and output tokens of all its sends, and the same where they are estimated."""
        part, source = self.part, self.filled
        modelled = (part.input, part.output) if source == "modelled" else (None, None)
        return *modelled, *((part.input, part.output) if source == "estimated" else (None, None))

    @property
    def state(self) -> str:  # type: ignore[override]
        """How it ended, by its last turn."""
        return "done" if self.actions < self.part.turns else "cut"

    @property
    def calls(self) -> int:  # type: ignore[override]
        """Calls."""
        return self.actions

    @property
    def spent(self) -> Spent:
        """Tokens by class and source."""
        part, source, price = self.part, self.filled, self.price
        spent = Spent(part.turns, unpriced=0 if price is not None else part.turns)
        if source == "modelled":
            spent.input, spent.output = part.input, part.output
        if source != "unknown":
            spent.usage_sources = {source: part.turns}
        if price is not None:
            spent.prices = {price.source: part.turns}
        return spent

    @property
    def money(self) -> Money:
        """What it spent, by class and source."""
        part, price, spent = self.part, self.price, self.spent
        guessed = Guessed(part.usd)
        if self.filled == "estimated":
            guessed.add(part.input, part.output, part.turns)
        bill = Bill(
            self.model, price, price, part.turns, spent.unpriced, part.input, output=part.output, usd=part.usd
        )  # fmt: skip
        return Money(spent, [bill], guessed=guessed)

    @property
    def notes(self) -> list[str]:
        """What a reader must know of it, one line each."""
        return _notes(self.part.turns) if self.filled == "estimated" else []


def calm(
    whole: Whole, source: str, format_name: str, keyer: Keyer, settings: Settings, prices: PriceBook, spill: Spill
) -> Calm | None:
    """The report of a run; None where it is not calm, or says something of its usage."""
    first = whole.first
    if whole.restless:
        return None
    told = told_of(whole, keyer, settings) if whole.told is None else whole.told
    if told is None or first.usage is not None:
        return None
    terms = terms_of(prices.find(first.model, first.time))
    limit = settings.context_window or prices.window(first.model)
    way = filling(first.model, terms.price is not None, settings)
    most = terms.most if limit is None or way.source not in COUNTED else min(terms.most, limit - 1)
    part = _part(told, way, most, (terms.input, terms.output), spill)
    if part is None:
        return None
    return Calm(
        whole.run, first.source or source, format_name, first.model or None, first.time, first.time, NO_GAP, part,
        terms.price, spill, NONE, None, None, first.session, first.labels or _NO_LABELS, told[0], way.source,
    )  # fmt: skip


def _part(told: Told, way: Filling, most: int, rates: tuple[int, int], spill: Spill) -> Part | None:
    """What the sends of a run come to; None where one has more than `most` tokens."""
    _, written, chars = told
    if isinstance(written, bytes) or isinstance(chars, bytes):
        numbers = (way.base, way.growth, way.output, *way.history, *way.results, *way.written, most)
        scanner = compiled()
        found = None if scanner is None else scanner.Chat.filled(written, chars, *numbers)
        if found is None:
            return None
        sums, data = found
        return of_columns(data, len(written) // 4, sums, 0.0, rates, spill)
    sent, output = way.all(written, chars)
    if min(sent) < 0 or max(sent) > most or max(output) > PLAIN:
        return None
    return priced(array("I", sent), array("I", output), array("d", bytes(8 * len(sent))), rates, spill)


def told_of(whole: Whole, keyer: Keyer, settings: Settings) -> Told | None:
    """Calls of a run, the characters that each turn wrote and those of its result; None where it is not calm."""
    actions, turns = len(whole.calls), len(whole.texts)
    if turns >= PART or (actions < turns and len(whole.texts[-1]) >= WORDS):
        return None
    chars = _heard(whole.calls, keyer, max(settings.window, REACH))
    if chars is None:
        return None
    if actions < turns:
        chars.append(0)
    return actions, whole.written, chars


def _heard(calls: list[Call], keyer: Keyer, reach: int) -> list[int] | None:
    """The characters of each call's result; None where a call is none that a calm run has.

    Longer than other functions: see `loopscan.stretch`, which does the same.
    """
    kinds, special = tools.KINDS, keyer.special
    newest: dict[int, int] = {}
    trails: dict[str, tuple[int, Call]] = {}
    chars: list[int] = []
    for number, call in enumerate(calls):
        name, args, size = call.name, call.args, call.chars if type(call) is LateCall else -1
        what = kinds.get(name)
        if what is None:
            what = tools.kind(name)
        if what & _SHELL or call.error or (size < 0 and call.result is MISSING):
            return None
        if type(args) is str and args[:1] == "{":
            try:
                args = fast(args)
            except FAST_ERRORS:
                args = keyer.read(name, args)
        if special or type(args) is not dict or not PATHS.isdisjoint(args):
            args = keyer.read(name, args)
            if what and type(args) is dict and not PATHS.isdisjoint(args):
                return None
        try:
            ident = hash((name, orjson.dumps(args, None, _SORTED)))
        except orjson.JSONEncodeError:
            ident = hash((name, canonical(args)))
        if number - newest.get(ident, -reach) < reach:
            return None
        newest[ident] = number
        trail = trails.get(name)
        if trail is not None and number - trail[0] <= GAP:
            earlier = trail[1]
            quiet = what or (type(args) is dict and ASKED.isdisjoint(args))
            if not (quiet and unlike(earlier, call)) and may_be_alike(earlier, call):
                return None
        trails[name] = number, call
        chars.append(size if size >= 0 else estimate.characters(call.result))
    return chars
