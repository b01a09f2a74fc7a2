"""Cursor transcripts, `~/.cursor/projects/<workspace>/agent-transcripts/<id>/<id>.jsonl` (and `subagents/*.jsonl`).

One line = one message. One turn = one assistant line; one run = one user prompt of a transcript (`session#k`), a
sub-agent's transcript is one run with a parent. Results, ids, usage, models and times are not recorded, so calls
can only be compared by their arguments and every run with calls is blind. `turn_ended` (2026) says how a prompt
ended. The format is not documented by its maker; field meanings follow the records themselves.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from pathlib import PurePath
from typing import Final

from loopscan.blob import Blob, Head
from loopscan.decode import word
from loopscan.formats import Scan
from loopscan.formats._blocks import fill, results, says
from loopscan.formats._endings import state_of
from loopscan.formats._fields import identity, mapping, result_of_blocks, text_or_none
from loopscan.formats._session import Session, run_of_file
from loopscan.model import JSON, Event, Turn

TITLE = "Cursor agent transcripts"
WHERE: tuple[str, ...] = ("~/.cursor/projects",)
LACKS = "results, usage, times"
COSMETIC_ARGS: Mapping[str, frozenset[str]] = {
    "*": frozenset({"explanation"}),
    "Shell": frozenset({"description", "timeout", "block_until_ms"}),
    "Task": frozenset({"description"}),
}

_REDACTED: Final = "[REDACTED]"
_INJECTED: Final = ("<system_reminder>", "<system-reminder>", "<system_notification>", "<system-notification>")
_STATES: Final = {"success": "done", "completed": "done", "aborted": "aborted", "cancelled": "aborted"}


def sniff(head: Head) -> bool:
    """Lines of a role and a message without a type of their own."""
    return not head.document and any(_is_line(v) for v in head.objects)


def _is_line(value: dict[str, JSON]) -> bool:
    message = value.get("message")
    if value.get("role") not in ("user", "assistant") or not isinstance(message, dict):
        return False
    return isinstance(message.get("content"), (str, list)) and "type" not in value and "content" not in value


def read(blob: Blob, scan: Scan) -> Iterator[Event]:
    """The turns and ends of a transcript."""
    path = PurePath(blob.name)
    inside = path.parent.name == "subagents"
    session = Session(run_of_file(blob.name), path.parent.parent.name or None if inside else None, not inside)
    for number, line in blob.values(scan.skips):
        if not isinstance(line, dict):
            scan.skips.add(blob.name, number, "not an object: a transcript line is a JSON object")
        elif "role" in line:
            yield from _message(session, line, number, scan)
        elif line.get("type") == "turn_ended":
            _ended(session, line, number)
        else:
            scan.skips.unknown_type("cursor", line.get("type"))
    yield from session.flush()


def _message(session: Session, line: dict[str, JSON], number: int, scan: Scan) -> list[Event]:
    role, content = line.get("role"), mapping(line.get("message")).get("content")
    for block in results(content):
        session.result(identity(block.get("tool_use_id")), result_of_blocks(block.get("content")))
    if role == "assistant":
        turn = Turn(session.run, line=number)
        fill(turn, content)
        if turn.text and not scan.exact:
            shown = turn.text.replace(_REDACTED, "").strip()
            turn.text = shown or ("" if turn.calls else None)
        return session.answer(turn)
    if role == "user":
        return session.ask(number) if says(content, _INJECTED) else []
    scan.skips.unknown_type("cursor", f"role {role}")
    return []


def _ended(session: Session, line: dict[str, JSON], number: int) -> None:
    status, fault = word(line.get("status")), text_or_none(line.get("error"))
    note = f"turn_ended {status}: {fault}" if fault else f"turn_ended {status}"
    session.ends(_STATES.get(status) or state_of(fault or status), note, number)


def clean_result(name: str, result: JSON) -> JSON:
    """Cursor records no results."""
    return result
