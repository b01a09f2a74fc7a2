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
from dataclasses import dataclass, field
from pathlib import PurePath
from typing import Final

from loopscan.blob import Blob, Head
from loopscan.decode import canonical, word
from loopscan.formats import Scan
from loopscan.formats._assembly import HOLD, Assembly
from loopscan.formats._fields import count, dollars, identity, items, mapping, result_of_blocks, text_of_blocks, when
from loopscan.model import JSON, Call, End, Event, Turn, Usage

TITLE = "Claude Code session files"
WHERE: tuple[str, ...] = ("$CLAUDE_CONFIG_DIR/projects", "~/.claude/projects", "~/.config/claude/projects")
LACKS = "recorded dollars; in some versions output tokens"
COSMETIC_ARGS: Mapping[str, frozenset[str]] = {
    "Bash": frozenset({"description", "timeout", "run_in_background"}),
    "Task": frozenset({"description"}),
    "Agent": frozenset({"description"}),
}

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
_REMINDER: Final = ("<system-reminder>", "</system-reminder>")


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


@dataclass(slots=True)
class _Chain:
    """One run of the file while it is read: which prompt it answers and which messages it has open."""

    session: str
    parent: str | None = None
    prompt: str | None = None
    compacted: bool = False
    messages: dict[str, Turn] = field(default_factory=dict)


def read(blob: Blob, scan: Scan) -> Iterator[Event]:
    """The turns and ends of a session file."""
    log = _Log(blob, scan)
    for number, record in blob.values(scan.skips):
        if isinstance(record, dict):
            yield from log.record(record, number)
        else:
            scan.skips.add(blob.name, number, "not an object: a session line is a JSON object")
    yield from log.assembly.flush()


class _Log:
    """One session file while it is read."""

    def __init__(self, blob: Blob, scan: Scan) -> None:
        self.name, self.path, self.scan = blob.name, PurePath(blob.name), scan
        self.assembly = Assembly()
        self.chains: dict[str, _Chain] = {}
        self.sidechain_of: dict[str, str] = {}

    def record(self, line: dict[str, JSON], number: int) -> list[Event]:
        kind = line.get("type")
        if kind in ("assistant", "user"):
            return self._message(line, self._run(line), number)
        if kind == "progress":
            data = mapping(line.get("data"))
            inner, agent = data.get("message"), identity(data.get("agentId"))
            if isinstance(inner, dict) and agent:
                run = f"agent-{agent}"
                session = self._session(line)
                self.chains.setdefault(run, _Chain(session, parent=session))
                return self._message(inner, run, number)
        elif kind == "system":
            if line.get("subtype") == "compact_boundary":
                self.chains.setdefault(run := self._run(line), _Chain(run)).compacted = True
        elif not isinstance(kind, str) or kind not in _BOOKKEEPING:
            self.scan.skips.unknown_type("claude-code", kind)
        return []

    def _session(self, line: dict[str, JSON]) -> str:
        return identity(line.get("sessionId")) or self.path.stem

    def _run(self, line: dict[str, JSON]) -> str:
        """The run a line belongs to, made known on its first line."""
        session = self._session(line)
        agent = identity(line.get("agentId"))
        if agent and line.get("isSidechain") is not False:
            run = agent if agent.startswith("agent-") else f"agent-{agent}"
            parent: str | None = session if session != run else self._folder_session()
        elif line.get("isSidechain") is True:
            run, parent = self._sidechain(line), session
        else:
            run, parent = session, None
        if run not in self.chains:
            self.chains[run] = _Chain(session, parent, None if parent is not None else "")
        return run

    def _folder_session(self) -> str | None:
        """`<session>/subagents/agent-x.jsonl`: the session that the folders name."""
        parts = self.path.parts
        return parts[parts.index("subagents") - 1] if "subagents" in parts[1:] else None

    def _sidechain(self, line: dict[str, JSON]) -> str:
        """Inline sub-agents have no id: a run is the chain of records that starts at a root record."""
        uuid, parent = identity(line.get("uuid")) or "", identity(line.get("parentUuid"))
        run = self.sidechain_of.get(parent or "") or f"sidechain@{uuid[:8]}"
        self.sidechain_of[uuid] = run
        return run

    def _message(self, line: dict[str, JSON], run: str, number: int) -> list[Event]:
        message = mapping(line.get("message"))
        if line.get("type") == "assistant":
            if message.get("model") == "<synthetic>" or line.get("isApiErrorMessage") is True:
                return self._api_error(line, run, number)
            return self._assistant(line, message, run, number)
        return self._user(line, message, run, number)

    def _api_error(self, line: dict[str, JSON], run: str, number: int) -> list[Event]:
        if line.get("isApiErrorMessage") is not True:
            return []
        text = text_of_blocks(mapping(line.get("message")).get("content"))
        state = "context_full" if "prompt is too long" in text.lower() else "error"
        return self._end(line, run, state, text, number)

    def _end(self, line: dict[str, JSON], run: str, state: str, text: str, number: int) -> list[Event]:
        stamp, prompt = when(line.get("timestamp")), self.chains[run].prompt
        return self.assembly.end(End(run, state, text[:200] or None, number, time=stamp, prompt=prompt))

    def _assistant(self, line: dict[str, JSON], message: dict[str, JSON], run: str, number: int) -> list[Event]:
        chain = self.chains[run]
        ready: list[Event] = []
        names = (message.get("id"), line.get("requestId"), line.get("uuid"))
        key = next((i for n in names if (i := identity(n))), f"line {number}")
        turn = chain.messages.get(key)
        if turn is None:
            if self.scan.copy_of("claude-code", key):
                chain.messages[key] = Turn(run)  # takes the further lines of the copy, goes nowhere
                return ready
            turn = Turn(run, line=number, time=when(line.get("timestamp")), written=0)
            turn.prompt, turn.session, turn.parent = chain.prompt, chain.session, chain.parent
            turn.compacted, chain.compacted = chain.compacted, False
            ready = self.assembly.open(turn)
            chain.messages[key] = turn
            if len(chain.messages) > 2 * HOLD:
                del chain.messages[next(iter(chain.messages))]
        self._usage(turn, message, dollars(line.get("costUSD")))
        content = message.get("content")
        for block in items(content) or [{"type": "text", "text": text_of_blocks(content)}]:
            self._block(turn, mapping(block))
        return ready

    def _usage(self, turn: Turn, message: dict[str, JSON], usd: float | None) -> None:
        model, usage = identity(message.get("model")), _usage(mapping(message.get("usage")))
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

    def _block(self, turn: Turn, block: dict[str, JSON]) -> None:
        kind = block.get("type")
        turn.written = turn.written or 0
        if kind in ("tool_use", "server_tool_use"):
            call = Call(word(block.get("name")), block.get("input"), id=identity(block.get("id")))
            if call.id is None or all(c.id != call.id for c in turn.calls):
                turn.calls.append(call)
                self.assembly.expect(turn.run, call)
                turn.written += len(canonical(call.args)) + len(call.name)
        elif kind == "text":
            text = block.get("text")
            if isinstance(text, str) and text not in (turn.text or ""):
                turn.text = f"{turn.text}\n{text}" if turn.text else text
                turn.written += len(text)
        elif kind == "thinking":
            turn.written += len(word(block.get("thinking") or ""))
        elif "tool_use_id" in block:  # the result of a server tool stands in the message itself
            self.assembly.result(turn.run, identity(block["tool_use_id"]), block.get("content"))

    def _user(self, line: dict[str, JSON], message: dict[str, JSON], run: str, number: int) -> list[Event]:
        content = message.get("content")
        results = [b for b in items(content) if mapping(b).get("type") == "tool_result"]
        for block in results:
            result, call_id = result_of_blocks(block.get("content")), identity(block.get("tool_use_id"))
            self.assembly.result(run, call_id, result, block.get("is_error") is True)
        text = text_of_blocks(content)
        if text.startswith(_INTERRUPTED):
            return self._end(line, run, "aborted", text, number)
        chain = self.chains[run]
        if results or chain.prompt is None or line.get("isMeta") is True or line.get("isCompactSummary") is True:
            return []
        if text and not text.lstrip().startswith(_INJECTED):
            chain.prompt = identity(line.get("uuid")) or f"line {number}"
        return []


def _usage(usage: dict[str, JSON]) -> Usage | None:
    """Anthropic counts uncached input, cache reads and cache writes apart; the send's input is their sum."""
    fresh, read_, write = (
        count(usage.get(k)) for k in ("input_tokens", "cache_read_input_tokens", "cache_creation_input_tokens")
    )
    output = count(usage.get("output_tokens"))
    if fresh is None and output is None:
        return None
    split = mapping(usage.get("cache_creation"))
    total = (fresh or 0) + (read_ or 0) + (write or 0)
    return Usage(total, output, read_, write, count(split.get("ephemeral_1h_input_tokens")))


def clean_result(name: str, result: JSON) -> JSON:
    """Without the reminders that the client injects, and without the fresh path of a result too large to show."""
    if not isinstance(result, str):
        return result
    start, end = _REMINDER
    while (i := result.find(start)) >= 0:
        j = result.find(end, i)
        result = (result[:i] + (result[j + len(end) :] if j >= 0 else "")).rstrip()
    if result.startswith("<persisted-output>"):
        head, _, preview = result.partition("\n")
        result = head + preview.partition("Preview")[2] if "Preview" in preview else result
    return result
