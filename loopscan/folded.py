"""What the turns of a window hold, folded into bytes: nearly all of what a sleeping run would keep in memory."""

from __future__ import annotations

import pickle
from typing import Any, Final, cast

from loopscan.key import Action
from loopscan.model import MISSING, Call, LateCall

_held: Final = Call.result.__get__
_hold: Final = Call.result.__set__


def fold(ring: list[Action | None]) -> bytes:
    """What the turns and their calls hold, as bytes; RecursionError where they are too deep."""
    return pickle.dumps([(a.text, a.args, [_of(c) for c in a.calls]) for a in _actions(ring)], pickle.HIGHEST_PROTOCOL)


def empty(ring: list[Action | None]) -> None:
    """Let go of what was folded."""
    for action in _actions(ring):
        action.text = action.args = None
        for call in action.calls:
            call.args = call.id = None
            _hold(call, MISSING)
            if type(call) is LateCall:
                call.raw, call.head, call.tail = None, b"", b""


def unfold(ring: list[Action | None], data: bytes) -> None:
    """Give the turns back what they held."""
    found = cast(list[tuple[str | None, Any, list[tuple[Any, ...]]]], pickle.loads(data))
    for action, (text, args, calls) in zip(_actions(ring), found, strict=True):
        action.text, action.args = text, args
        for call, held in zip(action.calls, calls, strict=True):
            call.args, call.id, result = held[:3]
            _hold(call, result)
            if type(call) is LateCall:
                call.raw, call.head, call.tail = held[3:]


def _actions(ring: list[Action | None]) -> list[Action]:
    return [a for a in ring if type(a) is Action]


def _of(call: Call) -> tuple[Any, ...]:
    if type(call) is LateCall:
        return call.args, call.id, _held(call), call.raw, call.head, call.tail
    return call.args, call.id, call.result
