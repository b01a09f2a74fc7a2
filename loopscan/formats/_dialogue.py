"""From the messages of one run to its turns: replies open turns, tool results are joined to their calls."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Iterable
from typing import Final

from loopscan.formats._chat import REPLY_ROLES, add_reply, is_plain, results
from loopscan.formats._fields import identity, when
from loopscan.formats._items import add_item, is_call, is_known, is_output, output_of
from loopscan.formats._usage import usage_of
from loopscan.model import JSON, MISSING, Call, Turn

_TIMES: Final = ("timestamp", "created_at", "ts", "time")


class Dialogue:
    """The turns of one run whose messages are fed in order.

    A chat message with an assistant role is a turn; consecutive reply items of the Responses API are one. A
    result joins the newest turn that waits for its id; ids may be reused by later turns; without an id (or where
    the calls have none) results come in the order of the newest turn's calls.
    """

    def __init__(self, run: str, line: int, unknown: Callable[[str], None] | None = None) -> None:
        self.run, self.line = run, line
        self.turns: list[Turn] = []
        self._unknown = unknown
        self._waiting: dict[str, tuple[int, deque[Call]]] = {}
        self._number = 0
        self._cursor = 0
        self._replying = False
        self._compacted = False

    def feed_all(self, messages: Iterable[JSON]) -> list[Turn]:
        """Feed messages; returns all turns so far."""
        for message in messages:
            if isinstance(message, dict):
                self.feed(message)
        return self.turns

    def feed(self, message: dict[str, JSON]) -> None:
        """Take the next message or item."""
        kind = message.get("type")
        if isinstance(kind, str) and kind != "message":
            self._item(message, kind)
        elif message.get("role") in REPLY_ROLES:
            turn = self.turns[-1] if kind is not None and self._replying else self._open(message)
            known = len(turn.calls)
            add_reply(turn, message)
            if len(turn.calls) > known:
                self.expect(known)
            self._replying = True
        else:
            self._replying = False
            for call_id, result, error in results(message):
                self.answer(call_id, result, error)

    def _item(self, item: dict[str, JSON], kind: str) -> None:
        if is_output(kind):
            self._replying = False
            self.answer(*output_of(item))
        elif is_call(kind) or kind == "reasoning":
            turn = self.turns[-1] if self._replying else self._open(item)
            known = len(turn.calls)
            add_item(turn, item)
            self.expect(known)
            self._replying = True
        elif kind == "compaction":
            self._compacted = True
        elif not is_known(kind) and self._unknown is not None:
            self._unknown(kind)

    def _open(self, message: dict[str, JSON]) -> Turn:
        turn = Turn(self.run, line=self.line, written=0)
        if not is_plain(message):
            turn.usage = usage_of(message.get("usage"))
            turn.model = identity(message.get("model"))
            stamp = next((message[k] for k in _TIMES if k in message), None)
            turn.time = None if stamp is None else when(stamp)
        self.add(turn)
        return turn

    def add(self, turn: Turn) -> None:
        """Add a turn that was read elsewhere."""
        turn.compacted, self._compacted = turn.compacted or self._compacted, False
        self.turns.append(turn)
        self._number += 1
        self._cursor = 0
        if turn.calls:
            self.expect(0)

    def release(self) -> list[Turn]:
        """All turns but the newest, which are then forgotten; results that come later are lost to them."""
        ready = self.turns[:-1]
        del self.turns[:-1]
        self._waiting = {k: w for k, w in self._waiting.items() if w[0] == self._number}
        return ready

    def expect(self, known: int) -> None:
        """Wait for the results of the newest turn's calls from number `known` on.

        An id for which a call of an older turn still waits is taken over.
        """
        number = self._number
        for call in self.turns[-1].calls[known:]:
            if call.id is not None and call.result is MISSING:
                owner, calls = self._waiting.get(call.id, (0, deque[Call]()))
                if owner != number:
                    calls = deque()
                    self._waiting[call.id] = (number, calls)
                calls.append(call)

    def answer(self, call_id: str | None, result: JSON, error: bool) -> bool:
        """Join a result to its call; False where no call waits for it."""
        waiting = self._waiting.get(call_id) if call_id is not None else None
        if waiting is not None and call_id is not None:
            call = waiting[1].popleft()
            if not waiting[1]:
                del self._waiting[call_id]
        else:
            calls = self.turns[-1].calls if self.turns else []
            while self._cursor < len(calls) and calls[self._cursor].result is not MISSING:
                self._cursor += 1
            if self._cursor == len(calls) or (call_id is not None and calls[self._cursor].id is not None):
                return False
            call = calls[self._cursor]
        call.result, call.error = result, error
        return True
