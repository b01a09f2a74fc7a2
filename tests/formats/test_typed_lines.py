"""Lines that are decoded by type give the turns that they give when decoded as values of any shape."""

from __future__ import annotations

import io
from itertools import chain
from typing import Any

from hypothesis import given, settings
from hypothesis import strategies as st

from loopscan.blob import Blob
from loopscan.formats import Scan
from loopscan.formats._records import MessageLog
from loopscan.formats.claude_code import SessionLog
from loopscan.model import Event
from loopscan.whole import Whole
from tests.formats.odd_json import ODD, array, lines, shown, thing, word

_IDS = word(*"ababababababcabc", "")
_TEXT = st.one_of(word("", "looking", "na\u00efve \U0001f642", "<tool_call>{}</tool_call>", "the end"), st.just("null"))
_RESULT = word("ok", "failed: \u2026", '{"n": 1}', "x" * 3700)
_BLOCKS = array(thing({"type": word("text", "image"), "text": _TEXT}, {"cache_control": ODD}), 2)

_ARGS = st.one_of(word('{"n": 1}', "{", "", "rest \u2026"), st.just('{"n":1.0}'))
_CALL = thing(
    {
        "id": _IDS,
        "type": word("function"),
        "function": thing({"name": word("read", "", "write"), "arguments": _ARGS}, {}),
    },
    {"index": ODD, "custom": ODD, "function": ODD},
)
_ASKS = thing(
    {"role": word("assistant"), "content": _TEXT, "tool_calls": array(_CALL, 2, 1)},
    {
        "refusal": _TEXT, "annotations": ODD, "reasoning_content": ODD, "function_call": ODD, "usage": ODD,
        "model": ODD, "timestamp": ODD, "type": word("message", "function_call"), "tool_call_id": _IDS,
        "content": _BLOCKS,
    },
)  # fmt: skip
_GIVES = thing(
    {"role": word("tool"), "tool_call_id": _IDS, "content": _RESULT},
    {"name": ODD, "error": ODD, "is_error": ODD, "status": word("error"), "content": _BLOCKS, "role": word("function")},
)
_SAYS = thing({"role": word("user", "system", "assistant", "model", "x"), "content": _TEXT}, {"name": ODD, "role": ODD})
_MESSAGES = array(st.one_of(_ASKS, _ASKS, _GIVES, _GIVES, _SAYS), 9, 2)
_ROW = thing(
    {"id": word("r1", "r2"), "messages": _MESSAGES, "model": word("gpt-5", "m")},
    {
        "created_at": ODD, "metadata": st.one_of(ODD, st.just('{"team":"x","n":1}')), "session_id": ODD, "tools": ODD,
        "usage": st.just('{"prompt_tokens":5,"completion_tokens":2}'), "stop_reason": word("stop", "max_turns"),
        "finish_reason": ODD, "response": ODD, "run_id": ODD, "model_name": ODD, "input": ODD, "messages": ODD,
        "error": ODD,
    },
)  # fmt: skip


def _told(blob: Blob, scan: Scan, events: Any) -> Any:
    told = [shown(event) for event in events]
    skips = scan.skips
    return told, skips.total, skips.by_reason, skips.unknown, skips.copies, blob.damage


_USES = thing(
    {"type": word("tool_use"), "id": _IDS, "name": word("Read", "Edit"), "input": st.one_of(st.just('{"n":1}'), ODD)},
    {"type": st.one_of(word("server_tool_use"), ODD), "name": ODD, "caller": ODD},
)
_WORDS = st.one_of(
    thing({"type": word("text"), "text": _TEXT}, {"citations": ODD, "cache_control": ODD, "content": ODD, "text": ODD}),
    thing({"type": word("thinking", "reasoning", "image"), "thinking": _TEXT}, {"signature": ODD, "text": _TEXT}),
)
_RETURNS = thing(
    {"type": word("tool_result"), "tool_use_id": _IDS, "content": st.one_of(_RESULT, _BLOCKS)},
    {"is_error": st.one_of(st.just("true"), ODD), "content": ODD, "tool_use_id": ODD},
)
_REPLY = thing(
    {"role": word("assistant"), "content": array(st.one_of(_USES, _USES, _WORDS), 3)},
    {"content": array(st.one_of(_USES, _RETURNS)), "id": ODD, "usage": ODD},
)
_USER = thing(
    {"role": word("user"), "content": array(st.one_of(_RETURNS, _RETURNS, _WORDS), 3)}, {"role": word("tool")}
)
_BLOCK_ROW = thing(
    {"id": word("r1", "r2"), "messages": array(st.one_of(_REPLY, _USER), 9, 2)}, {"system": ODD, "stop_reason": ODD}
)


_PAIR = st.tuples(word("read", "", "write"), _ARGS, _RESULT, st.sampled_from(("null", "null", '"looking"', '""', "[]")))
_CLOSING = st.sampled_from(
    ("", "", '{"role":"assistant","content":"the end"}', '{"role":"assistant","content":null}', '{"role":"assistant"}',
     '{"role":"assistant","content":"it is","tool_calls":[]}', '{"role":"user","content":"and?"}',
     '{"role":"assistant","content":[{"type":"text","text":"the end"}]}', '{"role":"model","content":"the end"}')
)  # fmt: skip


def _played(pairs: list[tuple[str, str, str, str]], first: int, closing: str) -> str:
    """The messages of a run of calls that are answered one by one, the first under this id."""
    messages = ['{"role":"system","content":"you help"}']
    for number, (name, args, result, words) in enumerate(pairs, first):
        call = f'{{"id":"c{number}","type":"function","function":{{"name":{name},"arguments":{args}}}}}'
        messages.append(f'{{"role":"assistant","content":{words},"tool_calls":[{call}]}}')
        messages.append(f'{{"role":"tool","tool_call_id":"c{max(number, 1)}","content":{result}}}')
    return f"[{','.join([*messages, *filter(None, [closing])])}]"


_PLAYED = st.builds(_played, st.lists(_PAIR, max_size=4), st.sampled_from((0, 1, 1, 1)), _CLOSING)
_PLAYED_ROW = thing(
    {"id": word("r1", "r2"), "messages": _PLAYED, "model": word("gpt-5", "m")},
    {
        "created_at": ODD, "metadata": st.just('{"team":"x","n":1}'), "session_id": word("s"),
        "usage": st.just('{"prompt_tokens":5,"completion_tokens":2}'), "finish_reason": word("stop", "max_turns"),
    },
)  # fmt: skip


@given(
    lines(st.one_of(_ROW, _ROW, _PLAYED_ROW, _PLAYED_ROW, _BLOCK_ROW, _BLOCK_ROW, _MESSAGES, ODD)),
    st.sampled_from(("openai", "anthropic")),
)
@settings(max_examples=450, deadline=None)
def test_messages(data: bytes, maker: str) -> None:
    def told(typed: bool, whole: bool = False) -> Any:
        blob, scan = Blob("x", None, io.BytesIO(data)), Scan(rows=whole)
        log = MessageLog(blob, scan, f"{maker}-messages")
        if typed and not log.grows:
            return _told(blob, scan, [one for event in log.lines() for one in _apart(event)])
        return _told(blob, scan, [e for number, value in blob.values(scan.skips) for e in log.value(value, number)])

    if not Blob("x", None, io.BytesIO(data)).head.document:
        assert told(True) == told(False) == told(True, whole=True)


def _apart(event: Event | Whole) -> list[Event]:
    """What a reader of turns would have been given."""
    if not isinstance(event, Whole):
        return [event]
    turns: list[Event] = [*event.turns()]
    return turns if event.end is None else [*turns, event.end]


def test_runs_of_calls_that_are_answered_one_by_one_come_whole() -> None:
    pair = ('"read"', '"{}"', '"ok"', '"looking"')
    for played in (_played([pair] * 3, 1, ""), _played([pair], 1, '{"role":"assistant","content":"the end"}')):
        log = MessageLog(Blob("x", None, io.BytesIO(played.encode())), Scan(rows=True), "openai-messages")
        (event,) = log.lines()
        assert isinstance(event, Whole)
        assert event.turns()[0].written == len("lookingread{}")


_USAGE = thing(
    {"input_tokens": word("3").map(lambda t: t.strip('"')), "output_tokens": st.sampled_from(("1", "80"))},
    {
        "cache_read_input_tokens": st.sampled_from(("0", "12000", '"7"', "3.0", "-1")),
        "cache_creation_input_tokens": ODD,
        "cache_creation": st.one_of(ODD, st.just('{"ephemeral_1h_input_tokens":4}')),
    },
)  # fmt: skip
_CONTENT = array(st.one_of(_USES, _USES, _WORDS, _RETURNS))
_SEND = thing(
    {"id": word("m1", "m2", "m3"), "model": word("claude"), "content": _CONTENT, "usage": _USAGE},
    {"model": word("<synthetic>"), "content": _TEXT, "usage": ODD, "id": ODD},
)  # fmt: skip
_PROMPT = thing(
    {"role": word("user"), "content": st.one_of(array(st.one_of(_RETURNS, _WORDS)), _TEXT)}, {"content": ODD}
)
_MORE = {
    "isMeta": ODD, "isCompactSummary": ODD, "isApiErrorMessage": st.one_of(ODD, st.just("true")), "costUSD": ODD,
    "requestId": _IDS, "agentId": _IDS, "parentUuid": _IDS, "isSidechain": st.sampled_from(("true", "false", "null")),
    "timestamp": ODD, "toolUseResult": ODD, "uuid": ODD, "message": ODD, "sessionId": ODD, "type": ODD,
}  # fmt: skip
_WHERE = {
    "sessionId": word("s", "t"),
    "uuid": _IDS,
    "timestamp": word("2026-11-30T10:00:00Z", "2026-11-30T10:00:05.5Z"),
}
_INNER = thing({"type": word("assistant", "user"), "message": st.one_of(_SEND, _PROMPT), **_WHERE}, _MORE)
_LINE = st.one_of(
    thing({"type": word("assistant"), "message": _SEND, **_WHERE}, _MORE),
    thing({"type": word("user"), "message": _PROMPT, **_WHERE}, _MORE),
    thing({"type": word("system", "summary", "else"), **_WHERE}, {"subtype": st.one_of(ODD, word("compact_boundary"))}),
    thing(
        {"type": word("progress"), "data": thing({"agentId": _IDS}, {"message": st.one_of(ODD, _INNER)}), **_WHERE},
        {"data": ODD, "agentId": _IDS},
    ),
    ODD,
)


@given(lines(_LINE))
@settings(max_examples=250, deadline=None)
def test_claude_code(data: bytes) -> None:
    def told(typed: bool) -> Any:
        blob, scan = Blob("x", None, io.BytesIO(data)), Scan()
        log = SessionLog(blob, scan)
        if typed:
            events = list(chain.from_iterable(log.batches()))
        else:
            events = [e for number, value in blob.values(scan.skips) for e in log.record(value, number)]
            events += log.assembly.flush()
        return _told(blob, scan, events)

    if not Blob("x", None, io.BytesIO(data)).head.document:
        assert told(True) == told(False)
