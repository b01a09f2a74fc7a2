"""Copilot CLI session events, `~/.copilot/session-state/<session>/events.jsonl` (`<session>.jsonl` before 1.0).

One line = one event `{type, data, id, timestamp, parentId}`; event types:
https://github.com/github/copilot-sdk/blob/main/nodejs/src/generated/session-events.ts. One turn = the
`assistant.message` events of one model call (`apiCallId`; without it each message); results join by `toolCallId` of
`tool.execution_complete`. One run = one user prompt (`session#k`); messages that steer a running prompt or that the
client sends itself start none. A sub-agent (`agentId`, before that `parentToolCallId`) is one run with the session
as its parent. Usage = `session.usage_record`, joined by `apiCallId`; older versions record output tokens only, which
is no usage of a send. Premium requests and AI units are no dollars.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from typing import Final

from loopscan.blob import Blob, Head
from loopscan.decode import word
from loopscan.formats import Scan
from loopscan.formats._copilot_log import Log
from loopscan.model import JSON, Event

TITLE = "Copilot CLI session events"
WHERE: tuple[str, ...] = ("$COPILOT_HOME/session-state", "~/.copilot/session-state")
LACKS = "recorded dollars; before 1.0.9x input tokens"
_SHELL: Final = frozenset({"shellId", "description", "initial_wait"})
COSMETIC_ARGS: Mapping[str, frozenset[str]] = {
    **dict.fromkeys(("bash", "powershell", "shell", "local_shell"), _SHELL),
    **dict.fromkeys(("read_bash", "write_bash", "stop_bash"), frozenset({"shellId"})),
    **dict.fromkeys(("read_powershell", "write_powershell", "stop_powershell"), frozenset({"shellId"})),
    "task": frozenset({"description"}),
}

_TELLING: Final = frozenset(
    "session.resume user.message assistant.message assistant.turn_start tool.execution_start "
    "tool.execution_complete".split()
)
_SHELL_ID: Final = re.compile(r"<shellId: [^\s<>]{1,64} (completed|exited) with exit code (-?\d{1,10})>")


def sniff(head: Head) -> bool:
    """A session that starts, or events chained by their parents."""
    return any(_is_event(line) for line in head.objects)


def _is_event(line: dict[str, JSON]) -> bool:
    data = line.get("data")
    if not isinstance(data, dict):
        return False
    if line.get("type") == "session.start":
        return "sessionId" in data
    return word(line.get("type")) in _TELLING and "parentId" in line


def read(blob: Blob, scan: Scan) -> Iterator[Event]:
    """The turns and ends of a session's events."""
    log = Log(blob, scan)
    for number, event in blob.values(scan.skips):
        if not isinstance(event, dict):
            scan.skips.add(blob.name, number, "not an object: an event is a JSON object")
        elif not isinstance(event.get("data"), dict):
            scan.skips.add(blob.name, number, "no data: an event holds an object under data")
        else:
            log.event(event, event["data"], number)
            if log.ready:
                yield from log.ready
                log.ready = []
    log.finish()
    yield from log.ready


def clean_result(name: str, result: JSON) -> JSON:
    """Without the number of the shell, which counts up."""
    if not isinstance(result, str) or "<shellId: " not in result:
        return result
    return _SHELL_ID.sub(r"<\1 with exit code \2>", result)
