"""The loop of `loopscan.stretch` compiled, where it could be built: what it has of Python is given to it here."""

from __future__ import annotations

from collections.abc import Callable
from functools import cache
from typing import TYPE_CHECKING, Any

import orjson

from loopscan.cold import Prompt, Warmth
from loopscan.compiled import compiled
from loopscan.decode import FAST_ERRORS, canonical, fast
from loopscan.detector import STALE, Detector
from loopscan.episode import Episode
from loopscan.episodes import Tracker
from loopscan.estimate import PLACEHOLDER_RATIO, result_chars, written_chars
from loopscan.fill import COUNTED
from loopscan.key import Action, Keyer
from loopscan.ledger import Ledger
from loopscan.model import JSON, MISSING, Call, LateCall, Turn, Usage
from loopscan.money import Money
from loopscan.progress import Progress
from loopscan.rules import growth, idle, read_back, sweep, tools, undo
from loopscan.rules.likeness import ASKED, may_be_alike, unlike
from loopscan.rules.streaks import Trail
from loopscan.rules.watch import Watch
from loopscan.run import USUAL, Run
from loopscan.series import Tally
from loopscan.spelling import PATHS, one_spelling
from loopscan.terms import Terms
from loopscan.unsummed import Unsummed

if TYPE_CHECKING:
    from collections.abc import Iterable

Usual = Callable[[Run, list[Turn], int], int]

_PATH, _ASKED, _OLD, _NEW, _WHOLE, _BACK, _OFFSET, _RANGE = (1 << n for n in range(8))
"""What the name of an argument says, as `_scanner/turns.h` has it."""


@cache
def usual() -> Usual | None:
    """The compiled loop; None where there is none."""
    made = compiled()
    if made is None:
        return None
    made.share(_types(), _things(), tools.TWO_WORDS, _limits())
    take: Usual = made.take_usual
    return take


def _types() -> dict[str, type]:
    named = (
        Run, Turn, Call, LateCall, Usage, Action, Progress, Tracker, Detector, Watch, Keyer, Ledger, Terms, Unsummed,
        Tally, Warmth, Prompt, Money, Episode, Trail,
    )  # fmt: skip
    rules: dict[str, type] = {
        "Idle": idle.Idle,
        "Growth": growth.Growth,
        "Undo": undo.Undo,
        "File": undo.File,
        "Sweep": sweep.Sweep,
        "ReadBack": read_back.ReadBack,
    }
    return {kind.__name__: kind for kind in named} | rules


def _things() -> dict[str, Any]:
    return {
        "missing": MISSING,
        "usual": USUAL,
        "words": _words(),
        "kinds": tools.KINDS,
        "kind": tools.kind,
        "commands": tools.COMMANDS,
        "label": tools.label,
        "says": idle.SAYS,
        "recorded": "recorded",
        "sorted": orjson.OPT_SORT_KEYS,
        "dumps": orjson.dumps,
        "hashed": _hashed,
        "fast": fast,
        "fast_errors": FAST_ERRORS,
        "spelt": one_spelling,
        "unlike": unlike,
        "alike": may_be_alike,
        "filled": _filled,
        "written": written_chars,
        "got": result_chars,
        "offset": "offset",
        "limit": "limit",
        "frombytes": "frombytes",
        "outcome": "outcome",
    }


def _words() -> dict[str, int]:
    words: dict[str, int] = {}
    groups: tuple[tuple[Iterable[str], int], ...] = (
        (PATHS, _PATH), (ASKED, _ASKED), (undo.OLD, _OLD), (undo.NEW, _NEW), (undo.WHOLE, _WHOLE),
        (undo.BACK_WORDS, _BACK), (sweep.KEYS - {"offset"}, _RANGE), (("offset",), _OFFSET),
    )  # fmt: skip
    for group, says in groups:
        for word in group:
            words[word] = words.get(word, 0) | says
    return words


def _limits() -> tuple[int, ...]:
    return (
        STALE, undo.FILES, sweep.FILES, PLACEHOLDER_RATIO, undo.TIMES, read_back.LONG, tools.READS, tools.WRITES,
    )  # fmt: skip


def _hashed(name: str, args: JSON) -> int:
    """The ident of a call of arguments that are unusual."""
    return hash((name, canonical(args)))


def _filled(ledger: Ledger) -> tuple[str | bool | int, ...]:
    """How sends that say nothing of their usage are filled in, and the input of the next one."""
    way = ledger.filling()
    sent = way.next_input(ledger.history, len(ledger.tally))
    return (way.source, way.source in COUNTED, sent, way.output, way.growth, *way.written, *way.history, *way.results)
