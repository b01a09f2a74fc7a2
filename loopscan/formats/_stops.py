"""Why a model reply, or the run it closes, stopped: the providers' words mapped to our states."""

from __future__ import annotations

from typing import Final

from loopscan.model import JSON, End, Turn

_STATES: Final = {
    "end_turn": "done",
    "stop": "done",
    "stop_sequence": "done",
    "completed": "done",
    "eos": "done",
    "max_tokens": "cut",
    "length": "cut",
    "max_output_tokens": "cut",
    "incomplete": "cut",
    "model_context_window_exceeded": "context_full",
    "context_length_exceeded": "context_full",
    "error": "error",
    "failed": "error",
    "content_filter": "error",
    "refusal": "error",
    "turn_cap": "turn_cap",
    "max_turns": "turn_cap",
    "max_iterations": "turn_cap",
    "cancelled": "aborted",
    "canceled": "aborted",
    "aborted": "aborted",
    "interrupted": "aborted",
}


def end_of(turn: Turn, reason: JSON, *, final: bool, of_run: bool = False) -> End | None:
    """The end that a stop reason states, None where it states none (`tool_use`, an unknown word).

    A reply that asked for tools ends nothing, whatever its own reason says (some gateways say `stop`); a reason of
    the whole run (`of_run`) holds even then.
    """
    if not isinstance(reason, str) or (turn.calls and not of_run):
        return None
    state = _STATES.get(reason.lower())
    if state is None:
        return None
    return End(turn.run, state, reason, turn.line, final=final, time=turn.time, prompt=turn.prompt)
