"""Whole runs in which nothing happens: the report of a run of nothing but usual turns, without a detector.

Where a log holds a run in one piece, all of it can be looked at before anything is made for it. A run is calm where no
call comes back in the window, no result is like the one before of its tool, no shell and no file is there for the rules
to look at, and words end it, if there are any. What is anything more is for `loopscan.stretch`.
"""

from __future__ import annotations

from array import array
from typing import TYPE_CHECKING, Final

import orjson

from loopscan.bill import Bill
from loopscan.cold import Cold
from loopscan.decode import FAST_ERRORS, canonical, fast
from loopscan.estimate import result_chars, written_chars
from loopscan.fill import COUNTED, filling
from loopscan.finished import Finished
from loopscan.model import MISSING
from loopscan.money import Checked, Guessed, Money, Spent, money_notes
from loopscan.part import priced
from loopscan.rules import REACH, tools
from loopscan.rules.likeness import ASKED, may_be_alike, unlike
from loopscan.rules.streaks import GAP
from loopscan.series import PART, Series, whole
from loopscan.spelling import PATHS
from loopscan.terms import PLAIN, terms_of
from loopscan.waste import Waste

if TYPE_CHECKING:
    from loopscan.key import Keyer
    from loopscan.model import Call, Turn
    from loopscan.money import PriceBook
    from loopscan.settings import Settings
    from loopscan.spill import Spill
    from loopscan.terms import Terms

_SORTED: Final = orjson.OPT_SORT_KEYS
_SHELL: Final = tools.SHELL
_WORDS: Final = 300
"""Characters from which on the last words of a run are looked at: shorter ones hold no repetition (`rules.inside`)."""
_WASTE, _CHECKED, _COLD = Waste(), Checked(), Cold()
"""Shared by all; nobody changes them."""


def calm(
    turns: list[Turn], source: str, format_name: str, keyer: Keyer, settings: Settings, prices: PriceBook, spill: Spill
) -> Finished | None:
    """The report of a run; None where it is not calm, or says something of its usage.

    `turns`: all of the run, of one model and one time; the first says what there is to say of the run.
    """
    first, last, acting = turns[0], turns[-1], turns
    if not last.calls:
        if last.failed or last.text is None or len(last.text) >= _WORDS:
            return None
        acting = turns[:-1]
    chars = _heard(acting, keyer, max(settings.window, REACH))
    if chars is None or first.parent is not None or len(turns) >= PART or first.usage is not None:
        return None
    if len(acting) < len(turns):
        chars.append(0)
    terms = terms_of(prices.find(first.model, first.time))
    limit = settings.context_window or prices.window(first.model)
    paid = _paid(turns, chars, terms, limit, settings, spill)
    if paid is None:
        return None
    series, money = paid
    return Finished(
        first.run, first.session, None, first.source or source, format_name, first.model or None, first.labels or {},
        first.time, first.time, len(turns), len(acting), "done" if len(acting) < len(turns) else "cut", "inferred",
        False, "clean", [], None, None, None, series, money, _WASTE, _WASTE, money_notes(money),
    )  # fmt: skip


def _paid(
    turns: list[Turn], chars: list[int], terms: Terms, limit: int | None, settings: Settings, spill: Spill
) -> tuple[Series, Money] | None:
    """What turns that say nothing of their usage cost, as `loopscan.ledger` has it; their results are `chars` long.

    None where one of them needs more than a look, or does not fit a context of `limit`.
    """
    model, price, count = turns[0].model, terms.price, len(turns)
    way = filling(model, price is not None, settings)
    most = terms.most if limit is None or way.source not in COUNTED else min(terms.most, limit - 1)
    sent, output = way.all([t.written if t.written is not None else written_chars(t) for t in turns], chars)
    if min(sent) < 0 or max(sent) > most or max(output) > PLAIN:
        return None
    part = priced(
        array("I", sent), array("I", output), array("d", bytes(8 * count)), (terms.input, terms.output), spill
    )
    spent, guessed, source = Spent(count), Guessed(part.usd), way.source
    if source == "estimated":
        guessed.add(part.input, part.output, count)
    elif source == "modelled":
        spent.input, spent.output = part.input, part.output
    if source != "unknown":
        spent.usage_sources = {source: count}
    if price is None:
        spent.unpriced = count
    else:
        spent.prices = {price.source: count}
    bill = Bill(model, price, price, count, spent.unpriced, part.input, output=part.output, usd=part.usd)
    rates = [(1, None if price is None else price.output)]
    return Series([part], [], rates, spill, whole([part])), Money(spent, [bill], _CHECKED, guessed, _COLD)


def _heard(turns: list[Turn], keyer: Keyer, reach: int) -> list[int] | None:
    """The characters of each turn's result; None where a turn is none that a calm run has.

    Longer than other functions: see `loopscan.stretch`, which does the same.
    """
    kinds, special = tools.KINDS, keyer.special
    newest: dict[int, int] = {}
    trails: dict[str, tuple[int, Call]] = {}
    chars: list[int] = []
    for number, turn in enumerate(turns):
        calls = turn.calls
        if len(calls) != 1:
            return None
        call = calls[0]
        name, args, result = call.name, call.args, call.result
        what = kinds.get(name)
        if what is None:
            what = tools.kind(name)
        if what & _SHELL or call.error or result is MISSING:
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
        chars.append(len(result) if type(result) is str else result_chars(turn))
    return chars
