"""What a model is called in logs, and which price that means."""

from __future__ import annotations

from datetime import UTC, datetime

import pytest
from hypothesis import given
from hypothesis import strategies as st

from loopscan.prices import from_options, snapshot
from loopscan.prices.names import candidates
from loopscan.prices.table import Table

NOW = datetime(2026, 11, 30, tzinfo=UTC).timestamp()


@pytest.mark.parametrize(
    ("name", "expected"),
    [
        ("claude-opus-5-5", "claude-opus-5-5"),
        ("claude-opus-5.5", "claude-opus-5-5"),
        ("Claude-Opus-5-5", "claude-opus-5-5"),
        ("claude-opus-5-5-20260922", "claude-opus-5-5"),
        ("claude-opus-5", "claude-opus-5"),
        ("claude-opus-5-20260601", "claude-opus-5"),
        ("claude-haiku-4-5-20251001", "claude-haiku-4-5"),
        ("claude-sonnet-4-5[1m]", "claude-sonnet-4-5"),
        ("claude-4.5-sonnet-thinking", "claude-sonnet-4-5"),
        ("claude-4-sonnet-20250514-thinking", "claude-sonnet-4-0"),
        ("claude-3-5-sonnet-20241022", "claude-3-5-sonnet"),
        ("claude-3-5-haiku-latest", "claude-3-5-haiku-latest"),
        ("anthropic/claude-sonnet-4.5", "claude-sonnet-4-5"),
        ("openrouter/anthropic/claude-opus-4.5", "claude-opus-4-5"),
        ("litellm_proxy/anthropic/claude-opus-4-5-20251101", "claude-opus-4-5"),
        ("anthropic:claude-opus-4-6", "claude-opus-4-6"),
        ("vertex_ai/claude-sonnet-4-5@20250929", "claude-sonnet-4-5"),
        ("azure/gpt-4o", "gpt-4o"),
        ("openai/azure/gpt-4o-2024-11-20", "gpt-4o"),
        ("gpt-4o-2024-05-13", "gpt-4o-2024-05-13"),
        ("gpt-4.1-2025-04-14", "gpt-4.1"),
        ("gpt-5-mini-2025-08-07", "gpt-5-mini"),
        ("gpt-5.1-codex-max", "gpt-5.1"),
        ("gpt-5-high", "gpt-5"),
        ("o4-mini", "o4-mini"),
        ("models/gemini-2.5-flash", "gemini-2.5-flash"),
        ("gemini-2.5-pro-preview-05-06", "gemini-2.5-pro"),
        ("gemini-2.5-flash-preview-09-2025", "gemini-2.5-flash"),
        ("google/gemini-3-pro-preview", "gemini-3-pro-preview"),
        ("gemini-3-pro", "gemini-3-pro-preview"),
        ("moonshot-ai/kimi-k2.7-code", "kimi-k2.7-code"),
        ("zai-org/GLM-4.6", "GLM-4.6"),
        ("groq/llama-3.3-70b-versatile", "groq/llama-3.3-70b-versatile"),
        ("accounts/fireworks/models/kimi-k3", "fireworks/kimi-k3"),
        ("meta-llama/llama-4-maverick", "meta-llama/llama-4-maverick"),
        ("us.anthropic.claude-sonnet-4-5-20250929-v1:0", "regional.anthropic.claude-sonnet-4-5-20250929"),
        ("us.anthropic.claude-sonnet-4-5", "regional.anthropic.claude-sonnet-4-5-20250929"),
        ("bedrock/converse/eu.anthropic.claude-opus-5-5", "regional.anthropic.claude-opus-5-5"),
        ("anthropic.claude-opus-5-5", "regional.anthropic.claude-opus-5-5"),
        ("global.anthropic.claude-opus-5-5", "global.anthropic.claude-opus-5-5"),
        (
            "arn:aws:bedrock:us-east-1:123456789012:inference-profile/us.anthropic.claude-opus-4-1-20250805-v1:0",
            "regional.anthropic.claude-opus-4-1-20250805",
        ),
        ("us.amazon.nova-lite-v1:0", "amazon.nova-lite"),
    ],
)
def test_the_id_that_a_log_name_means(name: str, expected: str) -> None:
    found = snapshot.table().find(name, NOW)
    assert found is not None
    assert found.model == expected


@pytest.mark.parametrize(
    "name",
    [
        "claude-opus-9",
        "claude-opus-5-9",
        "claude-opus-5-55",
        "claude-opus",
        "claude",
        "gpt-5-turbo",
        "gpt-55",
        "gpt",
        "<synthetic>",
        "unknown",
        "default",
        "",
        "   ",
        "/",
        ":",
        "[1m]",
        "function:claude-sonnet-4-5",
        "custom:BYOK-GPT-5-MINI-0",
        "my-company/gpt-5",
        "openai/openrouter-llama-4-maverick",
        "ft:gpt-4o-mini:acme::abc123",
        "gemini-2.5-flash-preview-tts",
        "gpt-4o-realtime-preview-2024-12-17",
        "text-embedding-3-small",
        "arn:aws:bedrock:us-east-1:123456789012:application-inference-profile/abc123def456",
        "ollama/llama3",
        "mistral-large-medium",
        "claude-opus-5-5-20269999",
    ],
)
def test_an_unknown_model_is_unpriced_and_never_takes_a_neighbours_price(name: str) -> None:
    prices = from_options()
    assert prices.find(name, NOW) is None
    assert prices.find(name) is None
    assert prices.window(name) in (None, 1_000_000 if name == "[1m]" else None)


def test_no_model_is_unpriced() -> None:
    assert from_options().find(None, NOW) is None
    assert from_options().window(None) is None


@given(st.text(max_size=40))
def test_any_name_is_looked_up_without_an_error(name: str) -> None:
    forms = list(candidates(name))
    assert len(forms) == len(set(forms))
    snapshot.table().find(name, NOW)


@given(st.sampled_from(sorted(snapshot.table().models)))
def test_every_id_of_the_snapshot_means_itself(name: str) -> None:
    found = snapshot.table().find(name, NOW)
    assert found is not None
    assert found.model == name


def test_the_newest_snapshot_answers_to_the_name_without_a_date() -> None:
    table = Table.of("t", {f"m-{day}": [0, ["", [n, n]]] for n, day in enumerate(("20240101", "20250101"))}, {})
    assert table.match("m") == "m-20250101"
    assert table.match("m-20240101") == "m-20240101"
    assert table.match("m-20260101") == "m-20250101"
