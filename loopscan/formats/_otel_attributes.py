"""One table for all dialects of GenAI spans: what each fact of a span is called, the preferred name first.

Read by name and never by producer, so that a file may mix dialects: OpenTelemetry GenAI in all its versions
(https://github.com/open-telemetry/semantic-conventions-genai), OpenInference
(https://github.com/Arize-ai/openinference/blob/main/spec/semantic_conventions.md), OpenLLMetry and Traceloop,
the Vercel AI SDK, pydantic-ai and Logfire, Google ADK, Strands, agent-framework, Copilot, MLflow.
"""

from __future__ import annotations

from typing import Final, Literal

from loopscan.formats._fields import identity
from loopscan.model import JSON

Attributes = dict[str, JSON]
Kind = Literal["model", "tool", "agent", "operation", "step"]
"""What a span stands for. An `operation` (one call of a client library) is an agent only below a tool."""

TOOL_NAME: Final = ("gen_ai.tool.name", "ai.toolCall.name", "tool.name", "traceloop.entity.name")
TOOL_ARGS: Final = (
    "gen_ai.tool.call.arguments",
    "tool_arguments",
    "ai.toolCall.args",
    "gcp.vertex.agent.tool_call_args",
    "traceloop.entity.input",
    "mlflow.spanInputs",
    "input.value",
)
TOOL_RESULT: Final = (
    "gen_ai.tool.call.result",
    "tool_response",
    "ai.toolCall.result",
    "gcp.vertex.agent.tool_response",
    "traceloop.entity.output",
    "mlflow.spanOutputs",
    "output.value",
)
REDACTED: Final = frozenset({"gcp.vertex.agent.tool_call_args", "gcp.vertex.agent.tool_response"})
"""Names under which an empty object stands for content that was not captured."""
CALL_ID: Final = ("gen_ai.tool.call.id", "ai.toolCall.id", "tool_call_id", "tool.id")
TOOL_STATUS: Final = "gen_ai.tool.status"

OUTPUT: Final = (
    "gen_ai.output.messages",
    "llm.output_messages",
    "response_data",
    "gcp.vertex.agent.llm_response",
    "mlflow.spanOutputs",
    "gen_ai.completion",
)
OUTPUT_TEXT: Final = "output.value"
VERCEL_CALLS: Final = ("ai.response.toolCalls", "ai.result.toolCalls")
VERCEL_TEXT: Final = ("ai.response.text", "ai.response.object", "ai.result.text", "ai.result.object")
INPUT: Final = (
    "gen_ai.input.messages",
    "llm.input_messages",
    "ai.prompt.messages",
    "request_data",
    "gen_ai.prompt",
    "mlflow.spanInputs",
)
MESSAGE_EVENTS: Final = "events"
FLAT: Final = {
    "llm.output_messages.": "llm.output_messages",
    "llm.input_messages.": "llm.input_messages",
    "gen_ai.completion.": "gen_ai.output.messages",
    "gen_ai.prompt.": "gen_ai.input.messages",
}
"""Prefixes of messages written as one attribute per leaf (`<prefix><index>.<path>`) -> the name of the whole."""

MODEL: Final = (
    "gen_ai.response.model",
    "ai.response.model",
    "gen_ai.request.model",
    "llm.model_name",
    "ai.model.id",
    "mlflow.llm.model",
)
FINISH: Final = (
    "gen_ai.response.finish_reasons",
    "ai.response.finishReason",
    "llm.finish_reason",
    "gen_ai.completion.0.finish_reason",
)
SESSION: Final = (
    "gen_ai.conversation.id",
    "session.id",
    "traceloop.association.properties.session_id",
    "traceloop.association.properties.thread_id",
    "ai.telemetry.metadata.sessionId",
    "ai.telemetry.metadata.threadId",
    "gcp.vertex.agent.session_id",
    "mlflow.trace.session",
    "copilot_chat.session_id",
)
AGENT: Final = ("gen_ai.agent.name", "agent.name", "agent_name", "ai.telemetry.functionId", "traceloop.workflow.name")
FINAL_OUTPUT: Final = ("final_result", "output.value")
"""What an agent span holds once the agent has returned its answer."""

TOKENS_IN: Final = (
    "gen_ai.usage.input_tokens",
    "llm.token_count.prompt",
    "ai.usage.inputTokens",
    "ai.usage.promptTokens",
    "gen_ai.usage.prompt_tokens",
    "llm.usage.prompt_tokens",
)
TOKENS_UNCACHED: Final = "ai.usage.inputTokenDetails.noCacheTokens"
TOKENS_READ: Final = (
    "gen_ai.usage.cache_read.input_tokens",
    "gen_ai.usage.cache_read_input_tokens",
    "gen_ai.usage.details.cache_read_tokens",
    "llm.token_count.prompt_details.cache_read",
    "ai.usage.cachedInputTokens",
    "ai.usage.inputTokenDetails.cacheReadTokens",
)
TOKENS_WRITE: Final = (
    "gen_ai.usage.cache_write.input_tokens",
    "gen_ai.usage.cache_creation.input_tokens",
    "gen_ai.usage.cache_creation_input_tokens",
    "gen_ai.usage.details.cache_write_tokens",
    "llm.token_count.prompt_details.cache_write",
    "ai.usage.inputTokenDetails.cacheWriteTokens",
)
TOKENS_OUT: Final = (
    "gen_ai.usage.output_tokens",
    "llm.token_count.completion",
    "ai.usage.outputTokens",
    "ai.usage.completionTokens",
    "gen_ai.usage.completion_tokens",
    "llm.usage.completion_tokens",
)
TOKENS_TOTAL: Final = (
    "gen_ai.usage.total_tokens",
    "llm.token_count.total",
    "llm.usage.total_tokens",
    "ai.usage.totalTokens",
)
USD: Final = ("operation.cost", "llm.cost.total", "gen_ai.usage.cost")
"""Dollars; `github.copilot.cost` is none of them: it counts request units."""

PENDING: Final = "logfire.span_type"
PENDING_PARENT: Final = "logfire.pending_parent_id"

_OPERATION: Final = "gen_ai.operation.name"
_OPENINFERENCE: Final = "openinference.span.kind"
_VERCEL: Final = "ai.operationId"
_TRACELOOP: Final = "traceloop.span.kind"
_REQUEST: Final = "llm.request.type"
_MLFLOW: Final = "mlflow.spanType"
_ADK_REQUEST: Final = "gcp.vertex.agent.llm_request"
_KINDS: Final[dict[str, dict[str, Kind]]] = {
    _OPERATION: {
        "chat": "model",
        "generate_content": "model",
        "text_completion": "model",
        "chat.completions": "model",
        "responses": "model",
        "execute_tool": "tool",
        "invoke_agent": "agent",
    },
    _OPENINFERENCE: {"LLM": "model", "TOOL": "tool", "AGENT": "agent"},
    _MLFLOW: {"CHAT_MODEL": "model", "LLM": "model", "TOOL": "tool", "AGENT": "agent"},
    _REQUEST: {"chat": "model", "completion": "model"},
    _TRACELOOP: {"tool": "tool", "agent": "agent"},
}
_NAMES: Final = frozenset(
    (
        *TOOL_NAME, *TOOL_ARGS, *TOOL_RESULT, *CALL_ID, TOOL_STATUS, *OUTPUT, OUTPUT_TEXT, *VERCEL_CALLS, *VERCEL_TEXT,
        *INPUT, MESSAGE_EVENTS, *MODEL, *FINISH, *SESSION, *AGENT, *FINAL_OUTPUT, *TOKENS_IN, TOKENS_UNCACHED,
        *TOKENS_READ, *TOKENS_WRITE, *TOKENS_OUT, *TOKENS_TOTAL, *USD, PENDING, PENDING_PARENT, *_KINDS, _VERCEL,
        _ADK_REQUEST, "error.type", "exception.type", "exception.message",
    )
)  # fmt: skip
_FLAT: Final = tuple(FLAT)


def wanted(key: str) -> bool:
    """Whether an attribute says anything a turn is made of; the rest is not even converted."""
    return key in _NAMES or key.startswith(_FLAT)


def first(attributes: Attributes, names: tuple[str, ...]) -> JSON:
    """The value under the first of the names that is there; None if none is."""
    for name in names:
        value = attributes.get(name)
        if value is not None:
            return value
    return None


def named(attributes: Attributes, names: tuple[str, ...]) -> str | None:
    """The same as text; None for nothing and for the empty text."""
    return identity(first(attributes, names))


def kind_of(attributes: Attributes, span_name: str) -> Kind:
    """What a span stands for. Workflows, chains, steps and merged tools hold nothing of their own: `step`."""
    for key, kinds in _KINDS.items():
        value = attributes.get(key)
        if isinstance(value, str):
            if key == _OPERATION and value == "execute_tool" and "(merged" in span_name:
                return "step"
            return kinds.get(value if key != _OPENINFERENCE else value.upper(), "step")
    operation = attributes.get(_VERCEL)
    if isinstance(operation, str):
        if operation.endswith((".doGenerate", ".doStream")):
            return "model"
        return "tool" if operation == "ai.toolCall" else "operation"
    if _ADK_REQUEST in attributes:
        return "model"
    return "tool" if "gen_ai.tool.name" in attributes else "step"
