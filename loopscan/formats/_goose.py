"""A Goose conversation while it is read: messages are put together to model calls.

Since 1.10 the words of a model call and each of its tool requests are messages of their own, each request followed
by its response. What belongs together: one message id; assistant messages with nothing in between; requests with
the same `created` (a batch is stamped when it is handed out, before any of its tools runs).
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

from loopscan.decode import canonical, word
from loopscan.formats import Scan
from loopscan.formats._assembly import Assembly
from loopscan.formats._fields import count, dollars, identity, items, mapping, text_of_blocks, when
from loopscan.model import JSON, MISSING, Call, End, Event, Turn, Usage

_REQUESTS: Final = ("toolRequest", "frontendToolRequest")
_NOTICES: Final = frozenset(
    "systemNotification actionRequired toolConfirmationRequest redactedThinking image conversationCompacted".split()
)
_FAULT: Final = "Ran into this error: "
_CAPPED: Final = "I've reached the maximum number of actions I can do without user input"
_STOPPED: Final = "was interrupted. How would you like to proceed?"
_FULL: Final = "Context limit still exceeded after compaction"
_KILLED: Final = "Interrupted by the user"


@dataclass(slots=True)
class _Latest:
    """The rows of the turn that is open: their ids, when its requests were made, what came since."""

    ids: set[str]
    created: JSON
    answered: bool = False


class Conversation:
    """One session while it is read. `split`: the parts of a model call may be messages of their own."""

    def __init__(self, run: str, scan: Scan, split: bool = False) -> None:
        self.run, self.scan, self.split = run, scan, split
        self.assembly = Assembly()
        self.parent: str | None = None
        self.prompt: str | None = ""
        self.model: str | None = None
        self.window: int | None = None
        self.compacted = False
        self.latest: _Latest | None = None

    def describe(self, kind: JSON, parent: JSON, config: JSON) -> None:
        """What the session says of itself."""
        self.parent = identity(parent)
        if self.parent or kind in ("sub_agent", "subagent"):
            self.prompt = None
        self.model = identity(mapping(config).get("model_name"))
        self.window = count(mapping(config).get("context_limit"))

    def message(self, message: dict[str, JSON], number: int) -> list[Event]:
        """Take one message; returns the turns that are complete."""
        meta, content = mapping(message.get("metadata")), items(message.get("content"))
        blocks = [mapping(b) for b in content]
        usage = mapping(meta.get("usage"))
        if meta.get("userVisible") is False or usage.get("isCompaction") is True:
            self.compacted = True  # a summary that only the agent sees
        elif self._is_copy(identity(message.get("id"))):
            self.scan.skips.copies += 1
        elif message.get("role") == "user":
            self._user(message, blocks, number)
        elif message.get("role") == "assistant":
            return self._assistant(message, blocks, number)
        else:
            self.scan.skips.unknown_type("goose", message.get("role"))
        return []

    def _is_copy(self, name: str | None) -> bool:
        """Whether a message stands in another session already: a copied session keeps the ids."""
        if self.scan.exact or name is None:
            return False
        owners: dict[int, str] = self.scan.memory.setdefault("goose", {})
        return owners.setdefault(hash(name), self.run) != self.run

    def _user(self, message: dict[str, JSON], blocks: list[dict[str, JSON]], number: int) -> None:
        responses = [b for b in blocks if "toolResult" in b]
        for block in responses:
            result, error = _result(mapping(block["toolResult"]))
            if result is not MISSING:
                self.assembly.result(self.run, identity(block.get("id")), result, error)
        turn = self.assembly.latest(self.run)
        going = turn is not None and bool(turn.calls) and all(c.result is not MISSING for c in turn.calls)
        if self.latest is not None:
            self.latest.answered = True
        if not responses and self.prompt is not None and not going:
            self.prompt = identity(message.get("id")) or f"message {number}"
            self.latest = None

    def _assistant(self, message: dict[str, JSON], blocks: list[dict[str, JSON]], number: int) -> list[Event]:
        kinds = {identity(b.get("type")) for b in blocks}
        text = text_of_blocks([b for b in blocks if b.get("type") == "text"])
        notice = " ".join(word(b.get("msg")) for b in blocks if b.get("type") == "systemNotification")
        if kinds == {"text"} and text.startswith(_CAPPED):
            return self._end("turn_cap", text, message, number)
        if kinds == {"text"} and text.endswith(_STOPPED):
            return self._end("aborted", text, message, number)
        if _FULL in notice:
            return self._end("context_full", notice, message, number)
        if not kinds - _NOTICES:
            return []
        ready: list[Event] = []
        turn = self.assembly.latest(self.run) if self._goes_on(message, kinds) else None
        if turn is None:
            turn = self._turn(message, number)
            ready = self.assembly.open(turn)
            self.latest = _Latest(set(), None)
        self._fill(turn, message, blocks)
        if kinds == {"text"} and text.startswith(_FAULT) and not turn.calls:
            turn.failed, turn.fault = True, text
        return ready

    def _end(self, state: str, note: str, message: dict[str, JSON], number: int) -> list[Event]:
        self.latest = None
        end = End(self.run, state, note[:200], number, time=when(message.get("created")), prompt=self.prompt)
        return self.assembly.end(end)

    def _goes_on(self, message: dict[str, JSON], kinds: set[str | None]) -> bool:
        """Whether a message is a further part of the model call that is open."""
        latest, turn = self.latest, self.assembly.latest(self.run)
        if latest is None or turn is None or turn.failed:
            return False
        if identity(message.get("id")) in latest.ids:
            return True
        if not self.split or (turn.usage is not None and mapping(message.get("metadata")).get("usage")):
            return False
        if not latest.answered:
            return True
        return bool(kinds & set(_REQUESTS)) and latest.created is not None and message.get("created") == latest.created

    def _turn(self, message: dict[str, JSON], number: int) -> Turn:
        turn = Turn(self.run, line=number, prompt=self.prompt, parent=self.parent, written=0, window=self.window)
        turn.session = self.run if self.prompt is not None else None
        turn.time, turn.model = when(message.get("created")), self.model
        turn.compacted, self.compacted = self.compacted, False
        return turn

    def _fill(self, turn: Turn, message: dict[str, JSON], blocks: list[dict[str, JSON]]) -> None:
        meta, name = mapping(message.get("metadata")), identity(message.get("id"))
        inference = mapping(meta.get("inference"))
        turn.model = identity(inference.get("resolvedModel") or inference.get("requestedModel")) or turn.model
        turn.usage = _usage(mapping(meta.get("usage"))) or turn.usage
        same = self.latest is not None and name in self.latest.ids
        if self.latest is not None:
            self.latest.ids |= {name} if name else set()
            self.latest.answered = False
        for block in blocks:
            kind = identity(block.get("type"))
            if kind in _REQUESTS:
                self._call(turn, block, message)
            elif kind == "text":
                words = word(block.get("text") or "")
                turn.text = f"{turn.text}{words}" if same or not turn.text else f"{turn.text}\n{words}"
                turn.written = (turn.written or 0) + len(words)
            elif kind in ("thinking", "reasoning"):
                turn.written = (turn.written or 0) + len(word(block.get("thinking") or block.get("text") or ""))
            elif kind not in _NOTICES:
                self.scan.skips.unknown_type("goose", kind)

    def _call(self, turn: Turn, block: dict[str, JSON], message: dict[str, JSON]) -> None:
        asked = mapping(block.get("toolCall"))
        value = mapping(asked.get("value"))
        call = Call(word(value.get("name") or "unreadable call"), value.get("arguments"), id=identity(block.get("id")))
        if asked.get("status") == "error":
            call.result, call.error = asked.get("error"), True
        turn.calls.append(call)
        self.assembly.expect(turn.run, call)
        turn.written = (turn.written or 0) + len(call.name) + len(canonical(call.args))
        if self.latest is not None:
            self.latest.created = message.get("created")


def _result(given: dict[str, JSON]) -> tuple[JSON, bool]:
    """What a tool returned to the model; blocks meant for the user only are left out."""
    if given.get("status") == "error" or "error" in given:
        error = given.get("error")
        return (MISSING if _KILLED in word(error) else error), True
    value = given.get("value")
    blocks = [mapping(b) for b in items(mapping(value).get("content") if isinstance(value, dict) else value)]
    shown = [
        b for b in blocks if "assistant" in (items(mapping(b.get("annotations")).get("audience")) or ("assistant",))
    ]
    failed = mapping(value).get("isError") is True
    if shown and all(isinstance(b.get("text"), str) for b in shown):
        return "\n".join(b["text"] for b in shown), failed
    return (shown or mapping(value).get("structuredContent") or value), failed


def _usage(usage: dict[str, JSON]) -> Usage | None:
    """Input counts the cached tokens too."""
    names = ("inputTokens", "outputTokens", "cacheReadTokens", "cacheWriteTokens")
    given = [count(usage.get(n)) for n in names]
    if given[0] is None and given[1] is None:
        return None
    return Usage(given[0], given[1], given[2], given[3], usd=dollars(usage.get("cost")) or None)
