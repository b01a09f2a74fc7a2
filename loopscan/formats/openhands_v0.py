"""OpenHands up to 1.x of openhands-ai ("V0"): trajectory downloads, evaluation `output.jsonl`, resolver output.

A trajectory is a JSON list of events; `output.jsonl` has one run per row with the events in `history` (in the
oldest rows as pairs, or without ids). One turn = the agent's actions of one model reply
(`tool_call_metadata.model_response.id`; without it, one action); observations join by `cause`, without one they
follow their action. A reply that the controller rejected leaves an error observation only and is no turn.
Usage = `usage` of the reply, else the row's `metrics.token_usages` by reply id, else differences of the running
totals in `llm_metrics`; dollars from `metrics.costs` where these can be matched.
Events: https://github.com/All-Hands-AI/OpenHands, `openhands/events/` (tag 0.62).
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from itertools import islice, zip_longest
from typing import Final

from loopscan.blob import Blob, Head
from loopscan.decode import word
from loopscan.formats import Scan
from loopscan.formats._fields import identity, items, mapping, when
from loopscan.formats._harness import Names, note, spoken, totals, usage_of
from loopscan.formats._openhands import failed, outcome, stop_state, usage_fields
from loopscan.formats._openhands_bill import Bill
from loopscan.model import JSON, MISSING, Call, End, Event, Turn

TITLE = "OpenHands V0 trajectories and evaluation output"
WHERE: tuple[str, ...] = ()
LACKS = "in the oldest rows usage and times"
_COSMETIC: Final = frozenset({"thought", "confirmation_state", "is_confirmed", "security_risk", "action_risk"})
_ACTIONS: Final = (
    "run run_ipython read write edit browse browse_interactive delegate finish call_tool_mcp task_tracking".split()
)
COSMETIC_ARGS: Mapping[str, frozenset[str]] = dict.fromkeys(_ACTIONS, _COSMETIC)
"""Not for `think`: its thought is all that it says."""

_NO_TURNS: Final = frozenset(
    "system recall change_agent_state null start pause resume stop push send_pull_request condensation "
    "condensation_request loop_recovery".split()
)
_BESIDE: Final = frozenset("id timestamp source message cause action timeout tool_call_metadata llm_metrics".split())
_AGENT_STATES: Final = {"finished": "done", "rejected": "done", "paused": "aborted", "stopped": "aborted"}


def sniff(head: Head) -> bool:
    """A list of events, or a row with such a list in `history`: actions and observations are separate records."""
    return any(_is_log(value) for value in head.values[:3])


def _is_log(value: JSON) -> bool:
    row = isinstance(value, dict)
    events = list(islice(_events(value), 6))
    return bool(events) and any(_is_event(e, row) for e in events) and not any("role" in e for e in events)


def _is_event(event: dict[str, JSON], row: bool) -> bool:
    named = isinstance(event.get("action"), str) != isinstance(event.get("observation"), str)
    return named and (row or "source" in event)


def _events(value: JSON) -> Iterator[dict[str, JSON]]:
    """The events of a list or a row; pairs of action and observation are laid flat."""
    found = value if isinstance(value, list) else items(mapping(value).get("history"))
    for item in found:
        yield from (e for e in (item if isinstance(item, list) else [item]) if isinstance(e, dict))


def read(blob: Blob, scan: Scan) -> Iterator[Event]:
    """The turns and ends of a trajectory or of the rows of an output file."""
    names = Names(blob.name, scan, "openhands-v0")
    for number, value in blob.values(scan.skips):
        row = mapping(value)
        if not isinstance(value, (dict, list)) or (row and not isinstance(row.get("history"), list)):
            scan.skips.add(blob.name, number, "no history: a row is an object with a list of events")
            continue
        run = names.run(identity(row.get("instance_id")), number)
        yield from _Run(run, number, row, list(_events(value))).events()


class _Run:
    """One run: its events in order, turned into turns, then usage put to them."""

    def __init__(self, run: str, number: int, row: dict[str, JSON], events: list[dict[str, JSON]]) -> None:
        self.run, self.number, self.row, self.log = run, number, row, events
        self.bill = Bill(mapping(row.get("metrics")))
        self.model = identity(mapping(mapping(row.get("metadata")).get("llm_config")).get("model"))
        self.labels = {"instance": i} if (i := identity(row.get("instance_id"))) else None
        self.turns: list[Turn] = []
        self.replies: list[str | None] = []
        self.actions: dict[str, Call] = {}
        self.status: tuple[str, str] | None = None
        asked = sum(e.get("action") == "message" and e.get("source") == "user" for e in events)
        self.prompt: str | None = "" if not row and asked > 1 else None
        self.compacted = False

    def events(self) -> Iterator[Event]:
        for position, event in enumerate(self.log):
            if isinstance(event.get("action"), str):
                self._action(event, position)
            elif isinstance(event.get("observation"), str):
                self._observation(event)
        self.bill.settle(self.turns, self.replies)
        for turn, after in zip_longest(self.turns, self.turns[1:]):
            yield turn
            if after is not None and after.prompt != turn.prompt and _finishes(turn):
                yield End(self.run, "done", "finish", self.number, prompt=turn.prompt)
        end = self._end()
        if end is not None:
            yield end

    def _action(self, event: dict[str, JSON], position: int) -> None:
        kind = event["action"]
        if kind == "condensation":
            self.compacted = True
        if kind in _NO_TURNS:
            return
        if not _by_agent(event, position):
            if kind == "message" and self.prompt is not None:
                self.prompt = identity(event.get("id")) or f"event {position}"
            return
        args = event.get("args")
        if args is None:
            args = {k: v for k, v in event.items() if k not in _BESIDE}
        fields = mapping(args)
        reply = mapping(mapping(event.get("tool_call_metadata")).get("model_response"))
        turn = self._turn(event, reply)
        thought = fields.get("thought")
        if kind == "message":
            turn.text = word(fields.get("content") or event.get("message") or "")
        else:
            turn.text = turn.text or (thought if isinstance(thought, str) else "")
            call = Call(kind, args, id=identity(event.get("id")))
            turn.calls.append(call)
            if call.id is not None:
                self.actions[call.id] = call
        turn.written = spoken(turn.calls, turn.text if not turn.calls else None)

    def _turn(self, event: dict[str, JSON], reply: dict[str, JSON]) -> Turn:
        """The turn an action belongs to: the latest one if it is of the same reply, else a new one."""
        reply_id = identity(reply.get("id"))
        if reply_id is not None and self.replies and self.replies[-1] == reply_id:
            return self.turns[-1]
        turn = Turn(self.run, line=self.number, prompt=self.prompt, labels=self.labels)
        turn.time = when(event.get("timestamp"))
        turn.model = identity(reply.get("model")) or self.model
        turn.usage = usage_of(reply.get("usage")) or self.bill.of(reply_id)
        turn.compacted, self.compacted = self.compacted, False
        running = mapping(event.get("llm_metrics"))
        self.bill.running(turn, usage_fields(mapping(running.get("accumulated_token_usage"))), running)
        self.turns.append(turn)
        self.replies.append(reply_id)
        return turn

    def _observation(self, event: dict[str, JSON]) -> None:
        kind, content, extras = event["observation"], event.get("content"), mapping(event.get("extras"))
        if kind == "agent_state_changed":
            self.status = (word(extras.get("agent_state")), word(extras.get("reason") or content or ""))
            return
        cause = identity(event.get("cause"))
        call = self.actions.pop(cause, None) if cause is not None else self._open_call()
        if call is None or call.result is not MISSING:
            return
        code = mapping(extras.get("metadata")).get("exit_code", extras.get("exit_code", event.get("exit_code")))
        call.result = outcome(content, code)
        refused = isinstance(content, str) and content.startswith("ERROR:")
        call.error = kind in ("error", "user_rejected") or failed(code) or refused

    def _open_call(self) -> Call | None:
        """The open call of the newest turn: the oldest rows have no ids."""
        calls = self.turns[-1].calls if self.turns else []
        return next((c for c in calls if c.result is MISSING and c.name != "finish"), None)

    def _end(self) -> End | None:
        error, last = self.row.get("error"), self.turns[-1] if self.turns else None
        prompt = last.prompt if last is not None else None
        state, words = self.status or ("", "")
        billed = all(t.usage is not None and t.usage.usd is not None for t in self.turns)
        spent = None if billed else totals(usd=mapping(self.row.get("metrics")).get("accumulated_cost"))
        if isinstance(error, str) and error:
            found: tuple[str, str | None] = (stop_state(error), error)
        elif last is not None and _finishes(last):
            found = ("done", "finish")
        elif state == "error":
            found = (stop_state(words), words or state)
        elif state in _AGENT_STATES:
            found = (_AGENT_STATES[state], state)
        else:
            return None
        return End(self.run, found[0], note(found[1], spent), self.number, final=True, prompt=prompt)


def _by_agent(event: dict[str, JSON], position: int) -> bool:
    """Whether the agent acted. The oldest rows name no source: their first message is the task."""
    source = event.get("source")
    if source is not None:
        return bool(source == "agent")
    return event["action"] != "message" or (position > 0 and event.get("wait_for_response") is True)


def _finishes(turn: Turn) -> bool:
    return any(c.name == "finish" for c in turn.calls)


def clean_result(name: str, result: JSON) -> JSON:
    """Results hold what the action printed; nothing round it."""
    return result
