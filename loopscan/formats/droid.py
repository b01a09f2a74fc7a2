"""Factory Droid sessions, `~/.factory/sessions/<project>/<uuid>.jsonl`, with `<uuid>.settings.json` beside each.

One line = one message in Anthropic's blocks, or a state record. One turn = one assistant message; results join by
`tool_use_id`. One run = one user prompt of a session (`session#k`); a session that another one called
(`callingSessionId`) is one run with a parent. Usage = the side file's `tokenUsage`, known only for the whole
session: it is spread evenly over its turns, so the sum is recorded but the share of each turn is not. The format is
not documented by its maker; field meanings follow the records themselves and
https://github.com/ryoppippi/ccusage/blob/main/rust/crates/ccusage/src/adapter/droid/parser.rs
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from loopscan.blob import Blob, Head
from loopscan.errors import InputError
from loopscan.formats import Scan
from loopscan.formats._beside import UNREADABLE, value_of
from loopscan.formats._blocks import fill, results, says
from loopscan.formats._fields import count, identity, mapping, result_of_blocks, text_or_none, when
from loopscan.formats._session import Session, run_of_file
from loopscan.model import JSON, Event, Turn, Usage
from loopscan.skips import Skips

TITLE = "Factory Droid sessions"
WHERE: tuple[str, ...] = ("~/.factory/sessions", "~/.factory/projects")
LACKS = "usage per turn (the side file has the session's total, spread evenly), recorded dollars"
COSMETIC_ARGS: Mapping[str, frozenset[str]] = {
    "Execute": frozenset({"summary", "timeout", "riskLevel", "riskLevelReason"}),
    "Task": frozenset({"description"}),
}

_STATES: Final = ("todo_state", "session_end", "compaction_state", "session_title", "title")
_INJECTED: Final = ("<system-reminder>", "<system-notification>")
_TOTALS: Final = ("inputTokens", "cacheReadTokens", "cacheCreationTokens", "outputTokens")


def sniff(head: Head) -> bool:
    """The start record of a session, or its state records and messages with an id of their own."""
    return not head.document and any(_is_start(v) or _is_message(v) for v in head.objects)


def _is_start(value: dict[str, JSON]) -> bool:
    return value.get("type") == "session_start" and "id" in value and ("cwd" in value or "version" in value)


def _is_message(value: dict[str, JSON]) -> bool:
    if value.get("type") == "todo_state":
        return "todos" in value and "messageIndex" in value
    if value.get("type") != "message" or "id" not in value:
        return False
    return any(mapping(b).get("type") in ("tool_use", "tool_result") for b in _content(value))


def _content(value: dict[str, JSON]) -> list[JSON]:
    content = mapping(value.get("message")).get("content")
    return content if isinstance(content, list) else []


def read(blob: Blob, scan: Scan) -> Iterator[Event]:
    """The turns and ends of a session."""
    log = _Log(blob, scan)
    for number, record in blob.values(scan.skips):
        if isinstance(record, dict):
            yield from log.record(record, number)
        else:
            scan.skips.add(blob.name, number, "not an object: a session record is a JSON object")
    yield from log.session.flush()


@dataclass(slots=True)
class _Total:
    """What the side file says of a whole session, shared out among `turns` turns, `given` of which got theirs."""

    model: str | None
    tokens: tuple[int | None, ...]
    turns: int
    given: int = 0

    def share(self) -> Usage | None:
        """The next turn's even share; all shares add up to the total exactly."""
        if self.given >= self.turns or all(t is None for t in self.tokens):
            return None
        first, after = self.given, self.given + 1
        self.given = after
        fresh, read_, write, output = (
            None if t is None else t * after // self.turns - t * first // self.turns for t in self.tokens
        )
        return Usage((fresh or 0) + (read_ or 0) + (write or 0), output, read_, write)


class _Log:
    """One session file while it is read."""

    def __init__(self, blob: Blob, scan: Scan) -> None:
        self.scan = scan
        self.session = Session(run_of_file(blob.name))
        self.total = _total(blob.path)

    def record(self, record: dict[str, JSON], number: int) -> list[Event]:
        kind = record.get("type")
        if kind == "message":
            return self._message(record, mapping(record.get("message")), number)
        if kind == "session_start":
            ready = list(self.session.flush())
            parent = identity(record.get("callingSessionId"))
            self.session = Session(identity(record.get("id")) or self.session.run, parent, prompts=parent is None)
            return ready
        if kind == "compaction_state":
            self.session.compacted = True
        elif kind not in _STATES:
            self.scan.skips.unknown_type("droid", kind)
        return []

    def _message(self, record: dict[str, JSON], message: dict[str, JSON], number: int) -> list[Event]:
        role, content = message.get("role"), message.get("content")
        key, time = identity(record.get("id")), when(record.get("timestamp"))
        blocks = list(results(content))
        for block in blocks:
            result, error = result_of_blocks(block.get("content")), block.get("is_error") is True
            self.session.result(identity(block.get("tool_use_id")), result, error)
        if role == "assistant":
            usage = self.total.share()
            if key is not None and self.scan.copy_of("droid", key, time):
                return []
            turn = Turn(self.session.run, line=number, time=time, usage=usage, model=self.total.model)
            fill(turn, content)
            return self.session.answer(turn)
        if role == "user" and not blocks and says(content, _INJECTED):
            return self.session.ask(key or number)
        return []


def _total(path: Path | None) -> _Total:
    """The side file of a session; without one, nothing is known."""
    side = (
        None
        if path is None
        else path.with_name(f"{path.name.removesuffix('.gz').removesuffix('.jsonl')}.settings.json")
    )
    if path is None or side is None or not side.is_file():
        return _Total(None, (), 0)
    try:
        settings = mapping(value_of(side))
    except UNREADABLE:
        return _Total(None, (), 0)
    usage = mapping(settings.get("tokenUsage"))
    return _Total(text_or_none(settings.get("model")), tuple(count(usage.get(n)) for n in _TOTALS), _sends(path))


def _sends(path: Path) -> int:
    """How many assistant messages a session file holds."""
    try:
        blob = Blob(str(path), path)
    except InputError:
        return 0
    values = (mapping(mapping(v).get("message")) for _, v in blob.values(Skips()))
    sends = sum(1 for message in values if message.get("role") == "assistant")
    blob.close()
    return sends


def clean_result(name: str, result: JSON) -> JSON:
    """Droid stores results as the model saw them."""
    return result
