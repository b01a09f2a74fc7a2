"""Every reader over its samples damaged by chance: bytes and values, packed or not, alone or among good runs.

`python -m tests.fuzz [--inputs N] [--seconds S] [--seed S] [FORMAT...]` (`make fuzz`) says for each reader how many
inputs it took, how many ended in a traceback, did not end, or lost a good run: two runs in other files, read before and
after, and where the format can hold several runs in a file also runs in the same one. Exit code 1 if any did.
The same seed makes the same inputs; `--only N` makes the one with that number again.
"""

from __future__ import annotations

import argparse
import gzip
import os
import random
import shutil
import sys
import tempfile
import time
import traceback
from collections import Counter
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Final

from loopscan.compression import zstd_module
from loopscan.formats import FORMATS
from tests.hostile.around import Around, around
from tests.hostile.mutation import damaged, documents, dumped, retyped, spoil_archive, spoil_database, written
from tests.hostile.scanning import SAMPLE_FILES, Hangs, LostNeighbour, Outcome, scanned, shown

SQLITE: Final = b"SQLite format 3\x00"
KINDS: Final = ("traceback", "hang", "lost neighbour")
KEPT: Final = Path(tempfile.gettempdir()) / "loopscan-fuzz"
"""Where inputs that were found are kept."""


@dataclass(slots=True)
class Target:
    """One sample file of a format, copied with the files round it so that it can be damaged where it lies."""

    name: str
    sample: Path
    path: Path
    data: bytes
    values: list[Any] | None
    around: Around | None

    def take(self, chance: random.Random, others: list[Target]) -> None:
        """Make an input, audit it. Raises what is looked for."""
        forced = chance.random() < 0.5
        want: Counter[Any] = Counter()
        if self.values is None and self.data.startswith((SQLITE, b"PK")):
            self._spoil(chance, others)
        else:
            data, want = self._damaged(chance, others)
            self.path.write_bytes(_packed(data, chance, whole=bool(want)))
        outcome = scanned(self.path, self.name if forced or want else None)
        if want and self.around is not None and (lost := self.around.lost(outcome, want)):
            raise LostNeighbour(f"{len(lost)} of {want.total()} runs of the same file: {lost[:2]}")
        if chance.random() < 0.15:
            shown(outcome.report)

    def _spoil(self, chance: random.Random, others: list[Target]) -> None:
        """A database or an archive: its cells or members, or its bytes."""
        self.path.write_bytes(self.data)
        if chance.random() < 0.4:
            self.path.write_bytes(damaged(self.data, chance, chance.choice(others).data))
        elif self.data.startswith(SQLITE):
            spoil_database(self.path, chance)
        else:
            spoil_archive(self.path, chance)

    def _damaged(self, chance: random.Random, others: list[Target]) -> tuple[bytes, Counter[Any]]:
        """Bytes to read, and the outlines of the good runs in them."""
        other = chance.choice(others)
        near, few = self.around, chance.random()
        values = documents(self.data) if chance.random() < 0.6 else None
        if values is None or (near is not None and near.at is not None and few < 0.2):
            data = damaged(self.data, chance, other.data)
            return (
                near.lines(data, few < 0.4) if near is not None and near.at is None and few < 0.7 else (data, Counter())
            )
        theirs = documents(other.data) or []
        if near is not None and near.at is not None and few < 0.7:
            middle = near.middle(values[0])
            retyped(middle, chance, theirs)
            document, want = near.document(values[0], middle)
            return dumped(document).encode(), want
        retyped(values, chance, theirs)
        if near is not None and few < 0.7:
            return near.lines(written(values), few < 0.4)
        return written(values), Counter()


def _packed(data: bytes, chance: random.Random, whole: bool) -> bytes:
    """The bytes as they are, mostly; else compressed, and that damaged too unless it is to be `whole`."""
    way = chance.randrange(20)
    zstd = zstd_module()
    if way > 1:
        return data
    packed = gzip.compress(data, 1) if way or zstd is None else zstd.compress(data)
    return packed if whole or chance.random() < 0.5 else damaged(packed, chance, data)


_around: dict[Path, Around | None] = {}


def targets(name: str, folder: Path, among: bool = True) -> list[Target]:
    """A target per sample file of a format; `among`: with good runs of the same file where there can be some."""
    made = []
    for number, sample in enumerate(SAMPLE_FILES[name]):
        top = next(p for p in sample.parents if p.name == name)
        home = folder / f"{name}-{number}"
        shutil.copytree(top, home)
        path, data = home / sample.relative_to(top), sample.read_bytes()

        def scan(text: bytes, path: Path = path) -> Outcome:
            path.write_bytes(text)
            return scanned(path, name)

        binary = data.startswith((SQLITE, b"PK"))
        if among and not binary and sample not in _around:
            _around[sample] = around(sample, data, scan)
        near = _around.get(sample) if among else None
        made.append(Target(name, sample, path, data, None if binary else documents(data), near))
    return made


@dataclass(slots=True)
class Reader:
    """The inputs of one reader so far and what was found."""

    name: str
    targets: list[Target]
    inputs: int = 0
    found: Counter[str] = field(default_factory=Counter)
    slowest: float = 0.0
    said: set[str] = field(default_factory=set)

    def take(self, seed: int, number: int, others: list[Target]) -> None:
        """The input of a number."""
        target = self.targets[number % len(self.targets)]
        began = time.process_time()
        self.inputs += 1
        try:
            target.take(random.Random(f"{seed} {self.name} {number}"), others)
        except Exception as err:  # noqa: BLE001 - whatever is raised is what is looked for
            kind = (
                "hang"
                if isinstance(err, Hangs)
                else "lost neighbour"
                if isinstance(err, LostNeighbour)
                else "traceback"
            )
            self.found[kind] += 1
            self._keep(target, seed, number, kind)
        self.slowest = max(self.slowest, time.process_time() - began)

    def _keep(self, target: Target, seed: int, number: int, kind: str) -> None:
        """Say the first of each kind, keep its input."""
        last = traceback.format_exc().splitlines()
        place = "".join(last[-3:-1]) if kind != "lost neighbour" else target.sample.name
        if place in self.said or len(self.said) > 20:
            return
        self.said.add(place)
        KEPT.mkdir(exist_ok=True)
        kept = KEPT / f"{self.name}-{seed}-{number}{target.path.suffix}"
        shutil.copyfile(target.path, kept)
        told = "\n".join(last[-9:])
        print(f"--- {kind}: {self.name} --seed {seed} --only {number}, kept as {kept}\n{told}", flush=True)

    def line(self) -> str:
        """What became of it."""
        among = sum(t.around is not None for t in self.targets)
        counts = ", ".join(f"{self.found[kind]} {kind}s" for kind in KINDS)
        return (
            f"{self.name:22} {self.inputs:7,} inputs, {counts}; slowest {self.slowest:.2f} s; "
            f"{among} of {len(self.targets)} samples among good runs of the same file"
        )


def fuzz(names: list[str], folder: Path, inputs: int, seconds: float, seed: int, first: int = 0) -> list[Reader]:
    """So many inputs for each reader, in rounds, until the time is up."""
    until = time.monotonic() + seconds
    readers = [Reader(name, targets(name, folder)) for name in names]
    others = [target for reader in readers for target in reader.targets]
    for start in range(first, first + inputs, 50):
        for reader in readers:
            for number in range(start, min(start + 50, first + inputs)):
                if time.monotonic() > until:
                    return readers
                reader.take(seed, number, others)
    return readers


def main() -> int:
    """Fuzz, say what came of it; 1 if anything was found."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("formats", nargs="*", metavar="FORMAT", choices=[*FORMATS, []])
    parser.add_argument("--inputs", type=int, default=1 << 40, help="for each reader")
    parser.add_argument("--seconds", type=float, default=float(os.environ.get("FUZZ_SECONDS", "600")))
    parser.add_argument("--seed", type=int, default=time.time_ns() % 1_000_000)
    parser.add_argument("--only", type=int, metavar="N", help="the input of this number")
    given = parser.parse_args()
    names = given.formats or list(FORMATS)
    inputs, first = (given.inputs, 0) if given.only is None else (1, given.only)
    with tempfile.TemporaryDirectory(dir="/dev/shm" if os.path.isdir("/dev/shm") else None) as folder:
        readers = fuzz(names, Path(folder), inputs, given.seconds, given.seed, first)
    for reader in readers:
        print(reader.line())
    found = sum((reader.found for reader in readers), Counter[str]())
    counts = ", ".join(f"{found[kind]} {kind}s" for kind in KINDS)
    print(f"seed {given.seed}: {sum(r.inputs for r in readers):,} inputs, {len(readers)} readers, {counts}")
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main())
