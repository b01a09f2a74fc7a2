"""Gemini CLI sessions, `~/.gemini/tmp/<project>/chats/session-<time>-<id8>.json` (to 0.39) or `.jsonl` (from 0.40).

A document holds all messages; a JSONL file is a log of changes: a message is appended again under its id whenever
it changes (the last version counts), `$set` changes the metadata or (after a compression) the whole history, and
`$rewindTo` drops messages - which were paid all the same, so they stay turns here. One turn = one `gemini` message;
its calls hold their results. One run = one user prompt of a session (`session#k`); a sub-agent
(`chats/<session>/<id>.jsonl`) is one run with a parent. Usage = `tokens`, whose input includes the cached part and
whose thoughts stand beside the output. Format:
https://github.com/google-gemini/gemini-cli/blob/main/packages/core/src/services/chatRecordingTypes.ts
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from pathlib import PurePath
from typing import Final

from loopscan.blob import Blob, Head
from loopscan.decode import word
from loopscan.formats import Scan
from loopscan.formats import _genai_parts as genai
from loopscan.formats._assembly import HOLD
from loopscan.formats._endings import state_of
from loopscan.formats._fields import identity, items, mapping, text_or_none, when
from loopscan.formats._session import Session, run_of_file
from loopscan.model import JSON, MISSING, Call, Event, Turn

TITLE = "Gemini CLI sessions"
WHERE: tuple[str, ...] = ("$GEMINI_CLI_HOME/.gemini/tmp", "~/.gemini/tmp")
LACKS = "recorded dollars"
COSMETIC_ARGS: Mapping[str, frozenset[str]] = {"run_shell_command": frozenset({"description"})}

_INJECTED: Final = ("<session_context>", "<hook_context>", "<state_snapshot>", "This is the Gemini CLI.")
_ENDS: Final = {
    "Request cancelled": "aborted",
    "A potential loop was detected": "no_progress",
    "The session has reached the maximum number of turns": "turn_cap",
    "Reached max session turns": "turn_cap",
    "Sending this message": "context_full",
}


def sniff(head: Head) -> bool:
    """A document or header of a project's session, or messages of type `gemini`."""
    return any(_is_header(v) or _is_message(v) for v in head.objects)


def _is_header(value: dict[str, JSON]) -> bool:
    return "sessionId" in value and "projectHash" in value and "type" not in value


def _is_message(value: dict[str, JSON]) -> bool:
    return value.get("type") == "gemini" and "id" in value and ("content" in value or "toolCalls" in value)


def read(blob: Blob, scan: Scan) -> Iterator[Event]:
    """The turns and ends of a session."""
    log = _Log(blob.name, scan)
    for number, record in blob.values(scan.skips):
        if isinstance(record, dict):
            yield from log.record(record, number)
        else:
            scan.skips.add(blob.name, number, "not an object: a session record is a JSON object")
    yield from log.session.flush()


class _Log:
    """One session while it is read.

    `known`: messages met in this file; `open`: turns that may still change; `cancelled`: whether a call of the
    newest turn was cancelled.
    """

    def __init__(self, name: str, scan: Scan) -> None:
        self.name, self.scan = name, scan
        self.session = Session(run_of_file(name))
        self.known: set[int] = set()
        self.open: dict[str, Turn] = {}
        self.cancelled = False

    def record(self, record: dict[str, JSON], number: int) -> list[Event]:
        if _is_header(record):
            return self._header(record)
        if "$set" in record:
            return self._set(items(mapping(record["$set"]).get("messages")), number)
        if "$rewindTo" in record:
            return []
        return self._message(record, number)

    def _header(self, header: dict[str, JSON]) -> list[Event]:
        """A session begins (several may follow one another in one input)."""
        ready = list(self.session.flush())
        run, folder = identity(header.get("sessionId")) or self.session.run, PurePath(self.name).parent
        agent = header.get("kind") == "subagent"
        parent = folder.name if agent and folder.parent.name == "chats" else None
        self.session, self.open = Session(run, parent, prompts=not agent), {}
        for number, message in enumerate(items(header.get("messages")), 1):
            ready += self._message(mapping(message), number)
        return ready

    def _set(self, messages: list[JSON], number: int) -> list[Event]:
        """A new history: its unknown messages are turns only if they carry what a send leaves behind."""
        ready: list[Event] = []
        asked: dict[str, JSON] | None = None
        for message in map(mapping, messages):
            kind, is_new = message.get("type"), hash(identity(message.get("id"))) not in self.known
            if kind == "user" and is_new:
                asked = message
                self.session.compacted |= genai.text_of(message.get("content")).startswith("<state_snapshot>")
            elif kind == "gemini" and (not is_new or message.get("tokens") or message.get("model")):
                if asked is not None:
                    ready += self._message(asked, number)
                ready, asked = ready + self._message(message, number), None
        if asked is not None and self.session.latest is None:
            ready += self._message(asked, number)
        return ready

    def _message(self, message: dict[str, JSON], number: int) -> list[Event]:
        kind, content = message.get("type"), message.get("content")
        if kind == "gemini":
            return self._gemini(message, number)
        if kind == "user":
            for call_id, result, error in genai.results_of(content):
                self.session.result(call_id, result, error)
            key = identity(message.get("id")) or f"line {number}"
            if genai.says(content, _INJECTED) and self._is_new(key):
                return self.session.ask(key)
        elif kind in ("info", "warning", "error"):
            return self._notice(word(kind), genai.text_of(content), message, number)
        else:
            self.scan.skips.unknown_type("gemini-cli", kind)
        return []

    def _is_new(self, key: str) -> bool:
        size = len(self.known)
        self.known.add(hash(key))
        return len(self.known) > size

    def _notice(self, kind: str, text: str, message: dict[str, JSON], number: int) -> list[Event]:
        """What the client told the user, where it tells how the run ended."""
        time = when(message.get("timestamp"))
        if text.startswith("Chat history compressed"):
            self.session.compacted = True
        for words, state in _ENDS.items():
            if text.startswith(words):
                self.session.ends(state, text, number, time)
                return []
        if kind != "error" or "API Error" not in text or not self._is_new(identity(message.get("id")) or text):
            return []
        ready = self.session.answer(Turn(self.session.run, failed=True, fault=text, line=number, time=time))
        self.session.ends(state_of(text), text, number, time)
        return ready

    def _gemini(self, message: dict[str, JSON], number: int) -> list[Event]:
        key = identity(message.get("id")) or f"line {number}"
        ready: list[Event] = []
        if self._is_new(key):
            turn = Turn(self.session.run, line=number, time=when(message.get("timestamp")))
            if not self.scan.copy_of("gemini-cli", key, turn.time):
                ready = self.session.answer(turn)
                self.open[key], self.cancelled = turn, False
                if len(self.open) > HOLD:
                    del self.open[next(iter(self.open))]
        if key in self.open and self.session.holds(self.open[key]):
            self._update(self.open[key], message, number)
        return ready

    def _update(self, turn: Turn, message: dict[str, JSON], number: int) -> None:
        """Bring a turn up to a version of its message."""
        tokens, content = mapping(message.get("tokens")), message.get("content")
        counts = (tokens.get(k) for k in ("input", "output", "thoughts", "cached", "tool", "total"))
        turn.usage = genai.usage_of(*counts) or turn.usage
        turn.model = text_or_none(message.get("model")) or turn.model
        cancelled = False
        for record in genai.call_list(message.get("toolCalls")):
            self._call(turn, record)
            cancelled |= record.get("status") == "cancelled"
        if not turn.calls:
            for call in genai.calls_of(content):
                turn.calls.append(call)
                self.session.expect(call)
        text = genai.text_of(content)
        turn.text = text or ("" if turn.calls else None)
        thoughts = [word(mapping(t).get("description") or "") for t in items(message.get("thoughts"))]
        turn.written = genai.written(text, "".join(thoughts) + genai.text_of(content, True), turn.calls)
        if turn is self.session.latest and cancelled != self.cancelled:
            self.cancelled = cancelled
            if cancelled:
                self.session.ends("aborted", "tool call status: cancelled", number, turn.time)
            else:
                self.session.reopen()

    def _call(self, turn: Turn, record: dict[str, JSON]) -> None:
        call_id = identity(record.get("id"))
        call = next((c for c in turn.calls if c.id == call_id is not None), None)
        if call is None:
            call = Call(word(record.get("name")), record.get("args"), id=call_id)
            turn.calls.append(call)
            self.session.expect(call)
        result = genai.result_of_call(record.get("result"))
        if result is MISSING and isinstance(record.get("resultDisplay"), str):
            result = record["resultDisplay"]
        if call.result is MISSING and result is not MISSING:
            call.result, call.error = result, record.get("status") in ("error", "cancelled")


def clean_result(name: str, result: JSON) -> JSON:
    """Shell results without process ids."""
    return genai.without_process_ids(result)
