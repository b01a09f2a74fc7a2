"""Tokens of sends whose input the log does not hold, in this order: the model of `--base`, an estimate from text.

Where it holds the input but no output, the output counts as nothing: a class nobody recorded is not made up.
"""

from __future__ import annotations

from typing import Literal

import msgspec

from loopscan import estimate
from loopscan.model import MISSING, Turn, Usage
from loopscan.settings import Settings

Source = Literal["recorded", "modelled", "estimated"]


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
        if not (turn.model or priced or settings.chars_per_token) or not _has_content(turn):
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


def _has_content(turn: Turn) -> bool:
    return turn.text is not None or any(c.args is not None or c.result is not MISSING for c in turn.calls)
