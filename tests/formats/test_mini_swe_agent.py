"""mini-swe-agent: text actions, tool calls, the responses API, format errors, and what LimitsExceeded means."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from loopscan.formats import Scan
from loopscan.model import End, Usage
from tests.formats.logs import read_log, told, turns

NAME = "mini-swe-agent"


def doc(*messages: dict[str, Any], instance: str | None = None, **info: Any) -> dict[str, Any]:
    found = {"trajectory_format": "mini-swe-agent-1.1", "messages": list(messages), "info": info}
    return found | ({"instance_id": instance} if instance else {})


def says(content: str, **extra: Any) -> dict[str, Any]:
    return {"role": "assistant", "content": content, "extra": extra}


def user(content: str, **extra: Any) -> dict[str, Any]:
    return {"role": "user", "content": content, "extra": extra}


def asks(*calls: tuple[str, str], **extra: Any) -> dict[str, Any]:
    made = [{"id": i, "function": {"name": "bash", "arguments": f'{{"command": "{c}"}}'}} for i, c in calls]
    return {"role": "assistant", "content": None, "tool_calls": made, "extra": extra}


def tool(call_id: str, content: str, code: int = 0) -> dict[str, Any]:
    return {"role": "tool", "tool_call_id": call_id, "content": content, "extra": {"returncode": code}}


def one(path: Path, *messages: dict[str, Any], **info: Any) -> list[Any]:
    return next(iter(told(read_log(path, NAME, doc(*messages, **info))).values()))


@pytest.mark.parametrize(
    "fence", ["```bash\nls\n```", "```mswea_bash_command\nls\n```", "<mswea_bash_command>\nls\n</mswea_bash_command>"]
)
def test_a_text_action_is_answered_by_the_next_user_message(tmp_path: Path, fence: str) -> None:
    reply = f"THOUGHT: look\n\n{fence}\n\n```python\nprint()\n```"
    answered = user("<returncode>2</returncode>\n<output>\nno\n</output>")
    assert one(tmp_path / "x.json", says(reply), answered) == [
        [("bash", "ls", "<returncode>2</returncode>\n<output>\nno\n</output>", "error")]
    ]


@pytest.mark.parametrize("reply", ["no block", "```bash\na\n```\n```bash\nb\n```"])
def test_a_format_error_is_a_turn_without_a_call(tmp_path: Path, reply: str) -> None:
    found = one(
        tmp_path / "x.json", says(reply), user("Please always provide EXACTLY ONE action"), says("```bash\nls\n```")
    )
    assert found == [reply, [("bash", "ls", "MISSING")]]


def test_a_rejected_reply_that_only_its_error_keeps(tmp_path: Path) -> None:
    usage = {"prompt_tokens": 50, "completion_tokens": 5}
    wrong = {"role": "assistant", "content": "", "tool_calls": [{"function": {"name": "sh", "arguments": "{}"}}]}
    events = read_log(
        tmp_path / "x.json",
        NAME,
        doc(
            user(
                "one",
                interrupt_type="FormatError",
                cost=0.5,
                response={"usage": usage, "choices": [{"message": wrong}]},
            ),
            user("two", interrupt_type="FormatError", n_actions=0, model_response="I think"),
            user("three", interrupt_type="FormatError"),
        ),
    )
    assert [t.text for t in turns(events)] == ["sh {}", "I think"]
    assert turns(events)[0].usage == Usage(50, 5, usd=0.5)


def test_tool_calls_and_their_usage(tmp_path: Path) -> None:
    response = {
        "model": "claude",
        "created": 5,
        "usage": {"prompt_tokens": 100, "completion_tokens": 7, "prompt_tokens_details": {"cached_tokens": 60}},
    }
    asked = asks(("a", "ls"), ("b", "pwd"), response=response, cost=0.25, timestamp=1790000000.5)
    events = read_log(tmp_path / "x.json", NAME, doc(asked, tool("b", "/"), tool("a", "no", 1), instance="i-1"))
    (turn,) = turns(events)
    assert [(c.args, c.result, c.error) for c in turn.calls] == [
        ('{"command": "ls"}', "no", True),
        ('{"command": "pwd"}', "/", False),
    ]
    assert turn.usage == Usage(100, 7, 60, usd=0.25)
    assert (turn.run, turn.model, turn.time, turn.labels) == ("i-1", "claude", 1790000000.5, {"instance": "i-1"})


def test_no_dollars_for_tokens_are_unknown_dollars(tmp_path: Path) -> None:
    usage = {"prompt_tokens": 100, "completion_tokens": 7, "cost": 0}
    events = read_log(tmp_path / "x.json", NAME, doc(asks(("a", "ls"), response={"usage": usage}, cost=0.0)))
    assert turns(events)[0].usage == Usage(100, 7)


def test_the_responses_api(tmp_path: Path) -> None:
    reply = {
        "object": "response",
        "model": "gpt-5",
        "output": [
            {"type": "reasoning"},
            {"type": "message", "content": [{"type": "output_text", "text": "Looking."}]},
            {"type": "function_call", "call_id": "c1", "name": "bash", "arguments": '{"command": "ls"}'},
        ],
        "usage": {"input_tokens": 9, "output_tokens": 2, "input_tokens_details": {"cached_tokens": 4}},
        "extra": {"cost": 0.125},
    }
    result = {"type": "function_call_output", "call_id": "c1", "output": "a.py", "extra": {"returncode": 0}}
    events = read_log(tmp_path / "x.json", NAME, doc(reply, result))
    assert list(told(events).values()) == [[[("bash", '{"command": "ls"}', "a.py")]]]
    assert turns(events)[0].usage == Usage(9, 2, 4, usd=0.125)
    assert turns(events)[0].text == "Looking."


@pytest.mark.parametrize(
    ("info", "state"),
    [
        ({"exit_status": "Submitted"}, "done"),
        ({"exit_status": "TimeExceeded"}, "time_cap"),
        ({"exit_status": "RepeatedFormatError"}, "no_progress"),
        ({"exit_status": "UserInterruption"}, "aborted"),
        ({"exit_status": "ContextWindowExceededError"}, "context_full"),
        ({"exit_status": "AuthenticationError"}, "error"),
        ({"exit_status": "LimitsExceeded", "limits": (8, 3.0), "spent": (8, 0.1)}, "turn_cap"),
        ({"exit_status": "LimitsExceeded", "limits": (0, 3.0), "spent": (9, 3.1)}, "cost_cap"),
        ({"exit_status": "LimitsExceeded", "limits": (250, 3.0), "spent": (40, 3.0)}, "cost_cap"),
        ({"exit_status": "LimitsExceeded"}, "cost_cap"),
    ],
)
def test_exit_status(tmp_path: Path, info: dict[str, Any], state: str) -> None:
    steps, budget = info.pop("limits", (0, 0.0))
    calls, cost = info.pop("spent", (None, None))
    info["config"] = {"agent": {"step_limit": steps, "cost_limit": budget}}
    info["model_stats"] = {"api_calls": calls, "instance_cost": cost}
    events = read_log(tmp_path / "x.json", NAME, doc(says("```bash\nls\n```"), user("ok"), **info))
    assert [(e.state, e.note) for e in events if isinstance(e, End)] == [(state, info["exit_status"])]


def test_the_exit_message_tells_more(tmp_path: Path) -> None:
    gone = {"role": "exit", "content": "out of disk", "extra": {"exit_status": "OSError"}}
    assert one(tmp_path / "x.json", asks(("a", "ls")), gone) == [[("bash", '{"command": "ls"}', "MISSING")], "error"]


def test_a_bare_list_is_done_by_the_submit_marker(tmp_path: Path) -> None:
    marker = "COMPLETE_TASK_AND_SUBMIT_FINAL_OUTPUT"
    start = {"role": "system", "content": f"To finish run echo {marker}"}
    events = read_log(tmp_path / "x.json", NAME, [start, says(f"```bash\necho {marker}\n```"), user("")])
    assert list(told(events).values()) == [[[("bash", f"echo {marker}", "")], "done"]]


def test_the_same_instance_in_two_files_is_two_runs(tmp_path: Path) -> None:
    scan = Scan()
    names = [
        next(iter(told(read_log(tmp_path / n, NAME, doc(says("hm"), instance="i-1"), scan=scan))))
        for n in ("a.json", "b.json")
    ]
    assert names == ["i-1", f"{tmp_path / 'b.json'}#i-1"]


def test_a_document_without_messages_is_a_skip(tmp_path: Path) -> None:
    scan = Scan()
    assert not turns(
        read_log(tmp_path / "x.json", NAME, {"trajectory_format": "mini-swe-agent-1", "messages": 3}, scan=scan)
    )
    assert scan.skips.total == 1
