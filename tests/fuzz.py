"""A fuzz target per reader: its samples damaged byte by byte, or with values of other types in their records.

`FUZZ_SECONDS=600 python -m tests.fuzz [FORMAT...]` (`make fuzz`) goes round all readers until the time is up, says how
many inputs each took, and exits with 1 if any of them raised, hung or harmed a good run read before or after it.
"""

from __future__ import annotations

import os
import random
import shutil
import sys
import tempfile
import time
import traceback
from collections import Counter
from collections.abc import Callable
from pathlib import Path
from typing import Any, Final

from hypothesis import HealthCheck, Phase, given, seed, settings
from hypothesis import strategies as st

from loopscan.formats import FORMATS
from tests.hostile.mutation import damaged, documents, retyped, spoil_archive, spoil_database
from tests.hostile.scanning import SAMPLE_FILES, scanned, shown

SQLITE: Final = b"SQLite format 3\x00"
ROUND: Final = 60
"""Inputs of one target in a row."""


class Target:
    """One sample file of a format, copied with the files round it so that it can be damaged where it lies."""

    def __init__(self, name: str, sample: Path, folder: Path) -> None:
        self.name, self.sample = name, sample
        top = next(p for p in sample.parents if p.name == name)
        home = folder / f"{name}-{sample.stem[:20]}"
        shutil.copytree(top, home, dirs_exist_ok=True)
        self.path = home / sample.relative_to(top)
        self.data = sample.read_bytes()
        self.inputs = 0

    def take(self, data: bytes | None, forced: bool, show: bool) -> None:
        """Audit the damaged file (None = as it lies there)."""
        if data is not None:
            self.path.write_bytes(data)
        self.inputs += 1
        outcome = scanned(self.path, self.name if forced else None)
        if show:
            shown(outcome.report)

    def kinds(self) -> list[Callable[[int, int], None]]:
        """What can be done to it."""
        if self.data.startswith(SQLITE):
            return [self.bytes, self.cells]
        if self.data.startswith(b"PK"):
            return [self.bytes, self.members]
        return [self.bytes, self.records] if documents(self.data) is not None else [self.bytes]

    def bytes(self, examples: int, salt: int) -> None:
        """Damaged bytes."""
        _run(damaged(self.data), self.take, examples, salt)

    def records(self, examples: int, salt: int) -> None:
        """Values of other types."""
        _run(retyped(self.data), self.take, examples, salt)

    def cells(self, examples: int, salt: int) -> None:
        """Cells of other types in a database."""
        self._spoilt(spoil_database, examples, salt)

    def members(self, examples: int, salt: int) -> None:
        """Values of other types in an archive."""
        self._spoilt(spoil_archive, examples, salt)

    def _spoilt(self, spoil: Callable[[Path, random.Random], None], examples: int, salt: int) -> None:
        def take(number: int, forced: bool, show: bool) -> None:
            self.path.write_bytes(self.data)
            spoil(self.path, random.Random(number))
            self.take(None, forced, show)

        _run(st.integers(0, 1 << 32), take, examples, salt)


def _run(strategy: st.SearchStrategy[Any], take: Callable[[Any, bool, bool], None], examples: int, salt: int) -> None:
    @seed(salt)
    @settings(
        max_examples=examples,
        deadline=None,
        database=None,
        phases=(Phase.generate, Phase.shrink),
        suppress_health_check=list(HealthCheck),
    )
    @given(strategy, st.booleans(), st.sampled_from((False, False, False, True)))
    def target(data: Any, forced: bool, show: bool) -> None:
        take(data, forced, show)

    target()


def targets(names: list[str], folder: Path) -> list[Target]:
    """A target per sample file of the formats."""
    return [Target(name, sample, folder) for name in names for sample in SAMPLE_FILES[name]]


def main() -> int:
    """Fuzz until the time is up; 1 if anything was found."""
    names = sys.argv[1:] or list(FORMATS)
    until = time.monotonic() + float(os.environ.get("FUZZ_SECONDS", "60"))
    salt = int(os.environ.get("FUZZ_SEED", time.time_ns() % 1_000_000))
    found: Counter[str] = Counter()
    print(f"seed {salt}", flush=True)
    with tempfile.TemporaryDirectory(dir=_fast()) as folder:
        all_ = targets(names, Path(folder))
        while time.monotonic() < until:
            salt += 1
            for target in all_:
                for kind in target.kinds():
                    try:
                        kind(ROUND, salt)
                    except Exception:  # noqa: BLE001 - whatever is raised is what is looked for
                        found[target.name] += 1
                        print(f"--- {target.sample} {kind.__name__} seed {salt}\n{traceback.format_exc()}", flush=True)
                if time.monotonic() > until:
                    break
    inputs: Counter[str] = Counter()
    for target in all_:
        inputs[target.name] += target.inputs
    for name in names:
        print(f"{name}: {inputs[name]:,} inputs{f', {found[name]} FOUND' if found[name] else ''}")
    print(f"{sum(inputs.values()):,} inputs, {sum(found.values())} findings")
    return 1 if found else 0


def _fast() -> str | None:
    return "/dev/shm" if os.path.isdir("/dev/shm") else None


if __name__ == "__main__":
    sys.exit(main())
