"""Runs out of single sends: a send continues the run whose messages its own messages start with.

A log of requests repeats the whole history in every line and seldom says which run a line belongs to. Of an open
run only hashes are kept: of the messages of its newest send, and of its newest reply.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Final

from loopscan.formats._chat import REPLY_ROLES
from loopscan.formats._dialogue import Dialogue
from loopscan.formats._items import is_call
from loopscan.formats._marks import prefixes
from loopscan.model import JSON, MISSING, End, Event, Turn

OPEN_RUNS: Final = 1 << 16
"""Open runs kept at most; beyond, the one that had no send for longest is closed."""
PEERS: Final = 64
"""Open runs with the same messages that are told apart; of more, the newest."""


def looks_fresh(name: str) -> bool:
    """Whether an id looks generated (a uuid or long hex): such trace ids are often new for every send."""
    digits = name.replace("-", "")
    return len(digits) >= 16 and all(c in "0123456789abcdefABCDEF" for c in digits)


@dataclass(slots=True)
class Send:
    """One line of such a log.

    `messages`: what was asked, whole. `reply`: the turn that came back (its `run` is not yet known), None where
    the log holds requests only: then the replies are read from the messages of later sends. `run`: the run that
    the line itself names; `maybe`: a name that is the run's only if later lines repeat it. `partial`: the history
    stays with the provider, `messages` are the new ones only. `after`, `reply_id`: ids of the reply before and of
    this one.
    """

    messages: list[JSON]
    reply: Turn | None = None
    end: End | None = None
    run: str | None = None
    maybe: str | None = None
    partial: bool = False
    after: str | None = None
    reply_id: str | None = None
    line: int = 0


@dataclass(slots=True, eq=False)
class _Thread:
    """An open run; `held` is its newest turn while that waits for results."""

    run: str
    key: int = 0
    sent: int = 0
    said: int = 0
    answered: bool = False
    named: bool = False
    reply_id: str | None = None
    held: Turn | None = None
    end: End | None = None


@dataclass(slots=True)
class Stitcher:
    """The open runs of a scan's request logs."""

    threads: dict[str, _Thread] = field(default_factory=dict)
    by_key: dict[int, list[_Thread]] = field(default_factory=dict)
    by_reply: dict[str, _Thread] = field(default_factory=dict)
    pending: dict[str, _Thread] = field(default_factory=dict)
    """Runs of which something is held."""

    def take(self, send: Send, place: str) -> Iterator[Event]:
        """The turns that became complete with a send; `place` names its run where no id does."""
        chain = prefixes(send.messages)
        thread, known = self._find(send, chain)
        compacted = False
        if thread is None:
            thread = _Thread(self._unused(send.run or send.maybe or send.reply_id or place), named=send.run is not None)
            known = 0
        else:
            compacted = known is None and len(send.messages) <= thread.sent
            thread.named = thread.named or (send.maybe == thread.run and chain[-1] != thread.key)
            self._unlist(thread)
        yield from self._extend(thread, send, known, compacted)
        thread.key, thread.sent, thread.reply_id = chain[-1], len(send.messages), send.reply_id
        self.threads[thread.run] = self.pending[thread.run] = thread
        peers = self.by_key.setdefault(thread.key, [])
        peers.append(thread)
        del peers[:-PEERS]
        if thread.reply_id is not None:
            self.by_reply[thread.reply_id] = thread
        if len(self.threads) > OPEN_RUNS:
            oldest = next(iter(self.threads.values()))
            self._unlist(oldest)
            if self.pending.pop(oldest.run, None) is not None:
                yield from _closed(oldest)

    def flush(self) -> Iterator[Event]:
        """What is held of every run at the end of an input; the runs may go on in the next one."""
        for thread in self.pending.values():
            yield from _closed(thread)
        self.pending.clear()

    def _unused(self, name: str) -> str:
        number, unused = 1, name
        while unused in self.threads:
            number += 1
            unused = f"{name}@{number}"
        return unused

    def _find(self, send: Send, chain: list[int]) -> tuple[_Thread | None, int | None]:
        """The run that a send continues, and how many of its messages that run already had (None = unknown)."""
        if send.after is not None and (thread := self.by_reply.get(send.after)) is not None:
            return thread, 0
        thread = self.threads.get(send.run or send.maybe or "")
        if send.partial:
            return thread, 0
        if thread is not None or send.run is not None:
            whole = thread is not None and thread.sent < len(chain) and chain[thread.sent] == thread.key
            return thread, thread.sent if thread is not None and whole else None
        for known in range(len(chain) - 1, 0, -1):
            threads = [t for t in self.by_key.get(chain[known], ()) if t.sent == known and not t.named]
            if known == len(send.messages):  # the same messages again: a retry, unless they were answered
                threads = [t for t in threads if not t.answered]
            if threads:
                said = _said(send.messages[known:])
                return next((t for t in reversed(threads) if t.said == said), threads[-1]), known
        return None, None

    def _unlist(self, thread: _Thread) -> None:
        self.threads.pop(thread.run, None)
        peers = self.by_key.get(thread.key, [])
        if thread in peers:
            peers.remove(thread)
            if not peers:
                del self.by_key[thread.key]
        if thread.reply_id is not None and self.by_reply.get(thread.reply_id) is thread:
            del self.by_reply[thread.reply_id]

    def _extend(self, thread: _Thread, send: Send, known: int | None, compacted: bool) -> Iterator[Event]:
        """Feed a run the messages it did not have, then the reply."""
        dialogue = Dialogue(thread.run, send.line)
        if thread.held is not None:
            dialogue.add(thread.held)
        if known is None:
            known = max(0, _last_reply(send.messages) + (send.reply is not None))
        for message in send.messages[known:]:
            if isinstance(message, dict) and (send.reply is None or not _is_reply(message)):
                dialogue.feed(message)
        if send.reply is not None:
            send.reply.run, send.reply.compacted = thread.run, compacted
            dialogue.add(send.reply)
            thread.said, thread.answered = _said_of(send.reply), not send.reply.failed
        thread.end = send.end
        if send.end is not None:
            send.end.run = thread.run
        turns = dialogue.turns
        waits = bool(turns) and any(c.result is MISSING for c in turns[-1].calls)
        yield from turns[:-1] if waits else turns
        thread.held = turns[-1] if waits else None


def _is_reply(message: dict[str, JSON]) -> bool:
    """Whether a message of the history is (a piece of) a reply."""
    kind = message.get("type")
    return message.get("role") in REPLY_ROLES or kind == "reasoning" or (isinstance(kind, str) and is_call(kind))


def _last_reply(messages: list[JSON]) -> int:
    """The place of the newest reply in a history; -1 if it holds none."""
    for i in range(len(messages) - 1, -1, -1):
        if isinstance(messages[i], dict) and _is_reply(messages[i]):
            return i
    return -1


def _said(messages: list[JSON]) -> int:
    """What tells the reply at the beginning of `messages` from other replies to the same history."""
    echo = Dialogue("", 0)
    for message in messages:
        if not isinstance(message, dict) or not _is_reply(message):
            break
        echo.feed(message)
    return _said_of(echo.turns[0]) if echo.turns else 0


def _said_of(reply: Turn) -> int:
    ids = [c.id for c in reply.calls if c.id is not None]
    return hash(tuple(ids)) if ids else hash((tuple([c.name for c in reply.calls]), reply.text))


def _closed(thread: _Thread) -> Iterator[Event]:
    if thread.held is not None:
        yield thread.held
        thread.held = None
    if thread.end is not None:
        yield thread.end
        thread.end = None
