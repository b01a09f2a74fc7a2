"""`python -m tests.bench`: measure, print the tables, and with `--write` keep them in RESULTS.md.

Every figure is a ratio of two programs run in turn, median of the rounds: the machine does not matter, its load little.
"""

from __future__ import annotations

import argparse
import compileall
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import Final

from tests.bench.measure import ROOT
from tests.bench.tables import TABLES, Plan

RESULTS: Final = Path(__file__).with_name("RESULTS.md")
_MARK: Final = "<!-- measured: {} -->"


def main() -> None:
    """Measure what was asked for."""
    given = _parser().parse_args()
    compileall.compile_dir(ROOT / "loopscan", quiet=1)  # as an installed package is
    plan = Plan(given.scale, given.rounds, given.corpora.split(","), given.folder, given.peers)
    for name in given.tables.split(",") if given.tables else TABLES:
        print(f"## {name}", flush=True)
        lines = []
        for line in TABLES[name](plan):
            print(line, flush=True)
            lines.append(line)
        if given.write:
            _keep(name, lines)


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(prog="python -m tests.bench", description=__doc__)
    parser.add_argument("--scale", type=float, default=1.0, help="size of the logs; 1 = as in the table of targets")
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--corpora", default="a,b,c,d,f")
    parser.add_argument("--tables", help=f"of {', '.join(TABLES)}; all by default")
    parser.add_argument("--folder", type=Path, default=Path(tempfile.gettempdir()) / "loopscan-bench")
    parser.add_argument("--peers", default=sys.executable, help="the interpreter that has duckdb and polars")
    parser.add_argument("--write", action="store_true", help="keep the tables in RESULTS.md")
    return parser


def _keep(name: str, lines: list[str]) -> None:
    """Put a table in the place of the one that RESULTS.md holds under its name."""
    commit = subprocess.run(
        ["git", "rev-parse", "--short", "HEAD"], capture_output=True, text=True, cwd=ROOT, check=True
    )
    mark, text = _MARK.format(name), RESULTS.read_text()
    before, _, rest = text.partition(mark)
    _, _, after = rest.partition(_MARK.format("end"))
    table = "\n".join(lines)
    RESULTS.write_text(
        f"{before}{mark}\nAt {commit.stdout.strip()}:\n\n{table}\n{_MARK.format('end')}{after}"
        if rest
        else f"{text.rstrip()}\n\n## {name}\n\n{mark}\nAt {commit.stdout.strip()}:\n\n{table}\n{_MARK.format('end')}\n"
    )


if __name__ == "__main__":
    main()
