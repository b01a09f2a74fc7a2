"""tau-bench results, `results/<strategy>-<model>-...json` and `historical_trajectories/*.json`.

A JSON array (or lines) of task trials; `traj` holds the chat messages. One run = one trial, one turn = one assistant
message; the simulated user's messages start no runs. Tool-call ids repeat inside a run, so results join in order.
The act and react strategies write the call as JSON after `Action:`; its result is the next user message.
A run is over when the user says `###STOP###` or was handed to a human; else the log just ends (at the step cap, or
with an `error` in `info`). Format: https://github.com/sierra-research/tau-bench, `tau_bench/types.py` (EnvRunResult).
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Final

from loopscan.blob import Blob, Head
from loopscan.decode import embedded
from loopscan.formats import Scan
from loopscan.formats._dialogue import Dialogue
from loopscan.formats._fields import identity, items, mapping
from loopscan.formats._harness import Names, answer, note
from loopscan.model import JSON, MISSING, Call, End, Event, Turn

TITLE = "tau-bench results"
WHERE: tuple[str, ...] = ("historical_trajectories",)
LACKS = "usage, times and the model"
COSMETIC_ARGS: Mapping[str, frozenset[str]] = {}

_STOP: Final = "###STOP###"
_HANDED_OVER: Final = "transfer_to_human_agents"
_API_OUTPUT: Final = "API output: "


def sniff(head: Head) -> bool:
    """Trials with a task, a reward and a `traj` of messages."""
    values: list[JSON] = []
    for value in head.values[:3]:
        values += value[:3] if isinstance(value, list) else [value]
    return any(isinstance(v, dict) and {"task_id", "reward", "traj"} <= v.keys() for v in values)


def read(blob: Blob, scan: Scan) -> Iterator[Event]:
    """The turns and ends of every trial."""
    names = Names(blob.name, scan, "tau-bench")
    for number, value in blob.values(scan.skips):
        for trial in value if isinstance(value, list) else [value]:
            if isinstance(trial, dict) and isinstance(trial.get("traj"), list):
                yield from _trial(trial, names, number)
            else:
                scan.skips.add(blob.name, number, "no traj: a trial is an object with a list of messages")


def _trial(trial: dict[str, JSON], names: Names, number: int) -> Iterator[Event]:
    task, attempt = identity(trial.get("task_id")), identity(trial.get("trial"))
    run = names.run("/".join(part for part in (task, attempt) if part) or None, number)
    messages = [m for m in items(trial["traj"]) if isinstance(m, dict)]
    turns = Dialogue(run, number).feed_all(messages)
    _text_actions(turns, messages)
    for turn in turns:
        for call in turn.calls:
            call.error = call.error or (isinstance(call.result, str) and call.result.startswith("Error"))
        yield turn
    yield _end(run, number, turns, messages, mapping(trial.get("info")))


def _text_actions(turns: list[Turn], messages: list[dict[str, JSON]]) -> None:
    """Read the calls of a run whose model wrote them as text, and their results from the user messages."""
    upcoming = iter(turns)
    turn: Turn | None = None
    for message in messages:
        content = message.get("content")
        if message.get("role") == "assistant":
            turn = next(upcoming, None)
            if turn is not None and not turn.calls and isinstance(content, str):
                turn.calls += _text_call(content)
        elif message.get("role") == "user" and isinstance(content, str) and content.startswith(_API_OUTPUT):
            answer(turn, None, content.removeprefix(_API_OUTPUT))


def _text_call(content: str) -> list[Call]:
    """The call in a text that ends with `Action:` and a JSON object; `respond` is speech, not a tool."""
    action = mapping(embedded(content.rpartition("Action:")[2]))
    name = action.get("name")
    if not isinstance(name, str) or name == "respond" or "arguments" not in action:
        return []
    return [Call(name, action["arguments"])]


def _end(run: str, number: int, turns: list[Turn], messages: list[JSON], info: dict[str, JSON]) -> End:
    last = mapping(messages[-1]) if messages else {}
    said = last.get("content")
    if isinstance(error := info.get("error"), str) and error:
        state, words = "error", note(error)
    elif last.get("role") == "user" and isinstance(said, str) and _STOP in said:
        state, words = "done", _STOP
    elif turns and any(c.name == _HANDED_OVER and c.result is not MISSING for c in turns[-1].calls):
        state, words = "done", _HANDED_OVER
    else:
        state, words = "cut", f"no {_STOP}: the log ends at model call {len(turns)}"
    return End(run, state, words, number, final=True)


def clean_result(name: str, result: JSON) -> JSON:
    """Results are the records themselves."""
    return result
