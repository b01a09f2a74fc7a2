"""SWE-agent trajectories, `trajectories/<user>/<run>/<instance>/<instance>.traj` (also of versions 0.x).

One JSON document per run (a retry agent's file holds `attempts`, one run each). One turn = one entry of
`trajectory`: `action` (raw text, its first word names the tool), `observation`, and `state`, which tells an empty
answer of `cd` or `scroll_down` from the one before it. Demonstrations hold `history` only. Entries that the
harness writes when it stops the run (`exit_cost`, "Exited (autosubmitted)") are no turns. Tokens and dollars are
recorded per run only, in `info.model_stats`: they stand in the note of the end.
Format: https://github.com/SWE-agent/SWE-agent, `docs/usage/trajectories.md`.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from typing import Final

from loopscan.blob import Blob, Head
from loopscan.decode import embedded
from loopscan.formats import Scan
from loopscan.formats._fields import identity, items, mapping, text_of_blocks
from loopscan.formats._harness import Names, note, spoken, totals
from loopscan.model import JSON, MISSING, Call, End, Event, Turn

TITLE = "SWE-agent trajectories (.traj)"
WHERE: tuple[str, ...] = ("trajectories",)
LACKS = "usage and times per turn"
COSMETIC_ARGS: Mapping[str, frozenset[str]] = {}

_STATES: Final = {
    "exit_cost": "cost_cap",
    "exit_context": "context_full",
    "exit_command_timeout": "time_cap",
    "exit_total_execution_time": "time_cap",
    "exit_forfeit": "done",
}
"""Any other `exit_*` is an error. `submitted (exit_cost)` is a stop by budget, not a success."""
_HARNESS_ACTION: Final = re.compile(r"exit_(?!forfeit)\w+")
_EXIT: Final = re.compile(r"exit_\w+")
_SHELL_LINE: Final = re.compile(r"^((?:/\S*/)?(?:ba)?sh: line )\d+(?=:)", re.MULTILINE)


def sniff(head: Head) -> bool:
    """A document with `trajectory` entries of action and observation, or a demonstration's `history`."""
    return any(_is_run(o) or any(map(_is_run, items(o.get("attempts")))) for o in head.objects[:5])


def _is_run(value: JSON) -> bool:
    doc = mapping(value)
    if "trajectory" in doc:
        steps = items(doc["trajectory"])
        first = mapping(steps[0]) if steps else {}
        return ("action" in first and "observation" in first) or (not steps and "history" in doc and "info" in doc)
    first = next(map(mapping, items(doc.get("history"))), {})
    return "role" in first and "agent" in first


def read(blob: Blob, scan: Scan) -> Iterator[Event]:
    """The turns and ends of a trajectory file."""
    names = Names(blob.name, scan, "sweagent")
    for number, doc in blob.values(scan.skips):
        if not isinstance(doc, dict):
            scan.skips.add(blob.name, number, "not an object: a trajectory is one JSON object")
        elif attempts := [a for a in map(mapping, items(doc.get("attempts"))) if _is_run(a)]:
            for k, attempt in enumerate(attempts, 1):
                yield from _run(attempt, names.run(None, k), number)
        else:
            yield from _run(doc, names.run(None), number)


def _run(doc: dict[str, JSON], run: str, number: int) -> Iterator[Event]:
    steps = items(doc.get("trajectory")) if "trajectory" in doc else _demonstration(items(doc.get("history")))
    config = doc.get("replay_config")
    config = mapping(embedded(config) if isinstance(config, str) else config)
    model = identity(mapping(mapping(config.get("agent")).get("model")).get("name"))
    last = None
    for step in map(mapping, steps):
        turn = _turn(step, run, number, model)
        if turn is not None:
            yield turn
            last = turn.calls[0].name if turn.calls else None
    end = _end(mapping(doc.get("info")), run, number, last)
    if end is not None:
        yield end


def _demonstration(history: list[JSON]) -> Iterator[JSON]:
    """The steps of a demonstration: each assistant message with the message after it."""
    step: dict[str, JSON] | None = None
    for message in map(mapping, history):
        if message.get("role") == "assistant":
            if step is not None:
                yield step
            response = text_of_blocks(message.get("content"))
            demo = message.get("is_demo") is True
            step = None if demo else {"action": message.get("action"), "response": response}
        elif step is not None and "observation" not in step:
            step["observation"] = text_of_blocks(message.get("content"))
    if step is not None:
        yield step


def _turn(step: dict[str, JSON], run: str, number: int, model: str | None) -> Turn | None:
    """The turn of an entry; None for one that the harness wrote itself."""
    action = step.get("action")
    action = action if isinstance(action, str) else ""
    response = step.get("response") or step.get("thought") or ""
    response = response if isinstance(response, str) else ""
    if _HARNESS_ACTION.fullmatch(action.strip()):
        return None
    words = action.split(None, 1)
    if not words:
        stopped = not response or response.startswith(("Exit", "exit"))
        return None if stopped else Turn(run, [], response, line=number, model=model, written=len(response))
    call = Call(words[0], action, _result(step))
    return Turn(run, [call], response, line=number, model=model, written=len(response) or spoken([call]))


def _result(step: dict[str, JSON]) -> JSON:
    """The observation, together with the state of the shell and the editor where that is recorded."""
    observation, state = step.get("observation"), step.get("state")
    if observation is None:
        return MISSING
    if isinstance(state, str) and (inner := embedded(state)) is not None:
        state = inner
    return {"observation": observation, "state": state} if state else observation


def _end(info: dict[str, JSON], run: str, number: int, last: str | None) -> End | None:
    status, stats = info.get("exit_status"), mapping(info.get("model_stats"))
    spent = (stats.get(k) for k in ("api_calls", "tokens_sent", "tokens_received", "instance_cost"))
    if not isinstance(status, str) or not status:
        return End(run, "done", note("last action: submit"), number, final=True) if last == "submit" else None
    exits = _EXIT.search(status)
    if exits:
        state = _STATES.get(exits.group(), "error")
    else:
        state = {"submitted": "done", "early_exit": "cut", "skipped": "aborted"}.get(status, "error")
    return End(run, state, note(status, totals(*spent)), number, final=True)


def clean_result(name: str, result: JSON) -> JSON:
    """Without the line numbers of the interactive shell: they grow by one with every command."""
    if isinstance(result, dict) and isinstance(result.get("observation"), str):
        return {**result, "observation": _SHELL_LINE.sub(r"\1N", result["observation"])}
    return _SHELL_LINE.sub(r"\1N", result) if isinstance(result, str) else result
