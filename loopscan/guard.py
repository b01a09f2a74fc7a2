"""The detector and the exits inside a live agent loop: the same objects an audit uses.

guard = Guard(turn_cap=25, cost_cap=0.50)
while (hit := guard.check()) is None:
    step = agent.step()
    guard.record(step.tool, step.args, step.result, input_tokens=step.input_tokens)
print(hit.exit, hit.turn, hit.reason)
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from decimal import Decimal

from loopscan.errors import UsageError
from loopscan.exits import Caps, Exit
from loopscan.key import Keyer
from loopscan.limits import MOST_WINDOW
from loopscan.model import JSON, MISSING, Call, Turn
from loopscan.plain import plain
from loopscan.price import PICO
from loopscan.progress import Progress
from loopscan.run import overflows
from loopscan.series import Totals


@dataclass(slots=True, frozen=True)
class Hit:
    """The exit that fired: its name, the turn after which it fired, and why, in one line."""

    exit: str
    turn: int
    reason: str


class Guard:
    """Watches one live run. Call `record` after each turn and `check` before the next.

    `window`, `copies`: the period rule (a block of p turns played `copies` times in a row within `window` turns).
    `turn_cap` turns, `token_cap` tokens (input, cached included, and output), `cost_cap` USD, `time_cap` seconds;
    None = off, 0 is a limit. `context_window`: tokens; a send that does not fit fires context_full.
    `repeat_limit` k: the same action k times in a row fires no_progress whatever the results (0 = off), for tools
    whose results say nothing. `exact`: compare results literally. `clock`: seconds, monotonic. Raises UsageError.

    Arguments and results that are no JSON are compared by their `repr`; a result without one equals nothing.
    """

    def __init__(
        self,
        *,
        window: int = 20,
        copies: int = 2,
        turn_cap: int | None = None,
        token_cap: int | None = None,
        cost_cap: float | None = None,
        time_cap: float | None = None,
        context_window: int | None = None,
        repeat_limit: int = 0,
        exact: bool = False,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        if not 0 <= window <= MOST_WINDOW or copies < 2 or repeat_limit < 0:
            raise UsageError(f"window is 0 (off) to {MOST_WINDOW:,}, repeat_limit 0 or more, copies 2 or more")
        if any(cap is not None and cap < 0 for cap in (turn_cap, token_cap, cost_cap, time_cap, context_window)):
            raise UsageError("a cap is None (off), 0 or more")
        self._clock = clock
        self._progress = Progress(Keyer(exact), window, copies, repeat_limit)
        usd = None if cost_cap is None else _pico(cost_cap)
        self._exits: list[Exit] = Caps(turn_cap, token_cap, usd, time_cap).exits()
        self._window = context_window
        self._totals = Totals()
        self._started = clock()
        self._stamped: float | None = None
        self._hit: Hit | None = None

    @property
    def turn(self) -> int:
        """Turns recorded so far."""
        return self._totals.turn

    def record(
        self,
        name: str | None = None,
        args: JSON = None,
        result: JSON = MISSING,
        *,
        text: str | None = "",
        input_tokens: int | None = None,
        output_tokens: int | None = None,
        usd: float | None = None,
        error: bool = False,
        at: float | None = None,
    ) -> None:
        """Record a turn with one call, or (without `name`) with text only.

        `result` left out: not known, equal to nothing. `error` without a name: the model call failed with
        `result`. `usd`: what the send cost. `at`: the turn's own time in seconds, in place of the clock.
        """
        calls = [] if name is None else [_seen(Call(name, args, result, error))]
        failed = name is None and error
        turn = Turn("", calls, text, failed, plain(result) if failed else MISSING)
        self._record(turn, input_tokens, output_tokens, usd, at)

    def record_calls(
        self,
        calls: Iterable[Call | tuple[str, JSON, JSON]],
        *,
        text: str | None = "",
        input_tokens: int | None = None,
        output_tokens: int | None = None,
        usd: float | None = None,
        at: float | None = None,
    ) -> None:
        """Record a turn with parallel calls: `(name, args, result)` or `Call` objects."""
        made = [_seen(c if isinstance(c, Call) else Call(*c)) for c in calls]
        self._record(Turn("", made, text), input_tokens, output_tokens, usd, at)

    def _record(
        self,
        turn: Turn,
        input_tokens: int | None,
        output_tokens: int | None,
        usd: float | None,
        at: float | None,
    ) -> None:
        totals = self._totals
        totals.turn += 1
        totals.tokens += (input_tokens or 0) + (output_tokens or 0)
        totals.usd += _pico(usd) if usd else 0
        if at is not None:
            self._stamped = at if self._stamped is None else self._stamped
            totals.elapsed = max(totals.elapsed, at - self._stamped)
        self._progress.push(self._progress.keyer.action(turn))
        totals.fired = self._progress.fired
        too_long = self._window is not None and input_tokens is not None and input_tokens >= self._window
        if totals.full is None and (too_long or (turn.failed and overflows(turn.fault))):
            totals.full = totals.turn

    def check(self) -> Hit | None:
        """The exit that has fired, if one has; once it has, it stays.

        Call it before each step: a budget that is already spent never allows one more call.
        """
        if self._hit is not None:
            return self._hit
        totals = self._totals
        if self._stamped is None:
            totals.elapsed = self._clock() - self._started
        for exit_ in self._exits:
            if exit_.fires(totals):
                reason = self._progress.reason() if exit_.name == "no_progress" else exit_.reason(totals)
                self._hit = Hit(exit_.name, totals.turn, reason)
                return self._hit
        return None


def _seen(call: Call) -> Call:
    """The call as JSON. Arguments that do not show what they hold are the same where they are the same object."""
    args = plain(call.args)
    return Call(call.name, repr(call.args) if args is MISSING else args, plain(call.result), call.error)


def _pico(usd: float) -> int:
    return int(Decimal(str(usd)) * PICO)
