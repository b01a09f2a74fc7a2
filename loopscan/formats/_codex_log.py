"""One Codex rollout while it is read: each record of the thread's own history to what it means for its turns."""

from __future__ import annotations

from collections import deque
from collections.abc import Iterator
from pathlib import PurePath
from typing import Final

from loopscan.blob import Blob
from loopscan.decode import word
from loopscan.formats import Scan
from loopscan.formats._codex_items import CALLS, OUTPUTS, call_of, inner_call, mirrored, output_of
from loopscan.formats._codex_replay import Line, is_subagent, parent_of
from loopscan.formats._codex_turns import SCRIPT, Thread, Turns
from loopscan.formats._codex_usage import Meter, usage_of
from loopscan.formats._fields import count, identity, mapping, text_of_blocks, text_or_none, when
from loopscan.model import JSON, Event, Turn, Usage

_OTHER_RECORDS: Final = frozenset(
    "world_state inter_agent_communication inter_agent_communication_metadata retained_context realtime_item "
    "security_risk_score agent_response_observation".split()
)
_OTHER_ITEMS: Final = frozenset(
    "ghost_snapshot agent_message additional_tools compaction_trigger configuration_update other".split()
)
_REMARKS: Final = frozenset(
    "exec_command_end mcp_tool_call_end patch_apply_end web_search_end dynamic_tool_call_response".split()
)
_OTHER_EVENTS: Final = frozenset(
    "agent_reasoning_raw_content thread_goal_updated entered_review_mode exited_review_mode thread_rolled_back "
    "image_generation_end sub_agent_activity guardian_assessment view_image_tool_call collab_agent_spawn_end "
    "collab_agent_interaction_end collab_waiting_end collab_close_end collab_resume_end "
    "dynamic_tool_call_request thread_name_updated undo_completed injected_message warning stream_error".split()
)
_NO_SENDS: Final = ("thread_rollback_failed", "active_turn_not_steerable", "sandbox_error")
_ABORTS: Final = {"budget_limited": "token_cap"}
_CONTEXT: Final = ("<user_instructions>", "<environment_context>", "# AGENTS.md instructions", "<turn_aborted>")


class Log:
    """The state of one rollout; `record` takes a line, `drain` gives what is ready."""

    def __init__(self, blob: Blob, scan: Scan) -> None:
        self.scan = scan
        stem = PurePath(blob.name).stem
        self.thread = Thread(stem[-36:] if stem.startswith("rollout-") else stem)
        self.turns = Turns(self.thread)
        self.meter = Meter()
        self.named = self.recorded = self.counted = self.bare = False
        self.responses: deque[str] = deque(maxlen=32)
        self.kept = self.copies = 0

    def drain(self) -> Iterator[Event]:
        """What is ready, without the turns that another file of the scan already gave."""
        for event in self.turns.ready:
            if isinstance(event, Turn):
                mark = event.calls[0].id if event.calls else event.text
                if event.time is not None and self.scan.copy_of("codex", event.run, event.time, mark):
                    self.copies += 1
                    continue
                self.kept += 1
            elif self.copies and not self.kept:
                continue
            else:
                self.kept = self.copies = 0
            yield event
        self.turns.ready = []

    def record(self, line: Line) -> None:
        """Take a record."""
        number, kind, payload, record = line
        time = when(record.get("timestamp"))
        if kind == "response_item":
            self.bare = payload is record
            self._item(payload, number, time)
        elif kind == "event_msg":
            self._event(payload, number, time)
        elif kind == "token_usage_record":
            self._usage_record(payload, number, time)
        elif kind == "turn_context":
            self.thread.model = identity(payload.get("model")) or self.thread.model
            self.turns.paragraph()
        elif kind == "session_meta":
            self._meta(payload)
        elif kind == "compacted":
            self.turns.compacted()
        elif kind not in _OTHER_RECORDS:
            self.scan.skips.unknown_type("codex", kind)

    def _meta(self, meta: dict[str, JSON]) -> None:
        if self.named:
            return  # a resumed process writes its header again
        self.named, thread = True, self.thread
        thread.run = identity(meta.get("id")) or thread.run
        thread.session = identity(meta.get("session_id")) or thread.run
        if is_subagent(meta):
            thread.prompt, thread.parent = None, parent_of(meta)
            spawn = mapping(mapping(mapping(meta.get("source")).get("subagent")).get("thread_spawn"))
            names = ("agent_role", "agent_path", "agent_nickname")
            agent = next((t for h in (meta, spawn) for n in names if (t := text_or_none(h.get(n)))), None)
            thread.labels = {"agent": agent} if agent else None

    def _item(self, item: dict[str, JSON], number: int, time: float | None) -> None:
        kind, turns = word(item.get("type")), self.turns
        if kind in OUTPUTS:
            turns.result(identity(item.get("call_id")), *output_of(item))
        elif kind == "reasoning":
            turn = turns.reply(number, time)
            turn.written = (turn.written or 0) + len(text_of_blocks(item.get("summary")))
        elif kind in CALLS:
            call = call_of(item)
            if call is not None:
                turns.call(turns.reply(number, time), call, kind == "custom_tool_call" and call.name == SCRIPT)
        elif kind == "message":
            self._message(item, number, time)
        elif kind in ("compaction", "context_compaction"):
            turns.compacted()
        elif kind not in _OTHER_ITEMS:
            self.scan.skips.unknown_type("codex", f"response_item/{kind}")

    def _message(self, item: dict[str, JSON], number: int, time: float | None) -> None:
        text = text_of_blocks(item.get("content"))
        if item.get("role") == "assistant":
            turn = self.turns.reply(number, time)
            turn.text = f"{turn.text}\n{text}" if turn.text else text
            turn.written = (turn.written or 0) + len(text)
        elif item.get("role") == "user" and self.bare and not text.lstrip().startswith(_CONTEXT):
            self.turns.prompted(number)  # the first generation has no event for it

    def _event(self, event: dict[str, JSON], number: int, time: float | None) -> None:
        kind, turns = word(event.get("type")), self.turns
        if kind == "token_count":
            self._count(mapping(event.get("info")), number, time)
        elif kind == "item_completed":
            self._done(mapping(event.get("item")), number)
        elif kind in ("agent_reasoning", "agent_message"):
            turns.paragraph()
        elif kind == "user_message":
            if event.get("kind") not in ("user_instructions", "environment_context"):
                turns.prompted(number)
        elif kind == "task_started":
            self.thread.window = count(event.get("model_context_window")) or self.thread.window
            turns.task_started(number)
        elif kind == "task_complete":
            if event.get("error"):
                self._failed(mapping(event["error"]), number, time)
            turns.ended("done", "task_complete", number, time)
        elif kind == "turn_aborted":
            reason = text_or_none(event.get("reason")) or "turn_aborted"
            turns.ended(_ABORTS.get(reason, "aborted"), reason, number, time)
        elif kind == "error":
            self._failed(event, number, time)
        elif kind in _REMARKS:
            turns.remark(*mirrored(event))
        elif kind == "thread_settings_applied":
            settings = mapping(event.get("thread_settings"))
            self.thread.model = identity(settings.get("model")) or self.thread.model
        elif kind == "context_compacted":
            turns.compacted()
        elif kind not in _OTHER_EVENTS:
            self.scan.skips.unknown_type("codex", f"event_msg/{kind}")

    def _count(self, info: dict[str, JSON], number: int, time: float | None) -> None:
        self.thread.window = count(info.get("model_context_window")) or self.thread.window
        usage = self.meter.spent(info)
        if usage is not None and (not self.recorded or self.turns.uncounted):
            self.turns.counted(usage, number, time)
            self.counted = True

    def _usage_record(self, record: dict[str, JSON], number: int, time: float | None) -> None:
        usage, response = usage_of(record.get("usage")), identity(record.get("response_id"))
        thread = identity(record.get("thread_id")) or self.thread.run
        if usage is None or (response is not None and response in self.responses):
            return
        self.responses.append(response or "")
        if thread != self.thread.run:
            if identity(record.get("parent_thread_id")) == self.thread.run:
                self._delegated(thread, usage, record, number, time)
            return
        counted, self.counted, self.recorded = self.counted, False, True
        if not (counted and self.turns.already_counted(usage)):
            self.turns.counted(usage, number, time)
        self.turns.use_model(identity(record.get("model")))

    def _delegated(self, run: str, usage: Usage, record: dict[str, JSON], number: int, time: float | None) -> None:
        """A send of a helper (a review) that has no rollout of its own: only its usage is known."""
        turn = Turn(run, text=None, usage=usage, line=number, time=time)
        turn.session, turn.parent = self.thread.session, self.thread.run
        turn.model = identity(record.get("model"))
        self.turns.ready.append(turn)

    def _done(self, item: dict[str, JSON], number: int) -> None:
        if item.get("type") == "UserMessage":
            self.turns.prompted(number)
        elif item.get("type") == "ContextCompaction":
            self.turns.compacted()
        else:
            call = inner_call(item)
            if call is not None and not self.turns.done_inside(call):
                self.turns.remark(*mirrored(item))

    def _failed(self, error: dict[str, JSON], number: int, time: float | None) -> None:
        info = error.get("codex_error_info")
        name = info if isinstance(info, str) else next(iter(mapping(info)), "")
        if name in _NO_SENDS:
            return
        text = text_or_none(error.get("message")) or name or "error"
        full = name == "context_window_exceeded" or "context window" in text.lower()
        self.turns.failed(text, "context_full" if full else "error", number, time)
