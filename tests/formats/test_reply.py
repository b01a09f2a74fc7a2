"""What a model answered, in the shapes of many clients, and the results that its input shows."""

from __future__ import annotations

import json
from typing import Any

import pytest

from loopscan.formats._endings import fault_text, state_of
from loopscan.formats._reply import decoded, reply_of, results_in

ARGS = {"q": 1}
TEXT = '{"q": 1}'


@pytest.mark.parametrize(
    ("output", "text", "asked"),
    [
        (None, None, []),
        ([], None, []),
        ("words", "words", []),
        ('"words"', "words", []),
        ({"role": "assistant", "content": "a"}, "a", []),
        (
            {
                "role": "assistant",
                "content": None,
                "tool_calls": [{"id": "1", "type": "function", "function": {"name": "f", "arguments": TEXT}}],
            },
            "",
            [("f", TEXT, "1")],
        ),
        ({"choices": [{"index": 0, "message": {"content": "a"}}, {"index": 1, "message": {"content": "b"}}]}, "a", []),
        ({"content": None, "function_call": {"name": "f", "arguments": TEXT}}, "", [("f", TEXT, None)]),
        (
            [{"type": "text", "text": "a"}, {"type": "tool_use", "id": "1", "name": "f", "input": ARGS}],
            "a",
            [("f", ARGS, "1")],
        ),
        (
            {"content": [{"type": "thinking", "thinking": "hm"}, {"type": "text", "text": "a"}], "role": "assistant"},
            "a",
            [],
        ),
        (
            {
                "output": [
                    {"type": "reasoning", "summary": []},
                    {"type": "function_call", "id": "fc", "call_id": "1", "name": "f", "arguments": TEXT},
                ]
            },
            "",
            [("f", TEXT, "1")],
        ),
        (
            {
                "output": [{"type": "message", "role": "assistant", "content": [{"type": "output_text", "text": "a"}]}],
                "text": {"format": {}},
            },
            "a",
            [],
        ),
        (
            {"content": {"role": "model", "parts": [{"text": "a"}, {"functionCall": {"name": "f", "args": ARGS}}]}},
            "a",
            [("f", ARGS, None)],
        ),
        (
            {"candidates": [{"content": {"parts": [{"function_call": {"name": "f", "args": ARGS, "id": "1"}}]}}]},
            "",
            [("f", ARGS, "1")],
        ),
        (
            [
                {
                    "role": "assistant",
                    "parts": [
                        {"type": "text", "content": "a"},
                        {"type": "tool_call", "id": "1", "name": "f", "arguments": ARGS},
                    ],
                }
            ],
            "a",
            [("f", ARGS, "1")],
        ),
        ({"generations": [[{"text": "a", "message": {"kwargs": {"content": "a", "tool_calls": []}}}]]}, "a", []),
        (
            {"type": "ai", "data": {"content": "", "tool_calls": [{"name": "f", "args": ARGS, "id": "1"}]}},
            "",
            [("f", ARGS, "1")],
        ),
        (
            {
                "content": [{"type": "tool_use", "id": "1", "name": "f", "input": ARGS}],
                "tool_calls": [{"name": "f", "args": ARGS, "id": "1"}],
            },
            "",
            [("f", ARGS, "1")],
        ),
        (
            {
                "content": "",
                "additional_kwargs": {"tool_calls": [{"id": "1", "function": {"name": "f", "arguments": TEXT}}]},
            },
            "",
            [("f", TEXT, "1")],
        ),
        ([{"toolCallId": "1", "toolName": "f", "input": TEXT}], "", [("f", TEXT, "1")]),
        (
            {"text": "a", "toolCalls": json.dumps([{"toolCallId": "1", "toolName": "f", "args": ARGS}])},
            "a",
            [("f", ARGS, "1")],
        ),
        ({"quality": "good"}, '{"quality":"good"}', []),
        ([{"role": "user", "content": "no"}, {"role": "assistant", "content": "a"}], "a", []),
    ],
)
@pytest.mark.parametrize("stored", [lambda v: v, json.dumps, lambda v: json.dumps(json.dumps(v))])
def test_answers(output: Any, text: str | None, asked: list[tuple[str, Any, str | None]], stored: Any) -> None:
    reply = reply_of(stored(output) if isinstance(output, (dict, list)) else output)
    assert reply.text == text
    assert [(c.name, c.args, c.id) for c in reply.calls] == asked


def test_written_counts_text_arguments_and_thoughts() -> None:
    content = [
        {"type": "thinking", "thinking": "hmm"},
        {"type": "text", "text": "ab"},
        {"type": "tool_use", "name": "f", "input": {}},
    ]
    assert reply_of({"content": content}).written == 3 + 2 + 1 + 2


@pytest.mark.parametrize(
    ("history", "shown"),
    [
        ([{"role": "tool", "tool_call_id": "1", "content": "a"}], [("1", "a", False)]),
        (
            {"messages": [[{"kwargs": {"type": "tool", "tool_call_id": "1", "content": "a", "status": "error"}}]]},
            [("1", "a", True)],
        ),
        (
            [
                {
                    "role": "user",
                    "content": [
                        {
                            "type": "tool_result",
                            "tool_use_id": "1",
                            "content": [{"type": "text", "text": "a"}],
                            "is_error": True,
                        }
                    ],
                }
            ],
            [("1", "a", True)],
        ),
        (
            {
                "input": [
                    {"type": "function_call", "call_id": "1", "name": "f", "arguments": TEXT},
                    {"type": "function_call_output", "call_id": "1", "output": "a"},
                ]
            },
            [("1", "a", False)],
        ),
        (
            [{"role": "tool", "parts": [{"type": "tool_call_response", "id": "1", "response": {"a": 1}}]}],
            [("1", {"a": 1}, False)],
        ),
        (
            [{"role": "tool", "content": [{"type": "tool-result", "toolCallId": "1", "output": "a"}]}],
            [("1", "a", False)],
        ),
        ([{"role": "tool", "content": {"type": "function", "function": {"name": "f"}}}], []),
        ("words", []),
        (None, []),
    ],
)
def test_results_shown_to_a_model(history: Any, shown: list[tuple[str, Any, bool]]) -> None:
    assert list(results_in(history)) == shown
    assert list(results_in(json.dumps(history))) == shown


def test_deep_nesting_is_given_up_not_followed() -> None:
    deep: Any = {"content": "x"}
    for _ in range(200):
        deep = {"message": [deep]}
    assert isinstance(reply_of(deep).text, str)
    assert list(results_in(deep)) == []


@pytest.mark.parametrize("text", ["plain", "[not json", '"open', "12", ""])
def test_text_that_is_no_json_stays(text: str) -> None:
    assert decoded(text) == text


@pytest.mark.parametrize(
    ("error", "words"),
    [
        (None, None),
        ("", None),
        (False, None),
        ("plain", "plain"),
        ({"message": "inside", "code": 4}, "inside"),
        ({"code": 4}, '{"code":4}'),
        ("Boom('x')Traceback (most recent call last):\n  File", "Boom('x')"),
        ('Traceback (most recent call last):\n  File "a.py"\nKeyError: 1\n\n', "KeyError: 1"),
    ],
)
def test_words_of_errors(error: Any, words: str | None) -> None:
    assert fault_text(error) == words


@pytest.mark.parametrize(
    ("words", "state"),
    [
        ("GraphRecursionError('Recursion limit of 4 reached')", "turn_cap"),
        ("UsageLimitExceeded: The next request would exceed the request_limit of 11", "turn_cap"),
        ("UsageLimitExceeded: Exceeded the total_tokens_limit of 900", "token_cap"),
        ("litellm.BudgetExceededError: Budget has been exceeded!", "cost_cap"),
        ("This model's maximum context length is 8192 tokens", "context_full"),
        ("Error code: 400 - {'error': {'code': 'context_length_exceeded'}}", "context_full"),
        ("Agent stopped: not making progress", "no_progress"),
        ("KeyboardInterrupt()", "aborted"),
        ("APITimeoutError: Request timed out.", "error"),
        ("Error code: 429 - Too many requests", "error"),
    ],
)
def test_states_of_errors(words: str, state: str) -> None:
    assert state_of(words) == state
