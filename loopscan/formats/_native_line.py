"""One line of the native format, of whatever types: its run, its call, its usage; and joining the lines of a turn."""

from __future__ import annotations

from typing import Final

from loopscan.decode import canonical
from loopscan.formats._fields import count, dollars, identity, items, mapping, text_or_none, when
from loopscan.model import JSON, MISSING, Call, Turn, Usage

RUN: Final = ("run_id", "run", "trace_id", "session_id", "conversation_id", "thread_id")
NAME: Final = ("name", "tool", "tool_name")
ARGS: Final = ("args", "arguments", "input")
RESULT: Final = ("result", "output")
ACTS: Final = (*NAME, "calls", "text", "state", "error")
_EXTRAS: Final = frozenset(("session", "context_window", "written", "compacted"))
CONTEXT: Final = (*RUN, *ARGS, *RESULT, "turn", "input_tokens", "ts")
FIELDS: Final = frozenset(
    (*ACTS, *CONTEXT, *_EXTRAS, "cache_read_tokens", "cache_write_tokens", "cache_write_1h_tokens", "output_tokens",
     "usd", "model", "parent", "labels", "prompt", "note")
)  # fmt: skip
"""Every name of a field that is read."""

Line = dict[str, JSON]


def run_of(line: Line, file: str) -> tuple[str, int | None]:
    """The run a line belongs to, and the number of its prompt where it is a run of an interactive session."""
    run = next((i for k in RUN if (i := identity(line.get(k)))), file)
    return _session(run, line["prompt"]) if "prompt" in line else (run, None)


def _session(run: str, prompt: JSON) -> tuple[str, int | None]:
    """The session and the number of a run that is one of its prompts; any other `prompt` says nothing."""
    number = count(prompt)
    session = run.removesuffix(f"#{number}")
    return (run, None) if number is None or session in ("", run) else (session, number)


def first(line: Line, names: tuple[str, ...]) -> JSON:
    """The value under the first of the names that the line has, else MISSING."""
    for name in names:
        if name in line:
            return line[name]
    return MISSING


def act(line: Line) -> list[JSON]:
    """What a line says that was done: what a log copy repeats."""
    found = (first(line, names) for names in (NAME, ARGS, RESULT))
    return [None if v is MISSING else v for v in found] + [line.get(k) for k in ("calls", "text", "error", "state")]


def call_of(line: Line) -> Call | None:
    """The call of a line, None where it names no tool."""
    name = first(line, NAME)
    if name is MISSING or name is None:
        return None
    args, result, error = first(line, ARGS), first(line, RESULT), line.get("error")
    if result is MISSING and isinstance(error, (str, dict)) and error:
        result = error
    return Call(
        name if isinstance(name, str) else canonical(name).decode(errors="replace"),
        None if args is MISSING else args,
        result,
        bool(error),
    )


def turn_of(line: Line, run: str, number: int) -> Turn | None:
    """The turn (or the part of one) that a line holds; None for a line that only states an end."""
    if "calls" in line:
        calls = [c for o in items(line["calls"]) if (c := call_of(mapping(o))) is not None]
    else:
        call = call_of(line)
        calls = [] if call is None else [call]
    text = text_or_none(line.get("text"))
    usage = _usage(line)
    failed = not calls and bool(line.get("error"))
    ends_only = line.get("state") is not None or (first(line, RESULT) is MISSING and "turn" not in line)
    if ends_only and not calls and not failed and text is None and usage is None:
        return None
    if text is None and calls and "text" not in line:
        text = ""
    turn = Turn(run, calls, text, failed, line=number, usage=usage)
    if failed:
        turn.fault = first(line, RESULT)
        if turn.fault is MISSING and line["error"] is not True:
            turn.fault = line["error"]
    turn.time = when(line.get("ts"))
    turn.model = text_or_none(line.get("model"))
    turn.parent = identity(line.get("parent"))
    if not _EXTRAS.isdisjoint(line):
        turn.session = identity(line.get("session"))
        turn.window, turn.written = count(line.get("context_window")), count(line.get("written"))
        turn.compacted = line.get("compacted") is True
    labels = line.get("labels")
    if isinstance(labels, dict):
        turn.labels = {k: t for k, v in labels.items() if (t := text_or_none(v)) is not None}
    return turn


def _usage(line: Line) -> Usage | None:
    usage = Usage(
        count(line.get("input_tokens")),
        count(line.get("output_tokens")),
        count(line.get("cache_read_tokens")),
        count(line.get("cache_write_tokens")),
        count(line.get("cache_write_1h_tokens")),
        dollars(line.get("usd")),
    )
    return None if usage == Usage() else usage


def join(turn: Turn, more: Turn) -> None:
    """Add a further line of the same turn: a parallel call, more text, repeated usage."""
    first_text = turn.text if turn.text is not None or turn.calls else more.text
    turn.text = "\n".join(t for t in (turn.text, more.text) if t) or first_text
    turn.calls += more.calls
    if more.usage is not None:
        if turn.usage is None:
            turn.usage = more.usage
        else:
            turn.usage.merge(more.usage)
    if more.failed and not turn.calls:
        turn.failed, turn.fault = True, more.fault
    turn.time = turn.time if turn.time is not None else more.time
    turn.model = turn.model or more.model
    turn.parent = turn.parent or more.parent
    turn.labels = turn.labels or more.labels
    turn.session = turn.session or more.session
    turn.window = turn.window or more.window
    turn.written = turn.written if turn.written is not None else more.written
    turn.compacted = turn.compacted or more.compacted
