"""pi session files, `~/.pi/agent/sessions/--<cwd>--/<time>_<uuid>.jsonl`.

One line = one entry; versions 2 and up form a tree by `parentId`, and an abandoned branch stays in the file: it
was paid, so the file is read in its order. One turn = one assistant message; results join by `toolCallId`. One
run = one user prompt of a session (`session#k`). Usage = `message.usage`, its three input classes disjoint, and
its cost in USD. `stopReason` says how a run ended. Format:
https://github.com/badlogic/pi-mono/blob/main/packages/coding-agent/docs/session.md
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from loopscan.blob import Blob, Head
from loopscan.formats import Scan
from loopscan.formats._pi_session import is_openclaw, is_session, read_session
from loopscan.model import JSON, Event

TITLE = "pi session files"
WHERE: tuple[str, ...] = ("$PI_CODING_AGENT_DIR/sessions", "~/.pi/agent/sessions")
LACKS = ""
COSMETIC_ARGS: Mapping[str, frozenset[str]] = {"bash": frozenset({"timeout"})}


def sniff(head: Head) -> bool:
    """A session header or toolResult messages, and no mark of OpenClaw."""
    return is_session(head) and not is_openclaw(head)


def read(blob: Blob, scan: Scan) -> Iterator[Event]:
    """The turns and ends of a session file."""
    return read_session(blob.values(scan.skips), scan, blob.name, "pi")


def clean_result(name: str, result: JSON) -> JSON:
    """pi stores results as the model saw them."""
    return result
