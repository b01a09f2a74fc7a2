"""Runs that lie in one piece in a log, as readers give them out."""

from __future__ import annotations

from collections.abc import Callable

import msgspec

from loopscan.model import Call, End, Turn

Told = tuple[int, list[int] | bytes, list[int] | bytes]
"""Calls of a calm run, and the characters that each turn wrote and got: bytes as unsigned ints."""


class Whole(msgspec.Struct, gc=False):
    """A run that lies in one piece: turns of one call each, and perhaps a last one of words only.

    `first`: what the first turn says beside its call and words, which is all that there is to say of the run; all turns
    are of its model and time. `calls`, `texts`, `written`: of each turn; only the last of the texts may be one without
    a call. `end`: how the run ended. Nothing of it comes later in the scan. Only for who asks for them (`Scan.rows`).

    `told`: of a run that was found to be calm (`loopscan.calm`) as it was read what is needed of it; `play` makes
    calls, texts and written characters of such a one where they are needed all the same. `restless`: it is not calm.
    """

    run: str
    first: Turn
    calls: list[Call]
    texts: list[str]
    written: list[int]
    end: End | None = None
    told: Told | None = None
    restless: bool = False
    play: Callable[[], tuple[list[Call], list[str], list[int]]] | None = None

    def turns(self) -> list[Turn]:
        """Its turns."""
        if self.play is not None:
            self.calls, self.texts, self.written = self.play()
        one, calls = self.first, [[call] for call in self.calls]
        if len(calls) < len(self.texts):
            calls.append([])
        turns = [
            Turn(self.run, asked, text, model=one.model, time=one.time, line=one.line, written=written)
            for asked, text, written in zip(calls, self.texts, self.written, strict=True)
        ]
        one.calls, one.text, one.written, turns[0] = calls[0], self.texts[0], self.written[0], one
        return turns
