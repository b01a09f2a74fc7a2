"""mini-swe-agent trajectories, `<output>/<instance>/<instance>.traj.json`, versions 1 and 2.

One JSON document per run; old files are a bare list of messages. One turn = one assistant message: version 1 has
ONE fenced shell command in its text, answered by the next user message; version 2 has `tool_calls`, or the output
of the responses API. A reply without exactly one command is a turn without calls and what the harness answers is
no result; version 2 keeps only that answer (`interrupt_type: FormatError`), with the reply and its cost inside.
Usage = `extra.response.usage` of a message, dollars `extra.cost` or `usage.cost`.
Format: https://github.com/SWE-agent/mini-swe-agent, `docs/usage/output_files.md`.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from typing import Final

from loopscan.blob import Blob, Head
from loopscan.decode import word
from loopscan.formats import Scan
from loopscan.formats._fields import count, dollars, identity, items, mapping, text_of_blocks, when
from loopscan.formats._harness import Names, answer, calls_of, note, spoken, stop_state, usage_of
from loopscan.model import JSON, Call, End, Event, Turn

TITLE = "mini-swe-agent trajectories (.traj.json)"
WHERE: tuple[str, ...] = ()
LACKS = ""
COSMETIC_ARGS: Mapping[str, frozenset[str]] = {}

_COMMANDS: Final = (
    re.compile(r"```mswea_bash_command\s*\n(.*?)\n```", re.DOTALL),
    re.compile(r"<mswea_bash_command>(.*?)</mswea_bash_command>", re.DOTALL),
    re.compile(r"```bash\s*\n(.*?)\n```", re.DOTALL),
)
_SUBMIT: Final = ("COMPLETE_TASK_AND_SUBMIT_FINAL_OUTPUT", "MINI_SWE_AGENT_FINAL_OUTPUT")
_RETURNED: Final = re.compile(r"\s*<returncode>(-?\d+)</returncode>")
_STATES: Final = {
    "Submitted": "done",
    "TimeExceeded": "time_cap",
    "RepeatedFormatError": "no_progress",
    "UserInterruption": "aborted",
    "KeyboardInterrupt": "aborted",
}


def sniff(head: Head) -> bool:
    """A document that names its format or version, or a bare list of messages that ask for the submit marker."""
    for value in head.values[:3]:
        doc = mapping(value)
        if word(doc.get("trajectory_format")).startswith("mini-swe-agent"):
            return True
        if "messages" in doc and "mini_version" in mapping(doc.get("info")):
            return True
        if isinstance(value, list) and any(map(_asks_for_marker, value[:2])):
            return True
    return False


def _asks_for_marker(message: JSON) -> bool:
    text = mapping(message).get("content")
    return isinstance(text, str) and any(marker in text for marker in _SUBMIT)


def read(blob: Blob, scan: Scan) -> Iterator[Event]:
    """The turns and ends of a trajectory file."""
    names = Names(blob.name, scan, "mini-swe-agent")
    for number, doc in blob.values(scan.skips):
        if isinstance(doc, list):
            doc = {"messages": doc}
        if not isinstance(doc, dict) or not isinstance(doc.get("messages"), list):
            scan.skips.add(blob.name, number, "no messages: a trajectory is one object with a list of messages")
            continue
        yield from _Trajectory(doc, names.run(identity(doc.get("instance_id"))), number).events()


class _Trajectory:
    """One run: its messages in order."""

    def __init__(self, doc: dict[str, JSON], run: str, number: int) -> None:
        self.messages, self.info = items(doc.get("messages")), mapping(doc.get("info"))
        self.run, self.number = run, number
        config = mapping(self.info.get("config"))
        self.limits = mapping(config.get("agent"))
        self.model = identity(mapping(config.get("model")).get("model_name"))
        self.labels = {"instance": i} if (i := identity(doc.get("instance_id"))) else None

    def events(self) -> Iterator[Event]:
        turn: Turn | None = None
        for message in map(mapping, self.messages):
            extra = mapping(message.get("extra"))
            if (new := self._turn(message, extra)) is not None:
                if turn is not None:
                    yield turn
                turn = new
            elif message.get("role") not in ("system", "exit"):
                _answer(turn, message, extra)
        if turn is not None:
            yield turn
        end = self._end(turn)
        if end is not None:
            yield end

    def _turn(self, message: dict[str, JSON], extra: dict[str, JSON]) -> Turn | None:
        """The turn that a message begins; None for a message that the model did not write."""
        response = mapping(extra.get("response"))
        text: str | None
        if message.get("object") == "response":
            response = message
            text, calls = _response_output(items(message.get("output")))
        elif message.get("role") == "assistant":
            text, calls = text_of_blocks(message.get("content")), calls_of(message)
            calls = calls or [Call("bash", command) for command in _command(text)]
        elif extra.get("interrupt_type") == "FormatError" and (response or "model_response" in extra):
            text, calls = _rejected(response, extra), []
        else:
            return None
        turn = Turn(self.run, calls, text, line=self.number, labels=self.labels)
        turn.usage = usage_of(response.get("usage"), extra.get("cost"))
        turn.model = identity(response.get("model")) or self.model
        turn.time = when(extra.get("timestamp")) or when(response.get("created"))
        turn.written = spoken(calls, text, message.get("reasoning_content"))
        return turn

    def _end(self, turn: Turn | None) -> End | None:
        exits = mapping(self.messages[-1]) if self.messages else {}
        words = mapping(exits.get("extra")).get("exit_status") or self.info.get("exit_status")
        if not isinstance(words, str) or not words:
            submitted = turn is not None and any(_asks_for_marker({"content": word(c.args)}) for c in turn.calls)
            return End(self.run, "done", "submit marker", self.number, final=True) if submitted else None
        why = exits.get("content") if exits.get("role") == "exit" and words != "Submitted" else None
        state = self._limit() if words == "LimitsExceeded" else _STATES.get(words) or stop_state(words)
        return End(self.run, state, note(words, why if why != words else None), self.number, final=True)

    def _limit(self) -> str:
        """Which limit `LimitsExceeded` means: the word is the same for steps and dollars."""
        stats = mapping(self.info.get("model_stats"))
        steps, calls = count(self.limits.get("step_limit")), count(stats.get("api_calls"))
        budget, cost = dollars(self.limits.get("cost_limit")), dollars(stats.get("instance_cost"))
        if steps and calls is not None and calls >= steps:
            return "turn_cap"
        if budget and cost is not None and cost >= budget:
            return "cost_cap"
        return "turn_cap" if steps else "cost_cap"


def _command(text: str) -> list[str]:
    """The command of a version 1 reply: run only if there is exactly one."""
    for pattern in _COMMANDS:
        if found := pattern.findall(text):
            return [word(found[0]).strip()] if len(found) == 1 else []
    return []


def _response_output(output: list[JSON]) -> tuple[str, list[Call]]:
    """Text and calls of a reply of the responses API."""
    parts = [mapping(item) for item in output]
    text = "\n".join(t for p in parts if p.get("type") == "message" and (t := text_of_blocks(p.get("content"))))
    return text, [
        Call(word(p.get("name")), p.get("arguments"), id=identity(p.get("call_id")) or identity(p.get("id")))
        for p in parts
        if p.get("type") == "function_call"
    ]


def _rejected(response: dict[str, JSON], extra: dict[str, JSON]) -> str | None:
    """The text of a reply that the harness could not use; a wrong tool call stands in for missing text."""
    if isinstance(text := extra.get("model_response"), str):
        return text
    message = mapping(next(iter(items(response.get("choices"))), {})).get("message")
    message = mapping(message)
    text = text_of_blocks(message.get("content")) or _response_output(items(response.get("output")))[0]
    wrong = [f"{c.name} {c.args}" for c in calls_of(message) or _response_output(items(response.get("output")))[1]]
    return "\n".join(p for p in (text, *wrong) if p) or None


def _answer(turn: Turn | None, message: dict[str, JSON], extra: dict[str, JSON]) -> None:
    """Join a message of the harness to the call it answers."""
    output = message.get("type") == "function_call_output"
    content = message.get("output") if output else text_of_blocks(message.get("content"))
    call_id = identity(message.get("call_id" if output else "tool_call_id"))
    code = extra.get("returncode")
    if code is None and isinstance(content, str) and (said := _RETURNED.match(content)):
        code = said.group(1)
    answer(turn, call_id, content, code not in (None, 0, "0"))


def clean_result(name: str, result: JSON) -> JSON:
    """Nothing of a result is the harness's own: how much of it was left out is part of it."""
    return result
