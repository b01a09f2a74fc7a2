"""Sessions of Claude Code that the compiled part reads: the same turns as line by line, whatever the lines hold."""

from __future__ import annotations

import io
import json
from itertools import chain
from random import Random
from typing import Any

import pytest

from loopscan import blocks
from loopscan.blob import Blob
from loopscan.compiled import compiled
from loopscan.formats import Scan
from loopscan.formats.claude_code import SessionLog
from loopscan.model import LateCall, Turn

_TEXTS = (
    "",
    "a",
    "looking at it",
    "na\u00efve \u2014 \U0001f642",
    'tab\t"q" \\ / \x01\x7f',
    "x" * 90 + "\n" * 40,
    "\u2028",
)
_ODD = (None, True, False, 0, -1, 3.0, 1.5, 1e30, 10**17, 10**25, -0.0, "", [], {}, [[[1]]], {"a": {"b": [None]}}, "x")
_KEYS = (
    "parentUuid isSidechain sessionId message requestId type uuid timestamp agentId isMeta isCompactSummary "
    "isApiErrorMessage costUSD subtype data model id content usage name input text tool_use_id is_error thinking "
    "input_tokens cache_creation cache_read_input_tokens output_tokens cwd version"
).split()


def _text(chance: Random) -> str:
    return "".join(chance.choices(_TEXTS, k=chance.randrange(3)))


def _args(chance: Random) -> Any:
    if chance.random() < 0.1:
        return chance.choice(_ODD)
    if chance.random() < 0.8:
        return {
            "file_path": f"/src/{chance.randrange(5)}.py",
            "n": chance.choice((1, 2.5, -3, True, [1, {}])),
            "s": _text(chance),
        }
    args = {
        k: chance.choice((*_ODD, *_TEXTS)) for k in chance.sample(("command", "file_path", "n", "\u00fc", "a\\b"), 3)
    }
    return {"file_path": f"/src/{chance.randrange(5)}.py", "old_string": _text(chance), **args}


def _send(chance: Random, turn: int) -> dict[str, Any]:
    call = {
        "type": "tool_use",
        "id": f"c{turn}",
        "name": chance.choice(("Bash", "Read", "\u00fc")),
        "input": _args(chance),
    }
    content: list[Any] = [call]
    for block in ({"type": "text", "text": _text(chance)}, {"type": "thinking", "thinking": "hm"}, dict(call), "text"):
        if chance.random() < 0.05:
            content.insert(chance.randrange(2), block)
    if chance.random() < 0.05:
        content = chance.choice(([], _text(chance), content[1:]))
    usage: dict[str, Any] = {"input_tokens": chance.randrange(9), "output_tokens": 80, "service_tier": "standard"}
    usage |= chance.choice(({}, {"cache_creation_input_tokens": 600}, {"cache_read_input_tokens": 0}))
    usage |= chance.choice(
        ({}, {"cache_creation": {"ephemeral_1h_input_tokens": 7, "x": [1]}}, {"cache_creation": None})
    )
    message = {"model": chance.choice((*"mmmmmmmmo", "<synthetic>")), "id": f"m{turn}", "role": "assistant"}
    message |= {"content": content, "usage": chance.choice((*[usage] * 9, None))}
    return {"type": "assistant", "message": message, "requestId": f"r{turn}"}


def _answer(chance: Random, turn: int | str) -> dict[str, Any]:
    content = chance.choice((_text(chance), "no such file", [{"type": "text", "text": "a"}], [], None))
    block = {"tool_use_id": f"c{turn}", "type": "tool_result", "content": content}
    block |= chance.choice(({}, {"is_error": True}, {"is_error": False}, {"is_error": None}))
    said = chance.choice((content, _text(chance), f"{content}x", {"stdout": content, "n": 1, "file": [content]}, {}))
    content = chance.choice((*[[block]] * 20, [block, block], "Do it", [{"type": "text", "text": "Do it"}]))
    return {"type": "user", "message": {"role": "user", "content": content}, "toolUseResult": said}


def _spoil(chance: Random, value: Any) -> Any:
    """A value with something odd in it."""
    if isinstance(value, dict) and value and chance.random() < 0.8:
        if chance.random() < 0.3:
            return {**value, chance.choice(_KEYS): chance.choice(_ODD)}
        key = chance.choice(list(value))
        return {**value, key: _spoil(chance, value[key])}
    if isinstance(value, list) and value and chance.random() < 0.7:
        return [*value[:-1], _spoil(chance, value[-1])]
    return chance.choice(_ODD)


def _damage(chance: Random, line: bytes) -> bytes:
    at = chance.randrange(len(line))
    how = chance.randrange(6)
    if how == 0:
        return line[:at]
    if how == 1:
        return line[:at] + bytes([chance.randrange(256)]) + line[at + 1 :]
    if how == 2:
        return line[:at] + chance.choice((b"\n", b"\\", b"\\ud800", b'"', b"\\u00e9", b"\x00", b" ")) + line[at:]
    if how == 3:
        return line + line
    if how == 4:
        return chance.choice((b"", b" \t\r", b"null", b"[]", b"{}", b"\x0b\x0c", b"\xef\xbb\xbf" + line))
    return line.replace(b'"type"', b'"typ\\u0065"', 1)


def _split(chance: Random, send: dict[str, Any], turn: int) -> list[dict[str, Any]]:
    """A message as lines of one block each, of which the last ones may be told again or make another call."""
    message = send["message"]
    blocks: list[Any] = [{"type": "thinking", "thinking": _text(chance), "signature": "x"}]
    blocks += [{"type": "text", "text": _text(chance)} for _ in range(chance.randrange(3))]
    blocks += [
        {"type": "tool_use", "id": f"c{turn}{more}", "name": "Read", "input": _args(chance)} for more in ("", "+", "")
    ]
    chance.shuffle(blocks)
    parts = []
    for block in blocks[: chance.randrange(1, 6)]:
        usage = dict(message["usage"] or {}, output_tokens=chance.randrange(99))
        model = message["model"] if chance.random() < 0.97 else "p"
        parts.append({**send, "message": {**message, "content": [block], "usage": usage, "model": model}})
    return parts


def _beside(chance: Random) -> dict[str, Any]:
    kind = chance.choice(("summary", "system", "progress", "file-history-snapshot", "new"))
    more = chance.choice(({}, {"subtype": "compact_boundary"}, {"subtype": "x"}, {"data": {"agentId": "a1"}}))
    return {"type": kind, "data": {"type": "hook", "message": "running"}, **more}


def _where(chance: Random) -> dict[str, Any]:
    """What most lines of a session begin with alike, in most of which it stands at the same places."""
    where = {"parentUuid": None, "isSidechain": chance.random() < 0.05, "cwd": chance.choice(("/w", "/w", "/w/x"))}
    where |= {
        "sessionId": chance.choice("sst"),
        "gitBranch": chance.choice((*["main"] * 9, "m", "na\u00efve", None, 1)),
    }
    if chance.random() < 0.1:
        pairs = [*where.items(), *[chance.choice((("agentId", "a1"), ("isMeta", True), ("type", "x"), ("uuid", "v")))]]
        chance.shuffle(pairs)
        where = dict(pairs)
    return where


def _session(chance: Random) -> bytes:
    """A log of one or two sessions, of whose lines some are unusual and some are damaged."""
    out: list[bytes] = []
    for turn in range(chance.randrange(60)):
        now = f"2026-11-30T10:{turn:02}:00.{turn:03}Z"
        where = _where(chance) if chance.random() < 0.8 else {"sessionId": chance.choice("sst")}
        where |= {"uuid": f"u{turn}", "timestamp": now}
        if chance.random() < 0.15:
            where |= {
                "agentId": chance.choice(("a1", "agent-a1", "")),
                "isSidechain": chance.choice((True, True, False)),
            }
        back = turn - chance.choice((0, 0, 0, 0, 0, 0, 1, 20))
        send = _send(chance, turn if chance.random() < 0.9 else back)
        sends = _split(chance, send, turn) if chance.random() < 0.4 else [send]
        answers = [_answer(chance, back), *([_answer(chance, f"{turn}+")] if chance.random() < 0.2 else [])]
        for line in chance.choice(([*sends, *answers], [*sends, *answers], [*sends[:-1], *answers, sends[-1]])):
            if chance.random() < 0.04:
                line = _beside(chance)
            if chance.random() < 0.05:
                where |= chance.choice(({"isSidechain": True}, {"isMeta": True}, {"isSidechain": False}))
            line = {**where, **line} if chance.random() < 0.5 else {**line, **where}
            line = _spoil(chance, line) if chance.random() < 0.05 else line
            space = chance.choice(((",", ":"), (", ", ": ")))
            text = json.dumps(line, ensure_ascii=chance.random() < 0.3, separators=space)
            data = text.encode("utf-8", "surrogatepass")
            if chance.random() < 0.04:
                data = _damage(chance, data)
            if chance.random() < 0.97:
                out.append(data)
    return b"\n".join(out) + chance.choice((b"\n", b""))


def _shown(event: Any) -> Any:
    if not isinstance(event, Turn):
        return repr(event)
    calls = []
    for call in event.calls:
        assert type(call) is LateCall
        late = call.raw, call.head, call.tail, call.size, call.decode, call.ident
        calls.append((call.name, repr(call.args), call.error, call.id, late, repr(call.result)))
    event.calls = []
    return calls, repr(event)


def _told(data: bytes, fast: bool, exact: bool) -> Any:
    blob, scan = Blob("x", None, io.BytesIO(data)), Scan(exact=exact)
    log = SessionLog(blob, scan)
    if fast or blob.head.document:
        events = list(chain.from_iterable(log.batches()))
    else:
        events = list(chain.from_iterable(log._lines()))
        blob.tell_damage(scan.skips)
        events += log.assembly.flush()
    skips = scan.skips
    return [_shown(e) for e in events], skips.total, skips.by_reason, skips.unknown, skips.copies, sorted(scan.seen)


@pytest.mark.parametrize("seed", range(60))
@pytest.mark.skipif(compiled() is None, reason="nothing is compiled here")
def test_by_blocks(seed: int, monkeypatch: pytest.MonkeyPatch) -> None:
    chance = Random(seed)
    data = _session(chance)
    monkeypatch.setattr(blocks, "_BLOCK", chance.choice((1 << 18, 1 << 12, 300)))
    monkeypatch.setattr("loopscan.blob._HEAD", chance.choice((1 << 18, 1 << 10)))
    exact = chance.random() < 0.2
    assert _told(data, True, exact) == _told(data, False, exact)
