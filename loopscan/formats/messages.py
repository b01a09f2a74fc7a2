"""Other chat dumps: data sets of trajectories and home-made logs.

Read are rows whose calls stand in the text (SWE-smith, Hermes), `trajectory` rows of roles and texts (nebius
SWE-agent, SWE-rebench), `conversations` of `from` and `value` (ShareGPT), Docent `transcripts`, rows of typed `content`
items (Agent Data Protocol), each row a run; and files with one chat message per line, each file or session a run.
One turn = one message of the model; where calls stand in the text, the next message is the result. Outcome:
`exit_status`, or a last call that submits. https://huggingface.co/datasets/SWE-bench/SWE-smith-trajectories,
https://huggingface.co/datasets/nebius/SWE-agent-trajectories, https://github.com/neulab/agent-data-protocol
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Final

from loopscan.blob import Blob, Head
from loopscan.formats import Scan
from loopscan.formats._dialect import OTHERS, dialects, is_foreign
from loopscan.formats._fields import identity, items, mapping
from loopscan.formats._records import unchanged as clean_result
from loopscan.formats._rows import IDS, Names, described
from loopscan.formats._talk import Talk, role_of
from loopscan.model import JSON, End, Event, Turn

__all__ = ["COSMETIC_ARGS", "LACKS", "TITLE", "WHERE", "clean_result", "read", "sniff"]

TITLE = "Other chat dumps and trajectory data sets"
WHERE: tuple[str, ...] = ()
LACKS = "usage and times"
COSMETIC_ARGS: Mapping[str, frozenset[str]] = {}

_LISTS: Final = ("trajectory", "conversations", "conversation", "messages", "content")
_SESSIONS: Final = ("run_id", "session_id", "conversation_id", "thread_id")
_ROLES: Final = frozenset(
    "system developer user human assistant ai gpt model bot agent tool function observation function_call".split()
)
_STATES: Final = (
    ("exit_cost", "cost_cap"),
    ("exit_context", "context_full"),
    ("exit_command_timeout", "time_cap"),
    ("exit_total_execution_time", "time_cap"),
    ("stuck", "no_progress"),
    ("iteration", "turn_cap"),
    ("max_turns", "turn_cap"),
    ("early_exit", "cut"),
    ("error", "error"),
    ("exit_", "error"),
    ("submit", "done"),
    ("finish", "done"),
    ("complete", "done"),
)
"""Words of `exit_status`; the first that it holds decides: `submitted (exit_cost)` is a stop by budget."""
_CLOSING: Final = frozenset({"submit", "finish"})


def sniff(head: Head) -> bool:
    """Rows or single messages of a chat that is no plain API dump."""
    found = dialects(head)
    if "text" in found:
        return found <= {"text", "plain"}
    if not found and any(True for value in head.values for _ in _rows(value)):
        return True
    return not found and not head.document and _one_per_line(head)


def _one_per_line(head: Head) -> bool:
    lines = head.objects
    return any(role_of(m) == "assistant" for m in lines) and all(
        role_of(m) in _ROLES and "type" not in m and ("content" in m or "tool_calls" in m) for m in lines
    )


def _rows(value: JSON) -> Iterator[tuple[dict[str, JSON], list[JSON], bool]]:
    """The rows of a value: fields, messages, and whether commands stand in fenced blocks."""
    if isinstance(value, list) and not _is_chat(value):
        for part in value:
            if isinstance(part, dict):
                yield from _rows(part)
    elif isinstance(value, list):
        yield {}, value, False
    elif isinstance(value, dict) and OTHERS.isdisjoint(value.keys() - {"transcripts"}):
        for transcript in map(mapping, items(value.get("transcripts"))):
            if _is_chat(transcript.get("messages")):
                yield {**value, **transcript}, transcript["messages"], False
        name = next((k for k in _LISTS if _is_chat(value.get(k))), None)
        if name is not None:
            texts = any("text" in m for m in value[name][:3] if isinstance(m, dict))
            yield value, value[name], name == "trajectory" and texts


def _is_chat(value: JSON) -> bool:
    """Whether a list begins like messages under any of their names, or like typed actions and observations."""
    head = items(value)[:3]
    return bool(head) and all(
        isinstance(m, dict) and (isinstance(m.get("class_"), str) or (role_of(m) in _ROLES and _has_content(m)))
        for m in head
    )


def _has_content(message: dict[str, JSON]) -> bool:
    return not ("type" in message or is_foreign(message)) and any(
        k in message for k in ("content", "text", "value", "tool_calls")
    )


def read(blob: Blob, scan: Scan) -> Iterator[Event]:
    """The turns and ends of a chat dump."""
    names, talks = Names("messages", scan), dict[str, Talk]()
    for number, value in blob.values(scan.skips):
        rows = list(_rows(value))
        if not rows and isinstance(value, dict) and role_of(value) in _ROLES:
            yield from _single(value, blob.name, number, talks)
        elif not rows:
            scan.skips.add(blob.name, number, "no messages: a line is a run's messages or one message")
        for i, (record, messages, fenced) in enumerate(rows):
            place = f"{blob.name}:{number}" + (f".{i + 1}" if len(rows) > 1 else "")
            turns = Talk(names.name(record, place, ("traj_id", *IDS)), number, fenced).feed_all(messages)
            yield from described(record, turns)
            if turns and (end := _end(record, turns[-1])) is not None:
                yield end
    for talk in talks.values():
        yield from talk.turns


def _single(message: dict[str, JSON], file: str, line: int, talks: dict[str, Talk]) -> Iterator[Turn]:
    """One message of a file that holds one per line; the run's newest turn waits for its results."""
    run = next((i for k in _SESSIONS if (i := identity(message.get(k)))), file)
    talk = talks.setdefault(run, Talk(run, line))
    talk.dialogue.line = line
    if talk.feed(message):
        yield from talk.dialogue.release()


def _end(record: dict[str, JSON], last: Turn) -> End | None:
    """The end that a row states, or that its last call is."""
    status = record.get("exit_status")
    if isinstance(status, str) and status:
        state = next((s for word, s in _STATES if word in status.lower()), None)
        if state is not None:
            return End(last.run, state, status[:200], last.line, final=True)
    if last.calls and last.calls[-1].name.lower() in _CLOSING:
        return End(last.run, "done", f"last call: {last.calls[-1].name}", last.line, final=True)
    return None
