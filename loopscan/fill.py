"""Tokens of sends whose input the log does not hold, in this order: the model of `--base`, an estimate from text.

Where it holds the input but no output, the output counts as nothing: a class nobody recorded is not made up.
"""

from __future__ import annotations

from fractions import Fraction
from functools import lru_cache
from itertools import accumulate
from typing import Final, Literal

import msgspec

from loopscan import estimate
from loopscan.model import MISSING, Turn, Usage
from loopscan.settings import Settings

Source = Literal["recorded", "modelled", "estimated"]
COUNTED: Final = ("recorded", "modelled")
"""Where tokens come from that are held against the context window."""


class History(msgspec.Struct, gc=False):
    """What the next send of a run re-sends, as far as it is known: the send before, and its input.

    `measured`: that input goes back to a recorded one; else it lacks the base.
    """

    before: Turn | None = None
    input: int = 0
    measured: bool = False

    def take(self, turn: Turn, tokens: int, measured: bool = True) -> None:
        """Remember a send with its input."""
        self.before, self.input, self.measured = turn, tokens, measured

    def completed(self, turn: Turn, number: int, settings: Settings, priced: bool) -> tuple[Usage, Source]:
        """The usage of send `number` of a run with what is missing filled in, and the weakest source of it.

        `priced`: a price is known for it. Recorded dollars need no tokens; without content, or without both a
        model and a price, nothing is estimated.
        """
        usage = turn.usage or Usage()
        if turn.failed or usage.usd:
            return usage, "recorded"
        if settings.base is not None:
            sent = settings.base + settings.growth * (number - 1)
            self.take(turn, sent)
            return Usage(sent, settings.out if usage.output is None else usage.output), "modelled"
        if not (turn.model or priced or settings.chars_per_token) or not has_content(turn):
            return usage, "recorded"
        kind = estimate.family(turn.model, settings.chars_per_token)
        tokens = self._estimated(turn, kind)
        self.take(turn, tokens, self.measured)
        written = estimate.output(kind, estimate.written_chars(turn)) if usage.output is None else usage.output
        return Usage(tokens, written, usage.cache_read, usage.cache_write, usage.cache_write_1h), "estimated"

    def _estimated(self, turn: Turn, kind: estimate.Family) -> int:
        """The input of a send: that of the send before and what that turn added; nothing is known of the first."""
        if self.before is None or turn.compacted:
            self.measured = False
            return 0
        before = self.before
        return self.input + estimate.growth(kind, estimate.written_chars(before), estimate.result_chars(before))


def has_content(turn: Turn) -> bool:
    """Whether the log holds any of what a turn said, asked for or got."""
    return turn.text is not None or any(c.args is not None or c.result is not MISSING for c in turn.calls)


class Filling(msgspec.Struct, gc=False, frozen=True):
    """How sends in a row that say nothing of their usage are filled in, in whole numbers.

    `source`: "modelled", "estimated", or "unknown" where they cannot be. The first send takes `base`; each turn adds
    `growth` tokens to the input of the next, and those of the characters it wrote and got. `output`: tokens of each
    send beside those of the characters it wrote. Characters are given as (tokens, characters that they stand for).
    """

    source: str = "unknown"
    base: int = 0
    growth: int = 0
    output: int = 0
    history: tuple[int, int] = (0, 1)
    results: tuple[int, int] = (0, 1)
    written: tuple[int, int] = (0, 1)

    def next_input(self, history: History, sends: int) -> int:
        """Input tokens of the send behind `sends` others."""
        if self.source != "estimated":
            return self.base + self.growth * sends
        before = history.before
        if before is None:
            return 0
        written, results = estimate.written_chars(before), estimate.result_chars(before)
        return history.input + self.growth + tokens(written, self.history) + tokens(results, self.results)

    def all(self, written: list[int], results: list[int]) -> tuple[list[int], list[int]]:
        """Input and output tokens of all sends of a run, by the characters of what each of its turns wrote and got."""
        step, fixed, (own, per_own), (got, per_got) = self.growth, self.output, self.history, self.results
        again = [(w * own + per_own - 1) // per_own for w in written]
        grown = [step + a + (r * got + per_got - 1) // per_got for a, r in zip(again, results, strict=True)]
        grown.pop()
        alike = self.written == self.history and not fixed
        output = again if alike else [fixed + tokens(w, self.written) for w in written]
        return list(accumulate(grown, initial=self.base)), output

    def output_of(self, turn: Turn) -> int:
        """Output tokens of a send."""
        return self.output + (tokens(estimate.written_chars(turn), self.written) if self.written[0] else 0)


def tokens(characters: int, per: tuple[int, int]) -> int:
    """Tokens of so many characters."""
    return -(-characters * per[0] // per[1])


def filling(model: str | None, priced: bool, settings: Settings) -> Filling:
    """How sends of a model are filled in. `priced`: a price is known for it."""
    if settings.base is not None:
        return Filling("modelled", settings.base, settings.growth, settings.out)
    if not (model or priced or settings.chars_per_token):
        return _UNKNOWN
    return _estimating(model, settings.chars_per_token)


_UNKNOWN: Final = Filling()


@lru_cache(maxsize=1024)
def _estimating(model: str | None, chars_per_token: Fraction | None) -> Filling:
    kind = estimate.family(model, chars_per_token)
    history, results, written = ((f.denominator, f.numerator) for f in (kind.history, kind.results, kind.output))
    return Filling("estimated", 0, kind.per_turn, 0, history, results, written)
