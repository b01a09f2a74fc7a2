"""What readers yield: calls, turns and the ends of runs.

A reader turns one log into a stream of `Turn` and `End`, in log order, runs interleaved. It knows nothing of
windows, prices or exits; the engine (`loopscan.engine`) sees nothing of bytes or of the format's own fields.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Final

import msgspec

JSON = Any
"""A decoded JSON value: dict, list, str, int, float, bool or None."""


class _Missing:
    """The result of a call that the log never recorded; equal to nothing, not even itself."""

    __slots__ = ()

    def __repr__(self) -> str:
        return "MISSING"

    def __reduce__(self) -> str:
        return "MISSING"


MISSING: Final = _Missing()

STATES: Final = (
    "done",
    "no_progress",
    "turn_cap",
    "token_cap",
    "cost_cap",
    "time_cap",
    "context_full",
    "error",
    "aborted",
    "cut",
)
"""How a run can end; `aborted` = a person stopped it, `cut` = the log just ends."""


class Call(msgspec.Struct, gc=False):
    """One tool invocation. `args` is the decoded object (or text), `result` MISSING if none was recorded."""

    name: str
    args: JSON = None
    result: JSON = MISSING
    error: bool = False
    id: str | None = None

    @property
    def answered(self) -> bool:
        """Whether a result was recorded."""
        return self.result is not MISSING


_held: Final = Call.result.__get__
_hold: Final = Call.result.__set__


class LateCall(Call, gc=False):
    """A call whose result is left as JSON until somebody looks at it: most results nobody ever does.

    `decode`: makes the result of the JSON. `ident`: hash of name and canonical arguments, where the reader knows it.
    `raw`: the JSON; `head`, `tail`, `size`: its first 9 and its last 11 bytes, quotes and all, and how many it has.
    `chars`: characters of the result, where it is text and the reader counted them; else -1.
    """

    decode: Callable[[bytes], JSON] | None = None
    ident: int | None = None
    raw: bytes | None = None
    head: bytes = b""
    tail: bytes = b""
    size: int = 0
    chars: int = -1

    def answer(self, raw: bytes, error: bool) -> None:
        """Take the JSON of the result."""
        self.raw, self.head, self.tail, self.size = raw, raw[:9], raw[-11:], len(raw)
        self.error = error

    @property
    def answered(self) -> bool:
        """Whether a result was recorded."""
        return self.raw is not None or _held(self) is not MISSING

    @property  # type: ignore[misc]
    def result(self) -> JSON:
        """The result."""
        if self.raw is not None and self.decode is not None:
            _hold(self, self.decode(self.raw))
            self.raw = None
        return _held(self)

    @result.setter
    def result(self, value: JSON) -> None:
        self.raw, self.size, self.chars = None, 0, -1
        _hold(self, value)

    def unlike(self, other: LateCall, long: int) -> bool:
        """Whether both results are text, begin and end with other characters, and have another or `long` length.

        Told by the JSON alone: False may also mean that it does not tell. Both were written by one program, which
        writes the same text, or the same lines in another order, in as many bytes.
        """
        return (
            self.head != other.head
            and self.tail != other.tail
            and self.head[:1] == b'"' == other.head[:1]
            and (self.size != other.size or self.size > 2 * _ESCAPE * long + 1)
        )


_ESCAPE: Final = 6
"""Bytes of the longest escape of JSON text; two may be one character."""


class Usage(msgspec.Struct, gc=False):
    """Tokens of one send as recorded; None = that class was not recorded.

    `input` is all input of the send, cached included; `cache_read` and `cache_write` are parts of it, and
    `cache_write_1h` is the part of `cache_write` written for one hour. `output` includes reasoning tokens.
    `usd` is the cost the log itself states for the send.
    """

    input: int | None = None
    output: int | None = None
    cache_read: int | None = None
    cache_write: int | None = None
    cache_write_1h: int | None = None
    usd: float | None = None

    def merge(self, other: Usage) -> None:
        """Keep the larger figure of each field: lines of one send repeat or grow its usage."""
        if self == other:
            return
        for name in ("input", "output", "cache_read", "cache_write", "cache_write_1h", "usd"):
            mine, new = getattr(self, name), getattr(other, name)
            if new is not None and (mine is None or new > mine):
                setattr(self, name, new)


class Turn(msgspec.Struct, gc=False):
    """One model call (one send) with the calls it asked for and their results.

    `run`: the run id of the log. `session`/`parent`/`labels` may be given on any turn of a run; the first
    value stands. `prompt`: for interactive logs the identity (a line number, a message id) of the user prompt
    that this turn answers, "" before the first one; None where the log is no interactive session. `text`: what
    the model wrote (None = content was not captured). `failed`: the model call itself failed; `fault` is the
    error it returned. `time`: epoch seconds. `window`: the model's context window in tokens where the log states
    it. `written`: characters the model produced (text, tool arguments, visible thinking), for estimating output
    tokens. `compacted`: the context was compacted since the turn before. `source`: the input it came from, where
    that is not the one being read. `whole`, on the first turn of a run: the turns of the run follow one another, and
    nothing of it comes later in the scan.
    """

    run: str
    calls: list[Call] = []
    text: str | None = ""
    failed: bool = False
    fault: JSON = MISSING
    usage: Usage | None = None
    model: str | None = None
    time: float | None = None
    line: int = 0
    prompt: str | int | None = None
    session: str | None = None
    parent: str | None = None
    labels: dict[str, str] | None = None
    window: int | None = None
    written: int | None = None
    compacted: bool = False
    source: str | None = None
    whole: bool = False


class End(msgspec.Struct, gc=False):
    """The log says how `run` ended: `state` is one of `STATES`, `note` the log's own words.

    `prompt`: the user prompt whose run ended, where the log is interactive and says so; None = the current one.
    `final`: the run is over (a terminal-state line, a root span's end); otherwise later turns are expected to
    go on with a new run of the same session. `run` may have had no turn at all.
    """

    run: str
    state: str
    note: str | None = None
    line: int = 0
    final: bool = False
    time: float | None = None
    prompt: str | int | None = None


class Rows(msgspec.Struct, gc=False):
    """Turns of one run in a row, at least one, as `loopscan.row` has them: only where `Scan.quiets` takes such.

    `source`: where their lines can be read again; None = they cannot.
    """

    run: str
    rows: list[Any]
    source: Any = None


class Several(msgspec.Struct, gc=False):
    """Turns of one run in a row, at least one, that answer one prompt: only for who asks for them (`Scan.rows`)."""

    run: str
    turns: list[Turn]


Columns = tuple[bytes, bytes, bytes, bytes]
"""Input and output tokens, picodollars, seconds since the first turn: a number per turn, of 64 bits."""


class Further(msgspec.Struct, gc=False):
    """The next lines of a run that is not quiet, for whoever takes usual turns straight from lines.

    `take`: given what such a turn is told by (`loopscan.rows.Look` and `Doubts`), picodollars of an input and of an
    output token, and how many turns may be known in the end; None where the next turn is none. `row`: of a line.
    """

    run: str
    take: Callable[[Any, Any, tuple[int, int], int], Columns | None]
    row: Callable[[bytes], Any]


Event = Turn | End
