"""The `usage` object that model providers return, in its three dialects, as one `Usage`.

OpenAI chat (`prompt_tokens`) and OpenAI Responses (`input_tokens` with `input_tokens_details`) count cached tokens
inside the input; Anthropic (`input_tokens` with `cache_*_input_tokens`) counts three disjoint classes. Gateways add
fields of their own: a cost in USD (OpenRouter), cache writes (LiteLLM), hit and miss counts (DeepSeek).
https://platform.openai.com/docs/api-reference/chat/object, https://docs.anthropic.com/en/api/messages
"""

from __future__ import annotations

from loopscan.formats._fields import count, dollars, mapping
from loopscan.model import JSON, Usage


def usage_of(value: JSON) -> Usage | None:
    """The tokens of one send; None where the object holds no count."""
    if not isinstance(value, dict):
        return None
    if "prompt_tokens" in value or "completion_tokens" in value:
        return _chat(value)
    if "input_tokens" in value or "output_tokens" in value:
        return _anthropic(value) if _disjoint(value) else _responses(value)
    return None


def _disjoint(value: dict[str, JSON]) -> bool:
    """Whether the classes are Anthropic's, each without the others."""
    return "cache_read_input_tokens" in value or "cache_creation_input_tokens" in value


def _chat(value: dict[str, JSON]) -> Usage | None:
    details = mapping(value.get("prompt_tokens_details"))
    read = _first(details.get("cached_tokens"), value.get("prompt_cache_hit_tokens"))
    write = _first(
        details.get("cache_write_tokens"),
        details.get("cache_creation_tokens"),
        value.get("cache_creation_input_tokens"),
    )
    long = mapping(details.get("cache_creation_token_details")).get("ephemeral_1h_input_tokens")
    total, output = count(value.get("prompt_tokens")), count(value.get("completion_tokens"))
    if total is None and output is None:
        return None
    return Usage(total, output, read, write, count(long), dollars(value.get("cost")))


def _responses(value: dict[str, JSON]) -> Usage | None:
    details = mapping(value.get("input_tokens_details"))
    total, output = count(value.get("input_tokens")), count(value.get("output_tokens"))
    if total is None and output is None:
        return None
    read, write = count(details.get("cached_tokens")), count(details.get("cache_write_tokens"))
    return Usage(total, output, read, write, usd=dollars(value.get("cost")))


def _anthropic(value: dict[str, JSON]) -> Usage | None:
    fresh, output = count(value.get("input_tokens")), count(value.get("output_tokens"))
    if fresh is None and output is None:
        return None
    read, write = count(value.get("cache_read_input_tokens")), count(value.get("cache_creation_input_tokens"))
    long = count(mapping(value.get("cache_creation")).get("ephemeral_1h_input_tokens"))
    total = None if fresh is None else fresh + (read or 0) + (write or 0)
    return Usage(total, output, read, write, long)


def _first(*values: JSON) -> int | None:
    """The first count that is recorded."""
    return next((n for v in values if (n := count(v)) is not None), None)
