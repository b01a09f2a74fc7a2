"""OpenLLMetry before the GenAI conventions: model spans only, messages as one attribute per leaf."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from loopscan.model import Usage
from tests.formats.spans import batch, read, span, story, turns


def llm(own: str, at: float, completion: dict[str, Any], prompt: dict[str, Any] | None = None) -> dict[str, Any]:
    values: dict[str, Any] = {"llm.request.type": "chat", "gen_ai.response.model": "m-1"}
    values |= {f"gen_ai.completion.0.{k}": v for k, v in completion.items()}
    values |= {f"gen_ai.prompt.{k}": v for k, v in (prompt or {}).items()}
    values |= {"gen_ai.usage.prompt_tokens": 90, "gen_ai.usage.completion_tokens": 5}
    return span(own, "r", at, values | {"gen_ai.usage.cache_read_input_tokens": 80, "llm.usage.total_tokens": 95})


def asks(call_id: str, name: str) -> dict[str, str]:
    return {"role": "assistant", "tool_calls.0.id": call_id, "tool_calls.0.name": name, "tool_calls.0.arguments": "{}"}


def test_the_result_stands_in_the_next_prompt_and_the_last_one_nowhere(tmp_path: Path) -> None:
    sent = {
        "0.role": "user", "0.content": "go", "1.role": "assistant", "1.tool_calls.0.id": "c1",
        "2.role": "tool", "2.content": "paid", "2.tool_call_id": "c1",
    }  # fmt: skip
    got = read(
        tmp_path / "x",
        batch(llm("a", 1, asks("c1", "get"))),
        batch(llm("b", 2, asks("c2", "put"), sent)),
        batch(span("r", None, 0, {}, lasts=9, error="RuntimeError: turn cap reached")),
        name="openllmetry-legacy",
    )
    assert story(got) == ["t1: get({})=paid", "t1: put({})=-", "t1: <turn_cap>"]
    assert turns(got)[0].usage == Usage(90, 5, 80)


def test_more_than_ten_messages_stay_in_order(tmp_path: Path) -> None:
    sent: dict[str, Any] = {}
    for n in range(12):
        sent |= {f"{n}.role": "assistant" if n == 9 else "tool", f"{n}.content": str(n), f"{n}.tool_call_id": f"c{n}"}
    got = read(
        tmp_path / "x",
        batch(
            llm("a", 1, asks("c11", "get")),
            llm("b", 2, {"role": "assistant", "content": "bye"}, sent),
            span("r", None, 0, {}, lasts=9),
        ),
    )
    assert story(got) == ["t1: get({})=11", "t1: 'bye'", "t1: <done>"]
