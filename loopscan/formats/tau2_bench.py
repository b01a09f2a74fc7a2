"""tau2-bench simulations: `results.json` with `simulations`, or a folder with `simulations/<id>.json`.

One run = one simulation. One turn = one assistant message (the orchestrator's greeting, which no model wrote, is
none); of the tool calls only the agent's count, the simulated user calls tools too (`requestor`). Voice simulations
hold `ticks`: only those with agent tool calls are turns, how often the model was sent to is not recorded; without
any such tick there is no run to judge.
Usage and dollars = `usage` and `cost` of a message. `termination_reason` tells the end.
Format: https://github.com/sierra-research/tau2-bench, `src/tau2/data_model/simulation.py`.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Final

from loopscan.blob import Blob, Head
from loopscan.formats import Scan
from loopscan.formats._beside import UNREADABLE, value_of
from loopscan.formats._fields import identity, items, mapping, text_of_blocks, when
from loopscan.formats._harness import Names, answer, calls_of, no_turns, note, spoken, usage_of
from loopscan.model import JSON, Call, End, Event, Turn

TITLE = "tau2-bench simulations"
WHERE: tuple[str, ...] = ("data/simulations",)
LACKS = "in voice simulations the sends without tool calls, text and usage"
COSMETIC_ARGS: Mapping[str, frozenset[str]] = {}

_STATES: Final = {
    "user_stop": "done",
    "agent_stop": "done",
    "max_steps": "turn_cap",
    "timeout": "time_cap",
    "too_many_errors": "no_progress",
    "context_window_exceeded": "context_full",
}
"""Any other reason (`agent_error`, `user_error`, `infrastructure_error`, ...) is an error."""


def sniff(head: Head) -> bool:
    """A result file (with simulations, with their index, or with the settings only) or one simulation."""
    values: list[JSON] = []
    for value in head.values[:3]:
        values += value[:3] if isinstance(value, list) else [value]
    return any(_is_results(v) or _is_simulation(v) for v in map(mapping, values))


def _is_results(value: dict[str, JSON]) -> bool:
    simulations = items(value.get("simulations"))
    settings = mapping(value.get("info"))
    listed = bool(simulations) and _is_simulation(mapping(simulations[0]))
    return (
        listed or "simulation_index" in value or ("tasks" in value and {"agent_info", "user_info"} <= settings.keys())
    )


def _is_simulation(value: dict[str, JSON]) -> bool:
    return "termination_reason" in value and ("messages" in value or "ticks" in value)


def read(blob: Blob, scan: Scan) -> Iterator[Event]:
    """The turns and ends of every simulation in a file."""
    names = Names(blob.name, scan, "tau2-bench")
    for number, value in blob.values(scan.skips):
        for part in value if isinstance(value, list) else [value]:
            if not isinstance(part, dict):
                scan.skips.add(blob.name, number, "not an object: a simulation is a JSON object")
            elif _is_simulation(part):
                model = _model_of_folder(blob.path, scan) if blob.path is not None else None
                yield from _simulation(part, model, names, number, scan)
            else:
                model = _model_of(part)
                for simulation in map(mapping, items(part.get("simulations"))):
                    yield from _simulation(simulation, model, names, number, scan)


def _model_of(results: dict[str, JSON]) -> str | None:
    return identity(mapping(mapping(results.get("info")).get("agent_info")).get("llm"))


def _model_of_folder(path: Path, scan: Scan) -> str | None:
    """The agent's model, from the `results.json` beside the folder of simulations."""
    if path.parent.name != "simulations":
        return None
    known: dict[str, str | None] = scan.memory.setdefault("tau2-bench models", {})
    results = path.parent.parent / "results.json"
    if str(results) not in known:
        try:
            known[str(results)] = _model_of(mapping(value_of(results)))
        except UNREADABLE:
            known[str(results)] = None
    return known[str(results)]


def _simulation(
    simulation: dict[str, JSON], model: str | None, names: Names, number: int, scan: Scan
) -> Iterator[Event]:
    own = identity(simulation.get("id"))
    if own is not None and scan.copy_of("tau2-bench", own):
        return
    tried = "/".join(p for k in ("task_id", "trial") if (p := identity(simulation.get(k))))
    run = names.run(own or tried or None, number)
    labels = {"task": task} if (task := identity(simulation.get("task_id"))) else None
    voice = "messages" not in simulation or (not simulation["messages"] and bool(simulation.get("ticks")))
    turns = 0
    for turn in _ticks(simulation, run) if voice else _messages(simulation, run):
        turns, turn.line, turn.model, turn.labels = turns + 1, number, turn.model or model, labels
        yield turn
    reason = simulation.get("termination_reason")
    if isinstance(reason, str):
        unseen = voice and not turns
        if unseen:
            no_turns(scan.skips, names.file, "tau2-bench:voice ticks without tool calls", reason)
        state, time = _STATES.get(reason, "error"), when(simulation.get("end_time"))
        yield End(run, state, note(reason), number, final=not unseen, time=time)


def _messages(simulation: dict[str, JSON], run: str) -> Iterator[Turn]:
    turn: Turn | None = None
    for position, message in enumerate(map(mapping, items(simulation.get("messages")))):
        role = message.get("role")
        if role == "assistant":
            calls = _by_agent(message)
            if position == 0 and not calls and not message.get("usage"):
                continue  # the greeting
            if turn is not None:
                yield turn
            text = text_of_blocks(message.get("content"))
            turn = Turn(run, calls, text, time=when(message.get("timestamp")), written=spoken(calls, text))
            turn.usage = usage_of(message.get("usage"), message.get("cost"))
            turn.model = identity(mapping(message.get("raw_data")).get("model"))
        elif role == "tool":
            for result in items(message.get("tool_messages")) or [message]:
                _answer(turn, mapping(result))
    if turn is not None:
        yield turn


def _ticks(simulation: dict[str, JSON], run: str) -> Iterator[Turn]:
    turn: Turn | None = None
    for tick in map(mapping, items(simulation.get("ticks"))):
        for result in items(tick.get("agent_tool_results")):
            _answer(turn, mapping(result))
        calls = _by_agent({"tool_calls": tick.get("agent_tool_calls")})
        if not calls:
            continue
        if turn is not None:
            yield turn
        turn = Turn(run, calls, None, time=when(tick.get("timestamp")))
    if turn is not None:
        yield turn


def _by_agent(message: dict[str, JSON]) -> list[Call]:
    """The agent's own calls of a message."""
    own = [c for c in items(message.get("tool_calls")) if mapping(c).get("requestor", "assistant") == "assistant"]
    return calls_of({"tool_calls": own})


def _answer(turn: Turn | None, result: dict[str, JSON]) -> None:
    if result.get("requestor", "assistant") == "assistant":
        call_id = identity(result.get("id")) or identity(result.get("tool_call_id"))
        answer(turn, call_id, result.get("content"), result.get("error") is True)


def clean_result(name: str, result: JSON) -> JSON:
    """Results are the records themselves."""
    return result
