"""Where the time goes: `python -m tests.bench.where PATH` samples an audit and prints the modules it was met in.

A sample counts for the innermost function of ours: what it calls in C is its own.
"""

from __future__ import annotations

import signal
import sys
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from types import FrameType
from typing import Final

from tests.bench.measure import ROOT

_EVERY: Final = 0.002
"""Seconds of CPU between samples."""
_SHOWN: Final = 8
_OURS: Final = f"{ROOT / 'loopscan'}/"


@contextmanager
def sampled() -> Iterator[Counter[str]]:
    """Counts samples by module while the block runs."""
    seen: Counter[str] = Counter()

    def sample(_: int, frame: FrameType | None) -> None:
        while frame is not None and not frame.f_code.co_filename.startswith(_OURS):
            frame = frame.f_back
        seen["start" if frame is None else frame.f_code.co_filename.removeprefix(_OURS).removesuffix(".py")] += 1

    signal.signal(signal.SIGPROF, sample)
    signal.setitimer(signal.ITIMER_PROF, _EVERY, _EVERY)
    try:
        yield seen
    finally:
        signal.setitimer(signal.ITIMER_PROF, 0)


def main() -> None:
    """Print the modules with the most samples, and their shares."""
    with sampled() as seen:
        from loopscan.cli import run

        run(["audit", str(Path(sys.argv[1]).resolve()), "--format", "jsonl", "--jobs", "1", "--output", "/dev/null"])
    total = seen.total()
    print(", ".join(f"{name} {count / total:.0%}" for name, count in seen.most_common(_SHOWN)))


if __name__ == "__main__":
    main()
