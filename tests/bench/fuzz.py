"""Legal but nasty JSON: does every path find the same loops as the standard library and a brute-force rule?

Values that a fast path merges or loses: 1, 1.0, true and "1"; integers beyond 64 bits; NaN and numbers beyond a
double; lone surrogates; the same text escaped otherwise; deep nesting; keys in any order, spaces anywhere.
`python -m tests.bench.fuzz 100000` makes that many runs, in batches, and compares all paths.
"""

from __future__ import annotations

import argparse
import gzip
import json
import math
import subprocess
import sys
import tempfile
from collections.abc import Iterable, Iterator, Sequence
from concurrent.futures import ProcessPoolExecutor
from itertools import count, repeat
from pathlib import Path
from random import Random
from typing import Any, Final

Fires = dict[str, int | None]
"""Run -> the turn at which the period rule fires first."""
WINDOWS: Final = (6, 10, 20)
BATCH: Final = 5_000
"""Runs of one log: a scan holds some 17 KB for each of these to its end."""

_DEEP: Final = 300
_TEXTS: Final = (
    '"1"', '"x"', '""', '"null"', '"true"', r'"\u00e9"', '"é"', r'"\ud83d"', r'"\ud83d\ude00"', '"😀"', r'"a\/b"',
    '"a/b"', r'"\u0061"', '"a"', '"日本"', r'"\u0000"', r'"\t"', '"1.0"', '"#1 of 9"', '"#2 of 9"',
)  # fmt: skip
_NUMBERS: Final = (
    "1", "1.0", "1e0", "1.00", "0", "-0", "-0.0", "0.0", "10", "1e1", "123456789012345678901", "123456789012345678902",
    "18446744073709551615", "18446744073709551616", "-9223372036854775809", "NaN", "Infinity", "-Infinity", "1e400",
    "1e401", "0.1", "0.10000000000000001", "9007199254740993", "9007199254740992.0", "5e-324",
)  # fmt: skip
_WORDS: Final = ("true", "false", "null", "[]", "{}", "[[]]", '{"":null}')
_KEYS: Final = ('"a"', '"b"', r'"\u0061"', '"é"', r'"\u00e9"', '"z"', '"10"', '"9"')


def value(chance: Random, depth: int = 0) -> str:
    """The JSON text of a random value."""
    kind = chance.random()
    if depth > 2 or kind < 0.75:
        return chance.choice(chance.choice((_TEXTS, _NUMBERS, _WORDS)))
    if kind < 0.76 and depth == 0:
        return "[" * _DEEP + chance.choice(_NUMBERS) + "]" * _DEEP
    inner = [value(chance, depth + 1) for _ in range(chance.randint(0, 3))]
    if kind < 0.88:
        return f"[{','.join(inner)}]"
    return f"{{{','.join(f'{chance.choice(_KEYS)}:{v}' for v in inner)}}}"


def respelt(chance: Random, text: str) -> str:
    """The same value written in another way: objects in another order, more space."""
    if chance.random() < 0.5 or not text.startswith("{"):
        return f" {text} " if chance.random() < 0.3 else text
    spelt: dict[str, Any] = dict.fromkeys(("parse_int", "parse_float", "parse_constant"), _Spelling)
    pairs = json.loads(text, object_pairs_hook=list, **spelt)
    unique = dict(pairs)
    if any(isinstance(v, list) and v and isinstance(v[0], tuple) for v in unique.values()):
        return text
    members = [f"{json.dumps(k)} : {_written(v)}" for k, v in reversed(unique.items())]
    return f"{{ {', '.join(members)} }}"


class _Spelling(str):
    """A number as it is spelt."""

    __slots__ = ()


def _written(item: Any) -> str:
    if isinstance(item, _Spelling):
        return item
    if isinstance(item, list):
        return f"[{', '.join(map(_written, item))}]"
    return json.dumps(item)


def calls(chance: Random, run: str) -> Iterator[str]:
    """The lines of a run: few different calls, so that they come back; some with nothing nasty, some with usage."""
    pool = [_call(chance) for _ in range(chance.randint(1, 3))]
    numbered, priced = chance.random() < 0.5, chance.random() < 0.5
    for turn in range(1, chance.randint(2, 14) if chance.random() < 0.9 else chance.randint(15, 60)):
        name, args, result = chance.choice(pool)
        if chance.random() < 0.1:
            result = value(chance)
        parts = [f'"run_id":"{run}"', f'"name":{name}', f'"args":{respelt(chance, args)}']
        parts += [f'"turn":{turn}'] * numbered + [f'"result":{respelt(chance, result)}'] * (chance.random() < 0.97)
        parts += ['"model":"gpt-5"', f'"input_tokens":{500 * turn}', '"output_tokens":40'] * priced
        chance.shuffle(parts)
        yield f"{{{','.join(parts)}}}"


def _call(chance: Random) -> tuple[str, str, str]:
    """Name, arguments and result."""
    name = chance.choice('"t" "u" "é"'.split())
    if chance.random() < 0.3:
        return name, f'{{"id":{chance.randint(1, 3)},"full":true}}', f'"status {chance.randint(1, 3)}: pending"'
    return name, value(chance), value(chance)


def log(chance: Random, runs: int) -> Iterator[str]:
    """The lines of so many runs, eight at a time, in random order."""
    for first in range(0, runs, 8):
        going = [calls(chance, f"r{first + i}") for i in range(min(8, runs - first))]
        while going:
            turn = chance.choice(going)
            line = next(turn, None)
            if line is None:
                going.remove(turn)
            else:
                yield line


def _number(text: str) -> Any:
    number = float(text)
    return number if math.isfinite(number) else ["beyond", text]


def oracle(lines: Iterable[str], *windows: int, copies: int = 2) -> list[Fires]:
    """The answers of the standard library and the rule as it is written down, one for each window."""
    keys: dict[str, list[str | None]] = {}
    for line in lines:
        call = json.loads(line, parse_float=_number, parse_constant=lambda c: ["constant", c])
        key = json.dumps([call["name"], call["args"], call["result"]], sort_keys=True) if "result" in call else None
        keys.setdefault(call["run_id"], []).append(key)
    return [{run: _fires(found, window, copies) for run, found in keys.items()} for window in windows]


def _fires(keys: list[str | None], window: int, copies: int) -> int | None:
    for turn in range(1, len(keys) + 1):
        for p in range(1, window // copies + 1):
            last = keys[turn - copies * p : turn] if turn >= copies * p else []
            if last and None not in last and last == last[:p] * copies:
                return turn
    return None


def found(program: str, argv: list[str], stdin: bytes | None = None) -> Fires:
    """The answer of the program."""
    command = [sys.executable, "-m", program, "audit", "--from", "loopscan", "--format", "jsonl", *argv]
    done = subprocess.run(command, input=stdin or b"", capture_output=True, check=True)
    records = map(json.loads, done.stdout.splitlines())
    return {r["run"]: r["no_progress"] and r["no_progress"]["turn"] for r in records}


def differences(runs: int, seed: int, folder: Path, windows: Sequence[int] = WINDOWS) -> dict[str, list[str]]:
    """Per path the runs it answers otherwise than the oracle, at any of the windows; every list is to be empty."""
    lines = list(log(Random(seed), runs))
    path, packed = folder / "nasty.jsonl", folder / "nasty.jsonl.gz"
    data = "\n".join(lines).encode("utf-8", "surrogatepass") + b"\n"
    path.write_bytes(data)
    packed.write_bytes(gzip.compress(data, 1))
    wrong: dict[str, list[str]] = {}
    for window, want in zip(windows, oracle(lines, *windows), strict=True):
        for exact in ([], ["--exact"]):
            for name, argv, stdin in (
                ("one job", [str(path), "--jobs", "1"], None),
                ("two jobs", [str(path), "--jobs", "2"], None),
                ("gzip", [str(packed)], None),
                ("standard input", ["-"], data),
            ):
                program = "tests.several" if "--jobs" in argv else "loopscan"
                got = found(program, [*argv, "--window", str(window), *exact], stdin)
                bad = [run for run in want.keys() | got.keys() if want.get(run) != got.get(run)]
                said = wrong.setdefault(f"{name}{', exact' if exact else ''}", [])
                said += [f"{run} of seed {seed} at window {window}" for run in sorted(bad)]
    return wrong


def batch(number: int, runs: int, every: bool) -> dict[str, list[str]]:
    """The differences in the runs of one batch, at every window or at the one whose turn it is."""
    windows = WINDOWS if every else WINDOWS[number % len(WINDOWS) :][:1]
    with tempfile.TemporaryDirectory() as folder:
        return differences(runs, number, Path(folder), windows)


def main() -> None:
    """Fuzz and say what differs; exit 1 if anything does."""
    parser = argparse.ArgumentParser(prog="python -m tests.bench.fuzz", description=__doc__)
    parser.add_argument("runs", type=int, nargs="?", default=100_000)
    parser.add_argument("--every-window", action="store_true", help="each run at each window: three times as long")
    parser.add_argument("--seed", type=int, default=0, help="of the first batch")
    given = parser.parse_args()
    sizes = [min(BATCH, given.runs - first) for first in range(0, given.runs, BATCH)]
    wrong: dict[str, list[str]] = {}
    with ProcessPoolExecutor(2) as pool:
        batches = pool.map(batch, count(given.seed), sizes, repeat(given.every_window))
        for number, differ in enumerate(batches, 1):
            for name, bad in differ.items():
                wrong.setdefault(name, []).extend(bad)
            differing = sum(map(len, wrong.values()))
            print(f"{number} of {len(sizes)} batches, {differing} differ", file=sys.stderr, flush=True)
    each = "each" if given.every_window else f"{BATCH:,} by turns"
    print(f"{given.runs:,} runs, {each} at window {', '.join(map(str, WINDOWS))}:")
    for name, bad in wrong.items():
        print(f"{name}: {len(bad)} differ{': ' + ', '.join(bad[:5]) if bad else ''}")
    sys.exit(any(wrong.values()))


if __name__ == "__main__":
    main()
