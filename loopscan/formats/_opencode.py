"""An OpenCode session while it is read: what both generations of its records share.

Figures are disjoint: input, cache read and cache write; output and reasoning. `total`, where it is written,
says whether reasoning is part of output. A cost of 0 beside tokens means that OpenCode knew no price.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Final

from loopscan.decode import canonical, word
from loopscan.formats import Scan
from loopscan.formats._fields import count, dollars, identity, mapping, result_of_blocks, when
from loopscan.model import JSON, MISSING, Call, End, Event, Turn, Usage

FORMAT: Final = "opencode"
_OPEN: Final = frozenset({"pending", "running", "streaming"})
_KILLED: Final = frozenset({"Tool execution aborted", "Tool execution interrupted", "Cancelled"})
_ON: Final = frozenset({"tool-calls", "tool_calls"})


@dataclass(slots=True)
class Chat:
    """One session: its run, the prompt being answered, and what the next turn must say.

    `created`: start of the session (epoch seconds); older messages were copied from the session it was forked
    from. `going`: the model waits for nothing but its next turn, so a user's words only steer it. `replay`: the
    next user message repeats the last one after a compaction. `turns`: turns of this reading.
    """

    run: str
    scan: Scan
    parent: str | None = None
    created: float | None = None
    prompt: str | None = ""
    compacted: bool = False
    going: bool = False
    replay: bool = False
    turns: int = 0
    fault: str | None = None
    ordinal: int = field(default=0)

    def asked(self, message: dict[str, JSON]) -> None:
        """The user said something: a new run, unless it steers one that is going on."""
        if self.replay:
            self.replay = False
        elif not self.going and self.prompt is not None:
            self.prompt = identity(message.get("id")) or f"message {self.ordinal}"

    def is_copy(self, message: dict[str, JSON]) -> bool:
        """Whether a message stands in another store too, or came from the session this one was forked from."""
        created = when(mapping(message.get("time")).get("created"))
        if not self.scan.exact and created is not None and self.created is not None and created < self.created:
            self.scan.skips.copies += 1
            return True
        name = identity(message.get("id"))
        return name is not None and self.scan.copy_of(FORMAT, name)

    def turn(self, message: dict[str, JSON]) -> Turn:
        """A new turn of this session, with what the message says of the model call."""
        model = mapping(message.get("model"))
        turn = Turn(self.run, line=self.ordinal, prompt=self.prompt, parent=self.parent, written=0)
        turn.session = self.run if self.prompt is not None else None
        turn.model = identity(message.get("modelID") or model.get("modelID") or model.get("id"))
        turn.time = when(mapping(message.get("time")).get("created"))
        agent = identity(message.get("agent") or message.get("mode"))
        turn.labels = {"agent": agent} if agent else None
        return turn

    def add(self, turns: list[Turn], error: dict[str, JSON], finish: str | None) -> list[Event]:
        """The turns of a message; `error` is what the message says went wrong, {} if nothing."""
        self.going = finish in _ON and not error and all(_leads_on(t) for t in turns)
        self.turns += len(turns)
        if turns:
            turns[0].compacted, self.compacted = self.compacted, False
        return list(turns)

    def end(self, state: str, note: str | None, time: float | None = None) -> list[Event]:
        """The log's word on how the run ended; nothing where the run was read elsewhere."""
        self.going = False
        end = End(self.run, state, note[:200] if note else None, self.ordinal, time=time, prompt=self.prompt)
        return [end] if self.turns else []


def _leads_on(turn: Turn) -> bool:
    """Whether the agent goes on by itself: every call came back and no person refused one."""
    for call in turn.calls:
        refused = call.error and isinstance(call.result, str) and "rejected" in call.result
        if call.result is MISSING or refused:
            return False
    return bool(turn.calls)


def call(name: JSON, call_id: JSON, state: dict[str, JSON]) -> Call:
    """A tool part: the call and, unless it is still open or was killed, its result."""
    made = Call(word(name), state.get("input"), id=identity(call_id))
    status, extra, error = identity(state.get("status")), mapping(state.get("metadata")), state.get("error")
    words = error.get("message") if isinstance(error, dict) else error
    if status in _OPEN or extra.get("interrupted") is True or (isinstance(words, str) and words in _KILLED):
        return made
    if status == "error":
        made.result, made.error = words if words is not None else result_of_blocks(state.get("content")), True
    elif "output" in state or "content" in state:
        made.result = state["output"] if "output" in state else result_of_blocks(state["content"])
        # a shell command that failed still counts as completed
        made.error = extra.get("exit") not in (None, 0) or bool(extra.get("error"))
    return made


def usage(tokens: JSON, cost: JSON) -> Usage | None:
    """The usage of one model call; None where nothing was counted (all zero: the call never came back)."""
    given = mapping(tokens)
    cache = mapping(given.get("cache"))
    fresh, output, reasoning = (count(given.get(k)) for k in ("input", "output", "reasoning"))
    read, write = count(cache.get("read")), count(cache.get("write"))
    sent = (fresh or 0) + (read or 0) + (write or 0)
    usd = dollars(cost.get("usd") if isinstance(cost, dict) else cost)
    if not sent and not output and not usd:
        return None
    if reasoning and count(given.get("total")) != sent + (output or 0):
        output = (output or 0) + reasoning
    known = fresh is not None or read is not None
    return Usage(sent if known else None, output, read, write, usd=usd or None)


def wrote(turn: Turn, text: JSON) -> None:
    """Add words of the model to a turn."""
    if isinstance(text, str) and text:
        turn.text = f"{turn.text}\n{text}" if turn.text else text
        thought(turn, text)


def thought(turn: Turn, text: JSON) -> None:
    """Count characters that the model produced."""
    turn.written = (turn.written or 0) + (len(text) if isinstance(text, str) else 0)


def called(turn: Turn, made: Call) -> None:
    """Add a call to a turn."""
    turn.calls.append(made)
    turn.written = (turn.written or 0) + len(made.name) + len(canonical(made.args))


def failure(turn: Turn, words: str, aborted: bool) -> bool:
    """Mark a turn that came to nothing; False if it is no turn at all (stopped before the model answered)."""
    if turn.calls or turn.text:
        return True
    if aborted:
        turn.text = None
        return turn.usage is not None or bool(turn.written)
    turn.failed, turn.fault = True, words
    return True
