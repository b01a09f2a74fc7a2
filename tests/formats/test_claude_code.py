"""Claude Code session files: turns from blocks, runs from prompts, usage once, sub-agents in all three shapes."""

from __future__ import annotations

import itertools
import json
from pathlib import Path
from typing import Any

import pytest

from loopscan import Settings, audit
from loopscan.formats import Scan, load
from loopscan.formats.claude_code import clean_result
from loopscan.model import MISSING, End, Turn
from loopscan.source import Input, open_input

S = "11111111-aaaa-4bbb-8ccc-222222222222"
_count = iter(range(10**9))


def line(kind: str, message: dict[str, Any] | None, **more: Any) -> dict[str, Any]:
    return {
        "parentUuid": None, "isSidechain": False, "sessionId": S, "type": kind, "uuid": f"u{next(_count)}",
        "timestamp": "2026-11-23T09:00:00.000Z", **({"message": message} if message else {}), **more,
    }  # fmt: skip


def prompt(text: str, **more: Any) -> dict[str, Any]:
    return line("user", {"role": "user", "content": text}, **more)


def usage(fresh: int = 4, read: int = 100, write: int = 10, hour: int = 0, output: int = 5) -> dict[str, Any]:
    return {
        "input_tokens": fresh, "cache_read_input_tokens": read, "cache_creation_input_tokens": write,
        "cache_creation": {"ephemeral_5m_input_tokens": write - hour, "ephemeral_1h_input_tokens": hour},
        "output_tokens": output,
    }  # fmt: skip


def says(id_: str, *blocks: dict[str, Any], **more: Any) -> dict[str, Any]:
    spent, model = more.pop("spent", usage()), more.pop("model", "claude-sonnet-4-5-20250929")
    message = {"id": id_, "role": "assistant", "model": model, "content": list(blocks), "usage": spent}
    return line("assistant", message, **more)


def text(words: str) -> dict[str, Any]:
    return {"type": "text", "text": words}


def use(id_: str, name: str = "Bash", **args: Any) -> dict[str, Any]:
    return {"type": "tool_use", "id": id_, "name": name, "input": args}


def result(id_: str, content: Any, error: bool = False, **more: Any) -> dict[str, Any]:
    block = {"type": "tool_result", "tool_use_id": id_, "content": content, "is_error": error}
    return line("user", {"role": "user", "content": [block]}, **more)


def write(path: Path, *lines: dict[str, Any]) -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text("".join(json.dumps(x) + "\n" for x in lines))
    return path


def events(path: Path, scan: Scan | None = None) -> list[Turn | End]:
    with open_input(Input(str(path), named=True)) as blob:
        assert load("claude-code").sniff(blob.head)
        return list(load("claude-code").read(blob, scan or Scan()))


def turns(path: Path, scan: Scan | None = None) -> list[Turn]:
    return [e for e in events(path, scan) if isinstance(e, Turn)]


def test_one_message_is_one_turn_although_results_stand_between_its_lines(tmp_path: Path) -> None:
    log = write(
        tmp_path / "s.jsonl",
        prompt("go"),
        says("m1", text("looking"), spent=usage(output=1)),
        says("m1", use("t1", command="a"), spent=usage(output=20)),
        result("t1", "A"),
        says("m1", use("t2", command="b"), spent=usage(output=60)),
        result("t2", [{"type": "text", "text": "B"}]),
        says("m2", text("done")),
    )
    first, second = turns(log)
    assert [(c.name, c.args, c.result) for c in first.calls] == [
        ("Bash", {"command": "a"}, "A"), ("Bash", {"command": "b"}, "B"),
    ]  # fmt: skip
    assert first.text == "looking"
    assert first.usage is not None
    assert (first.usage.input, first.usage.cache_read, first.usage.output) == (114, 100, 60)
    assert (second.calls, second.text) == ([], "done")


def test_one_hour_writes_are_a_part_of_the_writes(tmp_path: Path) -> None:
    (turn,) = turns(write(tmp_path / "s.jsonl", says("m", text("x"), spent=usage(write=30, hour=20))))
    assert turn.usage is not None
    assert (turn.usage.cache_write, turn.usage.cache_write_1h) == (30, 20)


def test_dollars_that_old_versions_state_count_once_per_message(tmp_path: Path) -> None:
    log = write(tmp_path / "s.jsonl", says("m", text("a"), costUSD=0.25), says("m", use("t1"), costUSD=0.25))
    (turn,) = turns(log)
    assert turn.usage is not None
    assert turn.usage.usd == 0.25


def test_another_model_taking_a_message_over_is_never_mixed(tmp_path: Path) -> None:
    log = write(
        tmp_path / "s.jsonl",
        says("m", text("a"), spent=usage(fresh=500, output=3), model="claude-opus-5"),
        says("m", text("b"), spent=usage(fresh=7, output=40), model="claude-sonnet-5"),
    )
    (turn,) = turns(log)
    assert turn.usage is not None
    assert (turn.model, turn.usage.input, turn.usage.output) == ("claude-sonnet-5", 117, 40)


def test_an_unanswered_call_and_a_result_without_an_id(tmp_path: Path) -> None:
    call = {"type": "tool_use", "name": "Task", "input": {}}
    reply = line("user", {"content": [{"type": "tool_result", "content": "found"}]})
    (answered,) = turns(write(tmp_path / "a.jsonl", says("m", call), reply))
    assert answered.calls[0].result == "found"
    (open_,) = turns(write(tmp_path / "b.jsonl", says("m", use("t1"))))
    assert open_.calls[0].result is MISSING


API_ERROR = {"model": "<synthetic>", "isApiErrorMessage": True}

RUNS: dict[str, tuple[list[dict[str, Any]], dict[str, tuple[int, str]]]] = {
    "a run per prompt": (
        [prompt("one"), says("m1", text("1")), prompt("two"), says("m2", text("2")), says("m3", use("t"))],
        {"#1": (1, "done"), "#2": (2, "cut")},
    ),
    "turns before any prompt": ([says("m1", text("1")), prompt("two"), says("m2", text("2"))],
                                {"#1": (1, "done"), "#2": (1, "done")}),
    "a local command without a turn": (
        [prompt("<command-name>/clear</command-name>"), prompt("<local-command-stdout></local-command-stdout>"),
         prompt("one"), says("m1", text("1"))],
        {"#1": (1, "done")},
    ),
    "injected and meta text starts no run": (
        [prompt("one"), says("m1", use("t")), prompt("caveat", isMeta=True), prompt("<task-notification>x"),
         prompt("summary", isCompactSummary=True), says("m2", text("2"))],
        {"#1": (2, "done")},
    ),
    "text beside a result steers": (
        [prompt("one"), says("m1", use("t")),
         line("user", {"content": [{"type": "tool_result", "tool_use_id": "t", "content": "x"}, text("and y?")]}),
         says("m2", text("2"))],
        {"#1": (2, "done")},
    ),
    "interrupted by the user": (
        [prompt("one"), says("m1", use("t")), prompt("[Request interrupted by user for tool use]"), prompt("two"),
         says("m2", text("2"))],
        {"#1": (1, "aborted"), "#2": (1, "done")},
    ),
    "interrupted before any turn": (
        [prompt("one"), says("m1", text("1")), prompt("two"), prompt("[Request interrupted by user]")],
        {"#1": (1, "done")},
    ),
    "an api error ends the run": (
        [prompt("one"), says("m1", use("t")), says("m2", text("API Error: 529"), **API_ERROR)],
        {"#1": (1, "error")},
    ),
    "an api error that was overcome": (
        [prompt("one"), says("m1", text("API Error: 529"), **API_ERROR), says("m2", text("2"))],
        {"#1": (1, "done")},
    ),
    "a prompt that is too long": (
        [prompt("one"), says("m1", use("t")), says("m2", text("Prompt is too long"), **API_ERROR)],
        {"#1": (1, "context_full")},
    ),
    "a synthetic line is no turn": (
        [prompt("one"), says("m1", text("1")), says("m2", text("No response requested."), model="<synthetic>")],
        {"#1": (1, "done")},
    ),
}  # fmt: skip


@pytest.mark.parametrize(("lines", "want"), RUNS.values(), ids=RUNS)
def test_runs_and_states(tmp_path: Path, lines: list[dict[str, Any]], want: dict[str, tuple[int, str]]) -> None:
    report = audit(write(tmp_path / "s.jsonl", *lines))
    assert {r.run.removeprefix(S): (r.turns, r.state) for r in report.runs} == want


def test_a_prompt_that_is_too_long_is_the_exit_of_the_send_that_did_not_fit(tmp_path: Path) -> None:
    lines = [prompt("one"), says("m1", use("t")), says("m2", text("Prompt is too long"), **API_ERROR)]
    (run,) = audit(write(tmp_path / "s.jsonl", *lines)).runs
    assert [(e.exit, e.turn, e.paid_sends, e.saved_turns) for e in run.exits] == [("context_full", 2, 1, 0)]


def test_per_session_is_one_run(tmp_path: Path) -> None:
    log = write(tmp_path / "s.jsonl", prompt("one"), says("m1", text("1")), prompt("two"), says("m2", use("t")))
    assert [(r.run, r.turns, r.state) for r in audit(log, Settings(per="session")).runs] == [(S, 2, "cut")]


def test_compaction_is_noted_and_no_run_ends(tmp_path: Path) -> None:
    log = write(tmp_path / "s.jsonl", prompt("one"), says("m1", use("t")),
                line("system", None, subtype="compact_boundary"), prompt("sum", isCompactSummary=True),
                says("m2", text("2")))  # fmt: skip
    assert [t.compacted for t in turns(log)] == [False, True]
    assert audit(log).runs[0].notes == ["compacted 1x"]


def test_a_resumed_file_copies_old_lines_once(tmp_path: Path) -> None:
    old = [prompt("one"), says("m1", use("t1")), result("t1", "A"), says("m2", text("2"))]
    other = "99999999-aaaa-4bbb-8ccc-222222222222"
    fork = [{**x, "sessionId": other} for x in old]
    new = [prompt("go on", sessionId=other), says("m3", text("3"), sessionId=other)]
    write(tmp_path / "a.jsonl", *old)
    write(tmp_path / "b.jsonl", *fork, *new)
    report = audit(tmp_path)
    assert {r.run: r.turns for r in report.runs} == {f"{S}#1": 2, f"{other}#1": 1}
    assert report.skipped.copies == 2
    assert sum(r.spent.input or 0 for r in report.runs) == 3 * 114


def test_a_side_chain_that_repeats_a_parent_message_is_a_copy(tmp_path: Path) -> None:
    write(tmp_path / "a.jsonl", prompt("one"), says("m1", text("1"), requestId="req_1"))
    write(tmp_path / "agent-x.jsonl", says("m1", text("1"), requestId="req_2", isSidechain=True, agentId="x"))
    assert [r.turns for r in audit(tmp_path).runs] == [1]


def agent_lines(**more: Any) -> list[dict[str, Any]]:
    return [prompt("look", **more), says("a1", use("t9", "Grep", pattern="x"), **more), result("t9", "hit", **more),
            says("a2", text("found"), **more)]  # fmt: skip


def test_a_sub_agent_in_its_own_file(tmp_path: Path) -> None:
    write(
        tmp_path / f"{S}.jsonl", prompt("one"), says("m1", use("t1", "Task")), result("t1", "ok"), says("m2", text("2"))
    )
    write(tmp_path / S / "subagents" / "agent-77.jsonl", *agent_lines(isSidechain=True, agentId="77"))
    runs = {r.run: (r.turns, r.parent, r.state) for r in audit(tmp_path).runs}
    assert runs == {f"{S}#1": (2, None, "done"), "agent-77": (2, f"{S}#1", "done")}


def test_a_sub_agent_inline(tmp_path: Path) -> None:
    chain = agent_lines(isSidechain=True)
    for before, after in itertools.pairwise(chain):
        after["parentUuid"] = before["uuid"]
    main = [prompt("one"), says("m1", use("t1", "Task")), *chain, result("t1", "ok"), says("m2", text("2"))]
    runs = audit(write(tmp_path / "s.jsonl", *main)).runs
    assert [(r.turns, r.parent) for r in runs if r.run.startswith("sidechain@")] == [(2, f"{S}#1")]
    assert [r.turns for r in runs if r.run == f"{S}#1"] == [2]


def test_a_sub_agent_in_progress_records_and_in_its_file_counts_once(tmp_path: Path) -> None:
    inner = agent_lines()
    progress = [
        line("progress", None, data={"type": "agent_progress", "agentId": "77", "message": m}) for m in inner[:3]
    ]
    write(tmp_path / f"{S}.jsonl", prompt("one"), says("m1", use("t1", "Task")), *progress, says("m2", text("2")))
    alone = {r.run: r.turns for r in audit(tmp_path).runs}
    assert alone == {f"{S}#1": 2, "agent-77": 1}
    own = [{**m, "isSidechain": True, "agentId": "77"} for m in inner]
    write(tmp_path / S / "subagents" / "agent-77.jsonl", *own)
    both = {r.run: (r.turns, r.calls) for r in audit(tmp_path).runs}
    assert both == {f"{S}#1": (2, 1), "agent-77": (2, 1)}


def test_a_rejected_call_is_an_error(tmp_path: Path) -> None:
    log = write(tmp_path / "s.jsonl", says("m", use("t")), result("t", "The user doesn't want to proceed", error=True))
    assert turns(log)[0].calls[0].error is True


def test_unknown_records_are_counted(tmp_path: Path) -> None:
    scan = Scan()
    turns(write(tmp_path / "s.jsonl", says("m", text("x")), line("hologram", None)), scan)
    assert dict(scan.skips.unknown) == {"claude-code:hologram": 1}


@pytest.mark.parametrize(
    ("first", "second"),
    [
        ("ok<system-reminder>1</system-reminder>", "ok"),
        ("a\n<system-reminder>1</system-reminder>\nb", "a\n\nb"),
        ("<persisted-output>\nsaved to /x/1.txt\nPreview: abc", "<persisted-output>\nsaved to /x/2.txt\nPreview: abc"),
    ],
)
def test_volatile_wrappers(first: str, second: str) -> None:
    assert clean_result("Bash", first) == clean_result("Bash", second)


def test_a_reworded_description_is_no_new_action(tmp_path: Path) -> None:
    lines = []
    for i in range(2):
        lines += [says(f"m{i}", use(f"t{i}", command="ls", description=f"try {i}", timeout=i)), result(f"t{i}", "x")]
    log = write(tmp_path / "s.jsonl", *lines)
    assert audit(log).runs[0].fired == 2
    assert audit(log, Settings(exact=True)).runs[0].fired is None
