"""A log that is written over while it is read: what was read of it is told, and what is gone equals nothing."""

from __future__ import annotations

import json
from pathlib import Path
from random import Random

import pytest

from loopscan import Settings, blob, blocks
from loopscan.blob import Blob
from loopscan.engine import Audit
from loopscan.formats import Scan
from loopscan.formats import native as native_reader
from loopscan.key import Keyer
from loopscan.late import Late, Source, marks_of
from loopscan.model import Call
from loopscan.prices import from_options
from loopscan.stream import Stream


class Overwriting(Stream):
    """The stream of a log of which all that was read is written over after some reads."""

    def __init__(self, path: Path, rest: Stream, reads: int) -> None:
        self._path, self._rest, self._left, self._read = path, rest, reads, 0

    def read(self, size: int) -> bytes:
        """The next bytes."""
        data = self._rest.read(size)
        self._read += len(data)
        self._left -= 1
        if not self._left:
            with self._path.open("r+b") as file:
                file.write(b" " * self._read)
        return data


def lines(chance: Random, often: float) -> str:
    """One run whose calls come back, some of them with an equal result."""
    said = []
    for turn in range(1, 1500):
        fresh = f"{chance.getrandbits(64):x} of {chance.getrandbits(64):x}"
        result = chance.choice(("ok", f"{turn} done", "4 left")) if chance.random() < often else fresh
        line = {"run_id": "r", "turn": turn, "tool": chance.choice(("get_a", "write_b", "bash", "e")), "result": result}
        said.append(json.dumps(line | {"args": {"q": chance.randrange(30)}, "input_tokens": 9, "output_tokens": 3}))
    return "\n".join(said) + "\n"


@pytest.mark.parametrize("often", [0.05, 0.3, 0.7])
@pytest.mark.parametrize("seed", range(6))
def test_a_log_written_over(seed: int, often: float, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(blob, "_HEAD", 3000)
    monkeypatch.setattr(blocks, "_BLOCK", 10_000)
    chance, path = Random(seed), tmp_path / "log.jsonl"
    path.write_text(lines(chance, often))
    scan = Audit(Settings(window=chance.choice((6, 20, 100))), from_options(), Scan())
    with Blob(str(path), path) as log:
        assert log.head.values
        log._stream = Overwriting(path, log._stream, 5)
        scan.read(log, "loopscan", native_reader)
    assert [run.turns for run in scan.finish().runs] == [1499]


def test_no_two_results_that_are_gone_are_equal(tmp_path: Path) -> None:
    """Not even where one takes the place of the other in memory."""
    path, keyer, marks = tmp_path / "log.jsonl", Keyer(), marks_of("ok")
    path.write_text("\n" * 500)
    gone = Source(path, lambda line: Call("get", {}, None))
    keys = {keyer.outcome(Late(7, turn, gone, turn, *marks)) for turn in range(500)}
    gone.close()
    assert len(keys) == 500
