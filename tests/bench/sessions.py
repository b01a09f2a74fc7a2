"""Claude Code sessions: reads, test runs, edits and searches, with results that stand twice on their line."""

from __future__ import annotations

from collections.abc import Iterator
from random import Random
from typing import Final

from tests.bench.text import code, cut, escaped, word

Used = tuple[str, str, str, bool]
"""A tool use: name, its input as JSON, the escaped result, whether the client keeps the result a second time."""

_HUGE: Final = 125
"""One result in so many is of 100 KB."""


class Coder:
    """Makes the tool uses of a coding agent."""

    def __init__(self, chance: Random) -> None:
        self.chance = chance
        self.pool = [escaped(code(chance, chance.choice((300, 800, 1500, 3000, 6000)))) for _ in range(600)]
        self.huge = [escaped(code(chance, 100_000)) for _ in range(8)]
        self.tests = [escaped("\x1b[32mPASS\x1b[0m " + code(chance, 900)) for _ in range(100)]

    def use(self) -> Used:
        """A tool use that was not made before."""
        chance, pool = self.chance, self.pool
        kind, file, body = chance.randrange(100), f"m_{chance.randrange(997)}.py", chance.choice(pool)
        if kind < 35:
            name = "Read"
            given = f'"file_path":"/home/dev/work/src/{file}","offset":{chance.randrange(500)},"limit":200'
        elif kind < 65:
            name, body = "Bash", chance.choice(self.tests)
            given = (
                f'"command":"pytest -q tests/test_{file} | tail -{chance.randrange(90)}","description":"Run the tests"'
            )
        elif kind < 85:
            name, body = "Edit", "The file has been updated. " + cut(body, 400)
            old, new = cut(chance.choice(pool), 200), cut(chance.choice(pool), 400)
            given = f'"file_path":"/home/dev/work/src/{file}","old_string":"{old}","new_string":"{new}"'
        else:
            name, given = "Grep", f'"pattern":"{word(chance)}","path":"src","output_mode":"content","-n":true'
        if chance.randrange(_HUGE) == 0:
            body = chance.choice(self.huge)
        return name, f"{{{given}}}", f"{chance.getrandbits(40):x} {body}", kind < 65

    def uses(self, turns: int) -> Iterator[Used]:
        """The tool uses of a session: one in ten goes round in circles, with a slip now and then."""
        chance = self.chance
        start = chance.randrange(4, turns) if chance.random() < 0.1 else turns
        period = chance.choice((1, 2, 3))
        block: list[Used] = []
        for turn in range(turns):
            if turn >= start + period and chance.random() < 0.97:
                yield block[(turn - start) % period]
                continue
            used = self.use()
            if start <= turn < start + period:
                block.append(used)
            yield used


def _hex(chance: Random, digits: int) -> str:
    return f"{chance.getrandbits(4 * digits):0{digits}x}"


def _uuid(chance: Random) -> str:
    return "-".join(_hex(chance, n) for n in (8, 4, 4, 4, 12))


def sessions(chance: Random, size: int) -> Iterator[tuple[str, list[bytes]]]:
    """Session ids and the lines of each, until there are `size` bytes."""
    coder, made, number = Coder(chance), 0, 0
    while made < size:
        number += 1
        session = _uuid(chance)
        lines = [line.encode() for line in _session(coder, session, number)]
        made += sum(map(len, lines))
        yield session, lines


def _session(coder: Coder, session: str, number: int) -> Iterator[str]:
    chance, parent, cached = coder.chance, "null", 12_000
    common = (
        f'"isSidechain":false,"userType":"external","cwd":"/home/dev/work{number % 20}","sessionId":"{session}",'
        f'"version":"2.0.{number % 90}","gitBranch":"main"'
    )
    for turn, used in enumerate(coder.uses(chance.randint(20, 399))):
        clock = f"{turn // 60 % 24:02d}:{turn % 60:02d}:{turn * 7 % 60:02d}.{turn % 1000:03d}Z"
        stamp = f'"timestamp":"2026-11-{1 + number % 28:02d}T{clock}"'
        asked, answered, call = _uuid(chance), _uuid(chance), "toolu_01" + _hex(chance, 22)
        said = f'{{"type":"text","text":"{cut(chance.choice(coder.pool), 200)}"}},' if turn % 3 == 0 else ""
        usage = _usage(turn, cached)
        yield (
            f'{{"parentUuid":{parent},{common},"message":{{"model":"claude-sonnet-4-5-20250929",'
            f'"id":"msg_01{_hex(chance, 22)}","type":"message","role":"assistant","content":[{said}'
            f'{{"type":"tool_use","id":"{call}","name":"{used[0]}","input":{used[1]}}}],"stop_reason":"tool_use",'
            f'"stop_sequence":null,"usage":{usage}}},"requestId":"req_011{_hex(chance, 20)}","type":"assistant",'
            f'"uuid":"{asked}",{stamp}}}\n'
        )
        kept = (
            f'{{"stdout":"{used[2]}","stderr":"","interrupted":false,"isImage":false}}'
            if used[3]
            else '{"type":"text"}'
        )
        yield (
            f'{{"parentUuid":"{asked}",{common},"type":"user","message":{{"role":"user","content":['
            f'{{"tool_use_id":"{call}","type":"tool_result","content":"{used[2]}","is_error":false}}]}},'
            f'"uuid":"{answered}",{stamp},"toolUseResult":{kept}}}\n'
        )
        if turn % 25 == 0:
            yield (
                f'{{"type":"file-history-snapshot","messageId":"{asked}","snapshot":{{"messageId":"{asked}",'
                f'"trackedFileBackups":{{}},{stamp}}},"isSnapshotUpdate":false}}\n'
            )
        parent = f'"{answered}"'
        cached = cached + 700 + turn % 300 if cached < 180_000 else 12_000


def _usage(turn: int, cached: int) -> str:
    fresh = 600 + turn % 300
    return (
        f'{{"input_tokens":{4 + turn % 9},"cache_creation_input_tokens":{fresh},"cache_read_input_tokens":{cached},'
        f'"cache_creation":{{"ephemeral_5m_input_tokens":{fresh},"ephemeral_1h_input_tokens":0}},'
        f'"output_tokens":{80 + turn % 200},"service_tier":"standard"}}'
    )
