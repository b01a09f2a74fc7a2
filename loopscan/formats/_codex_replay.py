"""The records of a Codex rollout that are its own: without the parent's history that forks and sub-agents repeat.

A forked file may begin with the parent's records under new timestamps, may only carry the parent's counters on, or
may start from nothing. Only a proven prefix is left out. In the order of their weight the proofs are: the ordinal
at which the own history starts; turn ids (UUID version 7, so they tell their time) and timestamps older than the
own thread; a second `session_meta`; two different token counts within a second of the head, which no model can send.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from typing import Final

from loopscan.decode import word
from loopscan.formats._fields import count, identity, mapping, when
from loopscan.model import JSON

Line = tuple[int, str, dict[str, JSON], dict[str, JSON]]
"""Line number, record type, payload, the whole record."""

_BURST: Final = 1.0
"""Seconds within which a copied history is written out, record after record."""
_UNDECIDED: Final = 256
"""Records held back for want of a proof; then they count as the file's own."""


def parent_of(meta: dict[str, JSON]) -> str | None:
    """The thread that started this one as its sub-agent."""
    spawn = mapping(mapping(mapping(meta.get("source")).get("subagent")).get("thread_spawn"))
    return identity(meta.get("parent_thread_id")) or identity(spawn.get("parent_thread_id"))


def is_subagent(meta: dict[str, JSON]) -> bool:
    """Whether a session was started by another one, known or not."""
    return parent_of(meta) is not None or "subagent" in mapping(meta.get("source"))


def turn_id(payload: dict[str, JSON]) -> str | None:
    """The id of the user turn that a record belongs to."""
    for holder in (payload, payload.get("internal_chat_message_metadata_passthrough"), payload.get("metadata")):
        if isinstance(holder, dict) and isinstance(holder.get("turn_id"), str):
            return word(holder["turn_id"])
    return None


def born(uuid: str | None) -> float | None:
    """Epoch seconds at which a UUID of version 7 was made."""
    if uuid is None or len(uuid) != 36 or uuid[14] != "7":
        return None
    try:
        return int(uuid[:8] + uuid[9:13], 16) / 1000
    except ValueError:
        return None


def own_records(lines: Iterator[Line], inherited: Callable[[dict[str, JSON]], None]) -> Iterator[Line]:
    """The lines that are no replayed history; `inherited` gets the replayed token counts."""
    index = 0
    for line in lines:
        yield line
        index += 1
        if line[1] == "session_meta":
            break
        if line[1] == "response_item":
            yield from lines
            return
    else:
        return
    prefix = _Prefix.of(line[2], when(line[3].get("timestamp")))
    for line in lines:
        yield from prefix.sift(line, index, inherited)
        index += 1
        if prefix.over:
            yield from lines
            return
    yield from prefix.held


@dataclass(slots=True)
class _Prefix:
    """What is known of the head of a forked rollout. `replay`: proven to be the parent's, None = not yet known."""

    own: str | None
    start: int | None
    since: float | None
    forked: bool
    head: float | None
    replay: bool | None = None
    over: bool = False
    held: list[Line] = field(default_factory=list)
    total: JSON = None

    @classmethod
    def of(cls, meta: dict[str, JSON], time: float | None) -> _Prefix:
        own = identity(meta.get("id"))
        since = born(own) or when(meta.get("timestamp")) or time
        forked = is_subagent(meta) or identity(meta.get("forked_from_id")) is not None
        return cls(own, count(meta.get("subagent_history_start_ordinal")), since, forked, time)

    def sift(self, line: Line, index: int, inherited: Callable[[dict[str, JSON]], None]) -> list[Line]:
        """What can be passed on once this line is known."""
        _, kind, payload, record = line
        time = when(record.get("timestamp"))
        if kind == "session_meta" and identity(payload.get("id")) not in (None, self.own):
            self.replay = True
        elif not self.forked and self.replay is None:
            self.replay = False
        else:
            self._judge(kind, payload, record, index, time)
        self.held.append(line)
        if self.replay is None and len(self.held) <= _UNDECIDED:
            return []
        ready, self.held = self.held, []
        if not self.replay:
            self.over = True
            return ready
        self.head = max(time, self.head or time) if time is not None else self.head
        for _, passed_kind, passed, _ in ready:
            if passed_kind == "event_msg" and passed.get("type") == "token_count":
                inherited(mapping(passed.get("info")))
        return []

    def _judge(
        self, kind: str, payload: dict[str, JSON], record: dict[str, JSON], index: int, time: float | None
    ) -> None:
        if self.start is not None:
            ordinal = count(record.get("ordinal"))
            self.replay = (index if ordinal is None else ordinal) < self.start
            return
        made = born(turn_id(payload))
        if made is not None and self.since is not None:
            self.replay = made < self.since
        elif time is not None and self.since is not None and time < self.since - _BURST:
            self.replay = True
        elif time is not None and self.head is not None and time - self.head > _BURST:
            self.replay = False
        elif self.replay is None and kind == "event_msg" and payload.get("type") == "token_count":
            total = mapping(payload.get("info")).get("total_token_usage")
            if total is not None and self.total is not None and total != self.total:
                self.replay = True
            self.total = total or self.total
