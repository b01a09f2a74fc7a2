"""Cold sends: the prompt was cached a send before and had to be paid in full again.

A cache is lost to a pause longer than its time to live, to a compaction, or to a change near the start of the
prompt. What it costs is the re-sent tokens at what was paid for them, less what reading them would have cost.
"""

from __future__ import annotations

from typing import Final

import msgspec

from loopscan.fit import DROP
from loopscan.model import Turn
from loopscan.price import Rates

LEAST: Final = 1024
"""Shorter prompts are not cached: https://platform.openai.com/docs/guides/prompt-caching."""

PAUSE: Final = 300.0
"""Seconds that a cache lives by default, counted from the send before."""


class Cold(msgspec.Struct, gc=False):
    """Cold sends of a run, what they cost more than warm ones (picodollars), and what went before them."""

    sends: int = 0
    usd: int = 0
    after_pause: int = 0
    after_compaction: int = 0


class Prompt(msgspec.Struct, gc=False):
    tokens: int
    time: float | None
    cached: bool


class Warmth(msgspec.Struct, gc=False):
    """The last prompt of each model, as its cache should hold it."""

    _last: dict[str | None, Prompt] = {}

    def goes_on(self, turn: Turn, prompt: int, read: int) -> bool:
        """Take a send that read half of what it could, after one that was cached; False = it is another, not taken."""
        last = self._last.get(turn.model)
        if last is None or not last.cached or 2 * read < (prompt if prompt < last.tokens else last.tokens):
            return False
        last.tokens, last.time = prompt, turn.time
        return True

    def send(self, turn: Turn, by_class: tuple[int, int, int, int], rates: Rates | None, cold: Cold) -> None:
        """Take a send whose cache reads were recorded; count it in `cold` if it read less than half of what it could.

        `by_class`: see `loopscan.price.parts`.
        """
        fresh, read, write, hour = by_class
        prompt = fresh + read + write + hour
        last = self._last.get(turn.model)
        if last is None:
            self._last[turn.model] = Prompt(prompt, turn.time, prompt > fresh)
            return
        could = prompt if prompt < last.tokens else last.tokens
        if last.cached and could >= LEAST and 2 * read < could:
            cold.sends += 1
            if turn.compacted or prompt < DROP * last.tokens:
                cold.after_compaction += 1
            elif turn.time is not None and last.time is not None and turn.time - last.time > PAUSE:
                cold.after_pause += 1
            if rates is not None:
                cold.usd += _lost(could - read, by_class, rates)
        last.tokens, last.time = prompt, turn.time
        last.cached = last.cached or prompt > fresh


def _lost(tokens: int, by_class: tuple[int, int, int, int], rates: Rates) -> int:
    """Picodollars of tokens paid as the rest of their prompt, less the price of reading them."""
    fresh, read, write, hour = by_class
    paid = fresh * rates.input + write * rates.cache_write + hour * rates.cache_write_1h
    again = sum(by_class) - read
    return max(0, round(tokens * (paid - again * rates.cache_read)) // again)
