"""The table of log formats: one module per format, tried in this order, told by content.

A format module is a reader (`Reader`). A new format is one module and one line here.
"""

from __future__ import annotations

import sys
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from importlib import import_module
from typing import TYPE_CHECKING, Final, Protocol, cast

from loopscan.blob import Blob, Head
from loopscan.errors import UsageError
from loopscan.ids import Ids
from loopscan.model import JSON, Event
from loopscan.skips import Skips

if TYPE_CHECKING:
    from loopscan.quiets import Quiets

FORMATS: Final = {
    "opencode": "loopscan.formats.opencode",
    "goose": "loopscan.formats.goose",
    "gemini-cli": "loopscan.formats.gemini_cli",
    "amp": "loopscan.formats.amp",
    "atif": "loopscan.formats.atif",
    "inspect": "loopscan.formats.inspect",
    "openhands-v0": "loopscan.formats.openhands_v0",
    "openhands-sdk": "loopscan.formats.openhands_sdk",
    "sweagent": "loopscan.formats.sweagent",
    "mini-swe-agent": "loopscan.formats.mini_swe_agent",
    "tau-bench": "loopscan.formats.tau_bench",
    "tau2-bench": "loopscan.formats.tau2_bench",
    "magentic-who-and-when": "loopscan.formats.magentic_who_and_when",
    "agentlab": "loopscan.formats.agentlab",
    "cline": "loopscan.formats.cline",
    "codex": "loopscan.formats.codex",
    "codex-exec": "loopscan.formats.codex_exec",
    "copilot-cli": "loopscan.formats.copilot_cli",
    "pi": "loopscan.formats.pi",
    "openclaw": "loopscan.formats.openclaw",
    "droid": "loopscan.formats.droid",
    "kimi": "loopscan.formats.kimi",
    "claude-stream": "loopscan.formats.claude_stream",
    "qwen": "loopscan.formats.qwen",
    "claude-code": "loopscan.formats.claude_code",
    "cursor": "loopscan.formats.cursor",
    "aider-analytics": "loopscan.formats.aider_analytics",
    "phoenix": "loopscan.formats.phoenix",
    "otel-console": "loopscan.formats.otel_console",
    "openinference": "loopscan.formats.openinference",
    "openllmetry-legacy": "loopscan.formats.openllmetry_legacy",
    "vercel-ai-legacy": "loopscan.formats.vercel_ai_legacy",
    "otlp-genai": "loopscan.formats.otlp_genai",
    "litellm": "loopscan.formats.litellm",
    "langsmith": "loopscan.formats.langsmith",
    "langfuse": "loopscan.formats.langfuse",
    "openai-agents": "loopscan.formats.openai_agents",
    "mlflow": "loopscan.formats.mlflow",
    "braintrust": "loopscan.formats.braintrust",
    "autogen": "loopscan.formats.autogen",
    "adk-sessions": "loopscan.formats.adk_sessions",
    "pydantic-ai-messages": "loopscan.formats.pydantic_ai_messages",
    "langchain-messages": "loopscan.formats.langchain_messages",
    "anthropic-messages": "loopscan.formats.anthropic_messages",
    "openai-responses": "loopscan.formats.openai_responses",
    "openai-messages": "loopscan.formats.openai_messages",
    "messages": "loopscan.formats.messages",
    "loopscan": "loopscan.formats.native",
}
"""Name -> module. The order is the order of sniffing: the first that claims an input reads it."""


@dataclass(slots=True)
class Scan:
    """What readers share over all files of one scan.

    `seen`: identities (message ids and the like) of records already read, so that copies in other files are
    dropped. `exact`: read literally, strip and drop nothing. `rows`: turns may come several at once (`Rows`, `Whole`);
    `quiets` takes usual ones. `reach`: among how many calls of a calm run none comes back, 0 where nobody asks for
    runs that are told to be such (`Whole.told`).
    `field_map`: the user's field names (`--map`), ours -> dotted path. `memory`: room for a reader's own cross-file
    state, keyed by format name. Where what it holds tells which files have something in common, `loopscan.ties` says
    so; else all files of the format are read as one.
    """

    skips: Skips = field(default_factory=Skips)
    exact: bool = False
    field_map: dict[str, str] = field(default_factory=dict)
    seen: Ids = field(default_factory=Ids)
    memory: dict[str, JSON] = field(default_factory=dict)
    rows: bool = False
    quiets: Quiets | None = None
    reach: int = 0

    def copy_of(self, *identity: object) -> bool:
        """Whether this identity was met before in the scan; remembers it. Never under `exact`."""
        if self.exact:
            return False
        if self.seen.met(hash(identity)):
            self.skips.copies += 1
            return True
        return False


class Reader(Protocol):
    """What a format module must hold."""

    TITLE: str
    """What it is, in a few words."""
    WHERE: tuple[str, ...]
    """Where such logs lie by default (`~` and `$VARIABLE` allowed), for `--from NAME` without a path."""
    LACKS: str
    """What the format does not record: any of results, usage, times; "" if nothing."""
    COSMETIC_ARGS: Mapping[str, frozenset[str]]
    """Tool name ("*" = every tool) -> argument names that say nothing about the action."""

    def sniff(self, head: Head) -> bool:
        """Whether an input that begins so is of this format."""

    def read(self, blob: Blob, scan: Scan) -> Iterator[Event]:
        """The turns and ends of the log, in its order. Never raises on damaged records: they are skips."""

    def clean_result(self, name: str, result: JSON) -> JSON:
        """A result without the wrappers this format puts round it; called only where a call came back."""


def held_back(reader: Reader, scan: Scan) -> Iterator[Event]:
    """What a reader keeps until the end of a scan, where its module has a `finish(scan)`."""
    finish = getattr(reader, "finish", None)
    if finish is not None:
        yield from finish(scan)


def load(name: str) -> Reader:
    """The reader of a format. Raises UsageError for a name that is not in the table."""
    if name not in FORMATS:
        raise UsageError(f"unknown format {name!r}; known: {', '.join(FORMATS)}")
    return cast(Reader, import_module(FORMATS[name]))


_SPANS: Final = (b"startTime", b"start_time")
_DATABASE: Final = b"SQLite format 3"
_SIGNS: Final[dict[str, tuple[bytes, ...]]] = {
    "opencode": (_DATABASE, b"sessionID", b'"directory"', b'"info"'),
    "goose": (_DATABASE, b"working_dir", b"toolCall", b"toolResult"),
    "gemini-cli": (b"projectHash", b"gemini"),
    "amp": (b"T-",),
    "atif": (b"schema_version",),
    "inspect": (b"PK\x03\x04", b'"eval"'),
    "openhands-v0": (b"action", b"observation"),
    "openhands-sdk": (b'"kind"', b"execution_status"),
    "sweagent": (b'"trajectory"', b'"history"'),
    "mini-swe-agent": (b"trajectory_format", b"mini_version", b"SUBMIT_FINAL_OUTPUT", b"MINI_SWE_AGENT_FINAL_OUTPUT"),
    "tau-bench": (b"traj",),
    "tau2-bench": (b"simulation", b"termination_reason", b"user_info"),
    "magentic-who-and-when": (b'"history"',),
    "agentlab": (b"cum_reward",),
    "cline": (b'"say"', b'"ask"', b'"role"', b"sessionId"),
    "codex": (b'"payload"', b'"instructions"'),
    "codex-exec": (b"thread.started", b"item."),
    "copilot-cli": (b"session.start", b"parentId"),
    "pi": (b'"session"', b"toolResult", b"toolCall"),
    "openclaw": (_DATABASE, b'"session"', b"toolResult", b"toolCall"),
    "droid": (b"session_start", b"todo_state", b'"message"'),
    "kimi": (b"protocol_version", b"append_loop_event", b"turn.prompt"),
    "claude-stream": (b"session_id",),
    "qwen": (b'"parts"', b"systemPayload", b"toolCallResult"),
    "claude-code": (b"uuid", b"messageId", b"leafUuid", b"sessionId"),
    "cursor": (b'"message"',),
    "aider-analytics": (b"properties",),
    "phoenix": (b"span_kind",),
    "otel-console": (b"parent_id",),
    "openinference": _SPANS,
    "openllmetry-legacy": _SPANS,
    "vercel-ai-legacy": _SPANS,
    "otlp-genai": _SPANS,
    "litellm": (b"litellm_call_id",),
    "langsmith": (b"run_type",),
    "langfuse": _SPANS,
    "openai-agents": (b'"trace"', b"trace.span"),
    "mlflow": (b"mlflow.spanType",),
    "braintrust": (b"root_span_id",),
    "autogen": (b'"source"', b"llm_context", b"agent_states", b"agent_id"),
    "adk-sessions": (b"app",),
    "pydantic-ai-messages": (b"kind",),
    "langchain-messages": (b'"type"',),
    "anthropic-messages": (b"tool_use", b"tool_result", b"thinking", b'"message"', b'"message\\'),
    "openai-responses": (b'"type"', b'"type\\', b'"response', b'"output"', b'"output\\'),
    "openai-messages": (b'"role"', b'"role\\', b'"request', b'"messages"', b'"choices"', b'"choices\\'),
    "messages": (b'"role"', b'"from"', b"class_"),
}
"""Parts of every log of lines of a format, one of them at least: without any its reader need not be loaded.

Keys stand in quotes, as they do in no other text; in text that is JSON there is a backslash before the second one.
"""
_SIGNED: Final = 1 << 16
"""Bytes that are looked through for these."""


def detect(head: Head) -> str | None:
    """The name of the first format that claims an input which begins with `head`."""
    raw, unlikely = head.raw[:_SIGNED], list[str]()
    for name in FORMATS:
        if not head.document and name in _SIGNS and not any(sign in raw for sign in _SIGNS[name]):
            unlikely.append(name)
        elif _claims(name, head):
            return name
    return next((name for name in unlikely if _claims(name, head)), None)  # a key may be written in escapes


def _claims(name: str, head: Head) -> bool:
    module = FORMATS[name]
    return cast(Reader, sys.modules.get(module) or import_module(module)).sniff(head)
