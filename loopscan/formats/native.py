"""loopscan's own trace format: JSON Lines, one call (or one turn) per line, runs interleaved.

What teams write themselves, and what `loopscan convert` writes. Field names and their accepted synonyms: README,
"The native format". One turn = consecutive lines of a run with the same `turn`, or a line without `turn`. One
run = one `run_id`; without an id the file. Usage = the largest figure per field on the lines of a turn.

Fields that only `convert` writes, for what other formats know: `prompt` (the number k where `run_id` is `x#k`: run k
of the interactive session x), `session` (a wider session of the run), `context_window` (tokens the model takes),
`written` (characters it wrote, thinking included), `compacted` (true where the context was compacted before the turn),
`note` (beside `state`: the log's own word for the end). `text` null on a call: the words beside it were not captured.
"""

from __future__ import annotations

from array import array
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import Final

from loopscan.blob import Blob, Head
from loopscan.decode import canonical
from loopscan.formats import Scan
from loopscan.formats._fields import count, dollars, identity, items, mapping, text_or_none, when, word
from loopscan.formats._mapped import mapped
from loopscan.model import JSON, MISSING, STATES, Call, End, Event, Turn, Usage

TITLE = "loopscan's own JSON Lines, one call per line"
WHERE: tuple[str, ...] = ()
LACKS = ""
COSMETIC_ARGS: Mapping[str, frozenset[str]] = {}

RUN: Final = ("run_id", "run", "trace_id", "session_id", "conversation_id", "thread_id")
NAME: Final = ("name", "tool", "tool_name")
ARGS: Final = ("args", "arguments", "input")
RESULT: Final = ("result", "output")
_ACTS: Final = (*NAME, "calls", "text", "state", "error")
_CONTEXT: Final = (*RUN, *ARGS, *RESULT, "turn", "input_tokens", "ts")
_EXTRAS: Final = frozenset(("session", "context_window", "written", "compacted"))
FIELDS: Final = frozenset(
    (*_ACTS, *_CONTEXT, *_EXTRAS, "cache_read_tokens", "cache_write_tokens", "cache_write_1h_tokens", "output_tokens",
     "usd", "model", "parent", "labels", "prompt", "note")
)  # fmt: skip
"""Every name of a field that is read."""


def sniff(head: Head) -> bool:
    """Objects with one of our words for what happened and one for where or with what."""
    objects = head.objects
    return bool(objects) and not head.document and any(_is_ours(o) for o in objects[:5])


_FOREIGN: Final = frozenset(
    "span_id root_span_id parent_observation_id dotted_order run_type object spans span_data messages uuid".split()
)
"""Keys of logs that use some of our words for other things."""


def _is_ours(line: dict[str, JSON]) -> bool:
    if not _FOREIGN.isdisjoint(line) or line.get("type") in ("ToolCall", "LLMCall"):
        return False
    if not any(k in line for k in _ACTS) or not any(k in line for k in _CONTEXT):
        return False
    name = next((line[k] for k in NAME if k in line), None)
    return (name is None or isinstance(name, str)) and not isinstance(line.get("text"), (dict, list))


@dataclass(slots=True)
class _Run:
    """What is known of one run: its open turn, the number its lines carry, and what its lines were."""

    turn: Turn | None = None
    number: JSON = None
    prompt: int | None = None
    highest: float = float("-inf")
    lines: array[int] = field(default_factory=lambda: array("q"))
    known: set[int] = field(default_factory=set)

    def is_copy(self, number: JSON, stamp: JSON, line: dict[str, JSON]) -> bool:
        """Whether a line with `turn` and `ts` was met before. Cheap while the numbers only go up."""
        act = [line.get(k) for k in (*NAME, *ARGS, *RESULT, "calls", "text", "error", "state")]
        mark = hash((canonical([number, stamp]), canonical(act)))
        rank = float(number) if isinstance(number, (int, float)) and abs(number) < 1e300 else self.highest
        if rank > self.highest:
            self.highest = rank
        else:
            if len(self.known) != len(self.lines):
                self.known.update(self.lines)
            if mark in self.known:
                return True
            self.known.add(mark)
        self.lines.append(mark)
        return False


def read(blob: Blob, scan: Scan) -> Iterator[Event]:
    """The turns and ends of a native log."""
    runs: dict[str, _Run] = scan.memory.setdefault("loopscan", {})
    for number, record in blob.values(scan.skips):
        if not isinstance(record, dict):
            scan.skips.add(blob.name, number, "not an object: each line must be one JSON object")
            continue
        line = mapped(record, scan.field_map) if scan.field_map else record
        run_id = next((i for k in RUN if (i := identity(line.get(k)))), blob.name)
        run_id, prompt = _session(run_id, line["prompt"]) if "prompt" in line else (run_id, None)
        run = runs.get(run_id)
        if run is None:
            run = runs[run_id] = _Run()
        if prompt != run.prompt:
            if run.turn is not None:
                yield run.turn
            run.turn, run.prompt = None, prompt
        yield from _line(line, run_id, run, number, scan, blob)
    for run in runs.values():
        if run.turn is not None:
            yield run.turn
            run.turn, run.number = None, None


def _line(line: dict[str, JSON], run_id: str, run: _Run, number: int, scan: Scan, blob: Blob) -> Iterator[Event]:
    turn_number, stamp = line.get("turn"), line.get("ts")
    if turn_number is not None and stamp is not None and not scan.exact and run.is_copy(turn_number, stamp, line):
        scan.skips.copies += 1
        return
    turn = _turn(line, run_id, number)
    if turn is not None:
        turn.prompt = run.prompt
        if run.turn is not None and (turn_number is None or turn_number != run.number):
            yield run.turn
            run.turn = None
        if run.turn is None:
            run.turn, run.number = turn, turn_number
        else:
            _join(run.turn, turn)
    state = line.get("state")
    if state is not None:
        if run.turn is not None:
            yield run.turn
            run.turn, run.number = None, None
        if state in STATES:
            note, final = text_or_none(line.get("note")), run.prompt is None
            yield End(run_id, state, note, number, final=final, time=when(stamp), prompt=run.prompt)
        else:
            scan.skips.add(blob.name, number, f"unknown state: {word(state)[:40]!r} is none of {', '.join(STATES)}")


def _session(run_id: str, prompt: JSON) -> tuple[str, int | None]:
    """The session and the number of a run that is one of its prompts; any other `prompt` says nothing."""
    number = count(prompt)
    session = run_id.removesuffix(f"#{number}")
    return (run_id, None) if number is None or session in ("", run_id) else (session, number)


def _first(line: dict[str, JSON], names: tuple[str, ...]) -> JSON:
    for name in names:
        if name in line:
            return line[name]
    return MISSING


def _call(line: dict[str, JSON]) -> Call | None:
    name = _first(line, NAME)
    if name is MISSING or name is None:
        return None
    args, result, error = _first(line, ARGS), _first(line, RESULT), line.get("error")
    if result is MISSING and isinstance(error, (str, dict)) and error:
        result = error
    return Call(
        name if isinstance(name, str) else canonical(name).decode(errors="replace"),
        None if args is MISSING else args,
        result,
        bool(error),
    )


def _turn(line: dict[str, JSON], run_id: str, number: int) -> Turn | None:
    """The turn (or the part of one) that a line holds; None for a line that only states an end."""
    if "calls" in line:
        calls = [c for o in items(line["calls"]) if (c := _call(mapping(o))) is not None]
    else:
        call = _call(line)
        calls = [] if call is None else [call]
    text = text_or_none(line.get("text"))
    usage = _usage(line)
    failed = not calls and bool(line.get("error"))
    ends_only = line.get("state") is not None or (_first(line, RESULT) is MISSING and "turn" not in line)
    if ends_only and not calls and not failed and text is None and usage is None:
        return None
    if text is None and calls and "text" not in line:
        text = ""
    turn = Turn(run_id, calls, text, failed, line=number, usage=usage)
    if failed:
        turn.fault = _first(line, RESULT)
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


def _usage(line: dict[str, JSON]) -> Usage | None:
    usage = Usage(
        count(line.get("input_tokens")),
        count(line.get("output_tokens")),
        count(line.get("cache_read_tokens")),
        count(line.get("cache_write_tokens")),
        count(line.get("cache_write_1h_tokens")),
        dollars(line.get("usd")),
    )
    return None if usage == Usage() else usage


def _join(turn: Turn, more: Turn) -> None:
    """Add a further line of the same turn: a parallel call, more text, repeated usage."""
    first = turn.text if turn.text is not None or turn.calls else more.text
    turn.text = "\n".join(t for t in (turn.text, more.text) if t) or first
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


def clean_result(name: str, result: JSON) -> JSON:
    """Native results have no wrapper."""
    return result
