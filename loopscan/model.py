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


_held: Final = Call.result.__get__
_hold: Final = Call.result.__set__


class LateCall(Call, gc=False):
    """A call whose result is left as JSON until somebody looks at it: most long results nobody ever does.

    `raw`: that JSON; `decode`: makes the result of it.
    """

    raw: bytes | None = None
    decode: Callable[[bytes], JSON] | None = None

    @property  # type: ignore[misc]
    def result(self) -> JSON:
        """The result."""
        if self.raw is not None and self.decode is not None:
            _hold(self, self.decode(self.raw))
            self.raw = None
        return _held(self)

    @result.setter
    def result(self, value: JSON) -> None:
        self.raw = None
        _hold(self, value)

    def ends(self) -> tuple[str, str] | None:
        """The first 8 and the last 10 characters of a result that is text; None for any other."""
        raw = self.raw
        if raw is not None and raw[:1] == b'"':
            first, last = raw[1:9], raw[-_ESCAPE - 11 : -1]
            if first.isascii() and last.isascii() and b"\\" not in first and b"\\" not in last:
                return first.decode(), last[-10:].decode()
        result = self.result
        return (result[:8], result[-10:]) if type(result) is str else None

    def longer(self, size: int) -> bool:
        """Whether a result that is text surely has `size` characters or more, as its JSON tells without a look."""
        raw = self.raw
        if raw is None or len(raw) - 2 < _BYTES * size:
            return False
        return len(raw) - 2 >= 2 * _ESCAPE * size or b"\\u" not in raw[1 : _BYTES * size + 1]


_ESCAPE: Final = 6
"""Bytes of the longest escape of JSON text: the end of one is no character of its own; two may be one character."""
_BYTES: Final = 4
"""Bytes of the longest character of JSON text that is no such escape."""


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
    """Usual turns of one run in a row, at least one (`loopscan.row`). Only for who asks for them (`Scan.rows`).

    `source`: where their lines can be read again; None = they cannot. `last`: the log holds no more of the run.
    """

    run: str
    rows: list[Any]
    source: Any = None
    last: bool = False


class Whole(msgspec.Struct, gc=False):
    """All turns of one run, at least one, of one model and one time; the first says what there is to say of the run.

    `end`: how it ended. Nothing of the run comes later in the scan. Only for who asks for them (`Scan.rows`).
    """

    run: str
    turns: list[Turn]
    end: End | None = None


Event = Turn | End
