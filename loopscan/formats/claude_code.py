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

from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import chain as joined
from pathlib import PurePath
from typing import TYPE_CHECKING, Final

from loopscan.blob import Blob, Head
from loopscan.blocks import Blocks
from loopscan.decode import FAST_ERRORS
from loopscan.formats import Scan
from loopscan.formats._assembly import Assembly
from loopscan.formats._claude_blocks import claude_of
from loopscan.formats._claude_chains import Chain, Chains
from loopscan.formats._claude_line import Line, Message, decode, line_of
from loopscan.formats._claude_results import clean_result as clean_result
from loopscan.formats._claude_turns import answer, send
from loopscan.formats._fields import mapping, when
from loopscan.model import JSON, End, Event, Several

if TYPE_CHECKING:
    from loopscan._compiled import Claude

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


def read(blob: Blob, scan: Scan) -> Iterator[Event | Several]:
    """The turns and ends of a session file."""
    return joined.from_iterable(SessionLog(blob, scan).batches())


class SessionLog:
    """One session file while it is read."""

    def __init__(self, blob: Blob, scan: Scan) -> None:
        self.blob, self.scan = blob, scan
        self.assembly = Assembly()
        self.runs = Chains(PurePath(blob.name))

    def batches(self) -> Iterator[Iterable[Event | Several]]:
        """All events, those in a row that are known at once."""
        if self.blob.head.document:
            for number, record in self.blob.values(self.scan.skips):
                yield self.record(record, number)
        else:
            claude = claude_of(self.runs.open, _BOOKKEEPING, self.scan)
            yield from self._lines() if claude is None else self._blocks(claude)
            self.blob.tell_damage(self.scan.skips)
        yield self.assembly.flush()

    def _blocks(self, claude: Claude) -> Iterator[Iterable[Event | Several]]:
        """The events of a file of lines, most of which are usual ones."""
        lines, take, several = Blocks(self.blob.blocks(self.scan.skips)), claude.take, self.scan.rows
        while lines.more():
            turns, lines.at, lines.number, alike = take(lines.data, lines.at, lines.end, lines.number)
            yield (Several(turns[0].run, turns),) if alike and several else turns
            if lines.at < lines.end:
                number, data = next(lines)
                yield self._unusual(number, data, lines)

    def _unusual(self, number: int, data: bytes, lines: Iterator[tuple[int, bytes]]) -> Iterable[Event]:
        """The events of one line, or of more where it is damaged."""
        try:
            line = decode(data)
        except FAST_ERRORS:
            kind = None
        else:
            kind = line.type
        if kind == "assistant" or kind == "user":
            return self._message(line, self.runs.of(line), number)
        if kind == "progress" or kind == "system":
            return self._beside(line, number)
        if kind in _BOOKKEEPING:
            return ()
        rescued = self.blob.rescued(number, data, lines, self.scan.skips)
        return joined.from_iterable(self.record(record, place) for place, record in rescued)

    def _lines(self) -> Iterator[Iterable[Event]]:
        """The events of a file of lines; those of unusual types go by way of `record`.

        Longer than other functions, and what `_message` does in places: it runs for every line.
        """
        blob, scan, skips, runs, of = self.blob, self.scan, self.scan.skips, self.runs.open, self.runs.of
        assembly = self.assembly
        placed = blob.placed(skips)
        lines = ((number, data) for number, _, data in placed)
        for number, _, data in placed:
            try:
                line = decode(data)
            except FAST_ERRORS:
                kind = None
            else:
                kind = line.type
            if kind == "assistant" or kind == "user":
                usual = line.agentId is None and line.isSidechain is not True
                chain = (usual and runs.get(line.sessionId or "")) or of(line)
                message = line.message
                if message is None:
                    yield self._message(line, chain, number)
                elif kind == "user":
                    content = message.content
                    if (
                        type(content) is list
                        and len(content) == 1
                        and (block := content[0]).type == "tool_result"
                        and block.text is None
                    ):
                        answer(chain, block)
                    else:
                        yield self._user(line, message, chain, number)
                elif message.model == "<synthetic>" or line.isApiErrorMessage is True:
                    yield self._api_error(line, message, chain, number)
                else:
                    yield send(chain, line, message, number, scan, assembly)
            elif kind == "progress" or kind == "system":
                yield self._beside(line, number)
            elif kind not in _BOOKKEEPING:
                for place, record in blob.rescued(number, data, lines, skips):
                    yield self.record(record, place)

    def record(self, record: JSON, number: int) -> Sequence[Event]:
        """The events of one value of any shape."""
        if not isinstance(record, dict):
            self.scan.skips.add(self.blob.name, number, "not an object: a session line is a JSON object")
            return []
        kind, line = record.get("type"), line_of(record)
        if kind in ("assistant", "user"):
            return self._message(line, self.runs.of(line), number)
        if kind in ("progress", "system"):
            return self._beside(line, number)
        if not isinstance(kind, str) or kind not in _BOOKKEEPING:
            self.scan.skips.unknown_type("claude-code", kind)
        return []

    def _beside(self, line: Line, number: int) -> Sequence[Event]:
        """Take a progress line, which may hold one of a sub-agent, or a system line."""
        data = line.data
        if line.type == "system":
            if line.subtype == "compact_boundary":
                self.runs.of(line).compacted = True
        elif data is not None and data.agentId and isinstance(data.message, dict):
            run, session = f"agent-{data.agentId}", self.runs.session(line)
            chain = self.runs.open.setdefault(run, Chain(run, session, parent=session))
            return self._message(line_of(data.message), chain, number)
        return ()

    def _message(self, line: Line, chain: Chain, number: int) -> Sequence[Event]:
        message = line.message or _NO_MESSAGE
        if line.type == "assistant":
            if message.model == "<synthetic>" or line.isApiErrorMessage is True:
                return self._api_error(line, message, chain, number)
            return send(chain, line, message, number, self.scan, self.assembly)
        return self._user(line, message, chain, number)

    def _api_error(self, line: Line, message: Message, chain: Chain, number: int) -> Sequence[Event]:
        if line.isApiErrorMessage is not True:
            return []
        text = message.text
        state = "context_full" if "prompt is too long" in text.lower() else "error"
        return self._end(line, chain, state, text, number)

    def _end(self, line: Line, chain: Chain, state: str, text: str, number: int) -> Sequence[Event]:
        stamp, note = when(line.timestamp), text[:200] or None
        return self.assembly.end(End(chain.run, state, note, number, time=stamp, prompt=chain.prompt))

    def _user(self, line: Line, message: Message, chain: Chain, number: int) -> Sequence[Event]:
        answered = False
        for block in message.blocks:
            if block.type == "tool_result":
                answered = True
                answer(chain, block)
        text = message.text
        if text.startswith(_INTERRUPTED):
            return self._end(line, chain, "aborted", text, number)
        if answered or chain.prompt is None or line.isMeta is True or line.isCompactSummary is True:
            return []
        if text and not text.lstrip().startswith(_INJECTED):
            chain.prompt = line.uuid or f"line {number}"
        return []


_NO_MESSAGE: Final = Message()
