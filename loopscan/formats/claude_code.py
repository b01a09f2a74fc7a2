"""Claude Code session files, `~/.claude/projects/<project>/<session>.jsonl` (and `agent-*.jsonl` of sub-agents).

One line = one content block of a model message, or one user, result, system or bookkeeping record. One turn = all
assistant lines with one `message.id`, wherever they stand, placed at the first; results join by `tool_use_id`
and may come before later lines of their own message. One run = one user prompt of a session (`session#k`); a
sub-agent is a run of its own, whether it has its own file, stands inline (`isSidechain`) or only in `progress`
records. Usage = `message.usage` of a message, once per message id over all files: its three input classes are
disjoint, the output grows from line to line; old versions state dollars (`costUSD`). The format is not documented by
its maker; field meanings follow the records themselves and https://docs.anthropic.com/en/api/messages for `message`.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from pathlib import PurePath
from typing import Final

from msgspec import UNSET, Raw

from loopscan.blob import Blob, Head
from loopscan.decode import FAST_ERRORS, canonical, word
from loopscan.formats import Scan
from loopscan.formats._assembly import HOLD, Assembly
from loopscan.formats._claude_chains import Chain, Chains
from loopscan.formats._claude_line import Block, Line, Message, decode, line_of
from loopscan.formats._claude_results import LONG, result_of
from loopscan.formats._claude_results import clean_result as clean_result
from loopscan.formats._fields import identity, mapping, result_of_blocks, when
from loopscan.model import JSON, Call, End, Event, Turn

TITLE = "Claude Code session files"
WHERE: tuple[str, ...] = ("$CLAUDE_CONFIG_DIR/projects", "~/.claude/projects", "~/.config/claude/projects")
LACKS = "recorded dollars; in some versions output tokens"
COSMETIC_ARGS: Mapping[str, frozenset[str]] = {
    "Bash": frozenset({"description", "timeout", "run_in_background"}),
    "Task": frozenset({"description"}),
    "Agent": frozenset({"description"}),
}
FINAL = True
"""Nothing is added to a turn once it was given out."""

_BOOKKEEPING: Final = frozenset(
    (
        "file-history-snapshot queue-operation summary attachment permission-mode mode last-prompt "
        "ai-title custom-title agent-name pr-link frame-link worktree-state relocated started result "
        "bridge-session"
    ).split()
)
_INJECTED: Final = (
    "<local-command-", "<task-notification>", "<teammate-message", "<bash-", "Caveat: The messages below",
)  # fmt: skip
_INTERRUPTED: Final = "[Request interrupted by user"


def sniff(head: Head) -> bool:
    """Typed lines of one session with uuids, or its bookkeeping records."""
    lines = head.objects
    return (
        not head.document
        and any(_is_session_line(line) for line in lines)
        and not any("systemPayload" in o or "parts" in mapping(o.get("message")) for o in lines)
    )


def _is_session_line(line: dict[str, JSON]) -> bool:
    kind = line.get("type")
    if kind in ("user", "assistant", "system", "progress"):
        return "uuid" in line and ("sessionId" in line or "parentUuid" in line)
    if kind == "file-history-snapshot":
        return "messageId" in line
    if kind == "summary":
        return "leafUuid" in line
    return isinstance(kind, str) and kind in _BOOKKEEPING and "sessionId" in line


def read(blob: Blob, scan: Scan) -> Iterator[Event]:
    """The turns and ends of a session file."""
    log = SessionLog(blob, scan)
    if blob.head.document:
        for number, record in blob.values(scan.skips):
            yield from log.record(record, number)
    else:
        yield from log.lines()
    yield from log.assembly.flush()


class SessionLog:
    """One session file while it is read."""

    def __init__(self, blob: Blob, scan: Scan) -> None:
        self.blob, self.scan = blob, scan
        self.assembly = Assembly()
        self.runs = Chains(PurePath(blob.name))

    def lines(self) -> Iterator[Event]:
        """The events of a file of lines; those of unusual types go by way of `record`."""
        blob, skips = self.blob, self.scan.skips
        lines = blob.lines(skips)
        for number, data in lines:
            try:
                line = decode(data)
            except FAST_ERRORS:
                line = None
            if line is None or line.type not in ("assistant", "user"):
                if line is None or line.type not in _BOOKKEEPING:
                    for place, record in blob.rescued(number, data, lines, skips):
                        yield from self.record(record, place)
            elif ready := self._message(line, self.runs.of(line), number):
                yield from ready
        blob.tell_damage(skips)

    def record(self, record: JSON, number: int) -> list[Event]:
        """The events of one value of any shape."""
        if not isinstance(record, dict):
            self.scan.skips.add(self.blob.name, number, "not an object: a session line is a JSON object")
            return []
        kind, line = record.get("type"), line_of(record)
        if kind in ("assistant", "user"):
            return self._message(line, self.runs.of(line), number)
        if kind == "progress":
            data = mapping(record.get("data"))
            inner, agent = data.get("message"), identity(data.get("agentId"))
            if isinstance(inner, dict) and agent:
                run, session = f"agent-{agent}", self.runs.session(line)
                self.runs.open.setdefault(run, Chain(session, parent=session))
                return self._message(line_of(inner), run, number)
        elif kind == "system":
            if record.get("subtype") == "compact_boundary":
                self.runs.open[self.runs.of(line)].compacted = True
        elif not isinstance(kind, str) or kind not in _BOOKKEEPING:
            self.scan.skips.unknown_type("claude-code", kind)
        return []

    def _message(self, line: Line, run: str, number: int) -> list[Event]:
        message = line.message or _NO_MESSAGE
        if line.type == "assistant":
            if message.model == "<synthetic>" or line.isApiErrorMessage is True:
                return self._api_error(line, message, run, number)
            return self._assistant(line, message, run, number)
        return self._user(line, message, run, number)

    def _api_error(self, line: Line, message: Message, run: str, number: int) -> list[Event]:
        if line.isApiErrorMessage is not True:
            return []
        text = message.text
        state = "context_full" if "prompt is too long" in text.lower() else "error"
        return self._end(line, run, state, text, number)

    def _end(self, line: Line, run: str, state: str, text: str, number: int) -> list[Event]:
        stamp, prompt = when(line.timestamp), self.runs.open[run].prompt
        return self.assembly.end(End(run, state, text[:200] or None, number, time=stamp, prompt=prompt))

    def _assistant(self, line: Line, message: Message, run: str, number: int) -> list[Event]:
        chain = self.runs.open[run]
        ready: list[Event] = []
        key = message.id or line.requestId or line.uuid or f"line {number}"
        turn = chain.messages.get(key)
        if turn is None:
            if self.scan.copy_of("claude-code", key):
                chain.messages[key] = Turn(run)  # takes the further lines of the copy, goes nowhere
                return ready
            turn = Turn(run, line=number, time=when(line.timestamp), written=0)
            turn.prompt, turn.session, turn.parent = chain.prompt, chain.session, chain.parent
            turn.compacted, chain.compacted = chain.compacted, False
            ready = self.assembly.open(turn)
            chain.messages[key] = turn
            if len(chain.messages) > 2 * HOLD:
                del chain.messages[next(iter(chain.messages))]
        elif not self.assembly.holds(turn):
            turn = chain.messages[key] = Turn(run)  # what comes later than its results is lost to a turn
        self._usage(turn, message, line.costUSD)
        content = message.content
        if isinstance(content, str):
            _say(turn, content)
        for block in content if isinstance(content, list) else ():
            self._block(turn, block)
        return ready

    def _usage(self, turn: Turn, message: Message, usd: float | None) -> None:
        model, usage = message.model or None, message.spent()
        if usage is not None:
            usage.usd = usd  # stated by old versions only, on every line of a message
        if turn.usage is None or (model == turn.model and usage is not None):
            turn.model = turn.model or model
            if turn.usage is None:
                turn.usage = usage
            elif usage is not None:
                turn.usage.merge(usage)
        elif usage is not None and (usage.output or 0) > (turn.usage.output or 0):
            turn.model, turn.usage = model, usage  # another model took the message over: never mix the two

    def _block(self, turn: Turn, block: Block) -> None:
        kind = block.type
        if kind in ("tool_use", "server_tool_use"):
            call = Call(word(block.name), block.input, id=block.id or None)
            if call.id is None or all(c.id != call.id for c in turn.calls):
                turn.calls.append(call)
                self.assembly.expect(turn.run, call)
                turn.written = (turn.written or 0) + len(canonical(call.args)) + len(call.name)
        elif kind == "text":
            if block.text is not None:
                _say(turn, block.text)
        elif kind == "thinking":
            turn.written = (turn.written or 0) + len(word(block.thinking or ""))
        elif block.tool_use_id is not UNSET:  # the result of a server tool stands in the message itself
            self.assembly.result(turn.run, block.tool_use_id or None, block.value)

    def _answer(self, run: str, block: Block) -> None:
        """Join a tool result to its call."""
        asked = None if block.tool_use_id is UNSET else block.tool_use_id or None
        content: JSON = block.content
        error = block.is_error is True
        if type(content) is not Raw:
            self.assembly.result(run, asked, result_of_blocks(content), error)
        elif len(raw := bytes(content)) >= LONG:
            self.assembly.late_result(run, asked, raw, result_of, error)
        else:
            self.assembly.result(run, asked, result_of(raw), error)

    def _user(self, line: Line, message: Message, run: str, number: int) -> list[Event]:
        answered = False
        for block in message.blocks:
            if block.type == "tool_result":
                answered = True
                self._answer(run, block)
        text = message.text
        if text.startswith(_INTERRUPTED):
            return self._end(line, run, "aborted", text, number)
        chain = self.runs.open[run]
        if answered or chain.prompt is None or line.isMeta is True or line.isCompactSummary is True:
            return []
        if text and not text.lstrip().startswith(_INJECTED):
            chain.prompt = line.uuid or f"line {number}"
        return []


_NO_MESSAGE: Final = Message()


def _say(turn: Turn, text: str) -> None:
    """Add words to a turn, unless it has them."""
    if text not in (turn.text or ""):
        turn.text = f"{turn.text}\n{text}" if turn.text else text
        turn.written = (turn.written or 0) + len(text)
