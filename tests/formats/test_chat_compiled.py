"""Calm runs of messages told by the compiled part: it says what the Python one says, or nothing."""

from __future__ import annotations

import json
from pathlib import Path
from random import Random
from typing import Any

import pytest

from loopscan import Settings, record
from loopscan.calm import told_of
from loopscan.compiled import compiled
from loopscan.decode import FAST_ERRORS, fast
from loopscan.fill import filling
from loopscan.formats._chat_line import OWN, decode, played_of
from loopscan.formats._records import chat_of
from loopscan.key import Keyer
from loopscan.model import Call, Turn
from loopscan.prices import from_options
from loopscan.scan import audit
from loopscan.whole import Whole

scanner = compiled()
if scanner is None:
    pytest.skip("nothing is compiled here", allow_module_level=True)

REACH = 20
CHAT = chat_of()
assert CHAT is not None
PIECES = (
    "a", "word ", " ", "\n", "\t", '"', "\\", "/", "\\n", '\\"', "{", "}", "[", ",", ":", "é", "—", "€", "字", "😀",
    "\x00", "\x1b", "\x7f", "\u0085", "\u2028", "\b", "\f", "\r", "ordinary text that fills a whole block of 64 bytes",
)  # fmt: skip
NAMES = ("get_order", "search", "ask", "bash", "write_file", "é", "run\nit", "read_file", "t" * 70)
KEYS = ("id", "q", "path", "file_path", "query", "prompt", "text", "full", "é", 'a"b', "", "k")


def words(chance: Random, most: int = 12) -> str:
    return "".join(chance.choices(PIECES, k=chance.randrange(most)))


def value(chance: Random, depth: int = 0) -> Any:
    kind = chance.randrange(10 if depth < 4 else 7)
    if kind < 3:
        return chance.randrange(10 ** chance.randrange(1, 22)) - 5
    if kind < 6:
        return words(chance)
    if kind == 6:
        return chance.choice((True, False, None, 0.5, -0.0, 1e300, 1e-7, 12.25, 1e16, 0.0001, 100.0))
    if kind == 7:
        return [value(chance, depth + 1) for _ in range(chance.randrange(4))]
    return {chance.choice(KEYS): value(chance, depth + 1) for _ in range(chance.randrange(4))}


def text(chance: Random, what: Any) -> str:
    """A value as JSON, as one of many writers has it."""
    gaps = chance.choice(((",", ":"), (", ", ": "), (" ,\t", "\n:  ")))
    told = json.dumps(what, ensure_ascii=chance.random() < 0.4, separators=gaps, sort_keys=chance.random() < 0.2)
    return told.replace("/", "\\/") if chance.random() < 0.1 else told


def arguments(chance: Random, number: int) -> str:
    args: dict[str, Any] = {"id": number, "q": words(chance), "deep": {"k": [words(chance), number, True, None]}}
    if chance.random() < 0.05:
        args |= {chance.choice(KEYS): value(chance) for _ in range(chance.choice((0, 1, 1, 2, 5)))}
    told = text(chance, args)
    odd = chance.randrange(150)
    if odd == 0:
        return chance.choice(
            ("", "{", "[1]", "null", " {}", "{} ", '{"a":1,"a":2}', '{"a":1e5}', '{"a":NaN}', "{'a':1}", told[:-1])
        )
    return told + chance.choice(("", "", "", " ", "\n", "}")) if odd == 1 else told


def run(chance: Random) -> Any:
    """A run of messages in which little happens, now and then something unusual."""
    messages: list[Any] = [{"role": chance.choice(("system", "user", "developer")), "content": words(chance, 40)}]
    names = chance.sample(NAMES[:3] if chance.random() < 0.9 else NAMES, 3)
    for number in range(chance.randrange(1, 14)):
        same = number if chance.random() < 0.99 else 0
        asked = {
            "id": f"c{number}",
            "type": "function",
            "function": {"name": chance.choice(names), "arguments": arguments(chance, same)},
        }
        messages.append(
            {"role": "assistant", "content": chance.choice((None, "", words(chance))), "tool_calls": [asked]}
        )
        result = f"{chance.random()}" + words(chance, 60) + f"{chance.random()}"
        messages.append({"role": "tool", "tool_call_id": f"c{number}", "content": result})
    if chance.random() < 0.7:
        messages.append({"role": "assistant", "content": words(chance, 40)})
    if chance.random() < 0.3:
        spoil(chance, messages)
    if chance.random() < 0.1:
        return messages
    beside: list[tuple[str, Any]] = [
        ("id", f"r{chance.randrange(99)}"),
        ("model", chance.choice(("gpt-5", "own", None, "é"))),
    ]
    beside += [(chance.choice(("usage", "metadata", "created", "tools", "session_id")), value(chance))]
    beside += [("stop_reason", "stop"), ("other", 1)][: chance.choice((0, 0, 0, 0, 0, 1, 2))]
    beside.insert(chance.randrange(len(beside) + 1), ("messages", messages))
    return dict(beside)


def spoil(chance: Random, messages: list[Any]) -> None:
    message = chance.choice(messages)
    odd = chance.randrange(9)
    if odd == 0:
        message[chance.choice(("name", "annotations", "refusal", "audio", "other", "function_call"))] = value(chance)
    elif odd == 1:
        message["role"] = chance.choice(("user", "assistant", "model", "tool", "function", "ai", ""))
    elif odd == 2:
        message["content"] = chance.choice((None, [], [{"type": "text", "text": "x"}], 5, ""))
    elif odd == 3:
        message["tool_call_id"] = chance.choice((None, "", "c1", 5))
    elif odd == 4:
        message["tool_calls"] = chance.choice((None, [], [{"id": "", "function": {"name": "x", "arguments": {}}}]))
    elif odd == 5:
        message.pop(chance.choice(list(message)))
    elif odd == 6 and message.get("tool_calls"):
        message["tool_calls"] *= 2
    elif odd == 7 and message.get("tool_calls"):
        message["tool_calls"][0] |= {chance.choice(("index", "id", "type", "other")): value(chance)}
    else:
        messages.insert(chance.randrange(len(messages)), message)


def line(chance: Random) -> bytes:
    told = text(chance, run(chance))
    if chance.random() < 0.1:  # a member stands twice
        told = told.replace('"role"', '"role":"tool","role"', 1) if chance.random() < 0.5 else told[:-1] + ',"id":"x"}'
    data = told.encode("utf-8", "surrogatepass")
    odd, at = chance.randrange(8), chance.randrange(len(data))
    if odd == 0:
        return data[:at]
    if odd == 1:
        more = chance.choice(
            (
                b"\\",
                b'"',
                b"\\u0041",
                b"\\ud800",
                b"\\ud83d\\ude00",
                b"\xed\xa0\x80",
                b"\xff",
                b"\xc3",
                b"\xf0\x9f\x98\x80",
                b"\x01",
            )
        )
        return data[:at] + more + data[at + chance.randrange(3) :]
    if odd == 2:
        return data[:at] + bytes([data[at] ^ 1 << chance.randrange(8)]) + data[at + 1 :]
    return data


def in_python(data: bytes) -> tuple[Any, ...] | None:
    """The same as Python tells it."""
    try:
        found = decode(data)
    except FAST_ERRORS:
        return None
    messages, beside = (found, {}) if isinstance(found, list) else (found.messages, found.record())
    played = played_of(messages)
    if played is None:
        return None
    told = told_of(Whole("r", Turn("r"), *played), Keyer(), Settings())
    return None if told is None else (beside, *told)


def check(data: bytes) -> bool:
    """Whether the compiled part tells a line, as it must if it does."""
    told = CHAT.heard(data, REACH)
    check_played(data, CHAT.play(data))
    if not told or not OWN.issuperset(fast(told[0])):
        return False
    beside, calls, written, chars = told
    expected = in_python(data)
    assert expected is not None, data
    assert expected == (fast(beside), calls, list(memoryview(written).cast("I")), list(memoryview(chars).cast("I"))), (
        data
    )
    return True


def check_played(data: bytes, played: tuple[Any, ...] | None) -> None:
    if played is None or not OWN.issuperset(fast(played[0])):
        assert played is not None or not CHAT.heard(data, REACH), data
        return
    beside, calls, texts, written = played
    found = decode(data)
    messages, expected = (found, {}) if isinstance(found, list) else (found.messages, found.record())
    plain = [Call(c.name, c.args, c.result, c.error, c.id) for c in calls]
    assert (fast(beside), (plain, texts, written)) == (expected, played_of(messages)), data
    assert all(len(c.result) == c.chars for c in calls)


def test_what_is_told_is_what_python_tells() -> None:
    chance = Random(5)
    told = sum(check(line(chance)) for _ in range(1500))
    assert told > 300


@pytest.mark.parametrize("size", range(40, 140))
def test_strings_of_all_lengths(size: int) -> None:
    chance = Random(size)
    for piece in ("\\", '"', "é", "字", "😀", "\\\\", "/", "\x01", "\\u0041"):
        for place in (size - 3, size - 2, size - 1, size):
            result = "x" * place + piece + chance.choice(("", "y", "\n", "é", "z" * 70))
            asked = {"id": "c", "function": {"name": "get", "arguments": "{}"}}
            messages = [
                {"role": "assistant", "content": None, "tool_calls": [asked]},
                {"role": "tool", "tool_call_id": "c", "content": result},
            ]
            assert check(text(chance, messages).encode())


def test_filling_is_that_of_python() -> None:
    chance, book = Random(3), from_options()
    for _ in range(300):
        base = chance.choice((None, None, 0, 5000))
        settings = Settings(base=base, growth=chance.randrange(900), out=chance.randrange(900))
        model = chance.choice((None, "gpt-5", "claude-opus-4-6", "claude-opus-4-7", "own"))
        way = filling(model, book.find(model) is not None, settings)
        count, most = chance.randrange(1, 60), chance.choice((10**9, 10**5, 10**3, -1))
        written, chars = ([chance.randrange(10 ** chance.randrange(1, 7)) for _ in range(count)] for _ in range(2))
        sent, output = way.all(written, chars)
        numbers = (way.base, way.growth, way.output, *way.history, *way.results, *way.written, most)
        packed = [
            memoryview(bytes(0)),
            *(b"".join(n.to_bytes(4, "little") for n in column) for column in (written, chars)),
        ]
        found = CHAT.filled(packed[1], packed[2], *numbers)
        assert (found is None) == (max(sent) > most)
        if found is not None:
            assert found[0] == (sum(sent), sum(output))
            assert list(memoryview(found[1]).cast("I")) == [*sent, *output]


def test_an_audit_is_the_same_without_it(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    chance = Random(8)
    for number in range(6):
        path = tmp_path / f"{number}.jsonl"
        first = json.dumps(
            {"id": "first", "messages": [{"role": "user", "content": "x"}, {"role": "assistant", "content": "y"}]}
        )
        path.write_bytes(b"\n".join([first.encode(), *(line(chance) for _ in range(60))]))
        book = from_options()
        settings = Settings(base=900) if number % 2 else Settings()
        told = audit(path, settings, prices=book)
        monkeypatch.setenv("LOOPSCAN_PURE", "1")
        compiled.cache_clear()
        pure = audit(path, settings, prices=book)
        monkeypatch.delenv("LOOPSCAN_PURE")
        compiled.cache_clear()
        assert [record(r) for r in told.runs] == [record(r) for r in pure.runs]
        assert told.skipped.by_reason == pure.skipped.by_reason
